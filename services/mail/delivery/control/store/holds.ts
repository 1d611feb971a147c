/**
 * Holds: mail that is not tried until it is released. Held deliveries wait in a flow of the hold (`h <hold>`), which no
 * worker claims from, with the end of their lifetime as `due`: so they expire in time, and are found without an index
 * of their own.
 */
import * as field from '../../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf } from '../../../../platform/database/models.ts'
import { holdOfFlow } from '../../../store/rules/flow.ts'

/** A hold. It applies to mail accepted later as well. */
export const holds = defineModel('queue_holds', {
  _id: field.text,
  /** Only mail of this account; absent: of all. */
  user_id: field.optional(String),
  scope: field.oneOf('account', 'domain', 'destination', 'message'),
  value: field.text,
  /** Of the value, for people. */
  name: field.text,
  reason: field.text,
  by: field.required(field.part({ user_id: field.text, name: field.text, admin: field.flag })),
  /** Released by itself at this time. */
  until: field.optional(Date),
  /** Since then its mail is given back, and no other mail is held. */
  released_at: field.optional(Date),
  created_at: field.date,
})
holds.schema.index({ user_id: 1, _id: 1 })

export type HoldDoc = DocumentOf<typeof holds>

/** Stores a hold. */
export async function insertHold(db: Db, hold: HoldDoc): Promise<void> {
  await modelOf(db, holds).insertOne(hold)
}

/** Holds that have not ended before this time; there are few (see {@link MOST_HOLDS}). */
export function holdsAfter(db: Db, time: Date): Promise<HoldDoc[]> {
  const isAfter = (field: 'released_at' | 'until') => ({
    $or: [{ [field]: { $exists: false } }, { [field]: { $gt: time } }],
  })
  return modelOf(db, holds)
    .find({ $and: [isAfter('released_at'), isAfter('until')] })
    .sort({ _id: 1 })
    .lean()
}

/** Holds, newest first: those on mail of this account only, or all. */
export function listHolds(db: Db, userId: string | undefined): Promise<HoldDoc[]> {
  const filter = userId === undefined ? {} : { user_id: userId }
  return modelOf(db, holds).find(filter).sort({ _id: -1 }).limit(MOST_HOLDS).lean()
}

/** How many holds an account has of its own, or there are. */
export function countHolds(db: Db, userId: string | undefined): Promise<number> {
  return modelOf(db, holds).countDocuments(userId === undefined ? {} : { user_id: userId, 'by.admin': false })
}

/** Holds by their ids. */
export function findHolds(db: Db, ids: readonly string[]): Promise<HoldDoc[]> {
  return modelOf(db, holds)
    .find({ _id: { $in: [...ids] } })
    .lean()
}

/** The holds of deliveries that are held, by id. */
export async function findHoldsOf(
  db: Db,
  deliveries: readonly { flow?: string | undefined }[],
): Promise<ReadonlyMap<string, HoldDoc>> {
  const ids = [...new Set(deliveries.flatMap(({ flow = '' }) => holdOfFlow(flow) || []))]
  const found = ids.length === 0 ? [] : await findHolds(db, ids)
  return new Map(found.map(hold => [hold._id, hold]))
}

/** Ends a hold; undefined when there is none that applies. */
export async function releaseHold(db: Db, id: string, now: Date): Promise<HoldDoc | undefined> {
  const filter = { _id: id, released_at: { $exists: false } }
  return (
    (await modelOf(db, holds)
      .findOneAndUpdate(filter, { $set: { released_at: now } })
      .lean()) ?? undefined
  )
}

/** Removes holds that ended before this time. */
export async function forgetHolds(db: Db, before: Date): Promise<void> {
  await modelOf(db, holds).deleteMany({ $or: [{ released_at: { $lt: before } }, { until: { $lt: before } }] })
}

/** Holds of the installation together. */
export const MOST_HOLDS = 1_000
