/**
 * Requests that wait for captured mail. All of a process share one look at the counters of their inboxes, a few times a
 * second; an inbox is searched only after mail arrived in it. Without a waiting request nothing is read.
 */
import { abortableDelay } from '../../platform/concurrency/abortable-delay.ts'
import { addTo } from '../../platform/count-by-key.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { type InboxPlace, inboxKey, readArrivals } from '../store/captured-inboxes.ts'

/** Requests that one account, and one process, may let wait. */
export const WAITER_LIMITS = { account: 20, process: 200 } as const

/** Time between two looks at the counters, in milliseconds. */
const POLL_MS = 250

/** One waiting request. */
interface Waiter {
  key: string
  /** The counter when its inbox was searched last; undefined: not known yet. */
  arrivals: number | undefined
  wake(): void
}

/** How long to wait, and what ends the wait before. */
export interface WaitOptions {
  ms: number
  signal: AbortSignal
}

/** The waiting requests of one process. */
export class InboxWaiters {
  readonly #read: (keys: readonly string[]) => Promise<ReadonlyMap<string, number>>
  readonly #pollMs: number
  readonly #waiters = new Set<Waiter>()
  readonly #byAccount = new Map<string, number>()
  #isPolling = false

  constructor(mongo: Mongo, pollMs: number = POLL_MS) {
    this.#read = keys => readArrivals(mongo, keys)
    this.#pollMs = pollMs
  }

  /** Requests that wait now. */
  get size(): number {
    return this.#waiters.size
  }

  /** Why no other request of this account may wait; undefined: it may. */
  refusalOf(userId: string): Sentence | undefined {
    const { account, process } = WAITER_LIMITS
    if ((this.#byAccount.get(userId) ?? 0) >= account) return sentence('detail.inbox_waiters', { count: account })
    return this.#waiters.size >= process ? sentence('detail.inbox_waiters_busy') : undefined
  }

  /**
   * Calls `search` now and after each arrival until it finds something, the time is over or the signal aborts; resolves to
   * what it found last. Rejects when `search` does.
   */
  async waitFor<T>(
    place: InboxPlace,
    { ms, signal }: WaitOptions,
    search: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(ms)])
    const waiter: Waiter = { key: inboxKey(place), arrivals: undefined, wake: () => undefined }
    this.#waiters.add(waiter)
    addTo(this.#byAccount, place.userId, 1)
    try {
      // Before the search, so that what arrives after it is noticed.
      waiter.arrivals = (await this.#read([waiter.key])).get(waiter.key) ?? 0
      for (;;) {
        const found = await search()
        if (found.length > 0 || ended.aborted) return found
        await this.#arrival(waiter, ended)
      }
    } finally {
      this.#waiters.delete(waiter)
      addTo(this.#byAccount, place.userId, -1)
    }
  }

  #arrival(waiter: Waiter, ended: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        ended.removeEventListener('abort', done)
        waiter.wake = () => undefined
        resolve()
      }
      waiter.wake = done
      ended.addEventListener('abort', done, { once: true })
      if (ended.aborted) done()
      else void this.#poll()
    })
  }

  /** Runs while requests wait. A look that fails is made again. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    while (this.#waiters.size > 0) {
      await abortableDelay(this.#pollMs, undefined)
      const keys = [...new Set([...this.#waiters].map(({ key }) => key))]
      const counts = await this.#read(keys).catch(() => new Map<string, number>())
      for (const waiter of this.#waiters) {
        const count = counts.get(waiter.key)
        if (count === undefined || waiter.arrivals === undefined || count === waiter.arrivals) continue
        waiter.arrivals = count
        waiter.wake()
      }
    }
    this.#isPolling = false
  }
}
