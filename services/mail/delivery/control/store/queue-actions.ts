/** Actions on much waiting mail at once: a worker carries them out in batches and notes how far it is. */
import * as field from '../../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf } from '../../../../platform/database/models.ts'
import { collectionOf, defineCollection, isDuplicateKey, type Mongo } from '../../../../platform/database/mongo.ts'

/** An action on the mail that waited when it was requested. */
export const queueActions = defineModel('queue_actions', {
  _id: field.text,
  action: field.oneOf('cancel', 'retry'),
  user_id: field.optional(String),
  scope: field.oneOf('account', 'domain', 'destination', 'message'),
  value: field.text,
  name: field.text,
  by: field.required(field.part({ user_id: field.text, name: field.text, admin: field.flag })),
  /** Id of the last delivery that was looked at. */
  cursor: field.text,
  /** Deliveries that were looked at, and that were canceled or made due. */
  scanned: field.number,
  done: field.number,
  finished_at: field.optional(Date),
  created_at: field.date,
  exp: field.date,
})
queueActions.schema.index({ user_id: 1, _id: 1 })
queueActions.schema.index({ exp: 1 }, { expireAfterSeconds: 0 })

export type QueueActionDoc = DocumentOf<typeof queueActions>

/** Stores an action, to be carried out. */
export async function insertAction(db: Db, action: QueueActionDoc): Promise<void> {
  await modelOf(db, queueActions).insertOne(action)
}

/** Actions that are not finished, oldest first. */
export function openActions(db: Db): Promise<QueueActionDoc[]> {
  return modelOf(db, queueActions)
    .find({ finished_at: { $exists: false } })
    .sort({ _id: 1 })
    .limit(MOST_ACTIONS)
    .lean()
}

/** Actions, newest first: those on mail of this account only, or all. */
export function listActions(db: Db, userId: string | undefined): Promise<QueueActionDoc[]> {
  const filter = userId === undefined ? {} : { user_id: userId }
  return modelOf(db, queueActions).find(filter).sort({ _id: -1 }).limit(50).lean()
}

/** How many are not finished. */
export function countOpenActions(db: Db): Promise<number> {
  return modelOf(db, queueActions).countDocuments({ finished_at: { $exists: false } })
}

/** Notes progress. */
export async function noteProgress(
  db: Db,
  id: string,
  change: { cursor?: string; finished_at?: Date },
  count: { scanned: number; done: number },
): Promise<void> {
  await modelOf(db, queueActions).updateOne({ _id: id }, { $set: change, $inc: count })
}

/** Unfinished actions of the installation together. */
export const MOST_ACTIONS = 100

/** Which worker does the work of queue control. */
interface LockDoc {
  _id: 'lock'
  by: string
  until: Date
}
export const QUEUE_CONTROL = defineCollection<LockDoc>('queue_control')

/** Takes or renews the lock; false while another worker has it. What it protects is idempotent: it only saves work. */
export async function lockQueueControl(mongo: Mongo, by: string, now: Date, ms: number): Promise<boolean> {
  try {
    const free = { _id: 'lock' as const, $or: [{ by }, { until: { $lte: now } }] }
    const lock = { by, until: new Date(now.getTime() + ms) }
    await collectionOf(mongo.db, QUEUE_CONTROL).updateOne(free, { $set: lock }, { upsert: true })
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}
