/** Complaints: the Abuse Reporting Format (RFC 5965), and the form that Microsoft's JMRP has instead. */
import type { MimePart } from '../../message/mime-reader.ts'
import { originalOfParts } from './original-message.ts'
import type { FeedbackReport } from './report.ts'
import { addressOf, type Field, firstValue, lineOf, readFields, recipientOf } from './report-fields.ts'
import { textOf } from './report-text.ts'

const MAX_RECIPIENTS = 1_000
const MAX_USER_AGENT = 200
/** Local parts that stand for a recipient that the provider does not disclose. */
const REDACTED = /^(?:redacted|removed|hidden|anonymi[sz]ed|undisclosed|x{3,}|\*+)\b/i

/** The complaint of a message; undefined when it is none. `fields` is the header of the message. */
export function readFeedback(parts: readonly MimePart[], fields: readonly Field[]): FeedbackReport | undefined {
  const part = parts.find(({ type }) => type === 'message/feedback-report')
  return part ? fromReport(readFields(textOf(part)), parts) : fromMicrosoft(parts, fields)
}

function fromReport(fields: readonly Field[], parts: readonly MimePart[]): FeedbackReport {
  const values = (name: string) => fields.filter(([known]) => known === name).map(([, value]) => value)
  const named = ['original-rcpt-to', 'original-recipient', 'removal-recipient', 'redacted-address'].flatMap(values)
  return feedback(firstValue(fields, 'feedback-type') ?? 'other', named, parts, {
    originalMailFrom: addressOf(firstValue(fields, 'original-mail-from') ?? ''),
    sourceIp: ipOf(firstValue(fields, 'source-ip')),
    reportedDomain: domainOf(firstValue(fields, 'reported-domain')),
    userAgent: lineOf(firstValue(fields, 'user-agent') ?? '').slice(0, MAX_USER_AGENT),
    // Received-Date is the name in older reports.
    arrivedAt: timeOf(firstValue(fields, 'arrival-date') ?? firstValue(fields, 'received-date')),
  })
}

/** Microsoft sends the original as an attachment, with the recipient in a field that it adds to it. */
function fromMicrosoft(parts: readonly MimePart[], fields: readonly Field[]): FeedbackReport | undefined {
  const subject = firstValue(fields, 'subject') ?? ''
  const about = /^complaint about message from ([\d.:a-f]{3,45})/i.exec(subject)?.[1]
  const recipient = originalOfParts(parts)?.headers.get('x-hmxmroriginalrecipient')
  if (about === undefined && recipient === undefined) return undefined
  return feedback('abuse', recipient === undefined ? [] : [recipient], parts, { sourceIp: ipOf(about) })
}

function feedback(
  type: string,
  recipients: readonly string[],
  parts: readonly MimePart[],
  known: { [name in 'originalMailFrom' | 'sourceIp' | 'reportedDomain' | 'userAgent']?: string | undefined } & {
    arrivedAt?: Date | undefined
  },
): FeedbackReport {
  const { originalMailFrom, sourceIp, reportedDomain, userAgent, arrivedAt } = known
  const original = originalOfParts(parts)
  const addresses = recipients.slice(0, MAX_RECIPIENTS).flatMap(value => disclosed(recipientOf(value)))
  return {
    kind: 'feedback',
    feedbackType: lineOf(type).toLowerCase().slice(0, 50) || 'other',
    originalRecipients: [...new Set(addresses)],
    ...(originalMailFrom && { originalMailFrom }),
    ...(sourceIp && { sourceIp }),
    ...(reportedDomain && { reportedDomain }),
    ...(userAgent && { userAgent }),
    ...(arrivedAt && { arrivedAt }),
    ...(original && { original }),
  }
}

function disclosed(address: string | undefined): string[] {
  return address === undefined || REDACTED.test(address) ? [] : [address]
}

function ipOf(value: string | undefined): string | undefined {
  return /^\[?(?:IPv6:)?([0-9a-f:.]{3,45})\]?/i.exec(value ?? '')?.[1]
}

function timeOf(value: string | undefined): Date | undefined {
  const time = Date.parse(lineOf(value ?? ''))
  return Number.isNaN(time) ? undefined : new Date(time)
}

/** Some write `dns; example.com`. */
function domainOf(value: string | undefined): string | undefined {
  return /(?:^|;)\s*([a-z0-9.-]{1,253})\s*$/i.exec(value ?? '')?.[1]?.toLowerCase()
}
