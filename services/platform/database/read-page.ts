/** Pages of a collection by cursor: behind an id, or behind a moment and an id. */
import type { PageRequest } from '../cursor-pages.ts'
import type { Collection } from './mongo.ts'

type Filter<T extends object> = NonNullable<Parameters<Collection<T>['find']>[0]>

/** The rows of a page and one more, by id: oldest first, or newest first. `toPage` makes an answer of them. */
export async function readPage<T extends { _id: string }>(
  collection: Collection<T>,
  filter: Filter<T>,
  { after, limit }: PageRequest,
  order: 'oldest first' | 'newest first' = 'oldest first',
): Promise<T[]> {
  const forward = order === 'oldest first'
  const wanted = after === undefined ? filter : { ...filter, _id: forward ? { $gt: after } : { $lt: after } }
  const rows = collection.find(wanted as Filter<T>).sort({ _id: forward ? 1 : -1 })
  return (await rows.limit(limit + 1).toArray()) as T[]
}

/**
 * What comes after a position in a list by this date, newest first. The first condition bounds the walk along an index;
 * the other parts those of one moment.
 */
export function afterPosition<T extends { _id: string | number }>(
  { at, id }: { at: Date; id: T['_id'] },
  date: 'created_at' | 'at' = 'created_at',
): Filter<T> {
  const filter: object = { [date]: { $lte: at }, $or: [{ [date]: { $lt: at } }, { _id: { $lt: id } }] }
  return filter as Filter<T>
}
