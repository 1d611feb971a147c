/** How a router divides a command between shards, and makes one answer of several. */
import mongoose from 'mongoose'
import type { Document } from './wire.ts'

const { Int32, Long } = mongoose.mongo

/** A part of a command that writes: its shard, and the places of its statements in the whole. */
export interface WritePart {
  shard: number
  command: Document
  places: readonly number[]
}

/** Divides a command that writes by shard; `targets`: those of each statement. Statements of one shard keep their order. */
export function splitWrites(command: Document, field: string, targets: readonly (readonly number[])[]): WritePart[] {
  const statements = command[field] as Document[]
  const shards = Array.from(new Set(targets.flat()))
  return shards.map(shard => {
    const places = [...statements.keys()].filter(place => targets[place]?.includes(shard))
    // A shard recognises a repeated statement by its place in the whole command.
    const ids = command.txnNumber === undefined || command.autocommit === false ? {} : { stmtIds: toInts(places) }
    return { shard, places, command: { ...command, ...ids, [field]: places.map(place => statements[place]) } }
  })
}

const toInts = (places: readonly number[]) => places.map(place => new Int32(place))

/** One answer for the parts of a command that writes. */
export function mergeWrites(parts: readonly WritePart[], answers: readonly Document[]): Document {
  const failed = answers.find(({ ok }) => Number(ok) !== 1)
  if (failed) return failed
  const sum = (field: string) => new Int32(answers.reduce((total, answer) => total + Number(answer[field] ?? 0), 0))
  const placed = (field: string) =>
    answers.flatMap((answer, part) =>
      ((answer[field] ?? []) as Document[]).map(one => ({
        ...one,
        index: new Int32(parts[part]?.places[Number(one.index)] ?? 0),
      })),
    )
  const lists = Object.fromEntries(
    ['writeErrors', 'upserted'].map(field => [field, placed(field)] as const).filter(([, list]) => list.length > 0),
  )
  const concern = answers.find(({ writeConcernError }) => writeConcernError)?.writeConcernError
  return {
    n: sum('n'),
    nModified: sum('nModified'),
    ...lists,
    ...(concern ? { writeConcernError: concern } : {}),
    ok: 1,
  }
}

const SORT_KEY = '__sort'

/** The question for each of several shards: as much as may be needed of it, with the key of the order. */
export function withSortKey({ skip, limit, batchSize, singleBatch, ...command }: Document): Document {
  const most = Number(limit ?? 0) === 0 ? {} : { limit: new Int32(Number(limit) + Number(skip ?? 0)) }
  if (command.sort === undefined) return { ...command, ...most }
  const projection = { ...((command.projection ?? {}) as Document), [SORT_KEY]: { $meta: 'sortKey' } }
  return { ...command, ...most, projection }
}

/** One answer for a question that several shards have answered to the end. */
export function mergeFinds(command: Document, answers: readonly Document[]): Document {
  const failed = answers.find(({ ok }) => Number(ok) !== 1)
  if (failed) return failed
  const directions = Object.values((command.sort ?? {}) as Document).map(Number)
  const found = answers.flatMap(({ cursor }) => (cursor as { firstBatch: Document[] }).firstBatch)
  const sorted = directions.length === 0 ? found : found.toSorted((a, b) => compareKeys(a, b, directions))
  const from = Number(command.skip ?? 0)
  const documents = sorted
    .slice(from, Number(command.limit ?? 0) === 0 ? undefined : from + Number(command.limit))
    .map(({ [SORT_KEY]: _, ...document }) => document)
  return {
    cursor: { ...((answers[0]?.cursor ?? {}) as Document), firstBatch: documents, id: Long.fromNumber(0) },
    ok: 1,
  }
}

function compareKeys(a: Document, b: Document, directions: readonly number[]): number {
  for (const [n, direction] of directions.entries()) {
    const order = compareValues((a[SORT_KEY] as unknown[])[n], (b[SORT_KEY] as unknown[])[n])
    if (order !== 0) return order * direction
  }
  return 0
}

/** The order of BSON for the types that keys of order have: nothing, numbers, texts, the rest by its text, times. */
function compareValues(a: unknown, b: unknown): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)]
  if (rankA !== rankB) return rankA - rankB
  const [left, right] = rankA === 1 || rankA === 4 ? [Number(a), Number(b)] : [String(a), String(b)]
  if (left === right) return 0
  return left < right ? -1 : 1
}

function rankOf(value: unknown): number {
  if (value === null || value === undefined) return 0
  if (value instanceof Date) return 4
  if (typeof value === 'string') return 2
  return Number.isNaN(Number(value)) ? 3 : 1
}

/**
 * One answer for `count`, `distinct`, and an aggregation that ends with groups of nothing but sums, as that of
 * `countDocuments`; undefined for any other.
 */
export function mergeAggregations(name: string, command: Document, answers: readonly Document[]): Document | undefined {
  if (name === 'count') return { n: new Int32(answers.reduce((total, { n }) => total + Number(n), 0)), ok: 1 }
  if (name === 'distinct') {
    const values = answers.flatMap(({ values: some }) => some as unknown[])
    return { values: Array.from(new Map(values.map(value => [String(value), value])).values()), ok: 1 }
  }
  const pipeline = (command.pipeline ?? []) as Document[]
  const sums = sumsOf(pipeline)
  if (!sums) return undefined
  // As for `countDocuments`: with a limit there is one group.
  const most = Number(pipeline.find(stage => stage.$limit !== undefined)?.$limit ?? Number.POSITIVE_INFINITY)
  const rows = answers.flatMap(({ cursor }) => (cursor as { firstBatch: Document[] }).firstBatch)
  const groups = Map.groupBy(rows, ({ _id }) => String(_id))
  const firstBatch = Array.from(groups.values(), group => {
    const sumOf = (field: string) => group.reduce((sum, row) => sum + Number(row[field]), 0)
    return { ...group[0], ...Object.fromEntries(sums.map(field => [field, new Int32(Math.min(sumOf(field), most))])) }
  })
  return { cursor: { ...((answers[0]?.cursor ?? {}) as Document), firstBatch, id: Long.fromNumber(0) }, ok: 1 }
}

/** The fields with sums of the last stage; undefined for other stages. */
function sumsOf(pipeline: readonly Document[]): string[] | undefined {
  const stages = pipeline.map(stage => Object.keys(stage)[0])
  if (!/^\$match( \$sort)?( \$limit)? \$group$/.test(stages.join(' '))) return undefined
  const { _id, ...fields } = (pipeline.at(-1)?.$group ?? {}) as Document
  const areSums = Object.values(fields).every(field => '$sum' in (field as Document))
  return areSums ? Object.keys(fields) : undefined
}
