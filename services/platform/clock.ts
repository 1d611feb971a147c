/** Time as an injected value, so that tests set the clock instead of waiting. */

/** Returns the time. Entry points use that of the database (database-clock.ts); all other code receives a Clock. */
export interface Clock {
  now(): Date
}

/** The machine's clock, for tests that need no other. */
export const systemClock: Clock = { now: () => new Date() }
