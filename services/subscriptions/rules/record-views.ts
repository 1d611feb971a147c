/** Users, subscriptions, apps and administrators as the API returns them. */

import { DAY_SECONDS } from '../../platform/durations.ts'
import { managedText } from '../../platform/managed/rules/managed-by.ts'
import type { AdminDoc, AppDoc } from '../store/models.ts'
import { formatCents } from './field-schemas.ts'
import { type Lang, translate } from './language.ts'
import { hasLapsed, type Period, type PlanSnapshot, STATUS } from './subscription-lifecycle.ts'
import type { Zone } from './time-zone.ts'

/** The stored fields of an end user that are shown. */
export interface StoredUser {
  _id: number
  openid?: string
  unionid?: string
  huawei_openid?: string
  huawei_unionid?: string
  nickname: string
  avatar: string
  gender: string
  country: string
  province: string
  city: string
  phone?: string
  email?: string
  platform: string
  /** 1 normal, 0 disabled, 2 deletion requested. */
  status: '0' | '1' | '2'
  login_count: number
  last_login_at?: Date
  last_login_ip?: string
  /** Set: no reminders are mailed. */
  no_reminders?: true
  created_at: Date
  updated_at: Date
}

/** An end user. Missing contact and login fields are null, others empty text. */
export function viewUser(user: StoredUser, zone: Zone) {
  return {
    id: String(user._id),
    openid: user.openid ?? '',
    unionid: user.unionid ?? '',
    huawei_openid: user.huawei_openid ?? '',
    huawei_unionid: user.huawei_unionid ?? '',
    nickname: user.nickname,
    avatar: user.avatar,
    gender: user.gender,
    country: user.country,
    province: user.province,
    city: user.city,
    phone: user.phone ?? null,
    email: user.email ?? null,
    last_login_time: user.last_login_at ? zone.format(user.last_login_at) : null,
    last_login_ip: user.last_login_ip ?? null,
    platform: user.platform,
    status: user.status,
    login_count: String(user.login_count),
    created_at: zone.format(user.created_at),
    updated_at: zone.format(user.updated_at),
    reminder_mail: user.no_reminders ? ('0' as const) : ('1' as const),
  }
}

/** The stored fields of a subscription that are shown. */
export interface StoredSubscription extends Period {
  _id: number
  user_id: number
  plan_id: number
  plan: PlanSnapshot
  payment_method: string
  payment_id: string
  version: number
  created_at: Date
  updated_at: Date
}

/** Inputs of the view of a subscription other than the record. */
export interface SubscriptionViewContext {
  lang: Lang
  zone: Zone
  nowSeconds: number
  soonDays: number
}

/**
 * A subscription. Status and booleans are computed for the current time, so they are correct before the expiry job has
 * run.
 */
export function viewSubscription(
  subscription: StoredSubscription,
  user: { nickname: string; phone?: string; email?: string } | undefined,
  { lang, zone, nowSeconds, soonDays }: SubscriptionViewContext,
) {
  const { start, end, plan } = subscription
  const permanent = end === 0
  const expired = !permanent && end <= nowSeconds
  const status = statusShown(subscription, nowSeconds)
  const active = status === STATUS.active
  return {
    id: String(subscription._id),
    user_id: String(subscription.user_id),
    plan_id: String(subscription.plan_id),
    status: String(status),
    payment_method: subscription.payment_method,
    payment_id: subscription.payment_id,
    start_date: String(start),
    end_date: String(end),
    auto_renew: subscription.auto_renew ? ('1' as const) : ('0' as const),
    created_at: zone.format(subscription.created_at),
    updated_at: zone.format(subscription.updated_at),
    user_nickname: user?.nickname ?? '',
    user_phone: user?.phone ?? null,
    user_email: user?.email ?? null,
    plan_name: plan.name,
    plan_price: formatCents(plan.price_cents),
    plan_duration: String(plan.duration),
    start_date_formatted: zone.format(new Date(start * 1000)),
    end_date_formatted: permanent ? translate('permanent', lang) : zone.format(new Date(end * 1000)),
    is_permanent: permanent,
    is_expired: expired,
    ...(permanent ? {} : { is_expiring_soon: active && !expired && end - nowSeconds <= soonDays * DAY_SECONDS }),
    ...(active && expired ? { in_grace: true } : {}),
    version: String(subscription.version),
  }
}

/** The current status: an active record past its end and grace is expired, whether or not the expiry job has run. */
function statusShown(period: Pick<Period, 'status' | 'lapse_at'>, nowSeconds: number): number {
  return period.status === STATUS.active && hasLapsed(period, nowSeconds) ? STATUS.expired : period.status
}

/** An app. */
export function viewApp(app: AppDoc, zone: Zone) {
  return {
    id: String(app._id),
    app_key: app.app_key,
    app_name: app.app_name,
    app_description: app.app_description,
    status: app.status,
    created_at: zone.format(app.created_at),
    updated_at: zone.format(app.updated_at),
    require_signature: app.require_signature ? ('1' as const) : ('0' as const),
    mail_from: app.mail_from ?? '',
    version: String(app.version),
    ...(app.managed_by ? { managed_by: managedText(app.managed_by) } : {}),
  }
}

/** An administrator. All nine fields of the reference are text, also when nothing is known yet. */
export function viewAdmin(admin: AdminDoc, zone: Zone) {
  return {
    id: String(admin._id),
    username: admin.username,
    name: admin.name,
    email: admin.email,
    last_login_time: admin.last_login_at ? zone.format(admin.last_login_at) : '',
    last_login_ip: admin.last_login_ip ?? '',
    status: admin.status,
    created_at: zone.format(admin.created_at),
    updated_at: zone.format(admin.updated_at),
    role: admin.role,
    app_keys: admin.app_keys,
  }
}
