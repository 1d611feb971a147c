/**
 * Sends TLS reports to recipient domains (RFC 8460), each by the worker that claimed it. By mail a report leaves once: its
 * place in the queue has the key of report and destination. Over HTTPS a worker that dies between the answer and its note
 * of it leaves a report that is posted again with the same id.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Db } from '../../platform/database/mongo.ts'
import { failureText, type GuardedPost } from '../../platform/network/guarded-fetch.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Metrics } from '../../platform/observability/metrics.ts'
import type { TlsFailureCount } from '../delivery/rules/tls-results.ts'
import type { TlsDayDoc } from '../delivery/store/tls-days.ts'
import { type OutgoingTlsReport, tlsReportDocument } from './rules/build-tls-report.ts'
import { destinationKey, type ReportDestination, reportDestinationsOf } from './rules/tls-reporting-record.ts'
import { createTlsReportClaims } from './store/tls-report-claims.ts'

/** Queues a report as mail. `unsigned`: no verified domain signs it, so that receivers would ignore it. */
export type QueueReportMail = (
  report: OutgoingTlsReport,
  file: Uint8Array,
  to: string,
) => Promise<'queued' | 'unsigned'>

/** Dependencies of {@link sendTlsReports}. */
export interface TlsReportDeps {
  db: Db
  now(): Date
  /** TXT records of a name; rejects with the codes of node:dns. */
  lookupTxt(name: string): Promise<unknown>
  post: GuardedPost
  queueMail: QueueReportMail
  /** Our public address of a session, as far as it is known. */
  publicAddress(from: string | undefined, to: string | undefined): string | undefined
  reporter: Pick<OutgoingTlsReport, 'organization' | 'contact' | 'hostname'>
  metrics: Pick<Metrics, 'tlsReports'>
  log: Log
}

/** Longer than a report takes with all of its destinations, in milliseconds. */
const LEASE_MS = 10 * 60_000
/** Reports that a worker works on at the same time. */
const PARALLEL = 8
const POST_MS = 30_000
const compress = promisify(gzip)

/** Sends all reports that are due, until the signal aborts or `mostMs` are over. */
export async function sendTlsReports(deps: TlsReportDeps, signal: AbortSignal, mostMs: number): Promise<void> {
  const claims = createTlsReportClaims(deps.db, deps.now)
  const started = performance.now()
  const lane = async () => {
    while (!signal.aborted && performance.now() - started < mostMs) {
      const due = await claims.claim(LEASE_MS)
      if (!due) return
      await sendOne(deps, claims, due).catch(async (error: unknown) => {
        deps.log.warn({ err: error, report: due._id }, 'a TLS report was not sent; trying again')
        if (claims.isLast(due)) await claims.finish(due)
        else await claims.postpone(due)
      })
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, lane))
}

type Claims = ReturnType<typeof createTlsReportClaims>

async function sendOne(deps: TlsReportDeps, claims: Claims, due: TlsDayDoc): Promise<void> {
  const destinations = await destinationsOf(deps, due.domain)
  const left = destinations.filter(destination => !due.finished?.includes(keyOf(destination)))
  if (left.length === 0) return claims.finish(due)
  const report = reportOf(deps, due)
  const file = await compress(JSON.stringify(tlsReportDocument(report)))
  let waiting = 0
  for (const destination of left) {
    const outcome = await sendTo(deps, report, file, destination)
    const final = outcome === 'retried' && claims.isLast(due) ? 'failed' : outcome
    deps.metrics.tlsReports.inc({ channel: destination.kind, outcome: final })
    if (final === 'retried') waiting++
    else await claims.finishDestination(due, keyOf(destination))
  }
  await (waiting > 0 ? claims.postpone(due) : claims.finish(due))
}

/** Destinations from DNS, asked at each try. Rejects when DNS gives no answer. */
async function destinationsOf({ lookupTxt }: TlsReportDeps, domain: string): Promise<ReportDestination[]> {
  try {
    const found = await lookupTxt(`_smtp._tls.${domain}`)
    const records = Array.isArray(found) ? found : []
    return reportDestinationsOf(records.map(row => (Array.isArray(row) ? row.join('') : String(row))))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME') return []
    throw error
  }
}

async function sendTo(
  { post, queueMail, log }: TlsReportDeps,
  report: OutgoingTlsReport,
  file: Uint8Array<ArrayBuffer>,
  destination: ReportDestination,
): Promise<'sent' | 'retried' | 'failed'> {
  const about = { domain: report.domain, day: report.day, to: destinationKey(destination) }
  try {
    if (destination.kind === 'mail') {
      const queued = await queueMail(report, file, destination.address)
      return queued === 'unsigned' ? 'failed' : 'sent'
    }
    const headers = { 'content-type': 'application/tlsrpt+gzip' }
    const { status } = await post({ url: destination.url, headers, body: file, timeoutMs: POST_MS })
    if (status >= 200 && status < 300) return 'sent'
    log.info({ ...about, status }, 'a TLS report was not accepted')
  } catch (error) {
    log.info({ ...about, reason: failureText(error) }, 'a TLS report was not delivered')
  }
  return 'retried'
}

function reportOf(
  { reporter, publicAddress }: TlsReportDeps,
  { day, domain, policies = {} }: TlsDayDoc,
): OutgoingTlsReport {
  const shown = (failure: TlsFailureCount) => ({ ...failure, from: publicAddress(failure.from, failure.ip) })
  const sessions = Object.values(policies).map(policy => ({
    ...policy,
    failures: Object.values(policy.failures).map(shown),
  }))
  return { day, domain, ...reporter, policies: sessions }
}

function keyOf(destination: ReportDestination): string {
  return createHash('sha256').update(destinationKey(destination)).digest('base64url').slice(0, 27)
}
