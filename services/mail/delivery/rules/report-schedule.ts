/** When the TLS report of a domain and day is made (RFC 8460 section 4.1). */
import { createHash } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'

/** From the end of the day on: workers write their last counts in this time. */
const EARLIEST_MS = HOUR_MS / 4
/** Reports are spread over this time, so that receivers of many reports do not get all of them at midnight. */
const SPREAD_MS = 6 * HOUR_MS

/** The time for a domain's report of a day: it looks random and is the same for every worker. */
export function reportDueAt(day: string, domain: string): Date {
  const digest = createHash('sha256').update(`${day}/${domain}`).digest()
  const share = digest.readUInt32BE(0) / 2 ** 32
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS + EARLIEST_MS + Math.floor(share * SPREAD_MS))
}
