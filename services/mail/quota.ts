/**
 * Messages per hour of each login, over all processes. A process takes blocks from the counter in MongoDB and spends
 * them from memory, so that a busy login costs a write per block, not per message; the limit is never passed.
 */
import type { Clock } from '../platform/clock.ts'
import type { Mongo } from '../platform/mongo.ts'
import { HOUR_MS, leaseQuota, returnQuota } from './store/quota.ts'

/** The counter of one process. */
export interface Quota {
  /**
   * Takes one message from a login's hour (clock hours, UTC). Undefined when the limit is used up; else a function
   * that puts it back, for a message that was not accepted after all. Rejects when the database does not answer.
   */
  take(login: string, perHour: number): Promise<(() => void) | undefined>
  /** Gives back what was leased and not spent; call it when nothing is accepted any more. */
  stop(): Promise<void>
}

/** What this process holds of one login's hour. */
interface Purse {
  hour: number
  limit: number
  left: number
  /** Before this time an empty purse asks for no more. */
  emptyUntil: number
  lease: Promise<void> | undefined
}

/** A block is this part of the hour's limit: other processes find at least the rest, whatever one has left over. */
const PARTS = 20
const LARGEST_BLOCK = 200
/** How long "used up" is believed: another process may give back what it did not need. */
const EMPTY_MS = 5_000
/** Logins remembered; beyond, those of past hours go first. */
const MOST_PURSES = 10_000

/** Makes the counter of this process. */
export function createQuota(mongo: Mongo, clock: Clock): Quota {
  const purses = new Map<string, Purse>()

  const purseOf = (login: string, limit: number, hour: number): Purse => {
    const found = purses.get(login)
    if (found && found.hour === hour && found.limit === limit) return found
    const left = found?.hour === hour ? Math.min(found.left, limit) : 0
    const fresh: Purse = { hour, limit, left, emptyUntil: 0, lease: undefined }
    if (!found && purses.size >= MOST_PURSES) forgetPast(purses, hour)
    purses.set(login, fresh)
    return fresh
  }

  const fill = async (login: string, purse: Purse): Promise<void> => {
    const block = Math.min(LARGEST_BLOCK, Math.max(1, Math.floor(purse.limit / PARTS)))
    const granted = await leaseQuota(mongo, login, purse.hour, purse.limit, block)
    purse.left += granted
    if (granted === 0) purse.emptyUntil = clock.now().getTime() + EMPTY_MS
  }

  return {
    async take(login, perHour) {
      const now = clock.now().getTime()
      const purse = purseOf(login, perHour, Math.floor(now / HOUR_MS))
      while (purse.left === 0) {
        if (now < purse.emptyUntil) return undefined
        purse.lease ??= fill(login, purse).finally(() => {
          purse.lease = undefined
        })
        await purse.lease
      }
      purse.left--
      return () => {
        purse.left++
      }
    },
    async stop() {
      const unused = [...purses].filter(([, { left }]) => left > 0)
      purses.clear()
      await Promise.all(unused.map(([login, { hour, left }]) => returnQuota(mongo, login, hour, left)))
    },
  }
}

/** Makes room: purses of past hours are worth nothing; when there are none, the oldest goes with what it holds. */
function forgetPast(purses: Map<string, Purse>, hour: number): void {
  for (const [login, purse] of purses) if (purse.hour !== hour) purses.delete(login)
  const oldest = purses.keys().next().value
  if (purses.size >= MOST_PURSES && oldest !== undefined) purses.delete(oldest)
}
