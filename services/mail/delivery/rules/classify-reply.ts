/** What a reply to a delivery attempt means: delivered, try again, or failed for good, and why. */
import { CHINESE_REPLIES } from './chinese-provider-replies.ts'
import { generalMeaning, preciseMeaning } from './enhanced-codes.ts'
import type { Classification, FailureKind, Meaning, ReplyRow } from './failure-kinds.ts'
import { PROVIDER_REPLIES } from './provider-replies.ts'
import { REPLY_TEXTS } from './reply-texts.ts'
import type { Reply } from './smtp-reply.ts'

export type { Classification, FailureKind } from './failure-kinds.ts'

/** Where in the conversation a reply came. */
export type Stage = 'greeting' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'dot'

/** Kinds that a refusal before MAIL can have; it knows neither the recipient nor the message. */
const OF_CONNECTION: ReadonlySet<FailureKind> = new Set([
  'authentication',
  'reputation',
  'throttled',
  'own_fault',
  'tls',
])
/** Texts that name such a reason are about the sender, also beside a code that says that the mailbox does not exist. */
const OF_SENDER: ReadonlySet<FailureKind> = new Set(['authentication', 'reputation', 'content', 'throttled'])

/**
 * Classifies a reply. A refusal before MAIL concerns the connection, not the recipient, and is never final: another host
 * or a later time may do. `site` is the destination site of rules/assign-slot.ts.
 */
export function classifyReply(reply: Reply, stage: Stage, site: string): Classification {
  if (reply.code < 400)
    return stage === 'dot' && reply.code < 300 ? { outcome: 'delivered' } : deferred({ kind: 'other' })
  if (stage === 'auth') return deferred({ kind: 'relay_login' })
  const meaning = meaningOf(reply, site)
  const isFinal = reply.code >= 500 && !meaning.retry
  const beforeMail = stage === 'greeting' || stage === 'ehlo' || stage === 'starttls'
  if (isFinal && !beforeMail) return { outcome: 'bounced', kind: meaning.kind }
  if (isFinal && !OF_CONNECTION.has(meaning.kind)) return deferred({ kind: 'policy' })
  // 421 ends the session: fewer of them help against everything but a missing record.
  return deferred(reply.code === 421 && meaning.kind !== 'authentication' ? { ...meaning, slow: true } : meaning)
}

/** True when the mailbox does not exist: the only failure after which an address gets no more mail. */
export function isHardBounce({ outcome, kind }: Classification): boolean {
  return outcome === 'bounced' && kind === 'address'
}

function deferred({ kind, slow }: Meaning): Classification {
  return { outcome: 'deferred', kind, ...(slow && { slowDown: true }) }
}

/** Providers first, because some use codes in their own way; then codes with one meaning, texts, and general codes. */
function meaningOf(given: Reply, site: string): Meaning {
  const reply = withCodeOfText(given)
  const text = first(REPLY_TEXTS, reply, site)
  return (
    first(PROVIDER_REPLIES, reply, site) ??
    first(CHINESE_REPLIES, reply, site) ??
    ofCode(reply, text) ??
    text ??
    generalMeaning(reply.enhanced) ??
    ofReplyCode(reply.code)
  )
}

function ofCode({ enhanced }: Reply, text: Meaning | undefined): Meaning | undefined {
  const meaning = preciseMeaning(enhanced)
  return meaning?.kind === 'address' && text && OF_SENDER.has(text.kind) ? text : meaning
}

function ofReplyCode(code: number): Meaning {
  if (code === 421) return { kind: 'throttled', slow: true }
  if (code === 552) return { kind: 'size' }
  return { kind: code >= 500 && code < 505 ? 'own_fault' : 'other' }
}

/** qmail and others have the enhanced code at the end of the text: `(#5.1.1)`. */
function withCodeOfText(reply: Reply): Reply {
  if (reply.enhanced !== undefined) return reply
  const enhanced = /#([45]\.\d{1,3}\.\d{1,3})\b/.exec(reply.text)?.[1]
  return enhanced === undefined ? reply : { ...reply, enhanced }
}

function first(rows: readonly ReplyRow[], reply: Reply, site: string): Meaning | undefined {
  return rows.find(row => matches(row, reply, site))
}

function matches({ sites, codes, text, enhanced }: ReplyRow, reply: Reply, site: string): boolean {
  return (
    (!sites || sites.includes(site)) &&
    (!codes || codes.test(String(reply.code))) &&
    (!enhanced || enhanced.test(reply.enhanced ?? '')) &&
    (!text || text.test(reply.text))
  )
}
