/** Reports on delivery (RFC 3464) in English and Chinese, as raw messages. */
import { fromXtext } from './xtext.ts'

/** One recipient that a report is about. */
export interface DsnRecipient {
  email: string
  /** ORCPT of the submission, as given (`rfc822;…`, xtext). */
  orcpt?: string
  /**
   * `failed`: will not arrive. `relayed`: passed to a system that sends no reports of its own (RFC 3461 section 5.2.5).
   * `delivered`: in the mailbox (RFC 3464 section 2.3.3).
   */
  action: 'failed' | 'relayed' | 'delivered'
  /** Enhanced status code; of ours where the server gave none. */
  status: string
  /** Last reply as one line. */
  diagnostic?: string
  /** Host that gave it. */
  remote?: string
  at: Date
}

/** A report. */
export interface DsnInput {
  /** Sender of the report's header. */
  from: string
  /** The original envelope sender. */
  to: string
  /** Name of this system. */
  reportingMta: string
  messageId: string
  /** Boundary of the parts; must not occur in the original. */
  boundary: string
  at: Date
  arrivedAt: Date
  /** ENVID of the submission, as given (xtext). */
  envid?: string
  recipients: readonly DsnRecipient[]
  /** The original: its header, or with RET=FULL the complete message. */
  original: { bytes: Buffer; full: boolean }
}

/** The report as it is submitted: CRLF line ends, lines of at most 998 octets as far as the original's are. */
export function buildDsn(input: DsnInput): Buffer {
  const first = ACTIONS.find(known => input.recipients.some(({ action }) => action === known)) ?? 'failed'
  const { subject } = TEXTS[first]
  const head = [
    `From: Mail Delivery System <${input.from}>`,
    `To: <${input.to}>`,
    `Subject: =?utf-8?B?${base64(subject)}?=`,
    `Date: ${rfc5322Date(input.at)}`,
    `Message-ID: ${input.messageId}`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="${input.boundary}"`,
    '',
    `--${input.boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    base64(explain(input)).replace(/.{1,76}(?=.)/g, '$&\r\n'),
    `--${input.boundary}`,
    'Content-Type: message/delivery-status',
    '',
    statusFields(input),
    `--${input.boundary}`,
    `Content-Type: ${input.original.full ? 'message/rfc822' : 'text/rfc822-headers'}`,
    ...(hasHighBytes(input.original.bytes) ? ['Content-Transfer-Encoding: 8bit'] : []),
    '',
    '',
  ].join('\r\n')
  return Buffer.concat([
    Buffer.from(head, 'utf8'),
    input.original.bytes,
    Buffer.from(`\r\n--${input.boundary}--\r\n`, 'utf8'),
  ])
}

/** Whether a recipient's NOTIFY (RFC 3461 section 4.1) asks for a report; without NOTIFY only failures are reported. */
export function wantsReport(notify: readonly string[] | undefined, action: DsnRecipient['action']): boolean {
  if (!notify || notify.length === 0) return action === 'failed'
  return notify.includes(action === 'failed' ? 'FAILURE' : 'SUCCESS')
}

/** `Sat, 21 Nov 2026 10:15:12 +0000` (RFC 5322 section 3.3). */
export function rfc5322Date(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000')
}

/** What a report is called by: the worst of what happened. */
const ACTIONS = ['failed', 'relayed', 'delivered'] as const

/** Texts about those recipients, in both languages. */
const TEXTS = {
  failed: {
    subject: 'Undelivered mail returned to sender / 邮件未能送达',
    en: 'Your message could not be delivered to the following recipients. It will not be tried again.',
    zh: '您的邮件未能送达以下收件人，系统不会再次尝试投递。',
  },
  relayed: {
    subject: 'Mail handed over / 邮件已转交',
    en: 'Your message was handed to the mail system of the following recipients, which sends no reports of its own.',
    zh: '您的邮件已转交以下收件人的邮件系统，对方系统不会发送送达报告。',
  },
  delivered: {
    subject: 'Mail delivered / 邮件已送达',
    en: 'Your message was delivered to the following recipients.',
    zh: '您的邮件已送达以下收件人。',
  },
} as const

function explain({ recipients, reportingMta }: DsnInput): string {
  const about = (language: 'en' | 'zh') =>
    ACTIONS.flatMap(action => {
      const list = recipients
        .filter(recipient => recipient.action === action)
        .map(({ email, diagnostic, status }) => `  <${email}>\r\n    ${diagnostic ?? status}\r\n`)
      return list.length === 0 ? [] : [`${TEXTS[action][language]}\r\n\r\n${list.join('\r\n')}`]
    }).join('\r\n')
  const english = `This is the mail system at ${reportingMta}.\r\n\r\n${about('en')}`
  return `${english}\r\n这里是 ${reportingMta} 的邮件系统。\r\n\r\n${about('zh')}`
}

function statusFields({ reportingMta, envid, arrivedAt, recipients }: DsnInput): string {
  const message = [
    `Reporting-MTA: dns; ${reportingMta}`,
    ...(envid ? [`Original-Envelope-Id: ${ascii(fromXtext(envid))}`] : []),
    `Arrival-Date: ${rfc5322Date(arrivedAt)}`,
  ]
  const each = recipients.map(recipient =>
    [
      ...(recipient.orcpt ? [`Original-Recipient: ${ascii(fromXtext(recipient.orcpt))}`] : []),
      `Final-Recipient: ${addressType(recipient.email)}`,
      `Action: ${recipient.action}`,
      `Status: ${recipient.status}`,
      ...(recipient.remote ? [`Remote-MTA: dns; ${recipient.remote}`] : []),
      ...(recipient.diagnostic ? [`Diagnostic-Code: smtp; ${ascii(recipient.diagnostic).slice(0, 900)}`] : []),
      `Last-Attempt-Date: ${rfc5322Date(recipient.at)}`,
    ].join('\r\n'),
  )
  return `${[message.join('\r\n'), ...each].join('\r\n\r\n')}\r\n`
}

/** RFC 6533 section 3: addresses outside of ASCII get the type utf-8, in its ASCII encoding. */
function addressType(email: string): string {
  if (!/\P{ASCII}/u.test(email)) return `rfc822; ${email}`
  return `utf-8; ${Array.from(email, char => (char.charCodeAt(0) < 128 ? char : `\\x{${char.codePointAt(0)?.toString(16).toUpperCase()}}`)).join('')}`
}

function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, '?')
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

function hasHighBytes(bytes: Buffer): boolean {
  return bytes.some(byte => byte > 127)
}
