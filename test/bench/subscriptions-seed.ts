/** Fills a database for the benchmark: five apps, one of them with nearly everything. */
import type { Subscriptions } from '../../services/subscriptions/context.ts'
import { repairFigures } from '../../services/subscriptions/rollup.ts'
import { searchKeys } from '../../services/subscriptions/rules/end-user.ts'
import { DAY } from '../../services/subscriptions/rules/period.ts'
import type { EndUserDoc, SubscriptionDoc } from '../../services/subscriptions/store/documents.ts'

/** Name of the app with nearly everything. */
export const BIG = 'bench-0'
const BATCH = 5_000
const PLATFORMS = ['ios', 'android', 'web', 'harmony']

/** A number in [0, 1) that is the same for the same n. */
const spread = (n: number) => ((n * 2_654_435_761) % 2 ** 32) / 2 ** 32

/** Inserts so many users, each with one subscription; four of five belong to the big app. */
export async function seed(s: Subscriptions, size: number, plans: readonly number[]): Promise<void> {
  const now = Date.now()
  for (let start = 0; start < size; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - start) }, (_, i) => start + i + 1)
    const users = numbers.map(n => userOf(n, now))
    await s.c.users.insertMany(users, { ordered: false })
    await s.c.subscriptions.insertMany(
      users.map(user => subscriptionOf(user, plans, now)),
      { ordered: false },
    )
  }
  for (const kind of ['user', 'subscription'])
    await s.c.sequences.updateOne({ _id: kind }, { $set: { next: size + 1_000 } }, { upsert: true })
  await repairFigures(s, new AbortController().signal)
}

function userOf(n: number, now: number): EndUserDoc {
  const created = new Date(now - Math.floor(spread(n) * 365 * DAY) * 1000)
  const profile = {
    nickname: `user ${n.toString(36)}`,
    phone: `13${String(n).padStart(9, '0')}`,
    email: `u${n}@example.com`,
  }
  return {
    _id: n,
    app_key: n % 5 === 0 ? `bench-${1 + (n % 4)}` : BIG,
    openid: `openid-${n}`,
    ...profile,
    avatar: 'https://img.example.com/avatar/0123456789abcdef.png',
    gender: '',
    country: 'CN',
    province: '',
    city: '',
    platform: PLATFORMS[n % PLATFORMS.length] ?? '',
    status: n % 50 === 0 ? '0' : '1',
    login_count: 1 + (n % 40),
    last_login_at: created,
    last_login_ip: '203.0.113.9',
    search_keys: searchKeys(profile),
    created_at: created,
    updated_at: created,
  }
}

function subscriptionOf(user: EndUserDoc, plans: readonly number[], now: number): SubscriptionDoc {
  const permanent = user._id % 10 === 0
  const start = Math.floor(user.created_at.getTime() / 1000)
  const end = permanent ? 0 : Math.floor(now / 1000) + Math.floor((spread(user._id + 7) - 0.3) * 90 * DAY)
  const expired = !permanent && end * 1000 <= now
  const plan_id = plans[user._id % plans.length] ?? 1
  return {
    _id: user._id,
    app_key: user.app_key,
    user_id: user._id,
    plan_id,
    plan: {
      plan_id,
      version: 1,
      name: `Plan ${plan_id}`,
      price_cents: 1990,
      duration: permanent ? 0 : 30,
      grace_days: 0,
      features: ['export', 'sync'],
    },
    current: true,
    payment_method: user._id % 2 === 0 ? 'alipay' : 'wechat',
    payment_id: `P${user._id}`,
    paid_cents: 1990,
    status: expired ? 2 : 1,
    start,
    end,
    lapse_at: end,
    auto_renew: user._id % 3 === 0 && !permanent,
    ...(expired ? { ended_at: end } : {}),
    since: start,
    version: 1,
    created_at: user.created_at,
    updated_at: user.created_at,
  }
}
