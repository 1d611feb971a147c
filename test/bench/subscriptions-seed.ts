/** A database for the benchmark: five apps, one of them with nearly everything. */

import { createUser } from '../../services/accounts/manage-accounts.ts'
import { users } from '../../services/accounts/store/users.ts'
import { systemClock } from '../../services/platform/clock.ts'
import { connectMongo, ensureIndexes, type Mongo } from '../../services/platform/database/mongo.ts'
import { DAY_SECONDS } from '../../services/platform/durations.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { readConfig } from '../../services/platform/process/config.ts'
import { createSecrets } from '../../services/platform/security/secrets.ts'
import { createApp } from '../../services/subscriptions/catalogue/manage-apps.ts'
import { createPlan } from '../../services/subscriptions/catalogue/manage-plans.ts'
import { mergePlan } from '../../services/subscriptions/catalogue/rules/plan.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../../services/subscriptions/context.ts'
import { createSwitch } from '../../services/subscriptions/flags/manage-flags.ts'
import { NEW_SWITCH } from '../../services/subscriptions/flags/rules/flag-spec.ts'
import { repairAllCounters } from '../../services/subscriptions/jobs/nightly-maintenance.ts'
import { repairDay } from '../../services/subscriptions/jobs/store/repair-and-purge.ts'
import { searchKeys } from '../../services/subscriptions/rules/end-user.ts'
import { addDays } from '../../services/subscriptions/rules/time-zone.ts'
import { subscriptionCollections } from '../../services/subscriptions/store/collections.ts'
import type { EndUserDoc, SubscriptionDoc } from '../../services/subscriptions/store/documents.ts'

/** Name of the app with nearly everything. */
export const BIG = 'bench-0'
/** Login of the administrator. */
export const LOGIN = { username: 'bench', password: 'correct horse battery' }
const DB = 'bench_subscriptions'
const BATCH = 5_000
const DAYS = 62
const PLATFORMS = ['ios', 'android', 'web', 'harmony']

/** The database, and the credentials of the big app. */
export interface Seeded {
  mongo: Mongo
  subscriptions: Subscriptions
  publishableKey: string
  secret: string
}

/** Removes the data of an earlier run. */
interface Note {
  _id: 'seed'
  size: number
  publishableKey: string
  secret: string
}

/** The settings of the service with this database. */
export function benchEnv(uri: string) {
  return {
    MAIL_HOSTNAME: 'localhost.localdomain',
    SESSION_SECRET: '0123456789'.repeat(4),
    MONGODB_URI: uri.replace(/\/(\?|$)/, `/${DB}$1`),
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    ADMIN_REQUESTS_PER_MINUTE: '100000000',
    SERVER_REQUESTS_PER_MINUTE: '100000000',
    OFREP_REQUESTS_PER_MINUTE: '100000000',
  }
}

/** Opens the database with `size` users; one that was filled to this size before is updated and used again. */
export async function openSeeded(uri: string, size: number): Promise<Seeded> {
  const mongo = await connectMongo(uri, silentLog, { dbName: DB })
  const env = benchEnv(uri)
  const foundation = {
    config: readConfig(env),
    log: silentLog,
    metrics: createMetrics('bench'),
    mongo,
    clock: systemClock,
    secrets: createSecrets(env.SESSION_SECRET),
  }
  const notes = mongo.db.collection<Note>('bench')
  const known = await notes.findOne({ _id: 'seed' })
  if (known?.size !== size) await mongo.db.dropDatabase()
  await ensureIndexes(mongo.db, [...subscriptionCollections, users])
  const context = openSubscriptions(foundation)
  if (known?.size === size) {
    await sweep(context)
    await countAll(context)
    return { mongo, subscriptions: context, publishableKey: known.publishableKey, secret: known.secret }
  }
  const started = performance.now()
  const keys = await fill(context, size)
  await notes.insertOne({ _id: 'seed', size, ...keys })
  console.log(`seeded ${size} users and subscriptions in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return { mongo, subscriptions: context, ...keys }
}

/** What the job would have done since then: one update instead of a transaction each. */
async function sweep(context: Subscriptions): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  await context.collections.subscriptions.updateMany({ status: 1, lapse_at: { $gt: 0, $lte: now } }, [
    { $set: { status: 2, ended_at: '$end' } },
  ])
}

async function countAll(context: Subscriptions): Promise<void> {
  await repairAllCounters(context, new AbortController().signal)
  const today = context.zone.day(context.clock.now())
  for (const appKey of [0, 1, 2, 3, 4].map(n => `bench-${n}`))
    for (let back = 0; back < DAYS; back++) {
      const day = addDays(today, -back)
      await repairDay(context.collections, appKey, {
        day,
        from: context.zone.startOf(day),
        to: context.zone.startOf(addDays(day, 1)),
      })
    }
}

async function fill(context: Subscriptions, size: number) {
  await createUser(context, { ...LOGIN, role: 'admin', lang: 'en', tz: 'Asia/Shanghai' })
  const spec = (app_name: string) => ({ app_name, app_description: '', status: '1' as const })
  const big = await createApp(context, systemActor, spec(BIG), { appKey: BIG })
  for (const n of [1, 2, 3, 4]) await createApp(context, systemActor, spec(`bench-${n}`), { appKey: `bench-${n}` })
  const plans: number[] = []
  for (const name of ['A', 'B', 'C']) {
    const plan = mergePlan(undefined, { name, price: 1990, duration: 30, features: ['export'] })
    plans.push((await createPlan(context, systemActor, BIG, plan))._id)
  }
  for (let n = 0; n < 20; n++) {
    const target = { appKey: BIG, name: `switch_${n}` }
    await createSwitch(context, systemActor, target, { ...NEW_SWITCH, value: '1', rollout: n * 5 })
  }
  await insertAll(context, size, plans)
  return { publishableKey: big.publishable.shown, secret: big.secret.shown }
}

/** A number in [0, 1) that is the same for the same n. */
const spread = (n: number) => ((n * 2_654_435_761) % 2 ** 32) / 2 ** 32

/** Inserts `count` users, each with one subscription; four of five belong to the big app. */
async function insertAll(context: Subscriptions, size: number, plans: readonly number[]): Promise<void> {
  const now = Date.now()
  for (let start = 0; start < size; start += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - start) }, (_, i) => start + i + 1)
    const batch = numbers.map(n => userOf(n, now))
    await context.collections.users.insertMany(batch, { ordered: false })
    await context.collections.subscriptions.insertMany(
      batch.map(user => subscriptionOf(user, plans, now)),
      { ordered: false },
    )
  }
  for (const kind of ['user', 'subscription'])
    await context.collections.sequences.updateOne({ _id: kind }, { $set: { next: size + 1_000 } }, { upsert: true })
  await countAll(context)
}

function userOf(n: number, now: number): EndUserDoc {
  const created = new Date(now - Math.floor(spread(n) * 365 * DAY_SECONDS) * 1000)
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
    status: n % 47 === 0 ? '0' : '1',
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
  const end = permanent ? 0 : Math.floor(now / 1000) + Math.floor((spread(user._id + 7) - 0.3) * 90 * DAY_SECONDS)
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
