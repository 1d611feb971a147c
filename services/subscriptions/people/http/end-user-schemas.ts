/** End users and their statistics on the wire. */
import { z } from 'zod'
import { count, dateTime, digits, pagination } from '../../http/shared/wire-values.ts'

/** An end user. */
export const userRecord = z
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
    /** 0: the user unsubscribed from reminders. */
    reminder_mail: z.enum(['0', '1']),
  })
  .meta({ id: 'User' })

/** A page of users. */
export const userList = z
  .object({
    users: z.array(userRecord),
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

/** Statistics of users. */
export const userStatistics = z
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
