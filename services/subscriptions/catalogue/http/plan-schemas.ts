/** Plans on the wire. */
import { z } from 'zod'
import { dateTime, digits, flag, pagination, yuan } from '../../http/shared/wire-values.ts'

/** A plan. */
export const planRecord = z
  .object({
    id: digits,
    app_key: z.string(),
    name: z.string(),
    description: z.string(),
    price: yuan,
    original_price: yuan,
    duration: digits,
    features: z.string(),
    sort_order: digits,
    status: flag,
    created_at: dateTime,
    updated_at: dateTime,
    version: digits,
    trial_days: digits,
    grace_days: digits,
    auto_renew_allowed: flag,
    active_subscriptions: digits,
    is_permanent: z.boolean(),
    managed_by: z.string().optional(),
  })
  .meta({ id: 'Plan' })

/** A page of plans. */
export const planList = z
  .object({
    plans: z.array(planRecord),
    pagination,
    filters: z.object({ search: z.string(), status: z.string() }),
  })
  .meta({ id: 'PlanList' })
