/** What a payment channel tells, in our words, after its signature was checked. */

/** One notice. Amounts are in cents. */
export type Notice =
  | { kind: 'paid'; outTradeNo: string; paymentId: string; amountCents: number; paidAt: number }
  | {
      kind: 'refunded'
      paymentId: string
      refundId: string
      amountCents: number
      /** True where the amount is the sum of all refunds of the payment so far. */
      cumulative: boolean
    }
  | { kind: 'changed'; type: string; subtype: string; purchaseToken: string; purchaseOrderId: string }
  | { kind: 'ignored'; reason: string }

/** A checked notice with the channel's own number of it, by which repeats are known. */
export interface CheckedNotice {
  eventId: string
  notice: Notice
}

/** Why a notice is refused: who sent it is not who it should be, it is too old, or it is about something else. */
export type RefusalReason = 'forged' | 'late' | 'mismatch' | 'malformed'

/** A notice that is not believed. */
export class NoticeRefused extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.name = 'NoticeRefused'
    this.reason = reason
  }
}

/** Text in yuan as cents. Throws {@link NoticeRefused} for anything else. */
export function centsOf(yuan: string): number {
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(yuan)) throw new NoticeRefused('malformed', 'not an amount')
  return Math.round(Number(yuan) * 100)
}
