/** What reports say about a domain in a period. */
import type { Db } from '../../platform/database/mongo.ts'
import { DAY_MS, utcDayOf } from '../../platform/durations.ts'
import {
  addCounters,
  explainVerdict,
  noMessages,
  type SourceCounters,
  type SourceVerdict,
  verdictOf,
} from './rules/summarise-dmarc.ts'
import {
  type DayRange,
  dmarcByDay,
  dmarcBySource,
  reporters,
  SHOWN,
  tlsByDay,
  tlsFailures,
} from './store/read-summaries.ts'

/** The last `days` days in UTC, today included. */
export function lastDays(now: Date, days: number): DayRange {
  return { from: utcDayOf(new Date(now.getTime() - (days - 1) * DAY_MS)), to: utcDayOf(now) }
}

/** A source with what it is. */
export interface JudgedSource extends SourceCounters {
  verdict: SourceVerdict
  explanation: ReturnType<typeof explainVerdict>
}

/** DMARC results; `addresses` are those that this installation sends from. */
export async function summariseDomainDmarc(db: Db, domainId: string, range: DayRange, addresses: readonly string[]) {
  const [days, found, who] = await Promise.all([
    dmarcByDay(db, domainId, range),
    dmarcBySource(db, domainId, range),
    reporters(db, domainId, 'dmarc', range),
  ])
  const totals = noMessages()
  for (const day of days) addCounters(totals, day)
  const own = new Set(addresses)
  const sources = found.slice(0, SHOWN.sources).map((source): JudgedSource => {
    const verdict = verdictOf(source, own)
    return { ...source, verdict, explanation: explainVerdict(verdict) }
  })
  return { days, totals, sources, moreSources: found.length > sources.length, reporters: who }
}

/** TLS results. */
export async function summariseDomainTls(db: Db, domainId: string, range: DayRange) {
  const [days, failures, who] = await Promise.all([
    tlsByDay(db, domainId, range),
    tlsFailures(db, domainId, range),
    reporters(db, domainId, 'tls', range),
  ])
  const totals = { successful: 0, failed: 0 }
  for (const { successful, failed } of days) {
    totals.successful += successful
    totals.failed += failed
  }
  return { days, totals, failures, reporters: who }
}
