/** An account for the rest of the code, and whether it is active now. */
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/database/mongo.ts'
import { createTtlCache } from '../platform/ttl-cache.ts'
import { findUser, type Role, type UserDoc } from './store/users.ts'

/** An account without its secrets. */
export interface Account {
  id: string
  username: string
  role: Role
  lang: UserDoc['lang']
  tz: string
  /** 0 = no limit. */
  recipientsPerDay: number
}

/** The account of a stored user. */
export function toAccount(user: UserDoc): Account {
  const { _id: id, username, role, lang, tz, recipients_per_day: recipientsPerDay = 0 } = user
  return { id, username, role, lang, tz, recipientsPerDay }
}

/** Answers about accounts that are at most {@link STATUS_AGE_MS} old. */
export interface Accounts {
  /** The account when it exists and is active. */
  active(userId: string): Promise<Account | undefined>
  /** True when the account is suspended or does not exist. */
  isSuspended(userId: string): Promise<boolean>
}

/** Oldest answer of {@link Accounts}: well below the 5 s within which a suspension must hold in every process. */
const STATUS_AGE_MS = 2_000

/** Cached lookups: 2 s for active accounts; inactive ones are read each time. */
export function createAccounts(db: Db, clock: Clock): Accounts {
  const cache = createTtlCache<Account | undefined>({
    ttlMs: STATUS_AGE_MS,
    max: 10_000,
    clock,
    isCacheable: account => account !== undefined,
  })
  const active = (userId: string) =>
    cache.get(userId, async () => {
      const user = await findUser(db, userId)
      return user?.status === 'active' ? toAccount(user) : undefined
    })
  return { active, isSuspended: async userId => (await active(userId)) === undefined }
}
