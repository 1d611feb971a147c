/**
 * A queue of keys with the rules of client-go's: a key waits once, is worked on once at a time, and one that is added
 * while it is worked on runs again afterwards. Live changes go before the first list; within both, namespaces take turns.
 */
import { DAY_MS } from '../../services/platform/durations.ts'
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'
import { createRoundRobin } from './namespace-round-robin.ts'

/** `high`: a change. `low`: the first list and the periodic resync. */
export type Priority = 'high' | 'low'

/** Pauses after failures, in milliseconds: `base` doubled with each, up to `cap`, drawn from the upper half. */
export interface RetryTimes {
  baseMs: number
  capMs: number
}

/** A timer beyond 2^31 ms fires immediately; a key that runs early finds nothing to do. */
const LONGEST_MS = DAY_MS

interface Waiting {
  priority: Priority
  since: number
}

type Taker = (key: string | undefined) => void

/** A keyed queue; `name` is the label of its metrics. */
export class WorkQueue {
  readonly #name: string
  readonly #times: RetryTimes
  readonly #metrics: OperatorMetrics
  readonly #random: () => number
  readonly #waiting = { high: createRoundRobin<Waiting>(), low: createRoundRobin<Waiting>() }
  /** Keys that are worked on, with the time of their start. */
  readonly #active = new Map<string, number>()
  /** Keys that were added while they were worked on. */
  readonly #again = new Map<string, Priority>()
  readonly #later = new Map<string, { due: number; timer: NodeJS.Timeout }>()
  readonly #failures = new Map<string, number>()
  readonly #takers: Taker[] = []
  #isClosed = false

  constructor(name: string, times: RetryTimes, metrics: OperatorMetrics, random: () => number = Math.random) {
    this.#name = name
    this.#times = times
    this.#metrics = metrics
    this.#random = random
  }

  /** Adds a key; a low one that is added with priority `high` moves up. */
  add(key: string, priority: Priority = 'high'): void {
    if (this.#isClosed) return
    clearTimeout(this.#later.get(key)?.timer)
    this.#later.delete(key)
    if (this.#active.has(key)) {
      if (this.#again.get(key) !== 'high') this.#again.set(key, priority)
      return
    }
    const { high, low } = this.#waiting
    const entry = low.get(key) ?? high.get(key)
    if (high.get(key) || (entry && priority === 'low')) return
    low.delete(key)
    this.#waiting[priority].set(key, entry ?? { priority, since: performance.now() })
    this.#metrics.queueAdds.inc({ name: this.#name })
    this.#showDepth()
    while (this.#takers.length > 0 && this.depth() > 0) this.#takers.shift()?.(this.#take())
  }

  /** Adds the key later; an earlier time that is already set stays. */
  addAfter(key: string, wantedMs: number, priority: Priority = 'low'): void {
    if (this.#isClosed) return
    const ms = Math.min(wantedMs, LONGEST_MS)
    const due = performance.now() + ms
    const set = this.#later.get(key)
    if (set && set.due <= due) return
    clearTimeout(set?.timer)
    const timer = setTimeout(() => {
      this.#later.delete(key)
      this.add(key, priority)
    }, ms)
    timer.unref()
    this.#later.set(key, { due, timer })
  }

  /** The next key, as soon as there is one; undefined after {@link WorkQueue.close}. */
  next(): Promise<string | undefined> {
    const key = this.#isClosed ? undefined : this.#take()
    if (key !== undefined || this.#isClosed) return Promise.resolve(key)
    return new Promise(resolve => this.#takers.push(resolve))
  }

  /** Ends the run of a key that {@link WorkQueue.next} returned. */
  done(key: string): void {
    const started = this.#active.get(key)
    if (started !== undefined)
      this.#metrics.workSeconds.observe({ name: this.#name }, (performance.now() - started) / 1000)
    this.#active.delete(key)
    const priority = this.#again.get(key)
    this.#again.delete(key)
    if (priority) this.add(key, priority)
  }

  /** Adds the key after its own growing pause, at least `leastMs`; returns the pause in milliseconds. */
  retry(key: string, leastMs = 0): number {
    const count = this.failures(key)
    this.#failures.set(key, count + 1)
    this.#metrics.queueRetries.inc({ name: this.#name })
    const full = Math.min(this.#times.capMs, this.#times.baseMs * 2 ** count)
    const pause = Math.max(leastMs, full / 2 + this.#random() * (full / 2))
    this.addAfter(key, pause)
    return pause
  }

  /** Forgets the failures of a key. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** Failures in a row of a key. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /** Keys that wait to be worked on now. */
  depth(): number {
    return this.#waiting.high.size + this.#waiting.low.size
  }

  /** Drops all keys that are set for later; nothing is added afterwards. */
  close(): void {
    this.#isClosed = true
    for (const { timer } of this.#later.values()) clearTimeout(timer)
    this.#later.clear()
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  #take(): string | undefined {
    const next = this.#waiting.high.take() ?? this.#waiting.low.take()
    if (!next) return undefined
    const now = performance.now()
    this.#active.set(next.key, now)
    this.#showDepth()
    this.#metrics.queueSeconds.observe({ name: this.#name }, (now - next.value.since) / 1000)
    return next.key
  }

  #showDepth(): void {
    this.#metrics.queueDepth.set({ name: this.#name }, this.depth())
  }
}
