/** Scheduled jobs over thirty simulated days, by two workers concurrently, each job twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { updateDomain, verifyDomain } from '../../../services/mail/domains/store/domains.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { createJobs } from '../../../services/platform/jobs/jobs.ts'
import { systemActor } from '../../../services/subscriptions/context.ts'
import { applySchedules } from '../../../services/subscriptions/flags/manage-flags.ts'
import { openMonth, purge, repairAllCounters } from '../../../services/subscriptions/jobs/nightly-maintenance.ts'
import { registerSubscriptionJobs } from '../../../services/subscriptions/jobs/register-jobs.ts'
import { expireLapsed } from '../../../services/subscriptions/lifecycle/expire-subscriptions.ts'
import { type Reminder, remind } from '../../../services/subscriptions/reminders/send-reminders.ts'
import { giveDomain, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'
import { until } from '../../support/time/until.ts'

let api: SubscriptionApi
const never = new AbortController().signal
const DAY_MS = 86_400_000
const plans: Record<string, string> = {}
beforeAll(async () => {
  api = await startSubscriptionApi()
  for (const [name, duration, grace_days] of [
    ['month', 30, 0],
    ['grace', 10, 3],
    ['forever', 0, 0],
  ] as const) {
    const body = { name, price: '19.90', duration, grace_days, features: '{"features":["x"]}' }
    const headers = { prefer: 'return=representation' }
    plans[name] = (await api.call('POST', '/subscription_plan', { body, headers })).body.data.id
  }
})
afterAll(() => api.stop())

let number = 0
async function buy(plan: string, more: object = {}, profile: object = {}) {
  const openid = `job-${++number}`
  const user = (
    await api.server('POST', '/server/user', { body: { openid, email: `${openid}@example.com`, ...profile } })
  ).body.data
  const body = { user_id: user.id, plan_id: plans[plan], payment_method: 'alipay', payment_id: openid, ...more }
  const { subscription } = (await api.server('POST', '/server/subscription', { body })).body.data
  return { user, id: Number(subscription.id), body }
}
const statusOf = async (id: number) => (await api.context.collections.subscriptions.findOne({ _id: id }))?.status

describe('expiry', () => {
  test('two concurrent sweeps expire each lapsed record once, after its grace period, and never permanent ones', async () => {
    const month = await buy('month')
    const grace = await buy('grace')
    const forever = await buy('forever')
    await api.later(12 * DAY_MS)
    expect(await expireLapsed(api.context, never)).toBe(0)
    const list = await api.call('GET', '/subscription', { query: { app_key: 'demo', user_id: grace.user.id } })
    expect(list.body.data.subscriptions[0]).toMatchObject({ status: '1', is_expired: true, in_grace: true })
    await api.later(19 * DAY_MS)
    const shown = await api.call('GET', '/subscription', { query: { app_key: 'demo', status: '2' } })
    expect(shown.body.data.subscriptions).toHaveLength(2)
    const counts = await Promise.all([expireLapsed(api.context, never), expireLapsed(api.context, never)])
    expect(counts[0] + counts[1]).toBe(2)
    expect([await statusOf(month.id), await statusOf(grace.id), await statusOf(forever.id)]).toEqual([2, 2, 1])
    const overview = (await api.call('GET', '/overview', { query: { app_key: 'demo' } })).body.data
    expect(overview).toMatchObject({ active_subscriptions: 1, expired_subscriptions: 2, permanent_subscriptions: 1 })
  })
})

describe('reminders', () => {
  let mails: Reminder[] = []
  const take = async (mail: Reminder) => {
    mails.push(mail)
  }
  beforeEach(() => {
    mails = []
  })

  test('are sent once each 7, 3 and 1 days before the end, however often the job runs', async () => {
    const { id, user } = await buy('month')
    const days: string[] = []
    for (let day = 0; day <= 30; day++) {
      await Promise.all([remind(api.context, take, never), remind(api.context, take, never)])
      await remind(api.context, take, never)
      for (const { key } of mails.splice(0))
        if (key.startsWith(`remind:${id}:`)) days.push(`${day} ${key.split(':')[3]}`)
      api.clock.advance(DAY_MS)
    }
    expect(days).toEqual(['23 ends_in_7', '27 ends_in_3', '29 ends_in_1'])
    expect(user.email).toContain('@example.com')
  })

  test('are sent once, five days before an automatic renewal, with the price', async () => {
    const { id } = await buy('month', { auto_renew: 1 })
    for (let day = 0; day <= 30; day++) {
      await remind(api.context, take, never)
      api.clock.advance(DAY_MS)
    }
    const mine = mails.filter(({ key }) => key.startsWith(`remind:${id}:`))
    expect(mine.map(({ key }) => key.split(':')[3])).toEqual(['renews_in_5'])
    expect(mine[0]?.text).toContain('19.90')
    expect(mine[0]?.subject).toBe('[Demo] 自动续费提醒 / Renewal notice')
  })

  test("have the sender of the app, or the platform's if it has none", async () => {
    const set = async (mail_from: string) =>
      (await api.call('PUT', `/app_manage/${api.demo.id}`, { body: { mail_from } })).body
    await api.later(0)
    expect((await api.call('GET', `/app_manage/${api.demo.id}`)).body.data.mail_from).toBe('')
    for (const bad of ['nobody', 'a@b@c', 'Shop <a@shop.example>', 'a@shop.example\r\nBcc: b@shop.example'])
      expect((await set(bad)).code).toBe(42200)
    const senders = async () => {
      await buy('month')
      await api.later(23 * DAY_MS)
      await remind(api.context, take, never)
      return new Set(mails.splice(0).map(({ from }) => from))
    }
    const owner = await giveUser(api.foundation.mongo.db, { role: 'admin' })
    const domain = await giveDomain(api.foundation.mongo.db, owner._id, 'shop.example')
    expect(await set('notice@shop.example')).toMatchObject({
      code: 42200,
      data: { errors: [{ field: 'mail_from', rule: 'sender', message: '所属域名不是平台管理员已验证的域名' }] },
    })
    expect((await api.call('GET', `/app_manage/${api.demo.id}`)).body.data.mail_from).toBe('')
    await verifyDomain(api.foundation.mongo.db, domain._id, 'dns', api.clock.now())
    expect((await set('notice@shop.example')).data.mail_from).toBe('notice@shop.example')
    expect((await set('notice@other.example')).code).toBe(42200)
    // A sender that is already set does not block other changes, whatever the state of its domain.
    await updateDomain(api.foundation.mongo.db, domain._id, { status: 'suspended' })
    const body = { app_description: 'changed', mail_from: 'notice@shop.example' }
    expect((await api.call('PUT', `/app_manage/${api.demo.id}`, { body })).body.data).toMatchObject(body)
    expect(await senders()).toEqual(new Set(['notice@shop.example']))
    expect((await set('')).data.mail_from).toBe('')
    expect(await senders()).toEqual(new Set([undefined]))
  })

  test('are not sent after a renewal, or without an address', async () => {
    const renewed = await buy('month')
    await buy('month', {}, { email: '' })
    await api.server('POST', '/server/subscription', { body: { ...renewed.body, payment_id: 'again' } })
    api.clock.advance(23 * DAY_MS)
    expect(await remind(api.context, take, never)).toBe(0)
  })

  test('are sent by a later run under the same key if the mail was not accepted', async () => {
    const { id } = await buy('month')
    api.clock.advance(23 * DAY_MS)
    const keys: string[] = []
    const refuse = async ({ key }: Reminder) => {
      keys.push(key)
      throw new Error('queue away')
    }
    expect(await remind(api.context, refuse, never)).toBe(0)
    expect(await remind(api.context, take, never)).toBe(0)
    api.clock.advance(11 * 60_000)
    await remind(api.context, take, never)
    expect(mails.map(({ key }) => key).filter(key => key.startsWith(`remind:${id}:`))).toEqual(
      keys.filter(key => key.startsWith(`remind:${id}:`)),
    )
  })

  test('are not sent at night', async () => {
    await buy('month')
    api.clock.advance(23 * DAY_MS + 8 * 3_600_000)
    expect(await remind(api.context, take, never)).toBe(0)
    api.clock.advance(-8 * 3_600_000)
  })
})

test('a due schedule is applied to its switch once', async () => {
  await api.later(0)
  const at = Math.floor(api.clock.now().getTime() / 1000) + 60
  const body = { name: 'timed', type: 'boolean', value: '0', schedules: [{ at, value: '1' }] }
  const made = (await api.call('POST', '/switch_manage', { body })).body.data.switches[0]
  expect(made).toMatchObject({ status_class: 'warning', status_text: '待生效' })
  api.clock.advance(61_000)
  await Promise.all([applySchedules(api.context, systemActor), applySchedules(api.context, systemActor)])
  const stored = await api.context.collections.switches.findOne({ name: 'timed' })
  expect(stored).toMatchObject({ value: '1', schedules: [], version: 2 })
  expect(await applySchedules(api.context, systemActor)).toBe(0)
})

test('repairing the statistics corrects wrong values and confirms running ones', async () => {
  await api.later(DAY_MS)
  const before = await api.context.collections.counters.findOne({ _id: 'demo' })
  await repairAllCounters(api.context, never)
  const after = await api.context.collections.counters.findOne({ _id: 'demo' })
  const positive = (record: Record<string, number> = {}) =>
    Object.fromEntries(Object.entries(record).filter(([, n]) => n !== 0))
  for (const field of [
    'users_total',
    'users_active',
    'users_paying',
    'subs_total',
    'subs_active',
    'subs_permanent',
    'subs_auto_renew',
    'mrr',
  ] as const)
    expect([field, after?.[field]]).toEqual([field, before?.[field] ?? 0])
  for (const group of ['by_plan', 'by_method', 'by_status'] as const)
    expect(positive(after?.[group])).toEqual(positive(before?.[group]))
  await api.context.collections.counters.updateOne({ _id: 'demo' }, { $set: { users_total: -5 } })
  await repairAllCounters(api.context, never)
  expect((await api.context.collections.counters.findOne({ _id: 'demo' }))?.users_total).toBe(before?.users_total)
})

test('the opening value of a month is written once', async () => {
  await openMonth(api.context)
  await api.context.collections.counters.updateOne({ _id: 'demo' }, { $inc: { subs_active: 100 } })
  await openMonth(api.context)
  const [first] = await api.context.collections.days.find({ opening_timed: { $exists: true } }).toArray()
  expect(first?.opening_timed).toBeLessThan(100)
  await repairAllCounters(api.context, never)
})

test('users who asked for erasure are erased after 15 days, and deleted apps emptied after 30', async () => {
  await api.later(0)
  const { data: user } = (await api.server('POST', '/server/user', { body: { openid: 'bye', phone: '1' } })).body
  await api.server('PUT', `/server/user/${user.id}`, { body: { status: 2 } })
  const app = (await api.call('POST', '/app_manage', { body: { app_name: 'Old', app_key: 'old' } })).body.data
  await api.call('POST', '/switch_manage', {
    query: { app_key: 'old' },
    body: { name: 's', type: 'boolean', value: '1' },
  })
  await api.call('DELETE', `/app_manage/${app.id}`)
  await api.later(16 * DAY_MS)
  await purge(api.context)
  const erased = await api.context.collections.users.findOne({ _id: Number(user.id) })
  expect(erased).toMatchObject({ nickname: '', status: '0' })
  expect(erased).not.toHaveProperty('openid')
  expect(await api.context.collections.switches.countDocuments({ app_key: 'old' })).toBe(1)
  await api.later(15 * DAY_MS)
  await purge(api.context)
  await purge(api.context)
  expect(await api.context.collections.switches.countDocuments({ app_key: 'old' })).toBe(0)
  expect((await api.call('POST', '/app_manage', { body: { app_name: 'New', app_key: 'old' } })).body.code).toBe(40901)
})

test('every job exists once in Agenda for any number of workers, and runs', async () => {
  const { mongo, log, metrics } = api.foundation
  const { id } = await buy('month')
  api.clock.advance(31 * DAY_MS)
  const options = { collection: 'jobs', pollMs: 50, clock: systemClock }
  const workers = await Promise.all([1, 2].map(() => createJobs(mongo, log, metrics, options)))
  const deps = { subscriptions: api.context, sendReminder: async () => undefined }
  await Promise.all(workers.map(jobs => registerSubscriptionJobs(jobs, deps)))
  expect(await mongo.db.collection('jobs').countDocuments()).toBe(8)
  await Promise.all(workers.map(jobs => jobs.start()))
  await until(async () => (await statusOf(id)) === 2)
  await Promise.all(workers.map(jobs => jobs.stop()))
})
