/** The inboxes of captured mail: one for each domain of an account. Keeps them in their bounds and notes what arrives. */
import { collectionOf, defineCollection, type Mongo } from '../../platform/database/mongo.ts'
import { CAPTURED, type CapturedDoc, INBOX_ORDER, removeCaptured } from './captured.ts'

/** The captured mail of a domain. */
export interface InboxPlace {
  userId: string
  /** Empty: mail that belongs to no domain. */
  domainId: string
}

/** What an inbox holds at most. */
export interface InboxBounds {
  messages: number
  /** Of messages before compression. */
  bytes: number
}

/** Changes whenever mail arrived, so that waiting readers need to look at nothing else. */
interface InboxDoc {
  /** See {@link inboxKey}. */
  _id: string
  arrivals: number
  /** The last of its mail has expired. */
  exp: Date
}

/** One small document for each domain that captured mail lately. */
export const INBOXES = defineCollection<InboxDoc>('inboxes', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

/** Messages beyond the bounds that one call removes at most; what is left goes with the next one. */
const MOST_REMOVED = 1_000

/** The id of an inbox's document. */
export function inboxKey({ userId, domainId }: InboxPlace): string {
  return `${userId} ${domainId}`
}

/** Notes that mail arrived; called after it can be read. */
export async function noteArrivals(mongo: Mongo, places: readonly InboxPlace[], exp: Date): Promise<void> {
  await collectionOf(mongo.db, INBOXES).bulkWrite(
    places.map(place => ({
      updateOne: {
        filter: { _id: inboxKey(place) },
        update: { $inc: { arrivals: 1 }, $max: { exp } },
        upsert: true,
      },
    })),
    { ordered: false },
  )
}

/** How often mail arrived in each of these inboxes, by {@link inboxKey}; one that had none lately is missing. */
export async function readArrivals(mongo: Mongo, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await collectionOf(mongo.db, INBOXES)
    .find({ _id: { $in: [...keys] } })
    .toArray()
  return new Map(found.map(({ _id, arrivals }) => [_id, arrivals]))
}

/** Removes the oldest messages of an inbox beyond its bounds; the newest stays, whatever its size. */
export async function trimInbox(mongo: Mongo, { userId, domainId }: InboxPlace, bounds: InboxBounds): Promise<void> {
  // From the index alone: no message is read.
  const newest = await collectionOf(mongo.db, CAPTURED)
    .find({ user_id: userId, domain_id: domainId })
    .sort({ at: -1, _id: -1 })
    .hint(INBOX_ORDER)
    .project<Pick<CapturedDoc, '_id' | 'size'>>({ _id: 1, size: 1 })
    .limit(bounds.messages + MOST_REMOVED)
    .batchSize(bounds.messages + MOST_REMOVED)
    .toArray()
  let bytes = 0
  const kept = newest.findIndex(({ size }, index) => {
    bytes += size
    return index >= bounds.messages || (index > 0 && bytes > bounds.bytes)
  })
  if (kept !== -1)
    await removeCaptured(
      mongo,
      newest.slice(kept).map(({ _id }) => _id),
    )
}
