/** Nonces of signed requests and stored answers of repeated ones. */
import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import type { Collections } from './collections.ts'
import type { IdempotencyDoc } from './documents.ts'

/** Remembers a nonce; false when it was used before. */
export async function rememberNonce(c: Collections, id: string, until: Date): Promise<boolean> {
  return insertOnce(() => c.nonces.insertOne({ _id: id, exp: until }))
}

/** Takes the key of an idempotent request; the stored request when it is taken already. */
export async function takeKey(c: Collections, fresh: IdempotencyDoc): Promise<IdempotencyDoc | undefined> {
  if (await insertOnce(() => c.idempotency.insertOne(fresh))) return undefined
  return (await c.idempotency.findOne({ _id: fresh._id })) ?? undefined
}

/** Takes over a request that died before it answered; false when somebody else was faster. */
export async function takeOverKey(c: Collections, dead: IdempotencyDoc, now: Date): Promise<boolean> {
  const match = { _id: dead._id, state: 'running' as const, started_at: dead.started_at }
  return (await c.idempotency.updateOne(match, { $set: { started_at: now } })).matchedCount === 1
}

/** Which run of a request holds its key. */
interface Holder {
  id: string
  startedAt: Date
}
const heldBy = ({ id, startedAt }: Holder) => ({ _id: id, started_at: startedAt })

/** Notes, with a change, that the request has changed something; false when another run has taken its key over. */
export async function markChanged(c: Collections, holder: Holder, session: Session): Promise<boolean> {
  const mark = { $set: { state: 'changed' as const } }
  return (await c.idempotency.updateOne(heldBy(holder), mark, { session })).matchedCount === 1
}

/** Stores the answer of an idempotent request. */
export async function storeAnswer(c: Collections, holder: Holder, answer: string): Promise<void> {
  await c.idempotency.updateOne(heldBy(holder), { $set: { state: 'done', answer } })
}

/** Frees the key of a request if it changed nothing; false when it did, or another run has its key. */
export async function freeKey(c: Collections, holder: Holder): Promise<boolean> {
  return (await c.idempotency.deleteOne({ ...heldBy(holder), state: 'running' })).deletedCount === 1
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
