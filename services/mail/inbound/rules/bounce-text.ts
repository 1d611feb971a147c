/**
 * Bounces that are text for people only: qmail, Exim, sendmail, Exchange, Tencent, NetEase and whoever lost the parts of
 * RFC 3464 on the way. The recipients are found by the form of their lines, which all of these products share.
 */
import type { MimePart } from '../../message/mime-reader.ts'
import { hasAutoReplySubject } from './auto-reply.ts'
import { looksLikeDeliveryStatus, readDeliveryStatus } from './delivery-status.ts'
import { COPY_BELOW, originalOfLines, originalOfParts } from './original-message.ts'
import type { DeliveryStatusReport, ReportedAction, ReportedRecipient } from './report.ts'
import { addressOf, diagnosticOf, type Field, firstValue, lineOf, statusIn } from './report-fields.ts'
import { linesOf } from './report-text.ts'

const MAX_RECIPIENTS = 1_000
/** Lines of the reason of a recipient. */
const MAX_REASON_LINES = 12
/** Lines among which the sentence is that makes a text a bounce. */
const MAX_INTRODUCTION_LINES = 80

const DAEMON =
  /^(?:mailer-daemon|mail-daemon|postmaster|mailerdaemon|mdaemon|microsoftexchange[\da-f]+|mail-delivery|bounces?|noreply-dsn)\b/i
const SUBJECT =
  /undeliver|returned mail|returned to sender|failure notice|non[- ]?delivery|mail (?:delivery )?(?:fail|system error)|delivery (?:status notification|fail|has failed|problem|notification|report|delayed|unsuccessful)|(?:could|can) ?not (?:be )?(?:send|sent|deliver)|not delivered|mail system error|warning: message|systems? bounce|unzustellbar|non remis|退信|退回|投递失败|投遞失敗|无法投递|無法傳遞|未送达|未传递|邮件延迟/i
const INTRODUCTION =
  /^Hi\. This is the |This is the mail system at|(?:message|mail) that you (?:have )?sent (?:could not|has not|was not)|delivery has failed|did not reach (?:some or all of )?the|could(?: not|n't) be delivered|(?:permanent fatal|transient non-fatal) errors|following (?:recipient|address|message).{0,40}(?:could not|failed|had)|unable to deliver|wasn't delivered|address not found|邮件被退回|退信原因|退信说明|无法(?:投递|送达)|投递失败/i
const DELAYED =
  /warning message only|delivery (?:is |has been )?delayed|message delayed|delayed mail|has not (?:yet )?been delivered|do(?:es)? not need to resend|attempts will continue|still being retried|warning: message .{0,60}delayed|邮件延迟|尚未(?:投递|送达)/i

const ADDRESS = String.raw`[^\s<>()[\]"',;:|，：；（）【】《》]{1,64}@[\p{L}\p{N}-][\p{L}\p{N}.-]{0,252}`
/** A line that is about a recipient: its address comes first, or after a label. */
const RECIPIENT = new RegExp(
  String.raw`^[\s>*•·-]{0,30}(?:(?:收\s{0,8}件\s{0,8}人|收件者|recipients?|final-recipient|to|e-?mail address)\s{0,4}(?:[:：]|\s)\s{0,20}(?:rfc822;\s?)?)?['"<(（]{0,2}(?<address>${ADDRESS})(?<rest>.*)$`,
  'iu',
)
/** What may follow the address; a sentence that begins with an address goes on with a word. */
const AFTER_ADDRESS = /^(?:<mailto:[^<>]*>)?['">)）]{0,2}(?:$|\s*[:：,;]|\s*[([<（]|\s+on \d|\s*\.\.\.|\s*$)/i
/** A reply of a server within a line. */
const REPLY = /(?:^|[\s:;'"(#,：，])(?<reply>(?:4[2-5]|5[0-7])\d(?:[ -]|$).*)$/
/** What Postfix, qmail and Tencent write behind a reply, and quotes or brackets around it. */
const AFTER_REPLY = /(?: ?(?:\(in reply to |Giving up on \d|建议解决方案).*|['"]|(?<!\([^()]*)\))$/i
const REMOTE = /\b(?:host|server|mta|mx)\s+(?<name>[a-z\d-][a-z\d.-]{0,250}\.[a-z\d-]{1,63})\s?[[(]/i

/** The report of a text; undefined when the message does not look like a bounce. `fields` is its header. */
export function readBounceText(parts: readonly MimePart[], fields: readonly Field[]): DeliveryStatusReport | undefined {
  const named = failedRecipients(fields)
  const lines = linesOf(parts)
  if (named.length === 0 && !isBounce(fields, lines)) return undefined
  const copy = lines.findIndex(line => COPY_BELOW.test(line.trimStart()))
  const about = copy < 0 ? lines : lines.slice(0, copy)
  const original = originalOfParts(parts) ?? originalOfLines(lines)
  const mislabelled = parts.filter(looksLikeDeliveryStatus).flatMap(readDeliveryStatus)
  const recipients = mislabelled.length > 0 ? mislabelled : readRecipients(about, named, actionOf(fields, about))
  return { kind: 'delivery_status', recipients, ...(original && { original }) }
}

/** Exim and Gmail name the recipients in the header; of many they are spread over several fields. */
function failedRecipients(fields: readonly Field[]): string[] {
  return fields
    .filter(([name]) => name === 'x-failed-recipients')
    .flatMap(([, value]) => value.split(','))
    .flatMap(value => addressOf(value) ?? [])
    .slice(0, MAX_RECIPIENTS)
}

/** Sent by a mail system, about a delivery: an answer of a person has neither, an automatic answer not both. */
function isBounce(fields: readonly Field[], lines: readonly string[]): boolean {
  if (hasAutoReplySubject(fields)) return false
  const from = addressOf(firstValue(fields, 'from') ?? '') ?? firstValue(fields, 'from') ?? ''
  const isNull = fields.some(([name, value]) => name === 'return-path' && /^<\s*>$/.test(value))
  if (!isNull && !DAEMON.test(from)) return false
  return (
    SUBJECT.test(lineOf(firstValue(fields, 'subject') ?? '')) ||
    lines.slice(0, MAX_INTRODUCTION_LINES).some(line => INTRODUCTION.test(line))
  )
}

function actionOf(fields: readonly Field[], lines: readonly string[]): ReportedAction {
  const texts = [lineOf(firstValue(fields, 'subject') ?? ''), ...lines.slice(0, MAX_INTRODUCTION_LINES)]
  return texts.some(text => DELAYED.test(text)) ? 'delayed' : 'failed'
}

function readRecipients(
  lines: readonly string[],
  named: readonly string[],
  action: ReportedAction,
): ReportedRecipient[] {
  const reasons = reasonsOf(lines)
  const listed = named.length > 0 ? named : [...reasons.keys()].slice(0, MAX_RECIPIENTS)
  const addresses: (string | undefined)[] = listed.length > 0 ? [...new Set(listed)] : [undefined]
  return addresses.map(address => {
    const own = reasons.get(address ?? '') ?? ''
    // A reason that is apart from its address can only be told from others when there is one recipient.
    const reason = REPLY.test(own) || addresses.length > 1 ? own : (anyReply(lines) ?? own)
    return toRecipient(address, reason, action)
  })
}

function toRecipient(address: string | undefined, reason: string, action: ReportedAction): ReportedRecipient {
  const reply = REPLY.exec(reason)?.groups?.reply
  const diagnostic = diagnosticOf(reply ?? reason).replace(AFTER_REPLY, '')
  const status = statusIn(reason)
  const remoteMta = REMOTE.exec(reason)?.groups?.name
  return {
    ...(address && { finalRecipient: address }),
    action,
    ...(status && { status }),
    ...(diagnostic && { diagnostic }),
    ...(remoteMta && { remoteMta }),
  }
}

/** Reasons by address. Some products name a recipient twice, for people and for administrators: the one with a reply wins. */
function reasonsOf(lines: readonly string[]): Map<string, string> {
  const reasons = new Map<string, string>()
  for (let at = 0; at < lines.length; at++) {
    const found = recipientAt(lines[at] ?? '')
    if (found === undefined) continue
    const reason = [found.rest, ...reasonBelow(lines, at + 1, found.address)].join(' ').trim()
    const known = reasons.get(found.address)
    if (known === undefined || (!REPLY.test(known) && (REPLY.test(reason) || known === '')))
      reasons.set(found.address, reason)
  }
  return reasons
}

function recipientAt(line: string): { address: string; rest: string } | undefined {
  const groups = RECIPIENT.exec(line)?.groups
  const written = groups?.address?.replace(/\.+$/, '')
  const rest = groups?.rest ?? ''
  if (written === undefined || !AFTER_ADDRESS.test(rest)) return undefined
  const address = addressOf(written)
  if (address === undefined || DAEMON.test(address)) return undefined
  return { address, rest: rest.replace(/^(?:<mailto:[^<>]*>)?['">)）]{0,2}\s*[:：,;]?/i, '') }
}

/** The lines below an address up to the next empty line or other address; empty lines directly below it do not count. */
function reasonBelow(lines: readonly string[], from: number, address?: string): string[] {
  const reason: string[] = []
  for (let at = from; at < lines.length && at < from + MAX_REASON_LINES; at++) {
    const line = lines[at]?.trim() ?? ''
    if (line === '' && reason.length > 0) break
    const next = recipientAt(line)
    if (next && next.address !== address) break
    if (line !== '') reason.push(line)
  }
  return reason
}

/** The line with a reply, wherever it is, with the lines that continue it. */
function anyReply(lines: readonly string[]): string | undefined {
  const at = lines.findIndex(line => REPLY.test(line))
  return at < 0 ? undefined : [lines[at]?.trim() ?? '', ...reasonBelow(lines, at + 1).slice(0, 3)].join(' ')
}
