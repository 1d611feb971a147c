/** What a holder (an account, a login, a domain, an account at a destination) may use in a time. */

/** How much a holder may use in each period (clock periods, UTC). */
export interface PeriodAllowance {
  limit: number
  periodMs: number
}

/** `limit` a second on average (fractions are allowed), and at most `burst` of them at once. */
export interface Rate {
  limit: number
  burst: number
}

/** A limit of one holder. A holder may have one rate, and one amount for each length of period. */
export type Allowance = PeriodAllowance | Rate
