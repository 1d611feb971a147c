/** DMARC and TLS reports about a domain over HTTP. */
import type { z } from 'zod'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { getDomain } from '../../domains/register-domain.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import type { DmarcCounters } from '../rules/summarise-dmarc.ts'
import { type JudgedSource, lastDays, summariseDomainDmarc, summariseDomainTls } from '../summaries.ts'
import type { TakenReport } from '../take-report.ts'
import {
  addDomainReportOperation,
  type dmarcSummary,
  type domainReport,
  getDmarcOperation,
  getTlsReportsOperation,
} from './domain-reports-contract.ts'
import type { TakeUpload } from './read-upload.ts'

/** Puts the operations on reports on the router. */
export function mountDomainReports(router: Router, deps: MailHttpDeps, takeUpload: TakeUpload): void {
  const { authorise, audit, config, clock, mongo } = deps
  const { db } = mongo
  const domainOf = (userId: string, id: string) => getDomain({ ...deps, db }, userId, id)

  bind(router, authorise, addDomainReportOperation, async ({ params }, caller, context) => {
    const domain = await domainOf(caller.account.id, params.id)
    const taken = await takeUpload(context, domain, 'api')
    const target = { type: 'domain', id: domain._id, name: domain.name }
    if (!taken.duplicate) await audit(caller, context, { action: 'domain.report_added', target })
    return showReport(taken)
  })

  bind(router, authorise, getDmarcOperation, async ({ params, query }, { account }) => {
    const { _id, name } = await domainOf(account.id, params.id)
    const range = lastDays(clock.now(), query.days)
    const summary = await summariseDomainDmarc(db, _id, range, config.SENDING_IP)
    return {
      object: 'dmarc_summary' as const,
      ...{ domain: name, ...range },
      totals: showCounters(summary.totals),
      by_day: summary.days.map(day => ({ day: day.day, ...showCounters(day) })),
      sources: summary.sources.map(showSource),
      more_sources: summary.moreSources,
      reporters: summary.reporters.map(showReporter),
    }
  })

  bind(router, authorise, getTlsReportsOperation, async ({ params, query }, { account }) => {
    const { _id, name } = await domainOf(account.id, params.id)
    const range = lastDays(clock.now(), query.days)
    const { totals, days, failures, reporters } = await summariseDomainTls(db, _id, range)
    return {
      object: 'tls_summary' as const,
      ...{ domain: name, ...range, totals, by_day: days },
      failures: failures.map(failure => ({ ...failure, mx: failure.mx || null })),
      reporters: reporters.map(showReporter),
    }
  })
}

/** A report as answers show it. */
export function showReport(taken: TakenReport): z.input<typeof domainReport> {
  const { kind, org, report_id, begin, end, total, failed, skipped, duplicate } = taken
  return {
    object: 'domain_report',
    ...{ kind, organisation: org, report_id, total, failed, skipped, duplicate },
    begin: begin.toISOString(),
    end: end.toISOString(),
  }
}

function showCounters({ messages, pass, dkim, spf, quarantine, reject }: DmarcCounters) {
  return {
    ...{ messages, pass, fail: messages - pass, dkim_pass: dkim, spf_pass: spf },
    ...{ quarantined: quarantine, rejected: reject },
  }
}

function showSource(source: JudgedSource): z.input<typeof dmarcSummary>['sources'][number] {
  const { ip, spfDomain, dkimDomain, verdict, explanation } = source
  return {
    ip: ip || null,
    spf_domain: spfDomain || null,
    dkim_domain: dkimDomain || null,
    ...showCounters(source),
    verdict,
    ...sentenceFields('explanation', explanation),
  }
}

function showReporter({
  org,
  reports,
  total,
  failed,
  last,
}: {
  org: string
  reports: number
  total: number
  failed: number
  last: Date
}) {
  return { organisation: org, reports, total, failed, last_received_at: last.toISOString() }
}
