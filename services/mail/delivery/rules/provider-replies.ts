/**
 * Replies of providers and products that use codes in another way than IANA's registry. Sources: the page about errors
 * for senders of each (Google "Gmail SMTP errors and codes", Microsoft "Email non-delivery reports in Exchange Online" and
 * the postmaster page of Outlook.com, Yahoo Sender Hub "SMTP Error Codes", Apple "Postmaster information for iCloud
 * Mail", GMX and Yandex postmaster pages, Mimecast "SMTP error codes", Proofpoint and Barracuda support).
 */
import type { ReplyRow } from './failure-kinds.ts'

/** Also of customers with domains of their own: `gsmtp` is in each reply of Google. */
const GOOGLE: readonly ReplyRow[] = [
  // 23 and 25 PTR, 24 and 27 SPF, 26 unauthenticated, 29 TLS, 30 DKIM, 31 and 40 DMARC record, 32 alignment.
  { text: /\bgsmtp\b/, enhanced: /^[45]\.7\.(?:2[3-7]|29|3[0-2]|40)$/, kind: 'authentication' },
  { sites: ['google'], enhanced: /^[45]\.7\.(?:2[3-7]|29|3[0-2]|40)$/, kind: 'authentication' },
  { text: /IPv6 sending guidelines regarding PTR records/i, kind: 'authentication' },
  // Of the recipient, not of us: the site takes mail of others meanwhile.
  { text: /receiving mail (?:at a rate|too quickly)/i, kind: 'throttled', retry: true },
  { codes: /^5/, enhanced: /^5\.7\.28$/, kind: 'reputation' },
  { text: /very low reputation/i, kind: 'reputation', slow: true },
  { text: /likely unsolicited mail|detected that this message is.{0,20}suspicious/i, kind: 'content' },
]

const MICROSOFT: readonly ReplyRow[] = [
  { codes: /^5/, text: /\bS3(?:140|150)\b|\(S775\)|part of their network is on our block ?list/i, kind: 'reputation' },
  { text: /\b(?:DY|OU|SC)-00\d\b/, kind: 'reputation' },
  { text: /\bRP-00\d\b/, kind: 'throttled', retry: true, slow: true },
  { enhanced: /^5\.7\.508$/, kind: 'throttled', retry: true, slow: true },
  { enhanced: /^5\.7\.(?:50[1-3]|511|6[0-4]\d|70[58])$/, kind: 'reputation' },
  { enhanced: /^4\.7\.65\d$/, kind: 'reputation', slow: true },
  { enhanced: /^5\.7\.(?:506|512|54|57|64)$/, kind: 'own_fault' },
  // Directory based edge blocking: the tenant has no such recipient.
  { codes: /^5/, enhanced: /^5\.4\.1$/, text: /recipient address rejected: access denied/i, kind: 'address' },
  { codes: /^5/, text: /RESOLVER\.ADR\.(?:Ex)?Recip(?:ient)?NotFound/i, kind: 'address' },
  {
    codes: /^5/,
    text: /RESOLVER\.RST\.(?:Auth|NotAuthorized|RestrictedToRole)|TRANSPORT\.RULES\.Reject/i,
    kind: 'policy',
  },
  { codes: /^5/, text: /RESOLVER\.RST\.(?:Send|Recip)SizeLimit/i, kind: 'size' },
  { text: /access denied, bad outbound sender/i, kind: 'reputation' },
]

const YAHOO: readonly ReplyRow[] = [
  { codes: /^4/, text: /\[TSS?\d+\]|temporarily deferred/i, kind: 'throttled', slow: true },
  { codes: /^5/, text: /\[(?:BL2\d|TSS?\d+)\]|permanently deferred/i, kind: 'reputation' },
  { sites: ['yahoo'], enhanced: /^[45]\.7\.9$/, kind: 'authentication' },
  { text: /\[PH01\]/, kind: 'content' },
  {
    codes: /^5/,
    text: /delivery error: dd .{0,120}(?:doesn.?t have|disabled|not found|no such|not a valid)/i,
    kind: 'address',
  },
]

const APPLE: readonly ReplyRow[] = [
  { text: /\[HME1\]/, kind: 'authentication' },
  { text: /\[HM0\d\]/, kind: 'reputation' },
  { text: /\[CS0\d\]/, kind: 'content' },
  { codes: /^4/, text: /deferred due to excessive volume/i, kind: 'throttled' },
]

const OTHERS: readonly ReplyRow[] = [
  // GMX, web.de: "mailbox unavailable" is in front of reasons that are about the sender.
  { text: /invalid DNS MX or A\/AAAA|mailbox unavailable.{0,40}sender/i, kind: 'own_fault' },
  { text: /bad DNS PTR resource record/i, kind: 'authentication' },
  // Mimecast
  { text: /\b(?:SPF|DKIM|DMARC) Sender Invalid\b/i, kind: 'authentication' },
  { codes: /^5/, text: /^Invalid Recipient\b/i, kind: 'address' },
  { text: /anti-spoofing policy/i, kind: 'policy' },
  { codes: /^451/, text: /Internal resources are temporarily unavailable/i, kind: 'greylisted' },
  // Proofpoint
  { text: /ipcheck\.proofpoint\.com/i, kind: 'reputation' },
  { text: /local policy violation/i, kind: 'policy' },
  // Barracuda repeats the reply of the server behind it, or says "blocked".
  { codes: /^5/, text: /permanent failure for one or more recipients \([^)]{0,320}:5\d\d 5\.1\.1\b/i, kind: 'address' },
  { codes: /^5/, text: /permanent failure for one or more recipients \([^)]{0,320}:blocked\)/i, kind: 'policy' },
]

/** First match wins. */
export const PROVIDER_REPLIES: readonly ReplyRow[] = [...GOOGLE, ...MICROSOFT, ...YAHOO, ...APPLE, ...OTHERS]
