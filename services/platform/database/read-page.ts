/** Pages of a collection by cursor: after an id, or after a date and an id. */
import type { PageRequest } from '../cursor-pages.ts'
import type { OrderedPage } from '../ordered-pages.ts'
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

/** Condition and sorting of a page in one of the orders of a list: both follow the index of its fields. */
export function orderedQuery(page: Pick<OrderedPage, 'order' | 'fields' | 'position'>) {
  const forward = page.order === 'asc'
  const sort = Object.fromEntries(page.fields.map(field => [field, forward ? (1 as const) : (-1 as const)]))
  return { after: page.position ? afterValues(page.fields, page.position, forward) : {}, sort }
}

/** The first condition bounds the index scan; the other parts what has the same first value. */
function afterValues(fields: readonly string[], values: readonly string[], forward: boolean): Record<string, unknown> {
  const [strictly, orEqual] = forward ? ['$gt', '$gte'] : ['$lt', '$lte']
  const [field = '', ...others] = fields
  const [value = '', ...further] = values
  if (others.length === 0) return { [field]: { [strictly]: value } }
  const same = { [field]: value, ...afterValues(others, further, forward) }
  return { [field]: { [orEqual]: value }, $or: [{ [field]: { [strictly]: value } }, same] }
}

/** Longest time of a page in milliseconds. */
const MAX_MS = 5_000

/**
 * The rows of a page and one more, in one of the orders of a list. Input of `toOrderedPage`. `hint`: the index whose keys
 * the filter is compared with, for one that compares every key; the page is sorted afterwards then.
 */
export async function readOrdered<T extends { _id: string }>(
  model: Model<T>,
  filter: QueryFilter<T>,
  page: OrderedPage,
  hint?: Record<string, 1 | -1>,
): Promise<T[]> {
  const { after, sort } = orderedQuery(page)
  const wanted: object = { $and: [filter, after] }
  const found = model.find(wanted)
  return (hint ? found.hint(hint).maxTimeMS(MAX_MS) : found)
    .sort(sort)
    .limit(page.limit + 1)
    .lean<T[]>()
}

/** A part of a name as a condition, for names that are stored in lower case. */
export function partOfName(part: string): { $regex: string } {
  return { $regex: RegExp.escape(part.toLowerCase()) }
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
  oldestFirst = false,
): Filter<T> {
  const [orEqual, strictly] = oldestFirst ? ['$gte', '$gt'] : ['$lte', '$lt']
  const filter: object = {
    [date]: { [orEqual]: at },
    $or: [{ [date]: { [strictly]: at } }, { _id: { [strictly]: id } }],
  }
  return filter as Filter<T>
}
