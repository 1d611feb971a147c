/** Simulated outcomes of the recipients of a test message: nothing is sent, but the log is complete. */

/** One simulated attempt. */
export interface SimulatedAttempt {
  type: 'delivered' | 'deferred' | 'bounced'
  code: number
  enhanced: string
  text: string
}

const MARK = 'simulated: the message was submitted in test mode and went nowhere'
const DELIVERED: SimulatedAttempt = { type: 'delivered', code: 250, enhanced: '2.0.0', text: MARK }
const DEFERRED: SimulatedAttempt = { type: 'deferred', code: 451, enhanced: '4.2.0', text: `${MARK}; try again later` }
const BOUNCED: SimulatedAttempt = { type: 'bounced', code: 550, enhanced: '5.1.1', text: `${MARK}; no such user` }

const RESERVED: ReadonlyMap<string, readonly [SimulatedAttempt, ...SimulatedAttempt[]]> = new Map([
  ['bounced', [BOUNCED]],
  ['deferred', [DEFERRED, DELIVERED]],
])

/**
 * The attempts for one recipient of a test message, the last one final. The local parts `bounced` and `deferred`,
 * alone or with a label (`bounced+42@example.com`), ask for that outcome; every other recipient is delivered.
 */
export function simulate(email: string): readonly [SimulatedAttempt, ...SimulatedAttempt[]] {
  const local = email.slice(0, email.lastIndexOf('@')).toLowerCase()
  return RESERVED.get(local.replace(/\+.*/s, '')) ?? [DELIVERED]
}
