/** TLS results of sessions with the servers of recipient domains, by day: what TLS reports are made from (RFC 8460). */
import { collectionOf, type Db, defineCollection } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { reportDueAt } from '../rules/report-schedule.ts'
import type { TlsFailureCount } from '../rules/tls-results.ts'

/** Sessions under one policy. */
export interface PolicyCount {
  type: 'sts' | 'no-policy-found'
  strings: string[]
  successful: number
  failed: number
  /** By a digest of their fields. */
  failures: Record<string, TlsFailureCount>
}

/** A domain's sessions of a UTC day, and what became of its report. `_id` is `<day>/<domain>`. */
export interface TlsDayDoc {
  _id: string
  /** As in `2026-11-23`. */
  day: string
  domain: string
  /** By the key of the policy. Removed with the report's end. */
  policies?: Record<string, PolicyCount>
  /** When the report is made or tried again; a worker that takes it moves this first. Absent: nothing is left to do. */
  due_at?: Date
  /** Times that a worker has taken it. */
  tries?: number
  /** Destinations that have the report, or never get it. */
  finished?: string[]
  exp: Date
}

/** Results of all domains; a document goes some days after its own. */
export const TLS_DAYS = defineCollection<TlsDayDoc>('tls_days', [
  { key: { due_at: 1 }, sparse: true },
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** What a worker counted since its last write. */
export interface NewTlsCounts {
  day: string
  domain: string
  policies: ReadonlyMap<string, Omit<PolicyCount, 'failures'> & { failures: ReadonlyMap<string, TlsFailureCount> }>
}

/** Days after its own for which a document is kept: longer than a report is tried. */
const KEPT_DAYS = 4
/** Different policies of a domain and day; a further one is not counted. */
const MAX_POLICIES = 5
/** Different failures of a policy and day; further ones are only in the sum. One write may exceed it by its own. */
export const MAX_FAILURES = 100
/** Documents of all days: three days of a hundred thousand domains and more. Above, no domain is added. */
const MAX_DOCUMENTS = 500_000
/** Documents that one command writes. */
const BATCH = 500

/**
 * Adds counts to those of all workers. Rejects when the database is away; `onWritten` is called with what is written by
 * then.
 */
export async function addTlsCounts(
  db: Db,
  counts: readonly NewTlsCounts[],
  { onWritten, maxDocuments = MAX_DOCUMENTS }: AddOptions = {},
): Promise<void> {
  if (counts.length === 0) return
  const collection = collectionOf(db, TLS_DAYS)
  const upsert = (await collection.estimatedDocumentCount()) < maxDocuments
  for (let at = 0; at < counts.length; at += BATCH) {
    const batch = counts.slice(at, at + BATCH)
    await collection.bulkWrite(
      batch.map(one => ({
        updateOne: { filter: { _id: `${one.day}/${one.domain}` }, update: additionOf(one), upsert },
      })),
      { ordered: false },
    )
    onWritten?.(batch)
  }
}

interface AddOptions {
  onWritten?(written: readonly NewTlsCounts[]): void
  /** Documents above which no domain is added. */
  maxDocuments?: number
}

type Expression = Record<string, unknown>

function additionOf({ day, domain, policies }: NewTlsCounts): Expression[] {
  const end = Date.parse(`${day}T00:00:00Z`) + DAY_MS
  const isNew = { $eq: [{ $type: '$exp' }, 'missing'] }
  const first = {
    day,
    domain,
    // Absent for good once the report is finished: late counts do not begin another one.
    due_at: { $cond: [isNew, reportDueAt(day, domain), '$due_at'] },
    exp: { $ifNull: ['$exp', new Date(end + KEPT_DAYS * DAY_MS)] },
  }
  return [{ $set: first }, ...[...policies].map(([key, policy]) => ({ $set: { policies: withPolicy(key, policy) } }))]
}

function withPolicy(key: string, { failures, ...policy }: PolicyOfMap): Expression {
  const known = { $ifNull: ['$policies', {}] }
  const path = `$policies.${key}`
  const counted = {
    [key]: {
      type: policy.type,
      strings: { $literal: policy.strings },
      successful: plus(`${path}.successful`, policy.successful),
      failed: plus(`${path}.failed`, policy.failed),
      failures: withFailures(`${path}.failures`, failures),
    },
  }
  return { $cond: [hasRoom(path, known, MAX_POLICIES), { $mergeObjects: [known, counted] }, known] }
}

type PolicyOfMap = NewTlsCounts['policies'] extends ReadonlyMap<string, infer P> ? P : never

function withFailures(path: string, failures: ReadonlyMap<string, TlsFailureCount>): Expression {
  const known = { $ifNull: [path, {}] }
  const counted = [...failures].map(([key, { sessions, ...fields }]) => {
    const texts = Object.entries(fields).filter(([, value]) => value !== undefined)
    const values = Object.fromEntries(texts.map(([name, value]) => [name, { $literal: value }]))
    const failure = { [key]: { ...values, sessions: plus(`${path}.${key}.sessions`, sessions) } }
    return { $cond: [hasRoom(`${path}.${key}`, known, MAX_FAILURES), failure, {}] }
  })
  return { $mergeObjects: [known, ...counted] }
}

/** The entry exists, or there is room for another one. */
function hasRoom(path: string, entries: Expression, most: number): Expression {
  const exists = { $ne: [{ $type: path }, 'missing'] }
  return { $or: [exists, { $lt: [{ $size: { $objectToArray: entries } }, most] }] }
}

function plus(path: string, count: number): Expression {
  return { $add: [{ $ifNull: [path, 0] }, count] }
}
