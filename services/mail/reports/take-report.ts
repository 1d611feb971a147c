/** Takes a report about a domain in, from whichever way it came. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { DomainDoc } from '../domains/store/domain-model.ts'
import { REPORT_DAYS, type Report, readReport } from './reading/read-report.ts'
import { refuseReport } from './rules/report-values.ts'
import { summariseDmarc } from './rules/summarise-dmarc.ts'
import { summariseTls } from './rules/summarise-tls.ts'
import { countReport, type ReportNumbers } from './store/count-report.ts'
import type { DomainReportDoc } from './store/report-model.ts'

/** Dependencies of {@link takeReport}. */
export interface ReportDeps {
  mongo: Mongo
  clock: Clock
}

/** The domain that a report is for. */
export type ReportedDomain = Pick<DomainDoc, '_id' | 'user_id' | 'name'>

/** A report that is counted; `duplicate`: it was before. */
export interface TakenReport extends DomainReportDoc {
  duplicate: boolean
}

/**
 * Reads a report and counts it for the domain, once. Throws {@link ReportError} for a file that is no usable report, and
 * for one about another domain.
 */
export async function takeReport(
  { mongo, clock }: ReportDeps,
  domain: ReportedDomain,
  file: Buffer,
  via: DomainReportDoc['via'],
): Promise<TakenReport> {
  const now = clock.now()
  const report = await readReport(file, now.getTime())
  const { total, failed, numbers } = numbersOf(report, domain.name)
  const doc: DomainReportDoc = {
    _id: newId('rep', now.getTime()),
    user_id: domain.user_id,
    domain_id: domain._id,
    kind: report.kind,
    org: report.org,
    report_id: report.reportId,
    ...(report.contact !== undefined && { contact: report.contact }),
    begin: new Date(report.begin),
    end: new Date(report.end),
    ...{ total, failed, skipped: report.skipped, via, received_at: now },
    exp: new Date(report.begin + REPORT_DAYS * DAY_MS),
  }
  return { ...doc, duplicate: !(await countReport(mongo, doc, numbers)) }
}

function numbersOf(report: Report, domain: string): { total: number; failed: number; numbers: ReportNumbers } {
  if (report.kind === 'dmarc') {
    const summary = summariseDmarc(report, domain)
    if (!summary) return refuseReport(sentence('report.other_domain', { reported: report.policyDomain, domain }))
    const { messages, pass } = summary.total
    return { total: messages, failed: messages - pass, numbers: { kind: 'dmarc', ...summary } }
  }
  const results = summariseTls(report, domain)
  const reported = report.policies[0]?.domain ?? ''
  if (!results) return refuseReport(sentence('report.other_domain', { reported, domain }))
  const sum = (some: typeof results) => some.reduce((all, { sessions }) => all + sessions, 0)
  const failed = sum(results.filter(({ result }) => result !== ''))
  return { total: sum(results), failed, numbers: { kind: 'tls', results } }
}
