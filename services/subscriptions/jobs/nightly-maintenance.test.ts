import { expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { deleteApp, updateApp } from '../catalogue/manage-apps.ts'
import { systemActor } from '../context.ts'
import { createSwitch, deleteSwitch, restoreSwitch, updateSwitch } from '../flags/manage-flags.ts'
import { NEW_SWITCH } from '../flags/rules/flag-spec.ts'
import { runAdminAction } from '../lifecycle/admin-actions.ts'
import { subscriptionCollections } from '../store/collections.ts'
import { purge } from './nightly-maintenance.ts'

const DAY_MS = 86_400_000
const anySender = async () => true

test('of an app that was deleted 30 days ago stay the key, and who did what; nothing of what it held', async () => {
  const { context, clock, giveApp, giveUser, givePlan, pay } = await openSubscriptionsModule()
  const { app } = await giveApp('gone')
  const other = await giveApp('stays')
  for (const { app: one } of [{ app }, other]) {
    const user = await giveUser(one.app_key)
    await pay(user, await givePlan(one.app_key, { name: 'Secret offer' }))
    const [sold] = await context.collections.subscriptions.find({ app_key: one.app_key }).toArray()
    const target = { appKey: one.app_key, id: sold?._id ?? 0 }
    await runAdminAction(context, systemActor, target, { action: 'extend', days: 1, at: 'now', reason: 'Ann asked' })
    await updateApp(context, systemActor, one._id, { mail_from: `boss@${one.app_key}.example` }, anySender)
  }
  await deleteApp(context, systemActor, app._id, { force: true })
  clock.advance(29 * DAY_MS)
  await purge(context)
  expect(await context.collections.users.countDocuments({ app_key: 'gone' })).toBe(1)
  clock.advance(2 * DAY_MS)
  await purge(context)
  await purge(context)
  for (const { name } of subscriptionCollections)
    if (name !== 'sub_apps' && name !== 'sub_audit')
      expect([name, await context.mongo.db.collection(name).countDocuments({ app_key: 'gone' })]).toEqual([name, 0])
  const tombstone = await context.collections.apps.findOne({ app_key: 'gone' }).lean()
  expect(tombstone).toMatchObject({ app_name: '', purged_at: clock.now() })
  expect(tombstone).not.toHaveProperty('mail_from')
  const log = await context.collections.audit.find({ app_key: 'gone' }).sort({ _id: 1 }).toArray()
  expect(log.map(({ action }) => action)).toEqual([
    'app.create',
    'plan.create',
    'subscription.create',
    'subscription.extend',
    'app.update',
    'app.delete',
    'app.purge',
  ])
  expect(log.every(({ changes, actor }) => Object.keys(changes).length === 0 && actor.kind === 'system')).toBe(true)
  expect(log.filter(entry => 'reason' in entry)).toEqual([])
  const kept = await context.collections.audit.findOne({ app_key: 'stays', action: 'app.update' })
  expect(kept?.changes).toEqual({ mail_from: [null, 'boss@stays.example'] })
  expect(await context.collections.audit.countDocuments({ app_key: 'stays', reason: 'Ann asked' })).toBe(1)
})

test('settled notices go after 90 days, those that wait never', async () => {
  const { context } = await openSubscriptionsModule()
  expect(await context.collections.paymentEvents.indexes()).toContainEqual(
    expect.objectContaining({ key: { applied_at: 1 }, expireAfterSeconds: 90 * 86_400 }),
  )
})

test('the history of a switch removed 30 days ago is purged; that of a restored one stays', async () => {
  const { context, clock, giveApp } = await openSubscriptionsModule()
  await giveApp('shop')
  const at = (name: string) => ({ appKey: 'shop', name })
  for (const name of ['gone', 'back', 'late']) {
    await createSwitch(context, systemActor, at(name), NEW_SWITCH)
    await updateSwitch(context, systemActor, at(name), { value: '1' })
    await deleteSwitch(context, systemActor, at(name))
  }
  const states = (name: string) => context.collections.revisions.countDocuments({ name })
  await restoreSwitch(context, systemActor, at('back'), 1)
  clock.advance(20 * DAY_MS)
  await restoreSwitch(context, systemActor, at('late'), 1)
  await deleteSwitch(context, systemActor, at('late'))
  clock.advance(11 * DAY_MS)
  await purge(context)
  expect([await states('gone'), (await states('back')) > 0, (await states('late')) > 0]).toEqual([0, true, true])
  clock.advance(20 * DAY_MS)
  await purge(context)
  expect([(await states('back')) > 0, await states('late')]).toEqual([true, 0])
})
