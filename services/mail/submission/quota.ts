/**
 * Limits of logins and accounts in a clock period, over all processes. A process takes blocks from the counter in
 * MongoDB and spends them from memory, so that a busy sender costs a write per block, not per message; a limit is never
 * passed.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Log } from '../../platform/observability/log.ts'
import { leaseQuota, type Period, returnQuota } from './store/quota-leases.ts'

/** How much a holder may use in each period (clock periods, UTC). */
export interface Allowance {
  limit: number
  periodMs: number
}

/** Taken, with what puts it back when the message is not accepted after all; or not, with what there still is. */
export type Taken = { kind: 'taken'; putBack(): void } | { kind: 'used_up'; left: number; endsAt: Date }

/** The counter of one process. */
export interface Quota {
  /** Takes `amount` from what the holder has in this period: all of it or nothing. Rejects without a database. */
  take(holder: string, allowance: Allowance, amount?: number): Promise<Taken>
  /** Gives back what was leased and not spent; call it when nothing is accepted any more. */
  stop(): Promise<void>
}

/** What this process holds of one holder's period. */
interface Purse {
  period: Period
  limit: number
  left: number
  /** Size of the next block: it doubles while the purse is in use. */
  block: number
  usedAt: number
  /** The last "no": until then, whoever needs as much or more need not ask again. */
  refused: { need: number; rest: number; until: number } | undefined
  /** The write that is under way; others wait for it and look again. */
  turn: Promise<void> | undefined
}

/** A block is at most this part of the limit: other processes find at least the rest, whatever one has left over. */
const PARTS = 20
const LARGEST_BLOCK = 200
/** How long "used up" is believed: another process may give back what it did not need. */
const REFUSED_MS = 5_000
/** A purse that was not used for so long gives back what it holds. */
const REST_MS = 2_000

/** Makes the counter of this process. */
export function createQuota({ mongo, clock, log }: { mongo: Mongo; clock: Clock; log: Log }): Quota {
  const purses = new Map<string, Purse>()

  const purseOf = (period: Period, now: number): Purse => {
    const found = purses.get(period.holder)
    const purse = found?.period.index === period.index ? found : emptyPurse(period)
    if (purse !== found) purses.set(period.holder, purse)
    purse.usedAt = now
    return purse
  }

  /** One write at a time for a purse. */
  const turn = (purse: Purse, write: () => Promise<void>): Promise<void> => {
    purse.turn ??= write().finally(() => {
      purse.turn = undefined
    })
    return purse.turn
  }

  const giveBack = async (purse: Purse): Promise<void> => {
    const unused = purse.left
    purse.left = 0
    purse.block = 1
    if (unused > 0) await returnQuota(mongo, purse.period, unused)
  }

  const fill = async (purse: Purse, need: number, now: number): Promise<void> => {
    const { period, limit } = purse
    const wanted = Math.max(need, Math.min(purse.block, LARGEST_BLOCK, Math.floor(limit / PARTS)))
    purse.block = 2 * wanted
    const { granted, rest } = await leaseQuota(mongo, period, { limit, need, wanted })
    purse.left += granted
    purse.refused = granted === 0 ? { need, rest, until: now + REFUSED_MS } : undefined
  }

  /** Gives back what nobody spends, and forgets the purses. */
  const settle = () => {
    const now = clock.now().getTime()
    for (const [holder, purse] of purses) {
      if (purse.turn || now - purse.usedAt < REST_MS) continue
      if (purse.left === 0 && now >= (purse.refused?.until ?? 0)) purses.delete(holder)
      else if (purse.left > 0)
        turn(purse, () => giveBack(purse)).catch((error: unknown) =>
          log.warn(
            { err: error, holder },
            'unused part of a limit not given back; it is missing until the period ends',
          ),
        )
    }
  }
  const timer = setInterval(settle, REST_MS).unref()

  return {
    async take(holder, { limit, periodMs }, amount = 1) {
      const now = clock.now().getTime()
      const period = { holder, ms: periodMs, index: Math.floor(now / periodMs) }
      const purse = purseOf(period, now)
      while (purse.limit !== limit || purse.left < amount) {
        const need = amount - purse.left
        if (purse.turn) await purse.turn
        else if (purse.limit !== limit) {
          purse.limit = limit
          purse.refused = undefined
          await turn(purse, () => giveBack(purse))
        } else if (purse.refused && need >= purse.refused.need && now < purse.refused.until) {
          const endsAt = new Date((period.index + 1) * periodMs)
          return { kind: 'used_up', left: Math.min(limit, purse.left + purse.refused.rest), endsAt }
        } else await turn(purse, () => fill(purse, need, now))
      }
      purse.left -= amount
      return {
        kind: 'taken',
        putBack() {
          const then = clock.now().getTime()
          // What belongs to a period that is over is worth nothing.
          if (Math.floor(then / periodMs) === period.index) purseOf(period, then).left += amount
        },
      }
    },
    async stop() {
      clearInterval(timer)
      const held = [...purses.values()]
      purses.clear()
      await Promise.all(held.map(giveBack))
    },
  }
}

function emptyPurse(period: Period): Purse {
  return { period, limit: 0, left: 0, block: 1, usedAt: 0, refused: undefined, turn: undefined }
}
