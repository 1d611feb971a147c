/** The limits of sending that admins and owners have set. */
import * as field from '../../../platform/database/fields.ts'
import { type Db, type DocumentOf, defineModel, modelOf } from '../../../platform/database/models.ts'
import type { SendingLimit } from '../rules/sending-limit.ts'

/** One limit. `_id` is `<account>/<scope>/<subject>`, with `/admin` behind it where an admin has set it. */
export const sendingLimits = defineModel('sending_limits', {
  _id: field.text,
  user_id: field.text,
  scope: field.oneOf('account', 'credential', 'domain', 'destination'),
  subject: field.text,
  name: field.text,
  per_second: field.optional(Number),
  burst: field.optional(Number),
  per_minute: field.optional(Number),
  per_hour: field.optional(Number),
  per_day: field.optional(Number),
  by_admin: field.flag,
  updated_at: field.date,
})

sendingLimits.schema.index({ scope: 1, updated_at: 1 })

type SendingLimitDoc = DocumentOf<typeof sendingLimits>

/** Which limit. */
export type LimitKey = Pick<SendingLimit, 'scope' | 'subject' | 'byAdmin'>

/** The limits of each of these accounts that has any. */
export async function limitsOfAccounts(
  db: Db,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SendingLimit[]>> {
  const ranges = userIds.map(id => ({ _id: { $gte: `${id}/`, $lt: `${id}0` } })) // `0` follows `/`
  if (ranges.length === 0) return new Map()
  const docs = await modelOf(db, sendingLimits).find({ $or: ranges }).sort({ _id: 1 }).lean()
  const byUser = Map.groupBy(docs, ({ user_id }) => user_id)
  return new Map([...byUser].map(([id, of]) => [id, of.map(toLimit)]))
}

/** Changes whenever a limit of a destination is set or removed. */
export async function destinationLimitsVersion(db: Db): Promise<string> {
  const destinations = { scope: 'destination' } as const
  const model = modelOf(db, sendingLimits)
  const [count, last] = await Promise.all([
    model.countDocuments(destinations),
    model.findOne(destinations, { updated_at: 1 }).sort({ updated_at: -1, _id: 1 }).lean(),
  ])
  return `${count} ${last?._id} ${last?.updated_at.getTime()}`
}

/** The limits of destinations of all accounts. */
export async function allDestinationLimits(db: Db): Promise<ReadonlyMap<string, readonly SendingLimit[]>> {
  const docs = await modelOf(db, sendingLimits).find({ scope: 'destination' }).lean()
  return new Map([...Map.groupBy(docs, ({ user_id }) => user_id)].map(([id, of]) => [id, of.map(toLimit)]))
}

/** Stores a limit in place of the one that the account has for the subject. */
export async function putLimit(db: Db, userId: string, limit: SendingLimit, now: Date): Promise<void> {
  const doc: SendingLimitDoc = {
    _id: idOf(userId, limit),
    user_id: userId,
    scope: limit.scope,
    subject: limit.subject,
    name: limit.name,
    by_admin: limit.byAdmin,
    updated_at: now,
    ...amountsOf(limit),
  }
  await modelOf(db, sendingLimits).replaceOne({ _id: doc._id }, doc, { upsert: true })
}

/** Removes a limit; false when there is none. */
export async function removeLimit(db: Db, userId: string, key: LimitKey): Promise<boolean> {
  return (await modelOf(db, sendingLimits).deleteOne({ _id: idOf(userId, key) })).deletedCount === 1
}

function idOf(userId: string, { scope, subject, byAdmin }: LimitKey): string {
  return `${userId}/${scope}/${subject}${byAdmin ? '/admin' : ''}`
}

function amountsOf({ perSecond, burst, perMinute, perHour, perDay }: SendingLimit) {
  return {
    ...(perSecond !== undefined && { per_second: perSecond }),
    ...(burst !== undefined && { burst }),
    ...(perMinute !== undefined && { per_minute: perMinute }),
    ...(perHour !== undefined && { per_hour: perHour }),
    ...(perDay !== undefined && { per_day: perDay }),
  }
}

function toLimit(doc: SendingLimitDoc): SendingLimit {
  return {
    scope: doc.scope,
    subject: doc.subject,
    name: doc.name,
    perSecond: doc.per_second,
    burst: doc.burst,
    perMinute: doc.per_minute,
    perHour: doc.per_hour,
    perDay: doc.per_day,
    byAdmin: doc.by_admin,
  }
}
