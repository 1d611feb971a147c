/** Shares the parallel runners of a process among accounts or apps that have due work in the database. */

import { addTo } from '../count-by-key.ts'

/** How due work is claimed. */
export interface ClaimOptions<T> {
  /** Claims the work that is due longest, leaving out these keys; undefined when there is none. */
  claim(except: readonly string[]): Promise<T | undefined>
  /** The account or app that the work is for. */
  keyOf(work: T): string
  /** A key with so much work under way is claimed for only when no other has any due. */
  perKey: number
}

/** Claims the next piece of work and does it; false when none is due. Rejects when claiming or the work does. */
export type RunNext<T> = (work: (claimed: T) => Promise<void>) => Promise<boolean>

/** One claim follows the other, so that runners which start together do not all take work of one key. */
export function createFairClaims<T>({ claim, keyOf, perKey }: ClaimOptions<T>): RunNext<T> {
  const running = new Map<string, number>()
  let last: Promise<unknown> = Promise.resolve()
  const next = async (): Promise<T | undefined> => {
    const busy = [...running].flatMap(([key, count]) => (count >= perKey ? [key] : []))
    const claimed = (await claim(busy)) ?? (busy.length > 0 ? await claim([]) : undefined)
    if (claimed !== undefined) addTo(running, keyOf(claimed), 1)
    return claimed
  }
  return async work => {
    const turn = last.then(next)
    last = turn.catch(() => undefined)
    const claimed = await turn
    if (claimed === undefined) return false
    try {
      await work(claimed)
    } finally {
      addTo(running, keyOf(claimed), -1)
    }
    return true
  }
}
