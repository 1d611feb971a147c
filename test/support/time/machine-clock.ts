/** A machine whose clock is wrong: replaces `Date` of this process, so that everything in it sees the wrong time. */

/** Sets the machine's clock ahead by so many milliseconds (negative: behind). Returns the way back. */
export function setMachineClock(aheadMs: number): () => void {
  const RealDate = globalThis.Date
  class MachineDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      if (given.length === 0) super(RealDate.now() + aheadMs)
      else super(...(given as [number]))
    }
    static override now(): number {
      return RealDate.now() + aheadMs
    }
    /** Dates that were made before, or by native code. */
    static override [Symbol.hasInstance](value: unknown): boolean {
      return Object.prototype.toString.call(value) === '[object Date]'
    }
  }
  globalThis.Date = MachineDate as DateConstructor
  return () => {
    globalThis.Date = RealDate
  }
}
