/** The records and answers of the Subscription Administration API, as they stand on the wire. */
import { z } from 'zod'

const digits = z.string().regex(/^[0-9]+$/)
const dateTime = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/)
const yuan = z.string().regex(/^[0-9]+[.][0-9]{2}$/)
const flag = z.enum(['0', '1'])
const count = z.number().int()

/** Pagination of users, apps, plans and logs. */
export const pagination = z
  .object({
    current_page: count,
    page_size: count,
    total_pages: count,
    total_records: count,
    total_is_capped: z.boolean().optional(),
    next_cursor: z.string().optional(),
  })
  .meta({ id: 'Pagination' })
/** Pagination of subscriptions: the total is text, as the reference shows it. */
const subscriptionPagination = pagination.extend({ total_records: digits })
/** Pagination of switches. */
const switchPagination = z.object({ page: count, pageSize: count, total: count, totalPages: count })

/** An administrator. */
export const admin = z
  .object({
    id: digits,
    username: z.string(),
    name: z.string(),
    email: z.string(),
    last_login_time: z.string(),
    last_login_ip: z.string(),
    status: flag,
    created_at: dateTime,
    updated_at: dateTime,
    role: z.enum(['super', 'operator', 'viewer']),
    app_keys: z.array(z.string()),
  })
  .meta({ id: 'Admin' })

/** An end user. */
export const user = z
  .object({
    id: digits,
    openid: z.string(),
    unionid: z.string(),
    huawei_openid: z.string(),
    huawei_unionid: z.string(),
    nickname: z.string(),
    avatar: z.string(),
    gender: z.string(),
    country: z.string(),
    province: z.string(),
    city: z.string(),
    phone: z.string().nullable(),
    email: z.string().nullable(),
    last_login_time: z.string().nullable(),
    last_login_ip: z.string().nullable(),
    platform: z.string(),
    status: z.string(),
    login_count: digits,
    created_at: dateTime,
    updated_at: dateTime,
    /** 0: the user ended the reminders. */
    reminder_mail: z.enum(['0', '1']),
  })
  .meta({ id: 'User' })

/** A page of users. */
export const userList = z
  .object({
    users: z.array(user),
    pagination,
    filters: z.object({
      search: z.string(),
      status: z.string(),
      platform: z.string(),
      start_date: z.string(),
      end_date: z.string(),
    }),
  })
  .meta({ id: 'UserList' })

/** Figures of users. */
export const statistics = z
  .object({
    total_users: count,
    active_users: count,
    inactive_users: count,
    today_new_users: count,
    yesterday_new_users: count,
    this_month_new_users: count,
    last_month_new_users: count,
    today_login_users: count,
    daily_growth_rate: z.number(),
    monthly_growth_rate: z.number(),
    active_rate: z.number(),
    monthly_growth_rate_like_for_like: z.number(),
    trend: z.array(z.object({ date: z.string(), new_users: count, login_users: count })).optional(),
    platforms: z.array(z.object({ platform: z.string(), total_users: count, share: z.number() })).optional(),
  })
  .meta({ id: 'UserStatistics' })

/** A plan. */
export const plan = z
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
    plans: z.array(plan),
    pagination,
    filters: z.object({ search: z.string(), status: z.string() }),
  })
  .meta({ id: 'PlanList' })

/** A subscription. */
export const subscription = z
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

/** A page of subscriptions; filters are an empty array when nothing was filtered. */
export const subscriptionList = z
  .object({
    subscriptions: z.array(subscription),
    pagination: subscriptionPagination,
    filters: z.union([z.array(z.never()), z.record(z.string(), z.string())]),
  })
  .meta({ id: 'SubscriptionList' })

const logEntry = z
  .object({
    version: z.string(),
    date: z.string(),
    title: z.string(),
    features: z.array(z.string()),
    improvements: z.array(z.string()),
    fixes: z.array(z.string()),
  })
  .meta({ id: 'ReleaseNote' })

/** A switch. */
export const switchRecord = z
  .object({
    id: digits,
    name: z.string(),
    description: z.string(),
    type: z.string(),
    value: z.object({ title: z.string(), logs: z.array(logEntry), test_json: z.string() }),
    raw_value: z.string(),
    enabled: flag,
    client_visible: flag,
    rollout: z.string(),
    rules: z.array(z.object({}).loose()),
    schedules: z.array(z.object({ at: digits }).loose()),
    version: digits,
    created_at: digits,
    updated_at: digits,
    created_by: z.string(),
    updated_by: z.string(),
    display_value: z.string(),
    status_class: z.enum(['success', 'warning', 'secondary', 'danger']),
    status_text: z.string(),
    created_at_formatted: dateTime,
    updated_at_formatted: dateTime,
    managed_by: z.string().optional(),
  })
  .meta({ id: 'Switch' })

/** A type of switches. */
const switchType = z
  .object({
    type: z.string(),
    name: z.string(),
    value_format: z.string(),
    example: z.string(),
    default: z.string(),
    client_kind: z.string(),
  })
  .meta({ id: 'SwitchType' })

/** A page of switches; `types` with action=types. */
export const switchList = z
  .object({
    switches: z.array(switchRecord),
    pagination: switchPagination,
    filters: z.object({ search: z.string(), type: z.string() }),
    types: z.array(switchType).optional(),
  })
  .meta({ id: 'SwitchList' })

/** What there is to know about the switches of an app. */
export const switchMetadata = z
  .object({
    total: count,
    enabled: count,
    disabled: count,
    scheduled: count,
    by_type: z.record(z.string(), count),
    types: z.array(z.string()),
    limits: z.object({
      name: count,
      description: count,
      value_bytes: count,
      switches_per_app: count,
      logs: count,
    }),
    name_pattern: z.string(),
    last_updated_at: z.string(),
    last_updated_by: z.string(),
    etag: z.string(),
  })
  .meta({ id: 'SwitchMetadata' })

/** Former states of a switch or plan. */
export const revisions = z
  .object({
    revisions: z.array(
      z.object({ revision: digits, deleted: z.boolean(), by: z.string(), at: dateTime, record: z.object({}).loose() }),
    ),
  })
  .meta({ id: 'Revisions' })

/** An app. */
export const app = z
  .object({
    id: digits,
    app_key: z.string(),
    app_name: z.string(),
    app_description: z.string(),
    status: flag,
    created_at: dateTime,
    updated_at: dateTime,
    require_signature: flag,
    mail_from: z.string(),
    version: digits,
    managed_by: z.string().optional(),
  })
  .meta({ id: 'App' })

/** A new app with what is shown once. */
export const createdApp = app.extend({ publishable_key: z.string(), app_secret: z.string() }).meta({ id: 'CreatedApp' })

/** A page of apps. */
export const appList = z
  .object({
    apps: z.array(app),
    pagination,
    filters: z.object({ search: z.string(), status: z.string() }),
  })
  .meta({ id: 'AppList' })

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

/** A credential of an app; `secret` only in the answer that made it. */
export const credential = z
  .object({
    id: z.string(),
    kind: z.enum(['publishable', 'secret', 'hmac']),
    key: z.string(),
    status: flag,
    created_at: dateTime,
    secret: z.string().optional(),
  })
  .meta({ id: 'Credential' })

/** A payment channel of an app; of its secrets only whether they are set. */
export const channel = z
  .object({
    channel: z.string(),
    enabled: flag,
    settings: z.record(z.string(), z.string()),
    secrets: z.record(z.string(), z.boolean()),
    notify_path: z.string(),
    updated_at: dateTime,
  })
  .meta({ id: 'PaymentChannel' })

/** A webhook of an app; `secret` only in the answer that made it. */
export const webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    enabled: flag,
    created_at: dateTime,
    updated_at: dateTime,
    secret: z.string().optional(),
    recent: z
      .array(
        z.object({
          id: z.string(),
          type: z.string(),
          state: z.enum(['waiting', 'done', 'failed']),
          attempts: digits,
          result: z.string(),
          created_at: dateTime,
        }),
      )
      .optional(),
  })
  .meta({ id: 'Webhook' })

/** An entry of the audit log. */
export const auditEntry = z
  .object({
    id: digits,
    app_key: z.string(),
    actor_kind: z.string(),
    actor_id: z.string(),
    actor_name: z.string(),
    action: z.string(),
    target_kind: z.string(),
    target_id: z.string(),
    changes: z.record(z.string(), z.array(z.unknown())),
    /** Given with an action on a subscription; empty where none was. */
    reason: z.string(),
    request_id: z.string(),
    ip: z.string(),
    created_at: dateTime,
  })
  .meta({ id: 'AuditEntry' })

/** A Kubernetes resource that owns a record; `state` is null until the operator has looked at it. */
export const managedResource = z
  .object({
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    app_key: z.string(),
    record_id: digits,
    record_name: z.string(),
    state: z
      .object({
        ready: z.boolean(),
        reason: z.string(),
        message: z.string(),
        conditions: z.array(
          z.object({
            type: z.string(),
            status: z.enum(['True', 'False', 'Unknown']),
            reason: z.string(),
            message: z.string(),
          }),
        ),
        /** Seconds since 1970. */
        observed_at: digits,
      })
      .nullable(),
  })
  .meta({ id: 'ManagedResource' })

/** An answer without particulars. */
export const nothing = z.object({})
