/** Which header fields a submission may have, over SMTP as over HTTP: how often, in whose name, and which are removed. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type HeaderField, unfold } from '../../message/headers.ts'
import { MAX_FROM_MAILBOXES, readMailboxes } from '../../message/mailboxes.ts'

/**
 * Fields that never leave: blind recipients, what was meant for this service alone, and what only a receiver may add.
 * Receivers trust Authentication-Results and Received-SPF (RFC 8601 section 5, RFC 7208 section 9.1), write Return-Path
 * and Original-Recipient themselves (RFC 5321 section 4.4, RFC 8098), take a Delivered-To for a loop (RFC 9228), and show
 * readers by BIMI-Location and BIMI-Indicator which logo they checked (draft-brand-indicators-for-message-identification).
 */
export const REMOVED: ReadonlySet<string> = new Set([
  ...['bcc', 'resent-bcc', 'x-idempotency-key', 'x-postwright-stream', 'x-postwright-list'],
  'x-postwright-track',
  ...['return-path', 'authentication-results', 'received-spf', 'delivered-to', 'original-recipient'],
  ...['bimi-location', 'bimi-indicator'],
])

/**
 * Fields that a message has at most once (RFC 5322 section 3.6, RFC 2045, RFC 2369, RFC 2919, RFC 8058): of two, readers
 * show one, filters evaluate the other. Those of {@link REMOVED} may be repeated.
 */
const ONCE: ReadonlyMap<string, string> = new Map(
  [
    ...['From', 'Sender', 'Reply-To', 'To', 'Cc', 'Subject', 'Date', 'Message-ID', 'In-Reply-To', 'References'],
    ...['MIME-Version', 'Content-Type', 'Content-Transfer-Encoding', 'Content-Disposition', 'Content-ID'],
    ...['Content-Description', 'List-ID', 'List-Help', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'List-Subscribe'],
    ...['List-Post', 'List-Owner', 'List-Archive'],
  ].map(name => [name.toLowerCase(), name]),
)

/** The first field that is repeated although it must not be; undefined when there is none. */
export function findRepeatedField(fields: readonly HeaderField[]): Sentence | undefined {
  const seen = new Set<string>()
  for (const { name } of fields) {
    if (!ONCE.has(name)) continue
    const field = ONCE.get(name) ?? name
    if (seen.has(name))
      return name === 'from'
        ? sentence('detail.field_exactly_once', { field })
        : sentence('detail.field_at_most_once', { field })
    seen.add(name)
  }
  return undefined
}

/** An address that a message claims to come from, besides those of From. */
export interface Identity {
  /** As people write it: `Resent-From`. */
  field: string
  email: string
}

const IDENTITIES: ReadonlyMap<string, string> = new Map([
  ['sender', 'Sender'],
  ['resent-from', 'Resent-From'],
  ['resent-sender', 'Resent-Sender'],
])
/** Each is looked up; honest mail has one or two. */
const TOO_MANY = sentence('detail.identities', { count: MAX_FROM_MAILBOXES })

/** The addresses of Sender, Resent-From and Resent-Sender, each once, or why they cannot be read. */
export function readIdentities(fields: readonly HeaderField[]): Identity[] | Sentence {
  const found = new Map<string, Identity>()
  for (const { name, value, removed } of fields) {
    const field = removed ? undefined : IDENTITIES.get(name)
    const addresses = field === undefined ? [] : addressesOf(field, value)
    if (!Array.isArray(addresses)) return addresses
    for (const email of addresses) if (field && !found.has(email)) found.set(email, { field, email })
    if (found.size > MAX_FROM_MAILBOXES) return TOO_MANY
  }
  return [...found.values()]
}

function addressesOf(field: string, value: string): string[] | Sentence {
  const addresses = readMailboxes(unfold(value))
  if (addresses === 'too_many') return TOO_MANY
  if (!addresses) return sentence('detail.field_address', { field })
  if (field !== 'Resent-From' && addresses.length > 1) return sentence('detail.field_one_address', { field })
  return addresses
}
