/** SMTP TLS reports (RFC 8460 section 4.4), as receivers of mail get them from its senders. */
import { sentence } from '../../../platform/sentences/sentence.ts'
import { TLS_RESULT_TYPES } from '../../delivery/rules/tls-results.ts'
import { MAX_RECORDS } from './report-limits.ts'
import { countOf, domainNameOf, type ReportPeriod, refuseReport, shownText } from './report-values.ts'

/** Which policy the sender applied. */
export type TlsPolicyType = 'tlsa' | 'sts' | 'no-policy-found'

/** Result types of RFC 8460 section 4.3, and `other` for those of later documents. */
export const TLS_FAILURES = [...TLS_RESULT_TYPES, 'other'] as const

/** One of {@link TLS_FAILURES}. */
export type TlsFailureType = (typeof TLS_FAILURES)[number]

/** Sessions that failed for one reason at one host. */
export interface TlsFailure {
  type: TlsFailureType
  mx: string | undefined
  sessions: number
}

/** What the sender saw under one policy. */
export interface TlsPolicyResult {
  type: TlsPolicyType
  domain: string
  successful: number
  failed: number
  failures: TlsFailure[]
}

/** A TLS report. */
export interface TlsReport extends ReportPeriod {
  kind: 'tls'
  org: string
  contact: string | undefined
  reportId: string
  policies: TlsPolicyResult[]
  /** Policies and failures that were left out because they are not valid. */
  skipped: number
}

const POLICY_TYPES = new Set<unknown>(['tlsa', 'sts', 'no-policy-found'])
const FAILURE_TYPES = new Set<unknown>(TLS_FAILURES)

/** Reads a parsed JSON document. Throws {@link ReportError} where it lacks what identifies a report. */
export function toTlsReport(document: unknown): TlsReport {
  const report = recordOf(document)
  const org = shownText(report['organization-name'])
  const reportId = shownText(report['report-id'])
  const range = recordOf(report['date-range'])
  const begin = timeOf(range['start-datetime'])
  const end = timeOf(range['end-datetime'])
  const given = report.policies
  if (org === undefined) return refuseReport(sentence('report.field_missing', { field: 'organization-name' }))
  if (reportId === undefined) return refuseReport(sentence('report.field_missing', { field: 'report-id' }))
  if (begin === undefined || end === undefined)
    return refuseReport(sentence('report.field_missing', { field: 'date-range' }))
  if (!Array.isArray(given)) return refuseReport(sentence('report.field_missing', { field: 'policies' }))
  if (given.length > MAX_RECORDS) return refuseReport(sentence('report.too_many_records', { count: MAX_RECORDS }))
  const skips = { count: 0 }
  const policies = given.flatMap(entry => policyOf(recordOf(entry), skips))
  if (policies.length === 0 && skips.count > 0)
    return refuseReport(sentence('report.no_valid_records', { count: skips.count }))
  return {
    kind: 'tls',
    org,
    contact: shownText(report['contact-info']),
    ...{ reportId, begin, end, policies, skipped: skips.count },
  }
}

function policyOf(entry: Record<string, unknown>, skips: { count: number }): TlsPolicyResult[] {
  const policy = recordOf(entry.policy)
  const summary = recordOf(entry.summary)
  const domain = domainNameOf(policy['policy-domain'])
  const successful = countOf(summary['total-successful-session-count'])
  const failed = countOf(summary['total-failure-session-count'])
  const type = policy['policy-type']
  if (!POLICY_TYPES.has(type) || domain === undefined || successful === undefined || failed === undefined) {
    skips.count++
    return []
  }
  const details = entry['failure-details'] ?? []
  const failures = Array.isArray(details) ? details.slice(0, MAX_RECORDS).flatMap(one => failureOf(recordOf(one))) : []
  if (Array.isArray(details)) skips.count += details.length - failures.length
  return [{ type: type as TlsPolicyType, domain, successful, failed, failures }]
}

function failureOf(detail: Record<string, unknown>): TlsFailure[] {
  const sessions = countOf(detail['failed-session-count'])
  const given = detail['result-type']
  if (sessions === undefined || typeof given !== 'string') return []
  const type = given.trim().toLowerCase()
  return [
    {
      type: FAILURE_TYPES.has(type) ? (type as TlsFailureType) : 'other',
      mx: domainNameOf(detail['receiving-mx-hostname']),
      sessions,
    },
  ]
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** A time of RFC 3339, in milliseconds since 1970. */
function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/.test(value)) return undefined
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : time
}
