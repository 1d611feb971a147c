/** What a reply to a delivery attempt means: delivered, try again, or failed for good, and why. */
import type { Reply } from './smtp-reply.ts'

/**
 * Why an attempt failed. Only `address` means that the mailbox does not exist; policy and content refusals are about
 * the sender.
 */
export type FailureKind =
  | 'address'
  | 'mailbox_full'
  | 'greylisted'
  | 'throttled'
  | 'policy'
  | 'size'
  | 'unsupported'
  | 'dns'
  | 'network'
  | 'tls'
  | 'relay_login'
  | 'signing'
  | 'other'

/** What an attempt came to for one recipient. */
export interface Classification {
  outcome: 'delivered' | 'deferred' | 'bounced'
  kind?: FailureKind
  /** The receiver asks for less: the site's limit shrinks. */
  slowDown?: true
}

/** Where in the conversation a reply came. */
export type Stage = 'greeting' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'dot'

interface Row {
  sites?: readonly string[]
  codes?: RegExp
  text?: RegExp
  enhanced?: RegExp
  classification: Classification
}

const slow = (kind: FailureKind): Classification => ({ outcome: 'deferred', kind, slowDown: true })
const later = (kind: FailureKind): Classification => ({ outcome: 'deferred', kind })
const never = (kind: FailureKind): Classification => ({ outcome: 'bounced', kind })

/**
 * First match wins. Provider rows come first, because some providers answer 550 to a sender that is only too fast, or
 * 4xx to an address that will never exist. Sources: the postmaster pages of the providers named, IANA's registry of
 * enhanced status codes.
 */
const TABLE: readonly Row[] = [
  // Tencent answers 550 when it means "less": service.mail.qq.com, "Ip frequency limited", "Domain frequency limited".
  {
    sites: ['tencent'],
    codes: /^[45]/,
    text: /frequency limited|sending (rate|frequency)|too many/i,
    classification: slow('throttled'),
  },
  {
    sites: ['tencent'],
    codes: /^5/,
    text: /mailbox (unavailable|not found)|does not exist/i,
    classification: never('address'),
  },
  // NetEase: help.163.com, "MI:CEL", "RP:CEL", "MI:DMC", "RP:TRC" are frequency codes, whatever the reply code.
  {
    sites: ['netease'],
    codes: /^[45]/,
    text: /\b(MI:CEL|RP:CEL|MI:DMC|RP:TRC|RP:QRC|MI:STC|IB:FRL)\b/,
    classification: slow('throttled'),
  },
  // Microsoft: a block of the network, lifted on request (S3140, S3150).
  { sites: ['microsoft'], codes: /^5/, text: /\bS3(140|150)\b|\(S775\)/, classification: never('policy') },
  // Yahoo: TSS04 and its like are "temporarily deferred".
  { sites: ['yahoo'], codes: /^4/, text: /\[TSS?\d+\]|temporarily deferred/i, classification: slow('throttled') },
  { codes: /^421/, classification: slow('throttled') },
  { codes: /^4/, text: /gr[ea]y-?\s?list/i, classification: later('greylisted') },
  { codes: /^4/, enhanced: /^4\.2\.2$/, classification: later('mailbox_full') },
  {
    codes: /^4/,
    text: /mailbox (is )?full|over ?quota|quota exceeded|insufficient (mailbox )?storage/i,
    classification: later('mailbox_full'),
  },
  {
    codes: /^4/,
    text: /\brate(d|limit\w*)?\b|too (many|much|fast|quick|often)|throttl|frequen|slow(er)? down|\bbusy\b/i,
    classification: slow('throttled'),
  },
  // "Try again later" without a reason: sent by rspamd and others to a sender that they see for the first time.
  { codes: /^4/, enhanced: /^4\.7\.1$/, classification: later('greylisted') },
  { codes: /^4/, enhanced: /^4\.7\./, classification: slow('throttled') },
  { codes: /^4/, classification: later('other') },
  { codes: /^5/, enhanced: /^5\.1\.[0-36]$|^5\.2\.1$/, classification: never('address') },
  { codes: /^5/, enhanced: /^5\.1\.10$/, classification: never('address') },
  { codes: /^5/, enhanced: /^5\.2\.2$/, classification: never('mailbox_full') },
  { codes: /^552/, text: /mailbox|quota|storage/i, classification: never('mailbox_full') },
  { codes: /^5/, enhanced: /^5\.(2\.3|3\.4)$/, classification: never('size') },
  { codes: /^5/, enhanced: /^5\.7\./, classification: never('policy') },
  { codes: /^5/, enhanced: /^5\.6\.[79]$/, classification: never('unsupported') },
  {
    codes: /^55[0134]/,
    text: /(user|mailbox|recipient|address|account)\b.{0,40}\b(unknown|not found|not exist|doesn'?t exist|invalid|no such|disabled|unavailable)|no such (user|mailbox|recipient)|unknown (user|recipient|mailbox)/i,
    classification: never('address'),
  },
  {
    codes: /^5/,
    text: /spam|blacklist|blocklist|blocked|reputation|policy|dmarc|\bspf\b|dkim/i,
    classification: never('policy'),
  },
  { codes: /^5/, classification: never('other') },
]

/**
 * Classifies a reply. A refusal before MAIL concerns the connection, not the recipient, and is never final: another host
 * or a later time may do. `site` is the destination site of rules/assign-slot.ts.
 */
export function classifyReply(reply: Reply, stage: Stage, site: string): Classification {
  if (reply.code < 400) return stage === 'dot' && reply.code < 300 ? { outcome: 'delivered' } : later('other')
  const found = TABLE.find(row => matches(row, reply, site))?.classification ?? later('other')
  if (stage === 'auth') return later('relay_login')
  if (stage === 'greeting' || stage === 'ehlo' || stage === 'starttls')
    return { ...found, outcome: 'deferred', kind: found.outcome === 'bounced' ? 'policy' : (found.kind ?? 'other') }
  return found
}

function matches({ sites, codes, text, enhanced }: Row, reply: Reply, site: string): boolean {
  return (
    (!sites || sites.includes(site)) &&
    (!codes || codes.test(String(reply.code))) &&
    (!enhanced || enhanced.test(reply.enhanced ?? '')) &&
    (!text || text.test(reply.text))
  )
}
