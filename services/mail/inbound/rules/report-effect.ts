/** What a report changes about the recipient that its address names. */
import type { FailureKind } from '../../delivery/rules/classify-reply.ts'
import { bounceOf } from './bounce-of.ts'
import type { DeliveryStatusReport, FeedbackReport, Report, ReportedRecipient } from './report.ts'

/** A bounce or a complaint changes the status of its recipient; anything else that a server reports is only logged. */
export type ReportEffect =
  | (Failure & { kind: 'bounced'; code?: number; hard: boolean })
  | { kind: 'complained'; type: string; userAgent?: string; arrivedAt?: Date }
  | (Partial<Failure> & { kind: 'reported'; action: ReportedRecipient['action']; text: string })
  | { kind: 'dropped'; reason: 'auto_reply' | 'unknown' | 'bounce_of_bounce' | 'no_complaint' }

/** What a server reports about a failed attempt of its own. */
interface Failure {
  failure: FailureKind
  enhanced?: string
  text: string
  mx?: string
}

/** From the one that matters most: an address may stand for several mailboxes. */
const ACTIONS: readonly ReportedRecipient['action'][] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']
/** Feedback that is not a recipient's complaint (RFC 5965 section 7.3, RFC 6591). */
const NO_COMPLAINT: ReadonlySet<string> = new Set(['not-spam', 'auth-failure'])

/** The effect of a report. The addresses that it names decide nothing. */
export function effectOf(report: Report): ReportEffect {
  if (report.kind === 'delivery_status') return effectOfStatus(report)
  if (report.kind === 'feedback') return effectOfFeedback(report)
  return { kind: 'dropped', reason: report.kind }
}

function effectOfStatus({ recipients, original }: DeliveryStatusReport): ReportEffect {
  // Our own reports have an empty envelope sender, which no report can come back to.
  if (original?.isReport) return { kind: 'dropped', reason: 'bounce_of_bounce' }
  const worst = ACTIONS.flatMap(action => recipients.filter(one => one.action === action)).at(0)
  if (!worst) return { kind: 'dropped', reason: 'unknown' }
  const { action, status, diagnostic, remoteMta } = worst
  const mx = remoteMta ? { mx: remoteMta.slice(0, 255) } : {}
  const bounce = bounceOf(worst)
  const failure = bounce && { failure: bounce.class }
  if (!bounce?.permanent)
    return { kind: 'reported', action, text: diagnostic ?? '', ...(status && { enhanced: status }), ...failure, ...mx }
  const { code, enhanced, text, suppresses } = bounce
  const codes = { ...(code === undefined ? {} : { code }), ...(enhanced === undefined ? {} : { enhanced }) }
  return { kind: 'bounced', failure: bounce.class, text, hard: suppresses, ...codes, ...mx }
}

function effectOfFeedback({ feedbackType: type, userAgent, arrivedAt }: FeedbackReport): ReportEffect {
  if (NO_COMPLAINT.has(type)) return { kind: 'dropped', reason: 'no_complaint' }
  return { kind: 'complained', type, ...(userAgent && { userAgent }), ...(arrivedAt && { arrivedAt }) }
}
