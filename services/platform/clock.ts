/** Time as a value that is handed in, so that tests turn the clock instead of waiting. */

/** Tells the time. Only mains use {@link systemClock}; everything else takes a Clock. */
export interface Clock {
  now(): Date
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() }
