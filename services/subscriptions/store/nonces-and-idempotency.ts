/** Nonces of signed requests and stored responses of idempotent requests. */
import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import type { Collections } from './collections.ts'
import type { IdempotencyDoc } from './documents.ts'

/** Stores a nonce; false when it was used before. */
export async function rememberNonce(collections: Collections, id: string, until: Date): Promise<boolean> {
  return insertOnce(() => collections.nonces.insertOne({ _id: id, exp: until }))
}

/** Takes the key of an idempotent request; returns the stored request when the key is taken. */
export async function takeKey(collections: Collections, fresh: IdempotencyDoc): Promise<IdempotencyDoc | undefined> {
  if (await insertOnce(() => collections.idempotency.insertOne(fresh))) return undefined
  return (await collections.idempotency.findOne({ _id: fresh._id })) ?? undefined
}

/** Takes over the key of a lost request; false when another repeat has done so. */
export async function takeOverKey(collections: Collections, dead: IdempotencyDoc, now: Date): Promise<boolean> {
  const match = { _id: dead._id, state: 'running' as const, started_at: dead.started_at }
  return (await collections.idempotency.updateOne(match, { $set: { started_at: now } })).matchedCount === 1
}

/** The run of a request that holds its key. */
interface Holder {
  id: string
  startedAt: Date
}
const heldBy = ({ id, startedAt }: Holder) => ({ _id: id, started_at: startedAt })

/** Records, with a change, that the request has changed something; false when another run has taken over its key. */
export async function markChanged(collections: Collections, holder: Holder, session: Session): Promise<boolean> {
  const mark = { $set: { state: 'changed' as const } }
  return (await collections.idempotency.updateOne(heldBy(holder), mark, { session })).matchedCount === 1
}

/** Stores the response of an idempotent request. */
export async function storeAnswer(collections: Collections, holder: Holder, answer: string): Promise<void> {
  await collections.idempotency.updateOne(heldBy(holder), { $set: { state: 'done', answer } })
}

/** Frees the key of a request that changed nothing; false when it did, or another run holds the key. */
export async function freeKey(collections: Collections, holder: Holder): Promise<boolean> {
  return (await collections.idempotency.deleteOne({ ...heldBy(holder), state: 'running' })).deletedCount === 1
}

async function insertOnce(insert: () => Promise<unknown>): Promise<boolean> {
  try {
    await insert()
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}
