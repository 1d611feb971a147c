/**
 * Suppressed addresses. Delivery asks for those of each claimed batch and adds those that bounce, so this collection is
 * read and written through the driver.
 */
import {
  type Collection,
  collectionOf,
  type Db,
  defineCollection,
  isDuplicateKey,
  type Session,
} from '../../../platform/database/mongo.ts'
import { orderedQuery } from '../../../platform/database/read-page.ts'
import { newId } from '../../../platform/ids.ts'
import type { OrderedPage } from '../../../platform/ordered-pages.ts'
import type { SuppressionOrigin, SuppressionReason, SuppressionState } from '../rules/suppression.ts'

/** A suppressed address. `_id` is `sup_…`; one document for each account, address and stream. */
export interface SuppressionDoc extends SuppressionState {
  _id: string
  user_id: string
  origin: SuppressionOrigin
  /** The message that bounced, was complained about or unsubscribed from. */
  email_id?: string
  /** Words of a receiver, or a note of a person; at most 500 characters. */
  detail?: string
}

/** An entry that is to be stored. */
export type NewSuppression = Omit<SuppressionDoc, '_id'>

/** Entries of accounts; those with an end are removed by the database after it. */
export const SUPPRESSIONS = defineCollection<SuppressionDoc>('suppressions', [
  { key: { user_id: 1, email: 1, stream: 1 }, unique: true },
  { key: { user_id: 1, _id: -1 } },
  { key: { expires_at: 1 }, expireAfterSeconds: 0 },
])

/** A majority of the replica set has it, with its journal. */
const DURABLE = { writeConcern: { w: 'majority', j: true } } as const

/** Entries of one account for some addresses, in the form of `suppressionAddress`. */
export interface AddressesOfAccount {
  userId: string
  emails: readonly string[]
}

/** The entries of addresses of several accounts, with one query; ended ones too while the database has them. */
export async function findSuppressions(
  db: Db,
  wanted: readonly AddressesOfAccount[],
): Promise<Pick<SuppressionDoc, 'user_id' | keyof SuppressionState>[]> {
  const any = wanted.filter(({ emails }) => emails.length > 0)
  if (any.length === 0) return []
  return collectionOf(db, SUPPRESSIONS)
    .find({ $or: any.map(({ userId, emails }) => ({ user_id: userId, email: { $in: [...emails] } })) })
    .project<Pick<SuppressionDoc, 'user_id' | keyof SuppressionState>>({ origin: 0, detail: 0, email_id: 0 })
    .toArray()
}

/** What became of entries that were to be stored, by their index. */
export interface StoredSuppressions {
  /** Those whose address was not listed before. */
  added: { index: number; id: string }[]
  /** Those that replaced another one. */
  updated: number
}

/**
 * Stores entries. `keep`: an address that is listed keeps its entry, so that the first reason stays and a repetition
 * changes nothing. `outlast`: so it does, unless its entry has an end: a complaint must not be forgotten because a person
 * had paused the address for a week. `replace`: the new entry takes its place. Equal keys within one call count once.
 */
export async function storeSuppressions(
  db: Db,
  entries: readonly NewSuppression[],
  mode: 'keep' | 'outlast' | 'replace',
  now: Date,
  session?: Session,
): Promise<StoredSuppressions> {
  if (entries.length === 0) return { added: [], updated: 0 }
  const collection = collectionOf(db, SUPPRESSIONS)
  if (mode !== 'replace') await removeEnded(collection, entries, now, session)
  const writes = entries.map(({ user_id, email, stream, ...fields }) => ({
    updateOne: {
      filter: { user_id, email, stream },
      update:
        mode !== 'replace'
          ? { $setOnInsert: { _id: newId('sup', now.getTime()), ...fields } }
          : { $set: fields, $unset: unsetFields(fields), $setOnInsert: { _id: newId('sup', now.getTime()) } },
      upsert: true,
    },
  }))
  const options = { ordered: false, ...(session ? { session } : DURABLE) }
  const result = await collection.bulkWrite(writes, options).catch((error: unknown) => {
    // Two processes added the same address at once: it is there. Within a transaction the server has ended that.
    if (!isDuplicateKey(error) || session) throw error
    return (error as { result: Awaited<ReturnType<typeof collection.bulkWrite>> }).result
  })
  const added = Object.entries(result.upsertedIds).map(([index, id]) => ({ index: Number(index), id: String(id) }))
  if (mode === 'outlast') return { added, updated: await replaceEnding(collection, entries, added, options) }
  return { added, updated: mode === 'replace' ? result.modifiedCount : 0 }
}

/** Puts entries without an end in the place of those with one that kept them out; resolves with how many. */
async function replaceEnding(
  collection: Collection<SuppressionDoc>,
  entries: readonly NewSuppression[],
  added: readonly { index: number }[],
  options: object,
): Promise<number> {
  const isNew = new Set(added.map(({ index }) => index))
  const writes = entries.flatMap(({ user_id, email, stream, ...fields }, index) =>
    isNew.has(index) || fields.expires_at
      ? []
      : {
          updateOne: {
            filter: { user_id, email, stream, expires_at: { $exists: true } },
            update: { $set: fields, $unset: unsetFields(fields) },
          },
        },
  )
  return writes.length === 0 ? 0 : (await collection.bulkWrite(writes, options)).modifiedCount
}

/** The removal by the database takes up to a minute: an entry that has ended must not keep a new one out. */
async function removeEnded(
  collection: Collection<SuppressionDoc>,
  entries: readonly NewSuppression[],
  now: Date,
  session?: Session,
): Promise<void> {
  const byAccount = Map.groupBy(entries, ({ user_id }) => user_id)
  for (const [user_id, own] of byAccount)
    await collection.deleteMany(
      { user_id, email: { $in: own.map(({ email }) => email) }, expires_at: { $lte: now } },
      session ? { session } : {},
    )
}

function unsetFields(fields: Partial<NewSuppression>): Record<string, ''> {
  const optional = ['expires_at', 'email_id', 'detail'] as const
  return Object.fromEntries(optional.filter(name => fields[name] === undefined).map(name => [name, '']))
}

/** Which entries a list shows. */
export interface SuppressionFilter {
  email?: string | undefined
  stream?: string | undefined
  reason?: SuppressionReason | undefined
}

/** A page of an account's entries in one of the orders of the list; one more than `limit`, which shows whether more follow. */
export async function listSuppressions(
  db: Db,
  userId: string,
  filter: SuppressionFilter,
  page: OrderedPage,
): Promise<SuppressionDoc[]> {
  const { after, sort } = orderedQuery(page)
  return collectionOf(db, SUPPRESSIONS)
    .find({ $and: [filterOf(userId, filter), after] })
    .sort(sort)
    .limit(page.limit + 1)
    .toArray()
}

/** All entries of an account, oldest first, read in batches. */
export function everySuppression(db: Db, userId: string): AsyncIterable<SuppressionDoc> {
  return collectionOf(db, SUPPRESSIONS).find({ user_id: userId }).sort({ _id: 1 }).batchSize(1_000)
}

/** An entry by its id, or by its address and stream. */
export type SuppressionKey = { id: string } | { email: string; stream: string }

/** One entry of an account. */
export async function findSuppression(
  db: Db,
  userId: string,
  key: SuppressionKey,
): Promise<SuppressionDoc | undefined> {
  return (await collectionOf(db, SUPPRESSIONS).findOne({ user_id: userId, ...keyOf(key) })) ?? undefined
}

/** Removes an entry and gives it back; undefined when there is none. */
export async function removeSuppression(
  db: Db,
  userId: string,
  key: SuppressionKey,
  session?: Session,
): Promise<SuppressionDoc | undefined> {
  const options = session ? { session } : DURABLE
  const removed = await collectionOf(db, SUPPRESSIONS).findOneAndDelete({ user_id: userId, ...keyOf(key) }, options)
  return removed ?? undefined
}

/** Removes the entries of these addresses, of every stream, and gives them back. */
export async function removeAddresses(
  db: Db,
  userId: string,
  emails: readonly string[],
  session?: Session,
): Promise<SuppressionDoc[]> {
  const collection = collectionOf(db, SUPPRESSIONS)
  const filter = { user_id: userId, email: { $in: [...emails] } }
  const options = session ? { session } : {}
  const found = await collection.find(filter, options).toArray()
  await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, session ? options : DURABLE)
  return found
}

function keyOf(key: SuppressionKey): { _id: string } | { email: string; stream: string } {
  return 'id' in key ? { _id: key.id } : key
}

function filterOf(userId: string, { email, stream, reason }: SuppressionFilter) {
  return {
    user_id: userId,
    ...(email !== undefined && { email }),
    ...(stream !== undefined && { stream }),
    ...(reason !== undefined && { reason }),
  }
}
