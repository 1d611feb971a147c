import { expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { openSubscriptions, systemActor } from '../context.ts'
import { setUserStatus } from '../people/manage-end-users.ts'
import { type Reminder, remind } from './send-reminders.ts'
import { recipientOf, stopReminders } from './unsubscribe-link.ts'

const DAY_MS = 86_400_000
const never = new AbortController().signal

/** Subscriptions of one app that end in 30 days, and what their reminders come to. */
async function reminding(env: Record<string, string> = {}) {
  const subscriptions = await openSubscriptionsModule(env)
  const { context, giveApp, giveUser, givePlan, pay, clock } = subscriptions
  await giveApp('shop')
  const plan = await givePlan('shop')
  const mails: Reminder[] = []
  const take = async (mail: Reminder) => {
    mails.push(mail)
  }
  const sell = async (count: number, autoRenew = false) => {
    for (let sold = 0; sold < count; sold++) await pay(await giveUser('shop'), plan, { autoRenew })
  }
  const to = () => mails.splice(0).map(({ key, to: address }) => `${key.split(':')[3]} ${address}`)
  const kinds = () => to().map(line => line.split(' ')[0])
  const onDay = async (day: number, work: () => Promise<unknown>) => {
    clock.advance(day * DAY_MS)
    await work()
    clock.advance(-day * DAY_MS)
  }
  const run = (send = take) => remind(context, send, never)
  const events = () => context.collections.reminders.countDocuments({ state: 'sent' })
  return { ...subscriptions, plan, mails, take, sell, kinds, onDay, run, events }
}

test('so many reminders of an app are mailed in a day, whatever the number of workers; the next day has its own', async () => {
  const { context, foundation, sell, mails, take, onDay, events } = await reminding({ REMINDERS_PER_DAY: '3' })
  await sell(5)
  const workers = [context, openSubscriptions(foundation), openSubscriptions(foundation)]
  await onDay(23, async () => {
    await Promise.all(workers.map(worker => remind(worker, take, never)))
    await remind(context, take, never)
  })
  expect(mails.splice(0)).toHaveLength(3)
  expect(await events()).toBe(5)
  await onDay(27, () => remind(context, take, never))
  expect(mails).toHaveLength(3)
})

test('another app has places of its own', async () => {
  const { giveApp, giveUser, givePlan, pay, sell, mails, onDay, run } = await reminding({ REMINDERS_PER_DAY: '1' })
  await giveApp('other')
  const plan = await givePlan('other')
  await sell(2)
  await pay(await giveUser('other'), plan)
  await onDay(23, () => run())
  expect(mails.map(({ appKey }) => appKey).toSorted()).toEqual(['other', 'shop'])
})

test.each([
  ['0', 4],
  ['4', 4],
  ['', 4],
])('with a limit of %j all go out', async (REMINDERS_PER_DAY, sent) => {
  const { sell, mails, onDay, run } = await reminding({ REMINDERS_PER_DAY })
  await sell(4)
  await onDay(23, () => run())
  expect(mails).toHaveLength(sent)
})

test('the notice of an automatic renewal is mandatory: it is not limited and uses no quota', async () => {
  const { sell, kinds, onDay, run } = await reminding({ REMINDERS_PER_DAY: '1' })
  await sell(3, true)
  await onDay(25, () => run())
  expect(kinds()).toEqual(['renews_in_5', 'renews_in_5', 'renews_in_5'])
  await sell(1)
  await onDay(23, () => run())
  expect(kinds()).toEqual(['ends_in_7'])
})

test('a mail that the queue refused returns its quota', async () => {
  const { context, clock, sell, mails, onDay, run } = await reminding({ REMINDERS_PER_DAY: '2' })
  await sell(2)
  await onDay(23, async () => {
    await run(async () => {
      throw new Error('queue away')
    })
    expect(await context.collections.days.findOne({ day: '2026-12-14' })).toMatchObject({ reminders: 0 })
    clock.advance(11 * 60_000)
    await run()
    clock.advance(-11 * 60_000)
  })
  expect(mails).toHaveLength(2)
})

const ADMIN_BASE_URL = 'https://api.example.net'

test('a reminder has a link that ends reminders of this user and app, a notice of a renewal has none', async () => {
  const { context, sell, mails, onDay, run, giveUser, pay, plan } = await reminding({ ADMIN_BASE_URL })
  const user = await giveUser('shop', 'ann')
  await pay(user, plan)
  await sell(1, true)
  await onDay(23, () => run())
  const [mail] = mails.splice(0)
  const url = mail?.unsubscribeUrl ?? ''
  expect(url).toMatch(/^https:\/\/api\.example\.net\/unsubscribe\/[\w.-]+$/)
  expect(mail?.text).toContain(`\n${url}\n`)
  expect(recipientOf(context, url.split('/').at(-1) ?? '')).toEqual({ appKey: 'shop', id: user._id })
  await onDay(25, () => run())
  expect(mails).toHaveLength(1)
  expect(mails[0]).not.toHaveProperty('unsubscribeUrl')
  expect(mails[0]?.text).not.toContain('http')
})

test('who ended reminders gets no more of them, but the notices of automatic renewals', async () => {
  const { context, sell, kinds, onDay, run, events, giveUser, givePlan, pay, plan } = await reminding({
    ADMIN_BASE_URL,
  })
  const user = await giveUser('shop', 'ann')
  await pay(user, plan)
  await pay(user, await givePlan('shop'), { autoRenew: true })
  await sell(1)
  const recipient = { appKey: 'shop', id: user._id }
  await Promise.all([stopReminders(context, recipient), stopReminders(context, recipient)])
  await stopReminders(context, recipient)
  expect(await context.collections.audit.find({ action: 'user.update' }).toArray()).toMatchObject([
    { actor: { kind: 'system', name: 'unsubscribe' }, changes: { no_reminders: [null, true] }, ip: '' },
  ])
  await onDay(23, () => run())
  expect(kinds()).toEqual(['ends_in_7'])
  expect(await events()).toBe(2)
  await onDay(25, () => run())
  expect(kinds()).toEqual(['renews_in_5'])
})

test('the service does not know its address: there is no link', async () => {
  const { sell, mails, onDay, run } = await reminding()
  await sell(1)
  await onDay(23, () => run())
  expect(mails[0]).not.toHaveProperty('unsubscribeUrl')
})

test.each<[string, (subscriptions: Awaited<ReturnType<typeof reminding>>) => Promise<unknown>]>([
  [
    'whose user is disabled',
    ({ context }) =>
      context.collections.users
        .findOne({})
        .then(user => setUserStatus(context, systemActor, { appKey: 'shop', id: user?._id ?? 0 }, '0')),
  ],
  [
    'of an app that is off',
    ({ context }) => context.collections.apps.updateOne({ app_key: 'shop' }, { $set: { status: '0' } }),
  ],
  ['that was cancelled', ({ context }) => context.collections.subscriptions.updateOne({}, { $set: { status: 3 } })],
])('no reminder is sent for a subscription %s, and no quota is used', async (_, change) => {
  const subscriptions = await reminding()
  await subscriptions.sell(1)
  await change(subscriptions)
  await subscriptions.onDay(23, () => subscriptions.run())
  expect([subscriptions.mails.length, await subscriptions.context.collections.reminders.countDocuments()]).toEqual([
    0, 0,
  ])
})

test.each([
  ['', undefined],
  ['v1', undefined],
  ['v1.a.b.c', undefined],
  ['../../etc/passwd', undefined],
  ['x'.repeat(5_000), undefined],
])('the forged link %# is invalid', async (token, whose) => {
  const { context } = await openSubscriptionsModule()
  expect(recipientOf(context, token)).toBe(whose)
})

test('a value that was sealed for something else is no link', async () => {
  const { context } = await openSubscriptionsModule()
  for (const sealed of [
    context.secrets.seal('app-secret', 'reminders', '1 shop'),
    context.secrets.seal('unsubscribe', 'x', '1 shop'),
  ])
    expect(recipientOf(context, sealed)).toBeUndefined()
})
