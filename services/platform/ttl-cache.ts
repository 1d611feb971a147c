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
  /** Age at which it is loaded anew behind the answers, so that busy keys never let a caller wait; none by default. */
  refreshMs?: number
  /** Most values; the oldest go first. */
  max: number
  clock: Clock
  /** Which values are worth remembering; the others are loaded each time, so that a change shows at once. */
  keep(value: V): boolean
}

interface Entry<V> {
  from: number
  refresh: number
  until: number
  value: Promise<V>
}

/** An empty memory. */
export function createRecent<V>({ ttlMs, refreshMs = ttlMs, max, clock, keep }: RecentOptions<V>): Recent<V> {
  const entries = new Map<string, Entry<V>>()
  const fresh = (key: string, now: number) => {
    const entry = entries.get(key)
    // A clock that was set back must not keep values alive for as long as it was wrong.
    return entry && entry.from <= now && entry.until > now ? entry : undefined
  }
  const start = (load: () => Promise<V>, now: number): Entry<V> => ({
    from: now,
    refresh: now + refreshMs,
    until: now + ttlMs,
    value: load(),
  })
  /** Puts a newer value in the place of one that nobody has forgotten meanwhile; a failure leaves the old one its time. */
  const renew = async (key: string, known: Entry<V>, load: () => Promise<V>, now: number) => {
    known.refresh = known.until
    const entry = start(load, now)
    const kept = await entry.value.then(keep, () => undefined)
    if (kept === undefined || entries.get(key) !== known) return
    entries.delete(key)
    if (kept) entries.set(key, entry)
  }
  return {
    async get(key, load) {
      const now = clock.now().getTime()
      const known = fresh(key, now)
      if (known) {
        if (known.refresh <= now) void renew(key, known, load, now)
        return known.value
      }
      const entry = start(load, now)
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
