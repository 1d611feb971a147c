/**
 * Counting for lists and figures: exact while it is cheap; where it is not, a total that is remembered and counted anew
 * behind the answers; capped in the worst case.
 */
import type { Collection } from '../../platform/database/mongo.ts'
import type { Found } from '../rules/paging.ts'

/** Up to here counting is exact in a few milliseconds. */
export const CHEAP_COUNT = 10_000
/** Longest exact count, in milliseconds; behind it the capped form is answered. */
const MAX_COUNT_MS = 1_500
/** A large total may be so old, in milliseconds, before it is counted anew: nobody sees the difference in the eleventh thousand… */
const FRESH_MS = 15_000
/** …and older when counting takes long: so many times as long, that one question never takes more than half a percent of a core. */
const FRESH_COUNTS = 200
/** …and so old before an answer waits for the new count. */
const USABLE_MS = 300_000
const MAX_REMEMBERED = 1_000

/** What to count. `key` names the question: equal keys may get the same total, so it says everything but the time. */
export interface Question<T extends object> {
  collection: Collection<T>
  filter: Parameters<Collection<T>['countDocuments']>[0] & object
  key: string
  hint?: Record<string, 1 | -1>
}

/** A total; `capped` when there are at least so many. */
export type Total = Omit<Found<unknown>, 'items'>

/** A counting function with a memory for large totals. */
export type Count = <T extends object>(question: Question<T>, now: Date) => Promise<Total>

/** Makes one; a process needs one. */
export function createCount(): Count {
  const remembered = new Map<string, { at: number; freshMs: number; total: Total }>()
  const underWay = new Map<string, Promise<Total>>()
  const ask = async <T extends object>(question: Question<T>, at: number): Promise<Total> => {
    // What was far beyond is not asked first whether it is small now.
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
  /** Who asks the same at the same time shares the answer. */
  const askOnce = <T extends object>(question: Question<T>, at: number): Promise<Total> => {
    const running = underWay.get(question.key)
    if (running) return running
    const answer = ask(question, at).finally(() => underWay.delete(question.key))
    underWay.set(question.key, answer)
    return answer
  }
  return async (question, at) => {
    const now = at.getTime()
    const known = remembered.get(question.key)
    const age = known ? now - known.at : Number.POSITIVE_INFINITY
    if (!known || age >= USABLE_MS) return askOnce(question, now)
    if (age >= known.freshMs) askOnce(question, now).catch(() => undefined) // who asks next tries again
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
    if (error instanceof Error && 'code' in error && error.code === 50) return CAPPED // MaxTimeMSExpired
    throw error
  }
}

const CAPPED: Total = { total: CHEAP_COUNT + 1, capped: true }
