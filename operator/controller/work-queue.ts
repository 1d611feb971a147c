/**
 * A queue of keys with the rules of client-go's: a key waits once, is worked on once at a time, and one that is added
 * while it is worked on runs again afterwards. Live changes go before the first list; within both, namespaces take turns.
 */
import { DAY_MS } from '../../services/platform/durations.ts'
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'
import { createRoundRobin } from './namespace-round-robin.ts'

/** `high`: a change. `low`: the first list and the periodic resync. */
export type Priority = 'high' | 'low'

/** A keyed queue. */
export interface WorkQueue {
  add(key: string, priority?: Priority): void
  /** Adds the key later; an earlier time that is already set stays. */
  addAfter(key: string, ms: number, priority?: Priority): void
  /** The next key, as soon as there is one; undefined after {@link WorkQueue.close}. */
  next(): Promise<string | undefined>
  /** Ends the run of a key that {@link WorkQueue.next} returned. */
  done(key: string): void
  /** Adds the key after its own growing pause, at least `leastMs`; returns the pause in milliseconds. */
  retry(key: string, leastMs?: number): number
  /** Forgets the failures of a key. */
  forget(key: string): void
  /** Failures in a row of a key. */
  failures(key: string): number
  depth(): number
  close(): void
}

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

/** An empty queue; `name` is the label of its metrics. */
export function createQueue(
  name: string,
  times: RetryTimes,
  metrics: OperatorMetrics,
  random: () => number = Math.random,
): WorkQueue {
  const waiting = { high: createRoundRobin<Waiting>(), low: createRoundRobin<Waiting>() }
  const active = new Map<string, number>()
  /** Keys that were added while they were worked on. */
  const again = new Map<string, Priority>()
  const later = new Map<string, { due: number; timer: NodeJS.Timeout }>()
  const failed = new Map<string, number>()
  const takers: ((key: string | undefined) => void)[] = []
  let closed = false

  const depth = () => waiting.high.size + waiting.low.size
  const take = (): string | undefined => {
    const next = waiting.high.take() ?? waiting.low.take()
    if (!next) return undefined
    active.set(next.key, performance.now())
    metrics.queueDepth.set({ name }, depth())
    metrics.queueSeconds.observe({ name }, (performance.now() - next.value.since) / 1000)
    return next.key
  }
  const offer = () => {
    while (takers.length > 0 && depth() > 0) takers.shift()?.(take())
  }
  const add = (key: string, priority: Priority = 'high') => {
    if (closed) return
    clearTimeout(later.get(key)?.timer)
    later.delete(key)
    if (active.has(key)) {
      if (again.get(key) !== 'high') again.set(key, priority)
      return
    }
    const entry = waiting.low.get(key) ?? waiting.high.get(key)
    if (waiting.high.get(key) || (entry && priority === 'low')) return
    waiting.low.delete(key)
    waiting[priority].set(key, entry ?? { priority, since: performance.now() })
    metrics.queueAdds.inc({ name })
    metrics.queueDepth.set({ name }, depth())
    offer()
  }
  const addAfter = (key: string, wanted: number, priority: Priority = 'low') => {
    if (closed) return
    const ms = Math.min(wanted, LONGEST_MS)
    const due = performance.now() + ms
    const set = later.get(key)
    if (set && set.due <= due) return
    clearTimeout(set?.timer)
    const timer = setTimeout(() => {
      later.delete(key)
      add(key, priority)
    }, ms)
    timer.unref()
    later.set(key, { due, timer })
  }
  return {
    add,
    addAfter,
    next: () => {
      const key = closed ? undefined : take()
      if (key !== undefined || closed) return Promise.resolve(key)
      return new Promise(resolve => takers.push(resolve))
    },
    done(key) {
      const started = active.get(key)
      if (started !== undefined) metrics.workSeconds.observe({ name }, (performance.now() - started) / 1000)
      active.delete(key)
      const priority = again.get(key)
      again.delete(key)
      if (priority) add(key, priority)
    },
    retry(key, leastMs = 0) {
      const count = failed.get(key) ?? 0
      failed.set(key, count + 1)
      metrics.queueRetries.inc({ name })
      const full = Math.min(times.capMs, times.baseMs * 2 ** count)
      const pause = Math.max(leastMs, full / 2 + random() * (full / 2))
      addAfter(key, pause)
      return pause
    },
    forget: key => void failed.delete(key),
    failures: key => failed.get(key) ?? 0,
    depth,
    close() {
      closed = true
      for (const { timer } of later.values()) clearTimeout(timer)
      later.clear()
      for (const taker of takers.splice(0)) taker(undefined)
    },
  }
}
