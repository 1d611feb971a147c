/** A cache of limited age and size, so that a hot path need not query the database for each request. */
import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

/** Values that may be up to {@link TtlCacheOptions.ttlMs} old. */
export interface TtlCache<V> {
  /** The cached value, or what `load` resolves to; concurrent calls with equal keys share one load. */
  get(key: string, load: () => Promise<V>): Promise<V>
  /** The cached value; undefined when {@link get} would have to load it. */
  peek(key: string): Promise<V> | undefined
  /** Removes a value, also one that is being loaded: the next {@link get} loads again. */
  delete(key: string): void
  /** Removes all values, also those that are being loaded. */
  clear(): void
}

/** Limits of a {@link TtlCache}. */
export interface TtlCacheOptions<V> {
  /** Age at which a value is loaded again, counted from the start of its load. At least 2. */
  ttlMs: number
  /** Age at which `get` returns the value and reloads it in the background, so that callers of busy keys never wait; off by default. */
  refreshMs?: number
  /** Maximum number of values; the least recently used is evicted. */
  max: number
  clock: Clock
  /** Values for which this is false are returned but not cached, so that a change is visible immediately. */
  isCacheable(value: V): boolean
}

interface Entry<V> {
  generation: number
  loadedFrom: number
  refreshAt: number
  value: Promise<V>
}

/** Creates an empty cache. Failed loads are not cached; they reject for all waiting callers. */
export function createTtlCache<V>(options: TtlCacheOptions<V>): TtlCache<V> {
  const { ttlMs, refreshMs = ttlMs, max, clock, isCacheable } = options
  let now = clock.now().getTime()
  // Writes clear caches often, and `LRUCache.clear` visits every value (0.5 ms for 10,000).
  let generation = 0
  // Promises are the values: lru-cache's own `fetch` counts the age from the end of a load, cannot cache undefined and
  // caches everything else (ADR 77). A value whose age equals `ttl` is still valid for lru-cache.
  const entries = new LRUCache<string, Entry<V>>({
    // With `max` it would allocate memory for all values in advance: 0.4 MiB for 10,000, and a process has a dozen caches.
    ...{ maxSize: max, sizeCalculation: () => 1 },
    ...{ ttl: ttlMs - 1, ttlResolution: 0, perf: { now: () => now } },
  })
  const fresh = (key: string) => {
    now = clock.now().getTime()
    const entry = entries.get(key)
    // After the clock is set back, entries from its future would live too long.
    return entry && entry.loadedFrom <= now && entry.generation === generation ? entry : undefined
  }
  const start = (load: () => Promise<V>): Entry<V> => ({
    generation,
    loadedFrom: now,
    refreshAt: now + refreshMs,
    value: load(),
  })
  const put = (key: string, entry: Entry<V>) => entries.set(key, entry, { start: entry.loadedFrom })
  const isCurrent = (key: string, entry: Entry<V>) => entries.peek(key, { allowStale: true }) === entry
  /** Replaces an entry that was not removed during the load; after a failure the old value stays until its own end. */
  const refresh = async (key: string, known: Entry<V>, load: () => Promise<V>) => {
    known.refreshAt = Number.POSITIVE_INFINITY
    const entry = start(load)
    const cacheable = await entry.value.then(isCacheable, () => undefined)
    if (cacheable === undefined || !isCurrent(key, known)) return
    if (cacheable) put(key, entry)
    else entries.delete(key)
  }
  return {
    async get(key, load) {
      const known = fresh(key)
      if (known) {
        if (known.refreshAt <= now) void refresh(key, known, load)
        return known.value
      }
      const entry = start(load)
      put(key, entry)
      let cacheable = false
      try {
        const value = await entry.value
        cacheable = isCacheable(value)
        return value
      } finally {
        if (!cacheable && isCurrent(key, entry)) entries.delete(key)
      }
    },
    peek: key => fresh(key)?.value,
    delete: key => void entries.delete(key),
    clear() {
      generation++
    },
  }
}
