/** Remembers values for a short, bounded time, so that a hot path need not ask the database for each request. */
import type { Clock } from './clock.ts'

/** Values that may be a little old. */
export interface Recent<V> {
  /** The remembered value, or what `load` gives; equal keys that load at once share one call. */
  get(key: string, load: () => Promise<V>): Promise<V>
  /** The remembered value; undefined when {@link get} would have to load it. */
  peek(key: string): Promise<V> | undefined
  /** Forgets a value, or all of them, also those that are being loaded: the next {@link get} loads anew. */
  forget(key?: string): void
}

/** How long and how much is remembered. */
export interface RecentOptions<V> {
  /** Age at which a value is loaded again, counted from before it was loaded. */
  ttlMs: number
  /** Most values; the oldest go first. */
  max: number
  clock: Clock
  /** Which values are worth remembering; the others are loaded each time, so that a change shows at once. */
  keep(value: V): boolean
}

/** An empty memory. */
export function createRecent<V>({ ttlMs, max, clock, keep }: RecentOptions<V>): Recent<V> {
  const entries = new Map<string, { until: number; value: Promise<V> }>()
  const fresh = (key: string, now: number) => {
    const entry = entries.get(key)
    return entry && entry.until > now ? entry : undefined
  }
  return {
    async get(key, load) {
      const now = clock.now().getTime()
      const known = fresh(key, now)
      if (known) return known.value
      const entry = { until: now + ttlMs, value: load() }
      entries.delete(key)
      entries.set(key, entry)
      const [oldest] = entries.keys()
      if (entries.size > max && oldest !== undefined) entries.delete(oldest)
      const forget = () => entries.get(key) === entry && entries.delete(key)
      try {
        const value = await entry.value
        if (!keep(value)) forget()
        return value
      } catch (error) {
        forget()
        throw error
      }
    },
    peek: key => fresh(key, clock.now().getTime())?.value,
    forget(key) {
      if (key === undefined) entries.clear()
      else entries.delete(key)
    },
  }
}
