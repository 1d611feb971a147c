/** What of a message is tracked: what its domain has on, unless the message turned it off. */

/** Of a domain, or of a message; absent: off for a domain, as the domain has it for a message. */
export interface Tracking {
  opens?: boolean | undefined
  clicks?: boolean | undefined
}

/** Both decided. */
export function trackingOf(domain: Tracking | undefined, message: Tracking | undefined) {
  return {
    opens: domain?.opens === true && message?.opens !== false,
    clicks: domain?.clicks === true && message?.clicks !== false,
  }
}
