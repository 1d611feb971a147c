/** Subscriptions on the wire. */
import { z } from 'zod'
import { dateTime, digits, flag, pagination, yuan } from '../../http/shared/wire-values.ts'

/** Pagination of subscriptions: the total is text, as in the reference. */
const subscriptionPagination = pagination.extend({ total_records: digits })

/** A subscription. */
export const subscriptionRecord = z
  .object({
    id: digits,
    user_id: digits,
    plan_id: digits,
    status: digits,
    payment_method: z.string(),
    payment_id: z.string(),
    start_date: digits,
    end_date: digits,
    auto_renew: flag,
    created_at: dateTime,
    updated_at: dateTime,
    user_nickname: z.string(),
    user_phone: z.string().nullable(),
    user_email: z.string().nullable(),
    plan_name: z.string(),
    plan_price: yuan,
    plan_duration: digits,
    start_date_formatted: dateTime,
    end_date_formatted: z.string(),
    is_permanent: z.boolean(),
    is_expired: z.boolean(),
    is_expiring_soon: z.boolean().optional(),
    in_grace: z.boolean().optional(),
    version: digits,
  })
  .meta({ id: 'Subscription' })

/** A page of subscriptions; filters are an empty array when none was used. */
export const subscriptionList = z
  .object({
    subscriptions: z.array(subscriptionRecord),
    pagination: subscriptionPagination,
    filters: z.union([z.array(z.never()), z.record(z.string(), z.string())]),
  })
  .meta({ id: 'SubscriptionList' })
