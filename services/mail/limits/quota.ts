/**
 * Limits over all processes: an amount in a clock period, or a rate with a burst. A process leases blocks from the
 * counter in MongoDB and spends them from memory, so that a busy sender costs a write per block, not per message; a limit
 * is never passed. What a process that is killed has leased is lost: at most a block, a twentieth of the limit.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Log } from '../../platform/observability/log.ts'
import type { Allowance, Rate } from './rules/allowance.ts'
import { leaseQuota, type Period, returnQuota } from './store/quota-leases.ts'
import { leaseRate, returnRate } from './store/rate-leases.ts'

/** Taken, with what puts it back when the message is not accepted after all; or not, with what there still is. */
export type Taken = { kind: 'taken'; putBack(part?: number): void } | { kind: 'used_up'; left: number; endsAt: Date }

/** The counter of one process. */
export interface Quota {
  /**
   * Takes `amount` from what the holder has: all of it or nothing. More than the burst of a rate is taken when the burst
   * is complete, and what follows waits for longer. Rejects without a database.
   */
  take(holder: string, allowance: Allowance, amount?: number): Promise<Taken>
  /** Gives back what was leased and not spent; call it when no message is accepted any more. */
  stop(): Promise<void>
}

/** What a lease belongs to. */
type Counter = ({ kind: 'period' } & Period) | ({ kind: 'rate'; holder: string } & Rate)

/** What this process has leased of one counter and not spent. */
interface HeldQuota {
  counter: Counter
  limit: number
  left: number
  /** Size of the next block: it doubles while the quota is in use. */
  block: number
  usedAt: number
  leasedAt: number
  /** The last "no": until then, a need as large or larger need not ask again. */
  refused: { need: number; rest: number; until: number; endsAt: number } | undefined
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
/** What was leased of a rate is given back after this time, because it adds to what may pass at once. */
const RATE_REST_MS = 1_000
/** Least time between the questions of one process for a rate that is used up. */
const RATE_ASK_MS = 5

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

  async take(holder: string, allowance: Allowance, amount = 1): Promise<Taken> {
    const { limit } = allowance
    const now = this.#clock.now().getTime()
    const counter = counterOf(holder, allowance, now)
    const held = this.#heldOf(counter, now)
    while (held.limit !== limit || held.left < amount || isStale(held, now)) {
      const need = amount - held.left
      if (held.writing) await held.writing
      else if (held.limit !== limit) await this.#changeLimit(held, limit)
      else if (isStale(held, now)) await this.#write(held, () => this.#return(held))
      else if (held.refused && need >= held.refused.need && now < held.refused.until) return usedUp(held, held.refused)
      else await this.#write(held, () => this.#lease(held, need, now))
    }
    held.left -= amount
    return { kind: 'taken', putBack: (part = amount) => this.#putBack(counter, part) }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    const held = [...this.#held.values()]
    this.#held.clear()
    await Promise.all(held.map(one => this.#return(one)))
  }

  #heldOf(counter: Counter, now: number): HeldQuota {
    const key = keyOf(counter)
    const found = this.#held.get(key)
    const held = found && isSame(found.counter, counter) ? found : nothingHeld(counter)
    if (held !== found) this.#held.set(key, held)
    held.usedAt = now
    return held
  }

  /** What belongs to a period that is over, or to a rate that was changed, is worth nothing. */
  #putBack(counter: Counter, amount: number): void {
    const now = this.#clock.now().getTime()
    if (counter.kind === 'period' && Math.floor(now / counter.ms) !== counter.index) return
    const held = this.#heldOf(counter, now)
    if (held.left === 0) held.leasedAt = now
    held.left += amount
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
    const { counter, limit } = held
    const wanted = Math.max(need, Math.min(held.block, LARGEST_BLOCK, Math.floor(limit / PARTS)))
    held.block = 2 * wanted
    const { granted, rest, waitMs } = await leaseOf(this.#mongo, counter, { limit, need, wanted })
    held.left += granted
    held.leasedAt = this.#clock.now().getTime()
    held.refused = granted > 0 ? undefined : refusal(counter, { need, rest, waitMs }, now)
  }

  async #return(held: HeldQuota): Promise<void> {
    const unused = held.left
    held.left = 0
    held.block = 1
    if (unused > 0) await returnOf(this.#mongo, held.counter, unused)
  }

  /** Gives back what is not in use, and forgets its holders. */
  #returnIdle(): void {
    const now = this.#clock.now().getTime()
    for (const [key, held] of this.#held) {
      if (held.writing || (now - held.usedAt < REST_MS && !isStale(held, now))) continue
      if (held.left === 0 && now >= (held.refused?.until ?? 0)) this.#held.delete(key)
      else if (held.left > 0)
        this.#write(held, () => this.#return(held)).catch((error: unknown) =>
          this.#log.warn(
            { err: error, holder: held.counter.holder },
            'unused part of a limit not given back; it is missing until the period ends',
          ),
        )
    }
  }
}

function usedUp({ counter, limit, left }: HeldQuota, { rest, endsAt }: { rest: number; endsAt: number }): Taken {
  const most = counter.kind === 'rate' ? counter.burst : limit
  return { kind: 'used_up', left: Math.min(most, left + rest), endsAt: new Date(endsAt) }
}

function counterOf(holder: string, allowance: Allowance, now: number): Counter {
  return 'periodMs' in allowance
    ? { kind: 'period', holder, ms: allowance.periodMs, index: Math.floor(now / allowance.periodMs) }
    : { kind: 'rate', holder, ...allowance }
}

function keyOf(counter: Counter): string {
  return counter.kind === 'period' ? `${counter.holder}@${counter.ms}` : `${counter.holder}@rate`
}

/** A changed limit of a period is the same counter; a changed rate is counted in other units of time. */
function isSame(one: Counter, other: Counter): boolean {
  if (one.kind === 'period') return other.kind === 'period' && one.index === other.index
  return other.kind === 'rate' && one.limit === other.limit && one.burst === other.burst
}

function nothingHeld(counter: Counter): HeldQuota {
  const limit = counter.kind === 'rate' ? counter.limit : 0
  return { counter, limit, left: 0, block: 1, usedAt: 0, leasedAt: 0, refused: undefined, writing: undefined }
}

/** A part of a rate that was leased too long ago. */
function isStale({ counter, left, leasedAt, writing }: HeldQuota, now: number): boolean {
  return counter.kind === 'rate' && left > 0 && writing === undefined && now - leasedAt >= RATE_REST_MS
}

async function leaseOf(
  mongo: Mongo,
  counter: Counter,
  wish: { limit: number; need: number; wanted: number },
): Promise<{ granted: number; rest: number; waitMs: number }> {
  if (counter.kind === 'rate') return leaseRate(mongo, counter.holder, counter, wish)
  return { ...(await leaseQuota(mongo, counter, wish)), waitMs: 0 }
}

function returnOf(mongo: Mongo, counter: Counter, unused: number): Promise<void> {
  return counter.kind === 'rate'
    ? returnRate(mongo, counter.holder, counter, unused)
    : returnQuota(mongo, counter, unused)
}

/** How long a "no" is believed, and when the limit allows again what was needed. */
function refusal(
  counter: Counter,
  { need, rest, waitMs }: { need: number; rest: number; waitMs: number },
  now: number,
): NonNullable<HeldQuota['refused']> {
  if (counter.kind === 'period')
    return { need, rest, until: now + REFUSED_MS, endsAt: (counter.index + 1) * counter.ms }
  return { need, rest, until: now + Math.min(REFUSED_MS, Math.max(RATE_ASK_MS, waitMs)), endsAt: now + waitMs }
}
