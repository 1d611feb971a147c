/** Payments and access of an end user on the wire. */
import { z } from 'zod'
import { dateTime, digits, yuan } from '../../http/shared/wire-values.ts'

/** A payment, a refund, or a granted period. */
export const paymentRecord = z
  .object({
    id: digits,
    kind: z.enum(['payment', 'refund']),
    subscription_id: digits,
    plan_id: digits,
    plan_name: z.string(),
    payment_method: z.string(),
    payment_id: z.string(),
    amount: yuan,
    /** What was refunded of a payment so far. */
    refunded_amount: yuan,
    /** Whether it started the subscription, extended it, or changed nothing about its time. */
    new_period: z.enum(['first', 'renewal', 'none']),
    paid_at: dateTime,
    created_at: dateTime,
  })
  .meta({ id: 'Payment' })

/** What a user may use now. */
export const entitlementRecord = z.object({
  user_id: z.string(),
  active: z.boolean(),
  features: z.array(z.string()),
  plans: z.array(
    z.object({ plan_id: z.string(), plan_name: z.string(), subscription_id: z.string(), end_date: z.string() }),
  ),
  expires_at: z.string(),
})
