import { expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { managedRecords, mirrorSubscriptionState } from './managed-records.ts'

const resourceOf = (name: string) => ({ kind: 'SubscriptionPlan', namespace: 'shop', name, uid: `uid-${name}` })

async function withPlans(count: number) {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, givePlan } = subscriptions
  await giveApp('shop')
  const plan = await givePlan('shop')
  const copies = Array.from({ length: count }, (_, n) => {
    const name = `p${String(n).padStart(4, '0')}`
    return { ...plan, _id: plan._id + 1 + n, name, managed_by: resourceOf(name) }
  })
  await context.collections.plans.insertMany(copies)
  return { ...subscriptions, copies }
}

test.each([
  [1_000, true],
  [1_001, false],
])('of %i plans a thousand are listed, and whether that is all of them', async (count, complete) => {
  const { context } = await withPlans(count)
  const found = await managedRecords(context, undefined)
  expect([found.records.length, found.complete]).toEqual([1_000, complete])
})

test('the list has what is in scope, by name, with the state that the operator saw', async () => {
  const { context, copies } = await withPlans(2)
  const [first] = copies
  if (!first) throw new Error('no plan')
  const state = { ready: true, reason: 'Ready', message: '', conditions: [], observed_at: new Date(0) }
  await mirrorSubscriptionState(context, 'SubscriptionPlan', 'uid-of-another', first._id, state)
  expect((await managedRecords(context, ['shop'])).records.map(one => one.state)).toEqual([undefined, undefined])
  await mirrorSubscriptionState(context, 'SubscriptionPlan', 'uid-p0000', first._id, state)
  expect((await managedRecords(context, ['shop'])).records).toEqual([
    { resource: resourceOf('p0000'), record: { id: first._id, appKey: 'shop', name: 'p0000' }, state },
    { resource: resourceOf('p0001'), record: { id: first._id + 1, appKey: 'shop', name: 'p0001' }, state: undefined },
  ])
  expect(await managedRecords(context, ['other'])).toEqual({ records: [], complete: true })
})
