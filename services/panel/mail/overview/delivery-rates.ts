/** Delivery and bounce rates and their limits. */

/** Recipients by status. */
export interface Counts {
  recipients: number
  delivered: number
  bounced: number
  failed: number
  complained: number
}

/** Above `warn` receivers begin to slow a sender down, above `bad` they block it (the review limits of large relays). */
export const BOUNCE_LIMITS = { warn: 0.02, bad: 0.05 } as const

/** Shares of the recipients with a final status; undefined if there are none. */
export function ratesOf(counts: Counts): { delivered: number; bounced: number } | undefined {
  // Who complained got the message.
  const delivered = counts.delivered + counts.complained
  const known = delivered + counts.bounced + counts.failed
  if (known === 0) return undefined
  return { delivered: delivered / known, bounced: (counts.bounced + counts.failed) / known }
}

export function bounceTone(rate: number): 'ok' | 'warn' | 'bad' {
  if (rate > BOUNCE_LIMITS.bad) return 'bad'
  return rate > BOUNCE_LIMITS.warn ? 'warn' : 'ok'
}
