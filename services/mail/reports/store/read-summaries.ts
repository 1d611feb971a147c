/** Reads the counters of reports for a period. */
import { modelOf } from '../../../platform/database/models.ts'
import type { Db } from '../../../platform/database/mongo.ts'
import { DMARC_COUNTERS, type DmarcCounters, type SourceCounters } from '../rules/summarise-dmarc.ts'
import type { TlsSessions } from '../rules/summarise-tls.ts'
import { type DomainReportDoc, dmarcDays, dmarcSources, domainReports, tlsResults } from './report-model.ts'

/** Days from `from` to `to`, both included, as in `2026-11-23`. */
export interface DayRange {
  from: string
  to: string
}

/** Longest time that a query may take, in milliseconds. */
const TIME_LIMIT = { maxTimeMS: 10_000 }
/** Sources, results and reporters that are shown: those with most messages. */
export const SHOWN = { sources: 200, results: 200, reporters: 50 }

/** Messages by day, oldest first; days without reports are left out. */
export async function dmarcByDay(
  db: Db,
  domainId: string,
  { from, to }: DayRange,
): Promise<(DmarcCounters & { day: string })[]> {
  return modelOf(db, dmarcDays)
    .find({ domain_id: domainId, day: { $gte: from, $lte: to } })
    .sort({ day: 1 })
    .lean()
}

/** The sources with most messages, one more than {@link SHOWN} where there are more. */
export async function dmarcBySource(db: Db, domainId: string, { from, to }: DayRange): Promise<SourceCounters[]> {
  const sums = Object.fromEntries(DMARC_COUNTERS.map(name => [name, { $sum: `$${name}` }]))
  const found = await modelOf(db, dmarcSources)
    .collection.aggregate<DmarcCounters & { _id: { ip: string; spf: string; dkim: string } }>(
      [
        { $match: { domain_id: domainId, day: { $gte: from, $lte: to } } },
        { $group: { _id: { ip: '$ip', spf: '$spf_domain', dkim: '$dkim_domain' }, ...sums } },
        { $sort: { messages: -1, _id: 1 } },
        { $limit: SHOWN.sources + 1 },
      ],
      TIME_LIMIT,
    )
    .toArray()
  return found.map(({ _id, ...counters }) => ({ ...counters, ip: _id.ip, spfDomain: _id.spf, dkimDomain: _id.dkim }))
}

/** Sessions by day and result. */
export async function tlsByDay(db: Db, domainId: string, { from, to }: DayRange) {
  return modelOf(db, tlsResults)
    .collection.aggregate<{ day: string; successful: number; failed: number }>(
      [
        { $match: { domain_id: domainId, day: { $gte: from, $lte: to } } },
        {
          $group: {
            _id: '$day',
            successful: { $sum: { $cond: [{ $eq: ['$result', ''] }, '$sessions', 0] } },
            failed: { $sum: { $cond: [{ $eq: ['$result', ''] }, 0, '$sessions'] } },
          },
        },
        { $sort: { _id: 1 } },
        { $project: { _id: 0, day: '$_id', successful: 1, failed: 1 } },
      ],
      TIME_LIMIT,
    )
    .toArray()
}

/** Failed sessions by policy, result and host, most first. */
export async function tlsFailures(db: Db, domainId: string, { from, to }: DayRange): Promise<TlsSessions[]> {
  const found = await modelOf(db, tlsResults)
    .collection.aggregate<{ _id: Omit<TlsSessions, 'sessions'>; sessions: number }>(
      [
        { $match: { domain_id: domainId, day: { $gte: from, $lte: to }, result: { $ne: '' } } },
        { $group: { _id: { policy: '$policy', result: '$result', mx: '$mx' }, sessions: { $sum: '$sessions' } } },
        { $sort: { sessions: -1, _id: 1 } },
        { $limit: SHOWN.results },
      ],
      TIME_LIMIT,
    )
    .toArray()
  return found.map(({ _id, sessions }) => ({ ..._id, sessions }))
}

/** Who reported, with the number of reports and what they were about. */
export async function reporters(
  db: Db,
  domainId: string,
  kind: DomainReportDoc['kind'],
  { from, to }: DayRange,
): Promise<{ org: string; reports: number; total: number; failed: number; last: Date }[]> {
  const begin = { $gte: new Date(`${from}T00:00:00Z`), $lte: new Date(`${to}T23:59:59.999Z`) }
  return modelOf(db, domainReports)
    .collection.aggregate<{ org: string; reports: number; total: number; failed: number; last: Date }>(
      [
        { $match: { domain_id: domainId, kind, begin } },
        {
          $group: {
            _id: '$org',
            reports: { $sum: 1 },
            total: { $sum: '$total' },
            failed: { $sum: '$failed' },
            last: { $max: '$received_at' },
          },
        },
        { $sort: { total: -1, _id: 1 } },
        { $limit: SHOWN.reporters },
        { $project: { _id: 0, org: '$_id', reports: 1, total: 1, failed: 1, last: 1 } },
      ],
      TIME_LIMIT,
    )
    .toArray()
}
