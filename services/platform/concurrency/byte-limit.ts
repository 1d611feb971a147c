/** Bounds the memory of large things that are handled at once. */

import { addTo } from '../count-by-key.ts'

/** Lets so many bytes in at a time; one larger than all of it goes alone. */
export interface ByteGate {
  /**
   * Resolves with the way out when there is room. Without an account in order; with one in the order of that account, and
   * while an account is inside it gets no more than stays free, so that what is slow of one does not keep out the others.
   */
  enter(bytes: number, account?: string): Promise<() => void>
}

/** Sizes up to this do not count unless told otherwise: they are in memory already. */
const FREE_BYTES = 128 * 1024

interface Waiting {
  bytes: number
  account: string | undefined
  enter(): void
}

/** Makes a gate of `limit` bytes, for things larger than `freeBytes`. */
export function createByteGate(limit: number, freeBytes = FREE_BYTES): ByteGate {
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
