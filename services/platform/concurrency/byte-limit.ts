/** Limits the memory of large items that are processed in parallel. */

import { addTo } from '../count-by-key.ts'

/** Admits up to a number of bytes at a time; an item larger than the limit is admitted alone. */
export interface ByteLimit {
  /**
   * Resolves with the release of the bytes once they are admitted. Without an account in order. With one in the order of
   * that account; while an account has bytes admitted it gets no more than half of what is left, so that its slow items
   * do not keep out the others.
   */
  enter(bytes: number, account?: string): Promise<() => void>
}

/** Default size up to which items are not counted: they are in memory already. */
const FREE_BYTES = 128 * 1024

interface Waiting {
  bytes: number
  account: string | undefined
  enter(): void
}

/** Creates a limit of `limit` bytes for items larger than `freeBytes`. */
export function createByteLimit(limit: number, freeBytes = FREE_BYTES): ByteLimit {
  let inside = 0
  const held = new Map<string, number>()
  let waiting: Waiting[] = []
  const count = (account: string | undefined, bytes: number) => {
    inside += bytes
    if (account !== undefined) addTo(held, account, bytes)
  }
  const fits = ({ bytes, account }: Waiting) => {
    const own = account === undefined ? 0 : (held.get(account) ?? 0)
    const most = own > 0 ? limit - own : limit
    return inside === 0 || inside + bytes * (own > 0 ? 2 : 1) <= most
  }
  const admit = () => {
    const passedOver = new Set<string | undefined>()
    waiting = waiting.filter(one => {
      if (passedOver.has(one.account) || !fits(one)) {
        passedOver.add(one.account)
        return true
      }
      count(one.account, one.bytes)
      one.enter()
      return false
    })
  }
  return {
    async enter(bytes, account) {
      if (bytes <= freeBytes) return () => undefined
      await new Promise<void>(resolve => {
        waiting.push({ bytes, account, enter: resolve })
        admit()
      })
      let out = false
      return () => {
        if (out) return
        out = true
        count(account, -bytes)
        admit()
      }
    },
  }
}
