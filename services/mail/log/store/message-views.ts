/** Saved views of the message log: filters that a user keeps under a name, for one account. */
import { collectionOf, type Db, DURABLE, defineCollection } from '../../../platform/database/mongo.ts'

/** A saved view; users are never removed, and each has a bounded number of them. */
export interface MessageViewDoc {
  /** `mv_…`. */
  _id: string
  /** The user whose view it is. */
  user_id: string
  /** The account whose messages it shows: names of domains, tags and tokens are those of an account. */
  account_id: string
  name: string
  /** As the contract validated them. */
  filters: Record<string, string | number | string[]>
  created_at: Date
}

/** Views by their owner and account; a name is unique there. */
export const MESSAGE_VIEWS = defineCollection<MessageViewDoc>('message_views', [
  { key: { user_id: 1, account_id: 1, name: 1 }, unique: true },
])

/** Whose views: a user in an account. */
export type ViewOwner = Pick<MessageViewDoc, 'user_id' | 'account_id'>

/** The views of a user in an account, by name; at most `most`. */
export function listViews(db: Db, owner: ViewOwner, most: number): Promise<MessageViewDoc[]> {
  return collectionOf(db, MESSAGE_VIEWS).find(owner).sort({ name: 1 }).limit(most).toArray()
}

/**
 * Stores a view; one with its name gets its filters and keeps its id. Undefined when the owner has `most` others. Two
 * requests at once may both be counted before either is stored: the number is a bound of storage, not a promise.
 */
export async function putView(db: Db, view: MessageViewDoc, most: number): Promise<MessageViewDoc | undefined> {
  const views = collectionOf(db, MESSAGE_VIEWS)
  const { _id, filters, created_at, user_id, account_id, name } = view
  const others = await views.countDocuments({ user_id, account_id, name: { $ne: name } }, { limit: most })
  if (others >= most) return undefined
  const stored = await views.findOneAndUpdate(
    { user_id, account_id, name },
    { $set: { filters }, $setOnInsert: { _id, created_at } },
    { upsert: true, returnDocument: 'after', ...DURABLE },
  )
  return stored ?? undefined
}

/** Removes a view of this owner; false when there is none. */
export async function deleteView(db: Db, owner: ViewOwner, id: string): Promise<boolean> {
  const { deletedCount } = await collectionOf(db, MESSAGE_VIEWS).deleteOne({ _id: id, ...owner }, DURABLE)
  return deletedCount === 1
}
