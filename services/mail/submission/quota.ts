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
  /** Gives back what was leased and not spent; call it when no message is accepted any more. */
  stop(): Promise<void>
}

/** What this process has leased of one holder's period and not spent. */
interface HeldQuota {
  period: Period
  limit: number
  left: number
  /** Size of the next block: it doubles while the quota is in use. */
  block: number
  usedAt: number
  /** The last "no": until then, a need as large or larger need not ask again. */
  refused: { need: number; rest: number; until: number } | undefined
  /** The write that is under way; others wait for it and check again. */
  writing: Promise<void> | undefined
}

/** A block is at most this part of the limit: other processes find at least the rest, whatever one has left over. */
const PARTS = 20
const LARGEST_BLOCK = 200
/** How long "used up" is believed: another process may give back what it did not need. */
const REFUSED_MS = 5_000
/** What was not used for this time is given back. */
const REST_MS = 2_000

/** Makes the counter of this process. */
export function createQuota(options: { mongo: Mongo; clock: Clock; log: Log }): Quota {
  return new LeasedQuota(options)
}

class LeasedQuota implements Quota {
  readonly #mongo: Mongo
  readonly #clock: Clock
  readonly #log: Log
  readonly #held = new Map<string, HeldQuota>()
  readonly #timer: NodeJS.Timeout

  constructor({ mongo, clock, log }: { mongo: Mongo; clock: Clock; log: Log }) {
    this.#mongo = mongo
    this.#clock = clock
    this.#log = log
    this.#timer = setInterval(() => this.#returnIdle(), REST_MS).unref()
  }

  async take(holder: string, { limit, periodMs }: Allowance, amount = 1): Promise<Taken> {
    const now = this.#clock.now().getTime()
    const period = { holder, ms: periodMs, index: Math.floor(now / periodMs) }
    const held = this.#heldOf(period, now)
    while (held.limit !== limit || held.left < amount) {
      const need = amount - held.left
      if (held.writing) await held.writing
      else if (held.limit !== limit) await this.#changeLimit(held, limit)
      else if (held.refused && need >= held.refused.need && now < held.refused.until) return usedUp(held, held.refused)
      else await this.#write(held, () => this.#lease(held, need, now))
    }
    held.left -= amount
    return { kind: 'taken', putBack: () => this.#putBack(period, amount) }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    const held = [...this.#held.values()]
    this.#held.clear()
    await Promise.all(held.map(one => this.#return(one)))
  }

  #heldOf(period: Period, now: number): HeldQuota {
    const found = this.#held.get(period.holder)
    const held = found?.period.index === period.index ? found : nothingHeld(period)
    if (held !== found) this.#held.set(period.holder, held)
    held.usedAt = now
    return held
  }

  /** What belongs to a period that is over is worth nothing. */
  #putBack({ holder, ms, index }: Period, amount: number): void {
    const now = this.#clock.now().getTime()
    if (Math.floor(now / ms) === index) this.#heldOf({ holder, ms, index }, now).left += amount
  }

  #changeLimit(held: HeldQuota, limit: number): Promise<void> {
    held.limit = limit
    held.refused = undefined
    return this.#write(held, () => this.#return(held))
  }

  /** One write at a time for a holder. */
  #write(held: HeldQuota, write: () => Promise<void>): Promise<void> {
    held.writing ??= write().finally(() => {
      held.writing = undefined
    })
    return held.writing
  }

  async #lease(held: HeldQuota, need: number, now: number): Promise<void> {
    const { period, limit } = held
    const wanted = Math.max(need, Math.min(held.block, LARGEST_BLOCK, Math.floor(limit / PARTS)))
    held.block = 2 * wanted
    const { granted, rest } = await leaseQuota(this.#mongo, period, { limit, need, wanted })
    held.left += granted
    held.refused = granted === 0 ? { need, rest, until: now + REFUSED_MS } : undefined
  }

  async #return(held: HeldQuota): Promise<void> {
    const unused = held.left
    held.left = 0
    held.block = 1
    if (unused > 0) await returnQuota(this.#mongo, held.period, unused)
  }

  /** Gives back what is not in use, and forgets its holders. */
  #returnIdle(): void {
    const now = this.#clock.now().getTime()
    for (const [holder, held] of this.#held) {
      if (held.writing || now - held.usedAt < REST_MS) continue
      if (held.left === 0 && now >= (held.refused?.until ?? 0)) this.#held.delete(holder)
      else if (held.left > 0)
        this.#write(held, () => this.#return(held)).catch((error: unknown) =>
          this.#log.warn(
            { err: error, holder },
            'unused part of a limit not given back; it is missing until the period ends',
          ),
        )
    }
  }
}

function usedUp({ period, limit, left }: HeldQuota, { rest }: { rest: number }): Taken {
  return { kind: 'used_up', left: Math.min(limit, left + rest), endsAt: new Date((period.index + 1) * period.ms) }
}

function nothingHeld(period: Period): HeldQuota {
  return { period, limit: 0, left: 0, block: 1, usedAt: 0, refused: undefined, writing: undefined }
}
