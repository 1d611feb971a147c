/** The limits of accounts for acceptance and delivery: at most 2 s old, so that a change holds everywhere within 5 s. */
import type { Clock } from '../../platform/clock.ts'
import { createGroupCommit } from '../../platform/concurrency/group-commit.ts'
import type { Db } from '../../platform/database/mongo.ts'
import type { Config } from '../../platform/process/config.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import type { DefaultLimits, SendingLimit } from './rules/sending-limit.ts'
import { allDestinationLimits, destinationLimitsVersion, limitsOfAccounts } from './store/sending-limits.ts'

/** The limits that an account has of its own. Rejects without a database. */
export type FindLimits = (userId: string) => Promise<readonly SendingLimit[]>

/** Age at which a cached answer is loaded again in the background, and at which it is not used any more. */
const REFRESH_MS = 2_000
const AGE_MS = 4_000
/** Accounts whose limits one query reads. */
const TOGETHER = { most: 500, mostBytes: Number.POSITIVE_INFINITY, flights: 4, sizeOf: () => 1 }
const NONE: readonly SendingLimit[] = []

/** One per process: accounts that are asked for at the same moment share a query. */
export function createFindLimits(db: Db, clock: Clock): FindLimits {
  const cache = createTtlCache<readonly SendingLimit[]>({
    ttlMs: AGE_MS,
    refreshMs: REFRESH_MS,
    max: 10_000,
    clock,
    isCacheable: () => true,
  })
  const load = createGroupCommit<string, { limits: readonly SendingLimit[] }>({
    ...TOGETHER,
    async write(userIds) {
      const found = await limitsOfAccounts(db, [...new Set(userIds)])
      return userIds.map(id => ({ limits: found.get(id) ?? NONE }))
    },
  })
  return userId => cache.get(userId, async () => (await load(userId)).limits)
}

/** Reads the limits of all destinations, by account; resolves to undefined while they are as at the last call. */
export function createReadDestinationLimits(
  db: Db,
): () => Promise<ReadonlyMap<string, readonly SendingLimit[]> | undefined> {
  let known: string | undefined
  return async () => {
    const version = await destinationLimitsVersion(db)
    if (version === known) return undefined
    const limits = await allDestinationLimits(db)
    known = version // read before the limits: a change in between is read again
    return limits
  }
}

/** The limits that the settings give accounts. */
export function defaultLimits(
  config: Pick<
    Config,
    'ACCOUNT_RECIPIENTS_PER_SECOND' | 'ACCOUNT_RECIPIENTS_PER_HOUR' | 'DESTINATION_RECIPIENTS_PER_MINUTE'
  >,
): DefaultLimits {
  return {
    accountPerSecond: config.ACCOUNT_RECIPIENTS_PER_SECOND,
    accountPerHour: config.ACCOUNT_RECIPIENTS_PER_HOUR,
    destinationPerMinute: config.DESTINATION_RECIPIENTS_PER_MINUTE,
  }
}
