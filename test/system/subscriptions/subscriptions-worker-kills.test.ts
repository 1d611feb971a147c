/**
 * `kill -9` of workers during a job: others finish the rest, each record once. The workers are processes of the real
 * main. Moving claims back replaces the ten minutes until a dead worker's claim counts as abandoned.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../services/platform/clock.ts'
import { type Db, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { DAY_SECONDS } from '../../../services/platform/durations.ts'
import { createApp } from '../../../services/subscriptions/catalogue/manage-apps.ts'
import { createPlan } from '../../../services/subscriptions/catalogue/manage-plans.ts'
import { mergePlan } from '../../../services/subscriptions/catalogue/rules/plan.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../../../services/subscriptions/context.ts'
import { repairAllCounters } from '../../../services/subscriptions/jobs/nightly-maintenance.ts'
import { upsertUser } from '../../../services/subscriptions/people/manage-end-users.ts'
import { secondsOf } from '../../../services/subscriptions/rules/time-zone.ts'
import { subscriptionCollections } from '../../../services/subscriptions/store/collections.ts'
import type { SubscriptionDoc } from '../../../services/subscriptions/store/documents.ts'
import { freshDatabase, sharedMongoUri, type TestDatabase } from '../../support/database/test-database.ts'
import { type ServiceProcess, startService } from '../../support/processes/service-process.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

let mongo: TestDatabase
let subscriptions: Subscriptions
let plan: number
let template: SubscriptionDoc
const workers: ServiceProcess[] = []

/** A time zone in which it is noon now: reminders are sent by day only. */
const noon = (12 - new Date().getUTCHours()) % 24
const BUSINESS_TZ = noon === 0 ? 'Etc/GMT' : `Etc/GMT${noon > 0 ? '-' : '+'}${Math.abs(noon)}`

beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  subscriptions = openSubscriptions(testFoundation(mongo, { BUSINESS_TZ }, systemClock))
  await createApp(
    subscriptions,
    systemActor,
    { app_name: 'Demo', app_description: '', status: '1' },
    { appKey: 'demo' },
  )
  const spec = mergePlan(undefined, { name: 'P', price: 1000, duration: 30, features: [] })
  plan = (await createPlan(subscriptions, systemActor, 'demo', spec))._id
  template = {
    ...{ _id: 0, app_key: 'demo', user_id: 0, plan_id: plan, payment_method: 'alipay', payment_id: '', paid_cents: 0 },
    plan: { plan_id: plan, version: 1, name: 'P', price_cents: 1000, duration: 30, grace_days: 0, features: [] },
    ...{ current: true, status: 1, start: 1, end: 1, lapse_at: 1, auto_renew: false, since: 1, version: 1 },
    created_at: new Date(),
    updated_at: new Date(),
  }
})
beforeEach(async () => {
  for (const worker of workers.splice(0)) await end(worker)
  await subscriptions.collections.subscriptions.deleteMany({})
})
afterAll(async () => {
  for (const worker of workers) await end(worker)
  await mongo.stop()
})

async function end(worker: ServiceProcess): Promise<void> {
  worker.kill('SIGKILL')
  await worker.exited
}

/** A worker that claims due jobs immediately. */
async function startWorker(): Promise<ServiceProcess> {
  const worker = startService('worker', {
    MAIL_HOSTNAME: 'mail.example.net',
    SESSION_SECRET: 'a secret of at least thirty-two bytes',
    MONGODB_URI: sharedMongoUri().replace('/?', `/${mongo.db.databaseName}?`),
    DELIVERY_MODE: 'capture',
    BUSINESS_TZ,
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
  })
  workers.push(worker)
  await worker.line('ready')
  return worker
}

/** Makes the job due, even if a dead worker still holds its lock. */
async function makeDue(db: Db, name: string): Promise<void> {
  await db.collection('jobs').updateMany({ name }, { $set: { nextRunAt: new Date(), lockedAt: null } })
}

/** Inserts `count` subscriptions with a user each, ending at `end`. */
async function giveSubscriptions(count: number, end: number): Promise<void> {
  const documents: SubscriptionDoc[] = []
  for (let n = 0; n < count; n++) {
    const openid = `${end}-${n}`
    const login = { identities: { openid }, profile: { email: `u${n}@example.com` } }
    const { user } = await upsertUser(subscriptions, 'demo', login)
    const _id = await subscriptions.ids.next('subscription')
    documents.push({ ...template, _id, user_id: user._id, payment_id: openid, end, lapse_at: end })
  }
  await subscriptions.collections.subscriptions.insertMany(documents)
}

const reminded = (state?: 'claimed' | 'sent') =>
  subscriptions.collections.reminders.countDocuments(state ? { state } : {})

test('reminders: after two workers die, two others finish, and every user gets exactly one mail', async () => {
  const COUNT = 300
  const today = subscriptions.zone.startOf(subscriptions.zone.day(new Date())).getTime() / 1000
  await giveSubscriptions(COUNT, today + 7 * DAY_SECONDS + 3_600)
  for (let deaths = 0; deaths < 2; deaths++) {
    const before = await reminded('sent')
    const worker = await startWorker()
    await makeDue(mongo.db, 'subscriptions-remind')
    await until(async () => (await reminded('sent')) > before + 10, 60_000)
    await end(worker)
  }
  const [sent, all] = [await reminded('sent'), await reminded()]
  expect(sent).toBeGreaterThan(20)
  expect(sent).toBeLessThan(COUNT)
  // Claimed and not sent: whether the mail is in the queue is known only by its key.
  expect(all - sent).toBeLessThanOrEqual(2)
  await subscriptions.collections.reminders.updateMany(
    { state: 'claimed' },
    { $set: { at: new Date(Date.now() - 11 * 60_000) } },
  )
  await Promise.all([startWorker(), startWorker()])
  await until(async () => {
    await makeDue(mongo.db, 'subscriptions-remind')
    return (await reminded('sent')) === COUNT
  }, 60_000)
  const mails = await mongo.db.collection('messages').find({ 'via.channel': 'system' }).toArray()
  const recipients = mails.map(mail => (mail.rcpts as { email: string }[])[0]?.email)
  expect(mails).toHaveLength(COUNT)
  expect(new Set(recipients).size).toBe(COUNT)
}, 240_000)

test('expiry: after a worker dies, each record ends once, and the repaired statistics are correct', async () => {
  const COUNT = 600
  const now = secondsOf(new Date())
  await giveSubscriptions(COUNT, now - 60)
  const expired = () => subscriptions.collections.subscriptions.countDocuments({ status: 2 })
  const first = await startWorker()
  await makeDue(mongo.db, 'subscriptions-expire')
  await until(async () => (await expired()) > 20, 60_000)
  await end(first)
  const half = await expired()
  expect(half).toBeLessThan(COUNT)
  await Promise.all([startWorker(), startWorker()])
  await until(async () => {
    await makeDue(mongo.db, 'subscriptions-expire')
    return (await expired()) === COUNT
  }, 90_000)
  const entries = await subscriptions.collections.audit.find({ action: 'subscription.expire' }).toArray()
  expect(entries).toHaveLength(COUNT)
  expect(new Set(entries.map(({ target }) => target.id)).size).toBe(COUNT)
  expect(await subscriptions.collections.subscriptions.countDocuments({ status: 2, version: 2 })).toBe(COUNT)
  for (const worker of workers.splice(0)) await end(worker)
  await repairAllCounters(subscriptions, new AbortController().signal)
  const counters = await subscriptions.collections.counters.findOne({ _id: 'demo' })
  expect(counters).toMatchObject({ subs_total: COUNT, subs_active: 0, by_status: { 2: COUNT } })
}, 240_000)

test('statistics: after two workers die during the repair, the next one repairs all apps', async () => {
  const APPS = 150
  const app_keys = Array.from({ length: APPS }, (_, n) => `many-${n}`)
  const now = new Date()
  const about = { app_description: '', status: '1' as const, version: 1, live: true as const, created_at: now }
  await subscriptions.collections.apps.insertMany(
    app_keys.map((app_key, n) => ({ _id: 10_000 + n, app_key, app_name: app_key, ...about, updated_at: now })),
  )
  for (const app_key of app_keys)
    await upsertUser(subscriptions, app_key, { identities: { openid: `many-${app_key}` }, profile: {} })
  const selected = { _id: { $in: app_keys } }
  const right = () =>
    subscriptions.collections.counters.countDocuments({ ...selected, users_total: 1, users_active: 1, subs_total: 0 })
  for (let deaths = 0; deaths < 2; deaths++) {
    await subscriptions.collections.counters.updateMany(selected, { $set: { users_total: -7, subs_total: -7 } })
    const worker = await startWorker()
    await makeDue(mongo.db, 'subscriptions-repair')
    await until(async () => (await right()) > 3, 60_000)
    await end(worker)
    expect(await right()).toBeLessThan(APPS)
  }
  await Promise.all([startWorker(), startWorker()])
  await until(async () => {
    await makeDue(mongo.db, 'subscriptions-repair')
    return (await right()) === APPS
  }, 60_000)
}, 300_000)
