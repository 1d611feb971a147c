/** Users together with their subscriptions: one query, for the most frequent request. */
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import { IDENTITIES, type Identities } from '../../rules/end-user.ts'
import { STATUS } from '../../rules/subscription-lifecycle.ts'
import type { Collections } from '../../store/collections.ts'
import type { EndUserDoc, SubscriptionDoc } from '../../store/documents.ts'

/** A user, as far as access depends on it, with their active records, lapsed or not. */
export interface Holder extends Pick<EndUserDoc, '_id' | 'status' | (typeof IDENTITIES)[number]> {
  held: Pick<SubscriptionDoc, '_id' | 'status' | 'end' | 'lapse_at' | 'plan'>[]
}

/** Finds every user that the id, or else one of the identities, names. */
export type FindHolders = (
  appKey: string,
  given: Identities & { user_id?: number | undefined },
) => Promise<readonly Holder[]>

/** What names a user of an app. */
interface Name {
  appKey: string
  field: '_id' | (typeof IDENTITIES)[number]
  value: string | number
}

const SHOWN = { _id: 1, status: 1, end: 1, lapse_at: 1, plan: 1 }
const KNOWN = { _id: 1, status: 1, ...Object.fromEntries(IDENTITIES.map(name => [name, 1])) }
/** Parallel queries, and names in each. */
const FLIGHTS = 2
const MOST = 64

/**
 * Callers that wait at the same time share a query; a query under way accepts no more callers, so no result is older
 * than its request. A query for one name costs nearly as much as one for ten, mostly for the round trip.
 */
export function createFindHolders(collections: Collections): FindHolders {
  const find = createGroupCommit<Name, readonly Holder[]>({
    write: names => findAll(collections, names),
    sizeOf: () => 1,
    most: MOST,
    mostBytes: MOST,
    flights: FLIGHTS,
  })
  return async (appKey, { user_id, ...given }) => {
    const named = IDENTITIES.flatMap((field): Name[] => {
      const value = given[field]
      return value === undefined ? [] : [{ appKey, field, value }]
    })
    const names: Name[] = user_id === undefined ? named : [{ appKey, field: '_id', value: user_id }]
    const found = (await Promise.all(names.map(find))).flat()
    return names.length === 1 ? found : [...new Map(found.map(holder => [holder._id, holder])).values()]
  }
}

/** The users of each name, in the order of the names: one query per app and field. */
async function findAll(collections: Collections, names: readonly Name[]): Promise<readonly Holder[][]> {
  const questions = Map.groupBy(names, ({ appKey, field }) => `${field} ${appKey}`)
  const answers = await Promise.all([...questions.values()].map(group => findByNames(collections, group)))
  const found = new Map(answers.flat())
  return names.map(name => found.get(name) ?? [])
}

/** The users of names that share app and field. */
async function findByNames(collections: Collections, names: readonly Name[]): Promise<[Name, Holder[]][]> {
  const [first] = names
  if (!first) return []
  const { appKey, field } = first
  const values = [...new Set(names.map(({ value }) => value))]
  const active = { $match: { app_key: appKey, status: STATUS.active } }
  const holders = await collections.users
    .aggregate<Holder>([
      { $match: { app_key: appKey, [field]: { $in: values } } },
      { $project: KNOWN },
      {
        $lookup: {
          from: collections.subscriptions.collectionName,
          localField: '_id',
          foreignField: 'user_id',
          pipeline: [active, { $project: SHOWN }],
          as: 'held',
        },
      },
    ])
    .toArray()
  const byValue = Map.groupBy(holders, holder => holder[field])
  return names.map(name => [name, byValue.get(name.value) ?? []])
}
