/**
 * Totals of lists and statistics: exact while counting is cheap; else a cached total that is recounted in the
 * background; capped in the worst case.
 */
import { type Collection, isMaxTimeExpired } from '../../platform/database/mongo.ts'
import type { Found } from '../rules/paging.ts'

/** Up to this total, counting is exact and takes a few milliseconds. */
export const CHEAP_COUNT = 10_000
/** Longest exact count in milliseconds; then the capped total is returned. */
const MAX_COUNT_MS = 1_500
/**
 * Largest age of a large total in milliseconds before it is recounted: the difference is invisible beyond ten thousand…
 */
const FRESH_MS = 15_000
/**
 * …and more after slow counts: this many times their duration, so that one question never uses more than half a percent
 * of a core.
 */
const FRESH_COUNTS = 200
/** …and the age at which a response waits for the new count. */
const USABLE_MS = 300_000
const MAX_REMEMBERED = 1_000

/** What to count. Questions with equal `key` may get the same total, so the key covers everything but the time. */
export interface Question<T extends object> {
  collection: Collection<T>
  filter: Parameters<Collection<T>['countDocuments']>[0] & object
  key: string
  hint?: Record<string, 1 | -1>
}

/** A total; `capped` when it is a lower bound. */
export type Total = Omit<Found<unknown>, 'items'>

/** A counting function with a cache of large totals. */
export type Count = <T extends object>(question: Question<T>, now: Date) => Promise<Total>

/** Creates a counting function; one per process. */
export function createCount(): Count {
  const remembered = new Map<string, { at: number; freshMs: number; total: Total }>()
  const underWay = new Map<string, Promise<Total>>()
  const countTotal = async <T extends object>(question: Question<T>, at: number): Promise<Total> => {
    // A total that was far above the limit is not counted cheaply first.
    const far = (remembered.get(question.key)?.total.total ?? 0) > 2 * CHEAP_COUNT
    const cheap = far ? CHEAP_COUNT + 1 : await countUpTo(question, CHEAP_COUNT + 1)
    remembered.delete(question.key)
    if (cheap <= CHEAP_COUNT) return { total: cheap }
    const started = performance.now()
    const total = await countAll(question)
    const freshMs = Math.max(FRESH_MS, (performance.now() - started) * FRESH_COUNTS)
    remembered.set(question.key, { at, freshMs, total })
    const [oldest] = remembered.keys()
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
    return total
  }
  /** Parallel callers of the same question share the count. */
  const countOnce = <T extends object>(question: Question<T>, at: number): Promise<Total> => {
    const running = underWay.get(question.key)
    if (running) return running
    const answer = countTotal(question, at).finally(() => underWay.delete(question.key))
    underWay.set(question.key, answer)
    return answer
  }
  return async (question, at) => {
    const now = at.getTime()
    const known = remembered.get(question.key)
    const age = known ? now - known.at : Number.POSITIVE_INFINITY
    if (!known || age >= USABLE_MS) return countOnce(question, now)
    if (age >= known.freshMs) countOnce(question, now).catch(() => undefined) // the next caller tries again
    return known.total
  }
}

function countUpTo<T extends object>({ collection, filter, hint }: Question<T>, limit: number): Promise<number> {
  return collection.countDocuments(filter, { limit, ...(hint ? { hint } : {}) })
}

async function countAll<T extends object>({ collection, filter, hint }: Question<T>): Promise<Total> {
  try {
    const options = { maxTimeMS: MAX_COUNT_MS, ...(hint ? { hint } : {}) }
    return { total: await collection.countDocuments(filter, options) }
  } catch (error) {
    if (isMaxTimeExpired(error)) return CAPPED
    throw error
  }
}

const CAPPED: Total = { total: CHEAP_COUNT + 1, capped: true }
