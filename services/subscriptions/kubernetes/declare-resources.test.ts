import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import { ensureIndexes } from '../../platform/database/mongo.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { addCredential, checkKey, keptSecretOf, revokeCredential } from '../catalogue/app-credentials.ts'
import { updatePlan } from '../catalogue/manage-plans.ts'
import { mergePlan } from '../catalogue/rules/plan.ts'
import { findApp } from '../catalogue/store/apps.ts'
import { findPlan, findSwitch } from '../catalogue/store/plans-and-flags.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../context.ts'
import { deleteSwitch, updateSwitch } from '../flags/manage-flags.ts'
import { resealSubscriptions } from '../jobs/reseal-secrets.ts'
import { subscriptionCollections } from '../store/collections.ts'
import {
  applyApp,
  applyPlan,
  applySwitch,
  appSecretDelivered,
  appSecretFor,
  operatorActor,
  withdrawApp,
  withdrawPlans,
  withdrawSwitches,
} from './declare-resources.ts'

let mongo: TestDatabase
let s: Subscriptions
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  s = openSubscriptions(testFoundation(mongo))
})
afterAll(() => mongo.stop())

const by = (name: string) => ({ kind: 'App', namespace: 'shop', name, uid: `uid-${name}` })
const spec = { app_name: 'Shop', app_description: '', status: '1' as const, require_signature: false, mail_from: '' }
const plan = mergePlan(undefined, { name: 'Gold', price: 990, duration: 30, features: ['a'] })

describe('an app', () => {
  test('is created with credentials, then unchanged, then updated; another resource is refused', async () => {
    const first = await applyApp(s, by('a'), 'shop', spec)
    expect(first.outcome).toBe('created')
    const again = await applyApp(s, by('a'), 'shop', spec)
    expect(again).toMatchObject({ outcome: 'unchanged', publishableKey: first.publishableKey })
    expect((await applyApp(s, by('a'), 'shop', { ...spec, status: '0' })).outcome).toBe('updated')
    await expect(applyApp(s, by('b'), 'shop', spec)).rejects.toMatchObject({ code: 'managed_by_resource' })
  })

  test('has a signing key before it must sign, and the newer of two', async () => {
    const { app, signingKey } = await applyApp(s, by('sign'), 'sign', {
      ...spec,
      app_name: 'Sign',
      require_signature: true,
    })
    expect(app.require_signature).toBe(true)
    const [stored] = await s.c.credentials.find({ app_key: 'sign', kind: 'hmac' }).toArray()
    expect(stored).toMatchObject({ _id: signingKey.id, managed_by: by('sign') })
    expect(stored && keptSecretOf(s, stored)).toBe(signingKey.secret)
    const again = () => applyApp(s, by('sign'), 'sign', { ...spec, app_name: 'Sign', require_signature: true })
    expect(await again()).toMatchObject({ outcome: 'unchanged', signingKey })
    const second = await addCredential(s, systemActor, 'sign', 'hmac')
    expect((await again()).signingKey).toEqual({ id: second.document._id, secret: second.shown })
    await revokeCredential(s, systemActor, 'sign', second.document._id)
    expect((await again()).signingKey).toEqual(signingKey)
    const last = revokeCredential(s, systemActor, 'sign', signingKey.id)
    await expect(last).rejects.toMatchObject({ code: 'transition_refused' })
    // Where it is gone all the same, there is a new one.
    await s.c.credentials.updateOne({ _id: signingKey.id }, { $set: { revoked_at: s.clock.now() } })
    const { signingKey: third } = await again()
    expect([signingKey.id, second.document._id]).not.toContain(third.id)
  })

  test('is sent from what its resource says, and from nothing else once that says nothing', async () => {
    const declared = { ...spec, app_name: 'Sender', mail_from: 'notice@shop.example' }
    expect((await applyApp(s, by('sender'), 'sender', declared)).app.mail_from).toBe('notice@shop.example')
    const without = await applyApp(s, by('sender'), 'sender', { ...declared, mail_from: '' })
    expect(without.outcome).toBe('updated')
    expect(await findApp(s.c, 'sender')).not.toHaveProperty('mail_from')
    expect((await applyApp(s, by('sender'), 'sender', { ...declared, mail_from: '' })).outcome).toBe('unchanged')
  })

  describe('its secret', () => {
    const anApp = async (name: string) => {
      await applyApp(s, by(name), name, { ...spec, app_name: name })
      return (held?: string) => appSecretFor(s, by(name), name, held)
    }
    const live = (app_key: string) =>
      s.c.credentials.countDocuments({ app_key, kind: 'secret', revoked_at: { $exists: false } })

    test('is one and the same until it lies in its Secret; then nobody else has it', async () => {
      const secretFor = await anApp('once')
      const first = await secretFor()
      expect(await checkKey(s, first)).toMatchObject({ app_key: 'once', kind: 'secret' })
      expect([await secretFor(), await secretFor('ask_garbage')]).toEqual([first, first])
      expect(await live('once')).toBe(1)
      await appSecretDelivered(s, 'once')
      expect(await s.c.credentials.findOne({ app_key: 'once', kind: 'secret' })).not.toHaveProperty('undelivered')
      expect(await secretFor(first)).toBe(first)
      expect(await checkKey(s, first)).toBeDefined()
    })

    test('that was lost is made anew once, however often it cannot be written; the one before works on', async () => {
      const secretFor = await anApp('lost')
      const first = await secretFor()
      await appSecretDelivered(s, 'lost')
      const second = await secretFor()
      expect(second).not.toBe(first)
      for (let tries = 0; tries < 3; tries++) expect(await secretFor()).toBe(second)
      expect([await checkKey(s, first), await checkKey(s, second)]).not.toContain(undefined)
      await appSecretDelivered(s, 'lost')
      const third = await secretFor()
      expect(await live('lost')).toBe(2)
      expect(await checkKey(s, first)).toBeUndefined()
      expect([await checkKey(s, second), await checkKey(s, third)]).not.toContain(undefined)
    })

    test.each<[string, (held: string) => Promise<string> | string]>([
      ['is changed', held => `${held.slice(0, -1)}${held.endsWith('A') ? 'B' : 'A'}`],
      ['is cut', held => held.slice(0, -1)],
      ['is empty', () => ''],
      ['is of another app', async () => (await anApp('foreign'))()],
      [
        'is a publishable key',
        async () => (await applyApp(s, by('bent'), 'bent', { ...spec, app_name: 'bent' })).publishableKey,
      ],
      [
        'is revoked',
        async held => {
          await revokeCredential(s, systemActor, 'bent', held.split('_')[1] ?? '')
          return held
        },
      ],
    ])('that %s in the Secret is not kept', async (_how, change) => {
      const secretFor = await anApp('bent')
      const held = await secretFor()
      await appSecretDelivered(s, 'bent')
      const wrong = await change(held)
      const next = await secretFor(wrong)
      expect(next).not.toBe(wrong)
      expect(await checkKey(s, next)).toMatchObject({ app_key: 'bent', kind: 'secret' })
      await appSecretDelivered(s, 'bent')
    })

    test('waits sealed with the present SESSION_SECRET; what a lost one sealed is made anew', async () => {
      const own = await freshDatabase()
      onTestFinished(() => own.stop())
      await ensureIndexes(own.db, subscriptionCollections)
      const [first, second, third] = ['first', 'second', 'third'].map(name => name.padEnd(40, '!')) as [
        string,
        string,
        string,
      ]
      const under = (...secrets: [string, string?]) =>
        openSubscriptions({ ...testFoundation(own), secrets: createSecrets(...secrets) })
      const look = async (world: Subscriptions) => {
        const { signingKey } = await applyApp(world, by('a'), 'shop', spec)
        return { signingKey, secret: await appSecretFor(world, by('a'), 'shop', undefined) }
      }
      const before = await look(under(first))
      expect(await resealSubscriptions(under(second, first))).toBe(2)
      expect(await look(under(second))).toEqual(before)
      const anew = await look(under(third))
      expect(anew.secret).not.toBe(before.secret)
      expect(anew.signingKey.id).not.toBe(before.signingKey.id)
      expect(await look(under(third))).toEqual(anew)
    })
  })
})

describe('a plan', () => {
  test('is made so and read-only for administrators; withdrawn with Retain it is theirs', async () => {
    const { plan: made, outcome } = await applyPlan(s, by('p'), 'shop', plan)
    expect(outcome).toBe('created')
    expect((await applyPlan(s, by('p'), 'shop', plan)).outcome).toBe('unchanged')
    const dearer = await applyPlan(s, by('p'), 'shop', { ...plan, price_cents: 1990 })
    expect(dearer).toMatchObject({ outcome: 'updated', plan: { version: 2 } })
    const edit = () => updatePlan(s, systemActor, { appKey: 'shop', id: made._id }, { fields: { price: 1 } })
    await expect(edit()).rejects.toMatchObject({ code: 'managed_by_resource', faults: [{ message: 'k8s:shop/p' }] })
    await withdrawPlans(s, by('p'), 'Retain')
    expect((await edit()).price_cents).toBe(1)
  })

  test('deleted it is gone for buyers, and comes back when it is applied again', async () => {
    const { plan: made } = await applyPlan(s, by('p'), 'shop', plan)
    await withdrawPlans(s, by('p'), 'Delete')
    expect(await findPlan(s.c, 'shop', made._id)).toBeUndefined()
    expect((await applyPlan(s, by('q'), 'shop', plan)).plan._id).toBe(made._id)
    expect(await findPlan(s.c, 'shop', made._id)).toBeDefined()
  })

  test('of an app that is not there is refused', async () => {
    await expect(applyPlan(s, by('p'), 'nowhere', plan)).rejects.toMatchObject({ code: 'app_not_found' })
  })
})

describe('a switch', () => {
  const target = { appKey: 'shop', name: 'dark' }

  test('is made so, read-only for administrators, and removed by its resource only', async () => {
    expect((await applySwitch(s, by('s'), target, { type: 'boolean', value: '1' })).outcome).toBe('created')
    expect((await applySwitch(s, by('s'), target, { type: 'boolean', value: '1' })).outcome).toBe('unchanged')
    expect((await applySwitch(s, by('s'), target, { type: 'number', value: '3' })).outcome).toBe('updated')
    await expect(updateSwitch(s, systemActor, target, { value: '1' })).rejects.toMatchObject({
      code: 'managed_by_resource',
    })
    await expect(deleteSwitch(s, systemActor, target)).rejects.toMatchObject({ code: 'managed_by_resource' })
    await withdrawSwitches(s, by('other'), 'Delete')
    expect(await findSwitch(s.c, 'shop', 'dark')).toBeDefined()
    await withdrawSwitches(s, by('s'), 'Delete')
    expect(await findSwitch(s.c, 'shop', 'dark')).toBeUndefined()
    await withdrawSwitches(s, by('s'), 'Delete')
  })

  test('that is retained is handed back', async () => {
    await applySwitch(s, by('kept'), { appKey: 'shop', name: 'kept' }, { type: 'boolean', value: '1' })
    await withdrawSwitches(s, by('kept'), 'Retain')
    expect(await updateSwitch(s, systemActor, { appKey: 'shop', name: 'kept' }, { value: '0' })).toMatchObject({
      value: '0',
    })
  })

  test('with a value that does not fit is refused', async () => {
    const wrong = applySwitch(s, by('s'), target, { type: 'number', value: 'x' })
    await expect(wrong).rejects.toMatchObject({ code: 'validation_failed' })
  })
})

describe('a resource that was made anew under its name goes on with its record, which its first life lets alone', () => {
  const anew = (name: string) => ({ ...by(name), uid: `uid-${name}-2` })

  test('an app', async () => {
    expect((await applyApp(s, anew('a'), 'shop', { ...spec, app_description: 'again' })).outcome).toBe('updated')
    await withdrawApp(s, by('a'), 'shop', 'Delete')
    expect((await findApp(s.c, 'shop'))?.managed_by).toEqual(anew('a'))
    expect((await applyApp(s, by('a'), 'shop', spec)).outcome).toBe('updated')
  })

  test('a plan', async () => {
    const declared = { ...plan, name: 'Silver' }
    const { plan: made } = await applyPlan(s, by('silver'), 'shop', declared)
    expect((await applyPlan(s, anew('silver'), 'shop', declared)).outcome).toBe('updated')
    await withdrawPlans(s, by('silver'), 'Delete')
    expect((await findPlan(s.c, 'shop', made._id))?.managed_by).toEqual(anew('silver'))
    const foreign = { ...anew('silver'), namespace: 'other', uid: 'uid-x' }
    await expect(applyPlan(s, foreign, 'shop', declared)).rejects.toMatchObject({ code: 'managed_by_resource' })
  })

  test('a switch', async () => {
    const target = { appKey: 'shop', name: 'anew' }
    await applySwitch(s, by('s'), target, { type: 'boolean', value: '1' })
    await applySwitch(s, anew('s'), target, { type: 'boolean', value: '0' })
    await withdrawSwitches(s, by('s'), 'Delete')
    expect((await findSwitch(s.c, 'shop', 'anew'))?.managed_by).toEqual(anew('s'))
    await withdrawSwitches(s, anew('s'), 'Delete')
    expect(await findSwitch(s.c, 'shop', 'anew')).toBeUndefined()
  })
})

test('an app goes with its resource, and its key never comes back', async () => {
  await withdrawApp(s, by('b'), 'shop', 'Delete')
  expect(await findApp(s.c, 'shop')).toBeDefined()
  await withdrawApp(s, by('a'), 'shop', 'Delete')
  expect(await findApp(s.c, 'shop')).toBeUndefined()
  await expect(applyApp(s, by('a'), 'shop', spec)).rejects.toMatchObject({ code: 'name_taken' })
  expect(operatorActor(by('a')).name).toBe('k8s:shop/a')
})
