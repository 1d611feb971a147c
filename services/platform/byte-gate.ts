/** Bounds the memory of large things that are handled at once. */

/** Lets so many bytes in at a time, in order; one larger than all of it goes alone. */
export interface ByteGate {
  /** Resolves with the way out when there is room. */
  enter(bytes: number): Promise<() => void>
}

/** Sizes below this do not count: they are in memory already. */
const FREE_BYTES = 128 * 1024

/** Makes a gate of `limit` bytes. */
export function createByteGate(limit: number): ByteGate {
  let inside = 0
  const waiting: { bytes: number; enter: () => void }[] = []
  const admit = () => {
    for (let next = waiting[0]; next && (inside === 0 || inside + next.bytes <= limit); next = waiting[0]) {
      waiting.shift()
      inside += next.bytes
      next.enter()
    }
  }
  return {
    async enter(bytes) {
      if (bytes <= FREE_BYTES) return () => undefined
      await new Promise<void>(resolve => {
        waiting.push({ bytes, enter: resolve })
        admit()
      })
      let out = false
      return () => {
        if (out) return
        out = true
        inside -= bytes
        admit()
      }
    },
  }
}
