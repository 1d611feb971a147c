/** A wrong machine clock: replaces `Date` of this process. */

/** Sets the clock ahead by `aheadMs` (negative: behind). Returns a function that restores it. */
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
    /** Dates created before, or by native code. */
    static override [Symbol.hasInstance](value: unknown): boolean {
      return Object.prototype.toString.call(value) === '[object Date]'
    }
  }
  // Schemas of Mongoose know types by their name.
  Object.defineProperty(MachineDate, 'name', { value: RealDate.name })
  globalThis.Date = MachineDate as DateConstructor
  return () => {
    globalThis.Date = RealDate
  }
}
