/** Bounds the memory that clients can make a process hold, over all clients and for each account. */

import { addTo } from '../count-by-key.ts'

/** Memory that accounts share. */
export interface MemoryBudget {
  /**
   * Counts `bytes` for the account; false, without counting, when they do not fit: an account holds at most as much as
   * stays free. One account alone gets half, two get a third each, and there is always room for the next one.
   */
  take(account: string, bytes: number): boolean
  /** Releases bytes. */
  give(account: string, bytes: number): void
}

/** Creates a budget of `mostBytes`. */
export function createMemoryBudget(mostBytes: number): MemoryBudget {
  const held = new Map<string, number>()
  let used = 0
  return {
    take(account, bytes) {
      if ((held.get(account) ?? 0) + bytes > mostBytes - used - bytes) return false
      used += bytes
      addTo(held, account, bytes)
      return true
    },
    give(account, bytes) {
      used -= bytes
      addTo(held, account, -bytes)
    },
  }
}
