/** Counts a report exactly once, in one transaction. */
import { createHash } from 'node:crypto'
import { modelOf } from '../../../platform/database/models.ts'
import { type Db, isDuplicateKey, type Mongo, type Session } from '../../../platform/database/mongo.ts'
import { DAY_MS, utcDayOf } from '../../../platform/durations.ts'
import {
  addCounters,
  DMARC_COUNTERS,
  type DmarcCounters,
  noMessages,
  OTHER_SOURCES,
  type SourceCounters,
} from '../rules/summarise-dmarc.ts'
import type { TlsSessions } from '../rules/summarise-tls.ts'
import { type DomainReportDoc, dmarcDays, dmarcSources, domainReports, tlsResults } from './report-model.ts'

/** Sources that are kept for a domain and a day; further ones are added up. */
export const MAX_SOURCES = 5_000
/** Results that are kept for a domain and a day; a reporter may make up names of hosts. */
const MAX_RESULTS = 2_000
/** Days for which sources are kept. */
const SOURCE_DAYS = 90

/** The numbers of a report. */
export type ReportNumbers =
  | { kind: 'dmarc'; total: DmarcCounters; sources: readonly SourceCounters[] }
  | { kind: 'tls'; results: readonly TlsSessions[] }

/** False when the report was counted before. Repeating a call whose outcome is unknown is safe. */
export async function countReport(mongo: Mongo, report: DomainReportDoc, numbers: ReportNumbers): Promise<boolean> {
  const { db } = mongo
  try {
    await mongo.transaction(async session => {
      await modelOf(db, domainReports).insertMany([report], { session })
      if (numbers.kind === 'tls') await addResults(db, report, numbers.results, session)
      else await addMessages(db, report, numbers, session)
    })
    return true
  } catch (error) {
    if (isDuplicateKey(error) && (await isCounted(db, report))) return false
    throw error
  }
}

async function isCounted(db: Db, { domain_id, kind, org, report_id }: DomainReportDoc): Promise<boolean> {
  return (await modelOf(db, domainReports).exists({ domain_id, kind, org, report_id })) !== null
}

async function addMessages(
  db: Db,
  report: DomainReportDoc,
  { total, sources }: Extract<ReportNumbers, { kind: 'dmarc' }>,
  session: Session,
): Promise<void> {
  const { domain_id, exp } = report
  // Reports of reporters in other time zones begin on it.
  const day = utcDayOf(report.begin)
  await modelOf(db, dmarcDays).updateOne(
    { _id: `${domain_id}/${day}` },
    { $inc: counters(total), $set: { domain_id, day }, $max: { exp } },
    { upsert: true, session },
  )
  const updates = sources.map(source => ({
    id: digest(domain_id, day, source.ip, source.spfDomain, source.dkimDomain),
    source,
  }))
  const kept = await withRoom(db, dmarcSources, { domain_id, day, session, most: MAX_SOURCES }, updates)
  const rest = noMessages()
  for (const update of updates) if (!kept.has(update.id)) addCounters(rest, update.source)
  const other = { id: digest(domain_id, day, '', '', ''), source: { ...OTHER_SOURCES, ...rest } }
  const all = [...updates.filter(({ id }) => kept.has(id)), ...(rest.messages > 0 ? [other] : [])]
  if (all.length === 0) return
  const until = new Date(report.begin.getTime() + SOURCE_DAYS * DAY_MS)
  await modelOf(db, dmarcSources).collection.bulkWrite(
    all.map(({ id, source }) => ({
      updateOne: {
        filter: { _id: id as never },
        update: {
          $inc: counters(source),
          $set: { domain_id, day, ip: source.ip, spf_domain: source.spfDomain, dkim_domain: source.dkimDomain },
          $max: { exp: until },
        },
        upsert: true,
      },
    })),
    { session, ordered: false },
  )
}

async function addResults(
  db: Db,
  { domain_id, begin, exp }: DomainReportDoc,
  results: readonly TlsSessions[],
  session: Session,
): Promise<void> {
  const day = utcDayOf(begin)
  const idOf = ({ policy, result, mx }: TlsSessions) => digest(domain_id, day, policy, result, mx)
  const updates = results.map(result => ({ id: idOf(result), result }))
  const kept = await withRoom(db, tlsResults, { domain_id, day, session, most: MAX_RESULTS }, updates)
  const all = updates.map(({ id, result }) => {
    if (kept.has(id) || result.result === '') return { id, result }
    const other: TlsSessions = { ...result, result: 'other', mx: '' }
    return { id: idOf(other), result: other }
  })
  if (all.length === 0) return
  await modelOf(db, tlsResults).collection.bulkWrite(
    all.map(({ id, result: { sessions, ...fields } }) => ({
      updateOne: {
        filter: { _id: id as never },
        update: { $inc: { sessions }, $set: { domain_id, day, ...fields }, $max: { exp } },
        upsert: true,
      },
    })),
    { session, ordered: false },
  )
}

/** The ids that exist for this day already, and new ones in order while there is room. */
async function withRoom(
  db: Db,
  definition: typeof dmarcSources | typeof tlsResults,
  { domain_id, day, session, most }: { domain_id: string; day: string; session: Session; most: number },
  updates: readonly { id: string }[],
): Promise<Set<string>> {
  const model = modelOf<{ _id: string; domain_id: string; day: string }>(db, definition as never)
  const stored = await model.find({ domain_id, day }, { _id: 1 }, { session, limit: most }).lean()
  const known = new Set(stored.map(({ _id }) => _id))
  const room = Math.max(0, most - known.size)
  const fresh = updates.filter(({ id }) => !known.has(id)).slice(0, room)
  return new Set([...updates.filter(({ id }) => known.has(id)), ...fresh].map(({ id }) => id))
}

function counters(values: DmarcCounters): Record<keyof DmarcCounters, number> {
  return Object.fromEntries(DMARC_COUNTERS.map(name => [name, values[name]])) as Record<keyof DmarcCounters, number>
}

function digest(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 27)
}
