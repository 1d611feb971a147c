/** Reads an incoming message as a report about a message of ours. */
import { partsOf, splitHead } from '../../message/mime-reader.ts'
import { isAutoReply } from './auto-reply.ts'
import { readBounceText } from './bounce-text.ts'
import { isDeliveryStatus, readDeliveryStatus } from './delivery-status.ts'
import { readFeedback } from './feedback.ts'
import { originalOfParts } from './original-message.ts'
import type { Report } from './report.ts'
import { readFields } from './report-fields.ts'

/** Octets that are read. Everything about a delivery precedes the copy of the message, which may be large. */
const MAX_OCTETS = 2 * 1024 * 1024
/** Octets of the header; more is not sent by any product. */
const MAX_HEADER = 256 * 1024

/**
 * Never throws. The work is bounded whatever the message: at most 2 MiB, 200 parts and 10 levels are read.
 * A forwarded report (a message within the message) does not count as one.
 */
export function readReport(raw: Buffer): Report {
  const message = raw.toString('latin1', 0, MAX_OCTETS).replace(/\r?\n/g, '\r\n')
  const fields = readFields(splitHead(message).head.slice(0, MAX_HEADER))
  const parts = partsOf(message)
  const feedback = readFeedback(parts, fields)
  if (feedback) return feedback
  const recipients = parts.filter(isDeliveryStatus).flatMap(readDeliveryStatus)
  if (recipients.length > 0) {
    const original = originalOfParts(parts)
    return { kind: 'delivery_status', recipients, ...(original && { original }) }
  }
  const text = readBounceText(parts, fields)
  if (text) return text
  return { kind: isAutoReply(fields, parts) ? 'auto_reply' : 'unknown' }
}
