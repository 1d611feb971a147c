/** Users together with what they hold: one question to the database, for the busiest request of all. */
import { IDENTITIES, type Identities } from '../rules/end-user.ts'
import { STATUS } from '../rules/period.ts'
import type { Collections } from './collections.ts'
import type { EndUserDoc, SubscriptionDoc } from './documents.ts'

/** A user, as far as access depends on it, with his active records, lapsed or not. */
export interface Holder extends Pick<EndUserDoc, '_id' | 'status' | (typeof IDENTITIES)[number]> {
  held: Pick<SubscriptionDoc, '_id' | 'status' | 'end' | 'lapse_at' | 'plan'>[]
}

const SHOWN = { _id: 1, status: 1, end: 1, lapse_at: 1, plan: 1 }
const KNOWN = { _id: 1, status: 1, ...Object.fromEntries(IDENTITIES.map(name => [name, 1])) }

/** Every user that the id, or else one of the identities, names. */
export async function findHolders(
  c: Collections,
  appKey: string,
  { user_id, ...given }: Identities & { user_id?: number | undefined },
): Promise<Holder[]> {
  const named = IDENTITIES.flatMap(name =>
    given[name] === undefined ? [] : [{ app_key: appKey, [name]: given[name] }],
  )
  const [first, ...others] = user_id === undefined ? named : [{ app_key: appKey, _id: user_id }]
  if (!first) return []
  const active = { $match: { app_key: appKey, status: STATUS.active } }
  return c.users
    .aggregate<Holder>([
      { $match: others.length === 0 ? first : { $or: [first, ...others] } },
      { $project: KNOWN },
      {
        $lookup: {
          from: c.subscriptions.collectionName,
          localField: '_id',
          foreignField: 'user_id',
          pipeline: [active, { $project: SHOWN }],
          as: 'held',
        },
      },
    ])
    .toArray()
}
