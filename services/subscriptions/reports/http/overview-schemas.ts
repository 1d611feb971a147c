/** The overview on the wire. */
import { z } from 'zod'
import { count, dateTime } from '../../http/shared/wire-values.ts'

const share = z.object({ active_subscriptions: count, share: z.number() })

/** The overview. */
export const overview = z
  .object({
    total_apps: count,
    total_users: count,
    today_new_users: count,
    today_login_users: count,
    active_subscriptions: count,
    permanent_subscriptions: count,
    timed_subscriptions: count,
    expiring_soon_subscriptions: count,
    expired_subscriptions: count,
    auto_renew_subscriptions: count,
    today_new_subscriptions: count,
    yesterday_new_subscriptions: count,
    this_month_new_subscriptions: count,
    last_month_new_subscriptions: count,
    today_revenue: z.number(),
    this_month_revenue: z.number(),
    last_month_revenue: z.number(),
    mrr: z.number(),
    churn_rate: z.number(),
    renewal_rate: z.number(),
    paying_rate: z.number(),
    subscription_daily_growth_rate: z.number(),
    subscription_monthly_growth_rate: z.number(),
    total_switches: count,
    enabled_switches: count,
    plans: z.array(share.extend({ plan_id: z.string(), plan_name: z.string() })),
    payment_methods: z.array(share.extend({ payment_method: z.string() })),
    trend: z.array(
      z.object({
        date: z.string(),
        new_users: count,
        login_users: count,
        new_subscriptions: count,
        renewals: count,
        ended: count,
        refunds: count,
        revenue: z.number(),
      }),
    ),
    generated_at: dateTime,
  })
  .meta({ id: 'Overview' })
