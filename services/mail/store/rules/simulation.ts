/**
 * Simulated outcomes. Recipients of a test message get theirs at acceptance; recipients at {@link SIMULATOR_DOMAIN} are
 * answered by the worker in place of a server, in every mode of delivery.
 */

/** The domain of the simulator's addresses. `.invalid` never exists in DNS (RFC 6761), so no mail is lost to it. */
export const SIMULATOR_DOMAIN = 'simulator.invalid'

/** One simulated attempt. */
export interface SimulatedAttempt {
  type: 'delivered' | 'deferred' | 'bounced'
  code: number
  enhanced: string
  text: string
}

type Attempts = readonly [SimulatedAttempt, ...SimulatedAttempt[]]

const MARK = 'simulated, nothing was sent'
const DELIVERED: SimulatedAttempt = { type: 'delivered', code: 250, enhanced: '2.0.0', text: MARK }
const DEFERRED: SimulatedAttempt = { type: 'deferred', code: 451, enhanced: '4.7.1', text: `${MARK}; try again later` }
const BOUNCED: SimulatedAttempt = { type: 'bounced', code: 550, enhanced: '5.1.1', text: `${MARK}; no such user` }
const UNKNOWN: SimulatedAttempt = {
  ...BOUNCED,
  text: `${BOUNCED.text}: the simulator has delivered, deferred, bounced, complained and suppressed`,
}

const RESERVED: ReadonlyMap<string, Attempts> = new Map([
  ['bounced', [BOUNCED]],
  ['deferred', [DEFERRED, DELIVERED]],
])
/** Complaints about one message: each costs several writes of its own. */
const COMPLAINTS = 10
const WITHOUT_COMPLAINT: SimulatedAttempt = {
  ...DELIVERED,
  text: `${MARK}; no complaint follows: at most ${COMPLAINTS} recipients of a message complain`,
}
/** Further names of the simulator; what follows a delivery or precedes it is not an attempt. */
const DELIVERED_AT_SIMULATOR: ReadonlySet<string> = new Set(['delivered', 'complained', 'suppressed'])

/** True for an address of the simulator. */
export function isSimulated(email: string): boolean {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase() === SIMULATOR_DOMAIN
}

/**
 * The attempts for one recipient of a test message, or for one of the simulator; the last one is final. The local parts
 * `bounced` and `deferred`, alone or with a label (`bounced+42@example.com`), ask for that outcome; every other recipient
 * is delivered. The simulator has no other addresses than those that it documents.
 */
export function simulate(email: string): Attempts {
  const local = localPart(email)
  const reserved = RESERVED.get(local)
  if (reserved) return reserved
  return isSimulated(email) && !DELIVERED_AT_SIMULATOR.has(local) ? [UNKNOWN] : [DELIVERED]
}

/** The answer to this attempt, counted from 1; the last one repeats. `mayComplain`: see {@link complains}. */
export function simulatedAttempt(email: string, attempt: number, mayComplain = true): SimulatedAttempt {
  if (!mayComplain && asksForComplaint(email)) return WITHOUT_COMPLAINT
  const attempts = simulate(email)
  return attempts[Math.min(attempt, attempts.length) - 1] ?? attempts[0]
}

/**
 * True when the recipient with this number, of all recipients of a message, complains about it: one of the simulator whose
 * address asks for a complaint, and one of the first ten of them.
 */
export function complains(rcpts: readonly { email: string }[], n: number): boolean {
  if (!asksForComplaint(rcpts[n]?.email ?? '')) return false
  let before = 0
  for (const { email } of rcpts.slice(0, n)) if (asksForComplaint(email) && ++before === COMPLAINTS) return false
  return true
}

/** True for an address of the simulator that every account has on its suppression list. */
export function isSuppressedAtSimulator(email: string): boolean {
  return isSimulated(email) && localPart(email) === 'suppressed'
}

function asksForComplaint(email: string): boolean {
  return isSimulated(email) && localPart(email) === 'complained'
}

/** In lower case, without a label. */
function localPart(email: string): string {
  return email.slice(0, email.lastIndexOf('@')).toLowerCase().replace(/\+.*/s, '')
}
