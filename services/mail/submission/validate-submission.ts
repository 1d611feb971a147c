/** Validates a submission completely and builds the message that will be stored. */

import type { Clock } from '../../platform/clock.ts'
import { nextTurn, TURN_BYTES } from '../../platform/concurrency/event-loop-turns.ts'
import { withTimeout } from '../../platform/concurrency/timeout.ts'
import type { Config } from '../../platform/process/config.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { type Diversion, strictest } from '../domains/rules/delivery-mode.ts'
import { needsSmtpUtf8, normaliseEmail } from '../message/address.ts'
import { createLineScanner } from '../message/line-endings.ts'
import type { Cells } from '../store/cells.ts'
import { streamName } from '../store/rules/stream.ts'
import type { Suppressed, SuppressionQuestion } from '../suppressions/find-suppressed.ts'
import { explainSuppression } from '../suppressions/rules/suppression.ts'
import { type Diverted, divertMessage } from './divert-message.ts'
import { type Key, keyOf, withKey } from './idempotency.ts'
import { chooseStream, type MessageStream } from './rules/message-stream.ts'
import {
  finishMessage,
  type ReadMessage,
  readMessage,
  withFallbackSender,
  withoutSender,
} from './rules/validate-message.ts'
import type { NewMessage } from './store/message-documents.ts'
import type { Refused, Submission, SubmittedRest, Submitter } from './submission.ts'
import {
  type AllowedSender,
  type FindSenderDomain,
  findTrackError,
  needsFallback,
  refuse,
  validateEnvelopeSender,
  validateSender,
} from './validate-sender.ts'

/** Dependencies of {@link validateSubmission}. */
export interface ValidationOptions {
  config: Pick<
    Config,
    | 'MAIL_HOSTNAME'
    | 'MAX_MESSAGE_BYTES'
    | 'MAX_RECIPIENTS'
    | 'RECEIVED_SHOWS_CLIENT'
    | 'APP_BASE_URL'
    | 'DELIVERY_MODE'
  >
  clock: Clock
  cells: Pick<Cells, 'newMessageId' | 'newMessageIdFor'>
  findSenderDomain: FindSenderDomain
  /** True for an account that may not send any more; at most 5 s old. */
  isSuspended(userId: string): Promise<boolean>
  /** The recipients that the account sends nothing to; as the database has it. */
  findSuppressed(question: SuppressionQuestion): Promise<Suppressed>
}

/** Longest wait for a look-up in the path of an answer; then the answer is "try again". */
export const LOOKUP_MS = 5_000

/** All checks of a message before it is stored. Rejects when a look-up fails. */
export async function validateSubmission(
  options: ValidationOptions,
  submission: Submission,
): Promise<NewMessage | Refused> {
  const { config } = options
  const lines = submission.rest ?? (await checkLines(submission.raw))
  const read = readMessage(submission.raw, config.MAX_MESSAGE_BYTES, lines, submission.submitter.fallbackSender)
  if ('code' in read) return refuse(read.code, read.detail)
  const chosen = chooseStream(submission, read, mayAddLink(config))
  if ('code' in chosen) return refuse(chosen.code, chosen.detail)
  const { stream } = chosen
  const written = validateRecipients(submission, config.MAX_RECIPIENTS)
  if ('kind' in written) return written
  const key = keyOf(submission, read.idempotencyKey)
  if (key && 'kind' in key) return key
  const mark = (recipients: NewMessage['recipients']) =>
    markSuppressed(options, submission, streamName(stream), recipients)
  const [senders, marked] = await withTimeout(
    LOOKUP_MS,
    Promise.all([validateSenders(options, submission, read), mark(written)]),
  )
  if ('kind' in senders) return senders
  const diverted = await withTimeout(
    LOOKUP_MS,
    divertMessage(
      {
        capture: submission.submitter.capture === true,
        diversion: diversionWithin(config, senders.diversion),
      },
      marked,
      mark,
    ),
  )
  const message = toMessage(options, submission, { ...senders, diverted, stream, key })
  return key ? withKey(message, key) : message
}

/**
 * What the whole installation captures keeps its recipients. The mark of a domain that captures stays: its scheduled mail
 * must not leave when the installation sends by then.
 */
function diversionWithin({ DELIVERY_MODE: mode }: ValidationOptions['config'], diversion: Diversion | undefined) {
  return mode === 'capture' && diversion?.mode === 'redirect' ? undefined : diversion
}

/** Captured mail goes nowhere: a developer tries the link on the same machine. */
function mayAddLink({ APP_BASE_URL: base, DELIVERY_MODE: mode }: ValidationOptions['config']): boolean {
  return base.startsWith('https:') || mode === 'capture'
}

/** Checks the lines of a large message in turns: those of 25 MiB take 100 ms. Undefined: it is not large. */
async function checkLines(raw: Buffer): Promise<Pick<SubmittedRest, 'size' | 'lineError'> | undefined> {
  if (raw.length <= TURN_BYTES) return undefined
  const scanner = createLineScanner()
  for (let at = 0; at < raw.length; at += TURN_BYTES) {
    if (scanner.scan(raw.subarray(at, at + TURN_BYTES))) break
    await nextTurn()
  }
  return { size: 0, lineError: scanner.end() }
}

function validateRecipients(submission: Submission, most: number): NewMessage['recipients'] | Refused {
  if (submission.recipients.length === 0) return refuse('bad_recipient', sentence('detail.no_recipient'))
  if (submission.recipients.length > most)
    return refuse('too_many_recipients', sentence('detail.recipients', { count: most }))
  const recipients: NewMessage['recipients'][number][] = []
  for (const { email: written, type, notify, orcpt } of submission.recipients) {
    const email = normaliseEmail(written)
    if (email === undefined || (needsSmtpUtf8(email) && !submission.smtputf8))
      return refuse('bad_recipient', sentence('detail.recipient', { address: written.slice(0, 80) }))
    recipients.push({ email, type, ...(notify && { notify: [...notify] }), ...(orcpt && { orcpt }) })
  }
  return recipients
}

/** The recipients with the reason of those that the account has suppressed for this stream. */
async function markSuppressed(
  { findSuppressed }: ValidationOptions,
  { submitter: { userId } }: Submission,
  stream: string,
  recipients: NewMessage['recipients'],
): Promise<NewMessage['recipients']> {
  const suppressed = await findSuppressed({ userId, stream, emails: recipients.map(({ email }) => email) })
  if (suppressed.size === 0) return recipients
  return recipients.map(recipient => {
    const entry = suppressed.get(recipient.email)
    return entry ? { ...recipient, suppressed: explainSuppression(entry) } : recipient
  })
}

/** Senders that passed, and the message as it goes out in their name. */
interface AllowedSenders {
  mailFrom: string
  domainId: string
  read: ReadMessage
  /** Of all domains in whose name the message goes, the strictest. */
  diversion?: Diversion | undefined
}

/**
 * The account, the envelope sender, every author and every other identity in whose name the message goes (Sender, Resent-From)
 * must pass; the first author's domain owns the message. A login with a fallback sender sends in that name instead.
 */
async function validateSenders(
  options: ValidationOptions,
  { submitter, mailFrom, smtputf8, track }: Submission,
  read: ReadMessage,
): Promise<AllowedSenders | Refused> {
  if (await options.isSuspended(submitter.userId)) return refuse('account_suspended')
  const [envelope, names] = await Promise.all([
    validateEnvelopeSender(options.findSenderDomain, submitter, mailFrom),
    validateReadings(options, submitter, read),
  ])
  if (envelope.kind === 'refused') return envelope
  if (needsSmtpUtf8(envelope.email) && !smtputf8)
    return refuse('sender_not_allowed', sentence('detail.sender_smtputf8'))
  if (names.kind === 'refused') return names
  const untracked = findTrackError(names, track)
  if (untracked) return untracked
  const diversion = strictest([names.diversion, envelope.diversion])
  return { mailFrom: envelope.email, domainId: names.domainId, read: names.read, diversion }
}

/**
 * The message as written; for a login with a fallback sender then without Sender, and in the name of the fallback sender
 * only when that is not enough: an author that the login may use stays.
 */
async function validateReadings(
  options: ValidationOptions,
  submitter: Submitter,
  read: ReadMessage,
): Promise<(AllowedSender & { read: ReadMessage }) | Refused> {
  const { fallbackSender } = submitter
  const further = fallbackSender ? [withoutSender(read), withFallbackSender(read, fallbackSender)] : []
  let reading = read
  let names = await validateNames(options, submitter, reading)
  for (const next of further) {
    if (!needsFallback(names)) break
    reading = next
    names = await validateNames(options, submitter, reading)
  }
  return names.kind === 'refused' ? names : { ...names, read: reading }
}

/** The authors and the other names in the header; answers the first author, or the first that is refused. */
async function validateNames(
  { findSenderDomain }: ValidationOptions,
  submitter: Submitter,
  { from, identities }: ReadMessage,
): Promise<AllowedSender | Refused> {
  const named = [...from.map(email => ({ email, field: undefined })), ...identities]
  const results = await Promise.all(
    named.map(async ({ email, field }) => {
      const one = await validateSender(findSenderDomain, submitter, email)
      return one.kind === 'refused' && field
        ? { ...one, detail: sentence('detail.of_field', { field, reason: one.detail }) }
        : one
    }),
  )
  const [first] = results
  const failed = results.find(one => one.kind === 'refused')
  if (failed || first?.kind !== 'allowed') return failed ?? refuse('sender_not_allowed')
  const diversion = strictest(results.map(one => (one.kind === 'allowed' ? one.diversion : undefined)))
  return { ...first, ...(diversion && { diversion }) }
}

function toMessage(
  { config, clock, cells }: ValidationOptions,
  submission: Submission,
  {
    read,
    stream,
    mailFrom,
    domainId,
    diverted,
    key,
  }: AllowedSenders & { diverted: Diverted; stream: MessageStream; key: Key | undefined },
): NewMessage {
  const at = clock.now()
  const { submitter, received, rest, scheduledAt, expiresAt, body8bit, dsn, tags, metadata, template } = submission
  const track = turnedOff(submission.track ?? read.track)
  const { userId } = submitter
  const id = rest?.id ?? (key ? cells.newMessageIdFor(userId, key.key, at) : cells.newMessageId(at))
  const smtputf8 = submission.smtputf8 === true
  const { MAIL_HOSTNAME: hostname, RECEIVED_SHOWS_CLIENT: showClient } = config
  const stamp = { id, hostname, at, received, showClient, smtputf8 }
  const { raw, messageId } = finishMessage(submission.raw, read, stamp)
  return {
    id,
    user_id: submitter.userId,
    domain_id: domainId,
    via: submitter.via,
    mail_from: mailFrom,
    from: read.from[0],
    subject: read.subject,
    message_id: messageId,
    raw,
    ...(rest && { rest: { size: rest.size, parts: rest.parts } }),
    ...diverted,
    ...stream,
    ...(track && { track }),
    ambiguous: submission.ambiguous ?? 'retry',
    ...(submitter.test && { test: true }),
    ...(tags && { tags }),
    ...(metadata && { metadata }),
    ...(template && { template }),
    ...(scheduledAt && scheduledAt > at && { scheduled_at: scheduledAt }),
    ...(expiresAt && { expires_at: expiresAt }),
    ...(dsn && { dsn }),
    ...(smtputf8 && { smtputf8 }),
    ...(body8bit && { body8bit }),
    created_at: at,
  }
}

/** What is stored of a choice: what the domain decides is left to the time of sending. */
function turnedOff(track: Submission['track']): NewMessage['track'] {
  const off = { ...(track?.opens === false && { opens: false }), ...(track?.clicks === false && { clicks: false }) }
  return Object.keys(off).length > 0 ? off : undefined
}
