/** Time as a value that is handed in, so that tests turn the clock instead of waiting. */

/** Tells the time. The mains use that of the database (database-clock.ts); everything else takes a Clock. */
export interface Clock {
  now(): Date
}

/** The machine's clock, for tests that need no other. */
export const systemClock: Clock = { now: () => new Date() }
