import { describe, expect, test } from 'vitest'
import { DAY_SECONDS } from '../../platform/durations.ts'
import {
  type StoredSubscription,
  type SubscriptionViewContext,
  viewAdmin,
  viewApp,
  viewSubscription,
  viewUser,
} from './record-views.ts'
import { STATUS } from './subscription-lifecycle.ts'
import { zoneOf } from './time-zone.ts'

const zone = zoneOf('Asia/Shanghai')
const created_at = new Date('2026-01-01T00:00:00Z')
const updated_at = new Date('2026-11-21T16:00:00Z')
const NOW = 1_795_276_800
const context: SubscriptionViewContext = { lang: 'zh', zone, nowSeconds: NOW, soonDays: 7 }
const plan = { plan_id: 5, version: 2, name: 'Pro', price_cents: 1990, duration: 30, grace_days: 0, features: [] }
const base: StoredSubscription = {
  _id: 9,
  user_id: 3,
  plan_id: 5,
  plan,
  status: STATUS.active,
  start: NOW - DAY_SECONDS,
  end: NOW + 29 * DAY_SECONDS,
  lapse_at: NOW + 29 * DAY_SECONDS,
  auto_renew: false,
  payment_method: 'alipay',
  payment_id: 'P-1',
  version: 1,
  created_at,
  updated_at,
}
/** A subscription that ends so many seconds from now, with so many of grace. */
const ending = (seconds: number, grace = 0): Partial<StoredSubscription> => ({
  end: NOW + seconds,
  lapse_at: NOW + seconds + grace,
})
const view = (change: Partial<StoredSubscription> = {}, more: Partial<SubscriptionViewContext> = {}) =>
  viewSubscription({ ...base, ...change }, undefined, { ...context, ...more })

describe('a subscription', () => {
  test('has the plan as it was bought and the current user', () => {
    const user = { nickname: 'Ann', phone: '123' }
    expect(viewSubscription({ ...base, auto_renew: true }, user, context)).toEqual({
      id: '9',
      user_id: '3',
      plan_id: '5',
      status: '1',
      payment_method: 'alipay',
      payment_id: 'P-1',
      start_date: String(NOW - DAY_SECONDS),
      end_date: String(NOW + 29 * DAY_SECONDS),
      auto_renew: '1',
      created_at: '2026-01-01 08:00:00',
      updated_at: '2026-11-22 00:00:00',
      user_nickname: 'Ann',
      user_phone: '123',
      user_email: null,
      plan_name: 'Pro',
      plan_price: '19.90',
      plan_duration: '30',
      start_date_formatted: '2026-11-21 00:00:00',
      end_date_formatted: '2026-12-21 00:00:00',
      is_permanent: false,
      is_expired: false,
      is_expiring_soon: false,
      version: '1',
    })
  })

  test('of an erased user has empty names', () => {
    expect(view()).toMatchObject({ user_nickname: '', user_phone: null, user_email: null })
  })

  test.each<[string, Partial<StoredSubscription>, object]>([
    [
      'seven days and a second',
      ending(7 * DAY_SECONDS + 1),
      { status: '1', is_expired: false, is_expiring_soon: false },
    ],
    ['seven days', ending(7 * DAY_SECONDS), { status: '1', is_expired: false, is_expiring_soon: true }],
    ['one second', ending(1), { status: '1', is_expired: false, is_expiring_soon: true }],
    ['nothing', ending(0), { status: '2', is_expired: true, is_expiring_soon: false }],
    ['nothing but grace', ending(0, 1), { status: '1', is_expired: true, is_expiring_soon: false, in_grace: true }],
    ['no more grace', ending(-DAY_SECONDS, DAY_SECONDS), { status: '2', is_expired: true, is_expiring_soon: false }],
  ])('with %s left is what it is at this moment, whether or not the sweep was there', (_, change, expected) => {
    const { status, is_expired, is_expiring_soon, in_grace } = view(change) as Record<string, unknown>
    expect({ status, is_expired, is_expiring_soon, ...(in_grace === undefined ? {} : { in_grace }) }).toEqual(expected)
  })

  test.each([
    ['pending', STATUS.pending, '0'],
    ['expired', STATUS.expired, '2'],
    ['cancelled', STATUS.cancelled, '3'],
    ['refunded', STATUS.refunded, '4'],
  ] as const)('that is %s does not end soon and has no grace', (_, status, shown) => {
    expect(view({ status, ...ending(DAY_SECONDS) })).toMatchObject({ status: shown, is_expiring_soon: false })
    expect(view({ status, ...ending(-DAY_SECONDS, 9 * DAY_SECONDS) })).not.toHaveProperty('in_grace')
  })

  test.each([
    ['zh', '永久有效'],
    ['en', 'Permanent'],
  ] as const)('for ever has no end that could be near (%s)', (lang, text) => {
    const seen = view({ end: 0, lapse_at: 0 }, { lang })
    expect(seen).toMatchObject({
      status: '1',
      end_date: '0',
      end_date_formatted: text,
      is_permanent: true,
      is_expired: false,
    })
    expect(seen).not.toHaveProperty('is_expiring_soon')
    expect(seen).not.toHaveProperty('in_grace')
  })
})

describe('a user', () => {
  const user = {
    _id: 3,
    nickname: '',
    avatar: '',
    gender: '',
    country: '',
    province: '',
    city: '',
    platform: '',
    status: '1' as const,
    login_count: 0,
    created_at,
    updated_at,
  }

  test('without known data has empty identities and null contact fields', () => {
    const seen = viewUser(user, zone)
    expect(seen).toMatchObject({ id: '3', openid: '', unionid: '', huawei_openid: '', huawei_unionid: '' })
    expect(seen).toMatchObject({ phone: null, email: null, last_login_time: null, last_login_ip: null })
    expect(seen).toMatchObject({ login_count: '0', reminder_mail: '1', created_at: '2026-01-01 08:00:00' })
  })

  test('is shown with all that is known', () => {
    const login = { last_login_at: updated_at, last_login_ip: '192.0.2.1', login_count: 12 }
    const known = { openid: 'o', unionid: 'u', huawei_openid: 'ho', huawei_unionid: 'hu', phone: '1', email: 'a@b.c' }
    expect(viewUser({ ...user, ...known, ...login, no_reminders: true }, zone)).toMatchObject({
      ...known,
      last_login_time: '2026-11-22 00:00:00',
      last_login_ip: '192.0.2.1',
      login_count: '12',
      reminder_mail: '0',
    })
  })
})

test('an app has signature and owner fields only where they are set', () => {
  const app = { _id: 1, app_key: 'shop', app_name: 'Shop', app_description: '', status: '1' as const, version: 2 }
  const plain = viewApp({ ...app, created_at, updated_at }, zone)
  expect(plain).toMatchObject({ id: '1', version: '2', require_signature: '0', mail_from: '' })
  expect(plain).not.toHaveProperty('managed_by')
  const managed_by = { kind: 'App', namespace: 'n', name: 'shop', uid: 'u' }
  const more = { require_signature: true as const, mail_from: 'a@example.com', managed_by }
  expect(viewApp({ ...app, ...more, created_at, updated_at }, zone)).toMatchObject({
    require_signature: '1',
    mail_from: 'a@example.com',
    managed_by: 'k8s:n/shop',
  })
})

test('an administrator who never logged in has empty text for it', () => {
  const admin = {
    _id: 4,
    account_id: 'usr_a',
    username: 'ann',
    name: '',
    email: '',
    role: 'viewer' as const,
    app_keys: ['shop'],
  }
  const record = { ...admin, status: '1' as const, created_at, updated_at }
  expect(viewAdmin(record, zone)).toMatchObject({ id: '4', last_login_time: '', last_login_ip: '', app_keys: ['shop'] })
  expect(viewAdmin({ ...record, last_login_at: updated_at, last_login_ip: '::1' }, zone)).toMatchObject({
    last_login_time: '2026-11-22 00:00:00',
    last_login_ip: '::1',
  })
})
