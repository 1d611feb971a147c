/** Pages of a collection by cursor: after an id, or after a date and an id. */
import type { PageRequest } from '../cursor-pages.ts'
import type { Model, QueryFilter } from './models.ts'
import type { Collection } from './mongo.ts'

type Filter<T extends object> = NonNullable<Parameters<Collection<T>['find']>[0]>

/** The rows of a page and one more, by id: oldest first, or newest first. Input of `toPage`. */
export async function readPage<T extends { _id: string }>(
  model: Model<T>,
  filter: QueryFilter<T>,
  { after, limit }: PageRequest,
  order: 'oldest first' | 'newest first' = 'oldest first',
): Promise<T[]> {
  const forward = order === 'oldest first'
  const wanted = after === undefined ? filter : { ...filter, _id: forward ? { $gt: after } : { $lt: after } }
  return model
    .find(wanted)
    .sort({ _id: forward ? 1 : -1 })
    .limit(limit + 1)
    .lean<T[]>()
}

/** A page of a list with an offset, and how many documents the list has. */
export async function findPage<T extends object>(
  model: Model<T>,
  filter: QueryFilter<T>,
  sort: Record<string, 1 | -1>,
  { offset, size }: { offset: number; size: number },
): Promise<{ items: T[]; total: number }> {
  const items = model.find(filter).sort(sort).skip(offset).limit(size).lean<T[]>()
  const [found, total] = await Promise.all([items, model.countDocuments(filter)])
  return { items: found, total }
}

/**
 * The rows after a position in a list by this date, newest first. The first condition bounds the index scan; the other
 * parts those of the same date.
 */
export function afterPosition<T extends { _id: string | number }>(
  { at, id }: { at: Date; id: T['_id'] },
  date: 'created_at' | 'at' = 'created_at',
): Filter<T> {
  const filter: object = { [date]: { $lte: at }, $or: [{ [date]: { $lt: at } }, { _id: { $lt: id } }] }
  return filter as Filter<T>
}
