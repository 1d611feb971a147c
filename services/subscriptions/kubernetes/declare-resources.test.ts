import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import { ensureIndexes } from '../../platform/database/mongo.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { addCredential, checkKey, keptSecretOf, revokeCredential } from '../catalogue/app-credentials.ts'
import { createPlan, updatePlan } from '../catalogue/manage-plans.ts'
import { mergePlan } from '../catalogue/rules/plan.ts'
import { findApp } from '../catalogue/store/apps.ts'
import { findPlan, findSwitch } from '../catalogue/store/plans-and-flags.ts'
import { openSubscriptions, type Subscriptions, systemActor } from '../context.ts'
import { applySchedules, createSwitch, deleteSwitch, updateSwitch } from '../flags/manage-flags.ts'
import { NEW_SWITCH, type SwitchFields } from '../flags/rules/flag-spec.ts'
import { resealSubscriptions } from '../jobs/reseal-secrets.ts'
import { subscriptionCollections } from '../store/collections.ts'
import { appSecretDelivered, appSecretFor } from './app-secrets.ts'
import { declareApp, withdrawApp } from './declare-app.ts'
import { declarePlan, withdrawPlans } from './declare-plan.ts'
import { declareSwitch, withdrawSwitches } from './declare-switch.ts'
import { operatorActor } from './declared-record.ts'

let mongo: TestDatabase
let context: Subscriptions
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  context = openSubscriptions(testFoundation(mongo))
})
afterAll(() => mongo.stop())

const by = (name: string) => ({ kind: 'App', namespace: 'shop', name, uid: `uid-${name}` })
const spec = { app_name: 'Shop', app_description: '', status: '1' as const, require_signature: false, mail_from: '' }
const plan = mergePlan(undefined, { name: 'Gold', price: 990, duration: 30, features: ['a'] })

describe('an app', () => {
  test('is created with credentials, then unchanged, then updated; another resource is refused', async () => {
    const first = await declareApp(context, by('a'), 'shop', spec)
    expect(first.outcome).toBe('created')
    const again = await declareApp(context, by('a'), 'shop', spec)
    expect(again).toMatchObject({ outcome: 'unchanged', publishableKey: first.publishableKey })
    expect((await declareApp(context, by('a'), 'shop', { ...spec, status: '0' })).outcome).toBe('updated')
    await expect(declareApp(context, by('b'), 'shop', spec)).rejects.toMatchObject({ code: 'managed_by_resource' })
  })

  test('keeps what its resource does not declare; the sender is its own', async () => {
    const kept = { app_description: 'On the web', status: '0' as const, require_signature: true }
    await declareApp(context, by('keeps'), 'keeps', { ...kept, app_name: 'Keeps', mail_from: 'a@shop.example' })
    const { app } = await declareApp(context, by('keeps'), 'keeps', { app_name: 'Renamed', mail_from: '' })
    expect(app).toMatchObject({ ...kept, app_name: 'Renamed' })
    expect(app).not.toHaveProperty('mail_from')
    const reset = { app_description: '', status: '1' as const, require_signature: false }
    const { app: plain } = await declareApp(context, by('keeps'), 'keeps', { ...reset, app_name: 'K', mail_from: '' })
    expect(plain).toMatchObject({ app_description: '', status: '1' })
    expect(plain).not.toHaveProperty('require_signature')
    const made = await declareApp(context, by('bare'), 'bare', { app_name: 'Bare', mail_from: '' })
    expect(made.app).toMatchObject({ app_description: '', status: '1' })
  })

  test('has a signing key before it must sign, and the newer of two', async () => {
    const { app, signingKey } = await declareApp(context, by('sign'), 'sign', {
      ...spec,
      app_name: 'Sign',
      require_signature: true,
    })
    expect(app.require_signature).toBe(true)
    const [stored] = await context.collections.credentials.find({ app_key: 'sign', kind: 'hmac' }).lean()
    expect(stored).toMatchObject({ _id: signingKey.id, managed_by: by('sign') })
    expect(stored && keptSecretOf(context, stored)).toBe(signingKey.secret)
    const again = () => declareApp(context, by('sign'), 'sign', { ...spec, app_name: 'Sign', require_signature: true })
    expect(await again()).toMatchObject({ outcome: 'unchanged', signingKey })
    const second = await addCredential(context, systemActor, 'sign', 'hmac')
    expect((await again()).signingKey).toEqual({ id: second.document._id, secret: second.shown })
    await revokeCredential(context, systemActor, 'sign', second.document._id)
    expect((await again()).signingKey).toEqual(signingKey)
    const last = revokeCredential(context, systemActor, 'sign', signingKey.id)
    await expect(last).rejects.toMatchObject({ code: 'transition_refused' })
    // If it is missing, a new one is created.
    await context.collections.credentials.updateOne(
      { _id: signingKey.id },
      { $set: { revoked_at: context.clock.now() } },
    )
    const { signingKey: third } = await again()
    expect([signingKey.id, second.document._id]).not.toContain(third.id)
  })

  test('is sent from the sender of its resource, and from the default once the resource has none', async () => {
    const declared = { ...spec, app_name: 'Sender', mail_from: 'notice@shop.example' }
    expect((await declareApp(context, by('sender'), 'sender', declared)).app.mail_from).toBe('notice@shop.example')
    const without = await declareApp(context, by('sender'), 'sender', { ...declared, mail_from: '' })
    expect(without.outcome).toBe('updated')
    expect(await findApp(context.collections, 'sender')).not.toHaveProperty('mail_from')
    expect((await declareApp(context, by('sender'), 'sender', { ...declared, mail_from: '' })).outcome).toBe(
      'unchanged',
    )
  })

  describe('its secret', () => {
    const anApp = async (name: string) => {
      await declareApp(context, by(name), name, { ...spec, app_name: name })
      return (held?: string) => appSecretFor(context, by(name), name, held)
    }
    const live = (app_key: string) =>
      context.collections.credentials.countDocuments({ app_key, kind: 'secret', revoked_at: { $exists: false } })

    test('stays the same until its Secret holds it; then only the Secret has it', async () => {
      const secretFor = await anApp('once')
      const first = await secretFor()
      expect(await checkKey(context, first)).toMatchObject({ app_key: 'once', kind: 'secret' })
      expect([await secretFor(), await secretFor('ask_garbage')]).toEqual([first, first])
      expect(await live('once')).toBe(1)
      await appSecretDelivered(context, 'once')
      expect(
        await context.collections.credentials.findOne({ app_key: 'once', kind: 'secret' }).lean(),
      ).not.toHaveProperty('undelivered')
      expect(await secretFor(first)).toBe(first)
      expect(await checkKey(context, first)).toBeDefined()
    })

    test('that was lost is created once, however often it cannot be written; the one before stays valid', async () => {
      const secretFor = await anApp('lost')
      const first = await secretFor()
      await appSecretDelivered(context, 'lost')
      const second = await secretFor()
      expect(second).not.toBe(first)
      for (let tries = 0; tries < 3; tries++) expect(await secretFor()).toBe(second)
      expect([await checkKey(context, first), await checkKey(context, second)]).not.toContain(undefined)
      await appSecretDelivered(context, 'lost')
      const third = await secretFor()
      expect(await live('lost')).toBe(2)
      expect(await checkKey(context, first)).toBeUndefined()
      expect([await checkKey(context, second), await checkKey(context, third)]).not.toContain(undefined)
    })

    test.each<[string, (held: string) => Promise<string> | string]>([
      ['is changed', held => `${held.slice(0, -1)}${held.endsWith('A') ? 'B' : 'A'}`],
      ['is cut', held => held.slice(0, -1)],
      ['is empty', () => ''],
      ['is of another app', async () => (await anApp('foreign'))()],
      [
        'is a publishable key',
        async () => (await declareApp(context, by('bent'), 'bent', { ...spec, app_name: 'bent' })).publishableKey,
      ],
      [
        'is revoked',
        async held => {
          await revokeCredential(context, systemActor, 'bent', held.split('_')[1] ?? '')
          return held
        },
      ],
    ])('that %s in the Secret is not kept', async (_how, change) => {
      const secretFor = await anApp('bent')
      const held = await secretFor()
      await appSecretDelivered(context, 'bent')
      const wrong = await change(held)
      const next = await secretFor(wrong)
      expect(next).not.toBe(wrong)
      expect(await checkKey(context, next)).toMatchObject({ app_key: 'bent', kind: 'secret' })
      await appSecretDelivered(context, 'bent')
    })

    test('waits sealed with the current SESSION_SECRET; one sealed with a lost secret is created again', async () => {
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
      const look = async (changed: Subscriptions) => {
        const { signingKey } = await declareApp(changed, by('a'), 'shop', spec)
        return { signingKey, secret: await appSecretFor(changed, by('a'), 'shop', undefined) }
      }
      const before = await look(under(first))
      expect(await resealSubscriptions(under(second, first))).toBe(2)
      expect(await look(under(second))).toEqual(before)
      const resealed = await look(under(third))
      expect(resealed.secret).not.toBe(before.secret)
      expect(resealed.signingKey.id).not.toBe(before.signingKey.id)
      expect(await look(under(third))).toEqual(resealed)
    })
  })
})

/** A resource without the annotation that adopts records. */
const own = { adopt: false }

describe('a plan', () => {
  test('is made so and read-only for administrators; withdrawn with Retain it is theirs', async () => {
    const { plan: made, outcome } = await declarePlan(context, by('p'), 'shop', plan, own)
    expect(outcome).toBe('created')
    expect((await declarePlan(context, by('p'), 'shop', plan, own)).outcome).toBe('unchanged')
    const dearer = await declarePlan(context, by('p'), 'shop', { ...plan, price_cents: 1990 }, own)
    expect(dearer).toMatchObject({ outcome: 'updated', plan: { version: 2 } })
    const edit = () => updatePlan(context, systemActor, { appKey: 'shop', id: made._id }, { fields: { price: 1 } })
    await expect(edit()).rejects.toMatchObject({
      code: 'managed_by_resource',
      errors: [{ pointer: '/managed_by', reason: { params: { resource: 'k8s:shop/p' } } }],
    })
    await withdrawPlans(context, by('p'), 'Retain')
    expect((await edit()).price_cents).toBe(1)
  })

  test('deleted, it is hidden from buyers, and restored when it is applied again', async () => {
    const { plan: made } = await declarePlan(context, by('p'), 'shop', plan, own)
    await withdrawPlans(context, by('p'), 'Delete')
    expect(await findPlan(context.collections, 'shop', made._id)).toBeUndefined()
    expect((await declarePlan(context, by('q'), 'shop', plan, own)).plan._id).toBe(made._id)
    expect(await findPlan(context.collections, 'shop', made._id)).toBeDefined()
  })

  test('keeps what its resource does not declare', async () => {
    const declared = { name: 'Panel', price_cents: 990, duration: 30 }
    const offer = { description: 'Fine', features: ['a', 'b'], sort_order: 7, status: '0' as const }
    const kept = { ...offer, original_price_cents: 1500, trial_days: 14, grace_days: 3, auto_renew_allowed: false }
    const made = await createPlan(context, systemActor, 'shop', { ...declared, ...kept })
    await expect(declarePlan(context, by('panel'), 'shop', declared, own)).rejects.toMatchObject({ code: 'conflict' })
    expect((await findPlan(context.collections, 'shop', made._id))?.managed_by).toBeUndefined()
    const adopted = await declarePlan(context, by('panel'), 'shop', declared, { adopt: true })
    expect(adopted.plan).toMatchObject({ _id: made._id, ...kept, version: made.version })
    const set = await declarePlan(context, by('panel'), 'shop', { ...declared, trial_days: 0, grace_days: 5 }, own)
    expect(set.plan).toMatchObject({ ...kept, trial_days: 0, grace_days: 5 })
    const reset = { description: '', features: [], sort_order: 0, status: '1' as const, original_price_cents: 990 }
    expect((await declarePlan(context, by('panel'), 'shop', { ...declared, ...reset }, own)).plan).toMatchObject(reset)
  })

  test.each([
    ['without a discount follows the price', 990, 990, 1200, 1200],
    ['stays while it is a discount', 990, 1500, 1200, 1500],
    ['stays when the price is lowered', 990, 1500, 500, 1500],
    ['is the price when the price exceeds it', 990, 1500, 2000, 2000],
  ])('whose original price is not declared: it %s', async (how, price_cents, original_price_cents, next, expected) => {
    const declared = { name: how, price_cents, duration: 30 }
    await declarePlan(context, by(how), 'shop', { ...declared, original_price_cents }, own)
    const { plan: changed } = await declarePlan(context, by(how), 'shop', { ...declared, price_cents: next }, own)
    expect(changed.original_price_cents).toBe(expected)
  })

  test.each([
    ['declared', 30, false, false],
    ['declared for a plan that becomes permanent', 0, true, false],
    ['not declared', 30, undefined, true],
  ])('has the renewal that is %s', async (how, duration, auto_renew_allowed, expected) => {
    const declared = { name: `Renewal ${how}`, price_cents: 990, duration: 30 }
    await declarePlan(context, by(how), 'shop', declared, own)
    const changed = await declarePlan(context, by(how), 'shop', { ...declared, duration, auto_renew_allowed }, own)
    expect(changed.plan.auto_renew_allowed).toBe(expected)
  })

  test('deleted, it is for sale again when it is applied without a status', async () => {
    const declared = { name: 'Back', price_cents: 990, duration: 30 }
    await declarePlan(context, by('back'), 'shop', { ...declared, features: ['a'] }, own)
    await withdrawPlans(context, by('back'), 'Delete')
    const { plan: restored } = await declarePlan(context, by('back'), 'shop', declared, own)
    expect(restored).toMatchObject({ status: '1', features: ['a'] })
    expect(restored.deleted_at).toBeUndefined()
  })

  test('that a resource retained is taken over by one of the same namespace, and by no other', async () => {
    const retained = { ...plan, name: 'Retained' }
    await declarePlan(context, by('one'), 'shop', retained, own)
    await withdrawPlans(context, by('one'), 'Retain')
    const foreign = { ...by('two'), namespace: 'other' }
    await expect(declarePlan(context, foreign, 'shop', retained, own)).rejects.toMatchObject({ code: 'conflict' })
    const { plan: taken } = await declarePlan(context, by('two'), 'shop', retained, own)
    expect(taken).toMatchObject({ managed_by: { name: 'two' } })
    expect(taken.released_by).toBeUndefined()
  })

  test('of an app that is not there is refused', async () => {
    await expect(declarePlan(context, by('p'), 'nowhere', plan, own)).rejects.toMatchObject({ code: 'app_not_found' })
  })
})

describe('a switch', () => {
  const target = { appKey: 'shop', name: 'dark' }

  test('is made so, read-only for administrators, and removed by its resource only', async () => {
    expect((await declareSwitch(context, by('s'), target, { type: 'boolean', value: '1' }, own)).outcome).toBe(
      'created',
    )
    expect((await declareSwitch(context, by('s'), target, { type: 'boolean', value: '1' }, own)).outcome).toBe(
      'unchanged',
    )
    expect((await declareSwitch(context, by('s'), target, { type: 'number', value: '3' }, own)).outcome).toBe('updated')
    await expect(updateSwitch(context, systemActor, target, { value: '1' })).rejects.toMatchObject({
      code: 'managed_by_resource',
    })
    await expect(deleteSwitch(context, systemActor, target)).rejects.toMatchObject({ code: 'managed_by_resource' })
    await withdrawSwitches(context, by('other'), 'Delete')
    expect(await findSwitch(context.collections, 'shop', 'dark')).toBeDefined()
    await withdrawSwitches(context, by('s'), 'Delete')
    expect(await findSwitch(context.collections, 'shop', 'dark')).toBeUndefined()
    await withdrawSwitches(context, by('s'), 'Delete')
  })

  test('that is retained returns to the administrators', async () => {
    await declareSwitch(context, by('kept'), { appKey: 'shop', name: 'kept' }, { type: 'boolean', value: '1' }, own)
    await withdrawSwitches(context, by('kept'), 'Retain')
    expect(await updateSwitch(context, systemActor, { appKey: 'shop', name: 'kept' }, { value: '0' })).toMatchObject({
      value: '0',
    })
  })

  test('of the administrators is adopted only on request', async () => {
    const at = { appKey: 'shop', name: 'panel-made' }
    await createSwitch(context, systemActor, at, NEW_SWITCH)
    const declare = (adopt: boolean) => declareSwitch(context, by('x'), at, { type: 'boolean', value: '1' }, { adopt })
    await expect(declare(false)).rejects.toMatchObject({ code: 'conflict' })
    expect((await declare(true)).stored).toMatchObject({ value: '1', managed_by: { name: 'x' } })
    await withdrawSwitches(context, by('x'), 'Retain')
    expect((await declare(false)).stored.released_by).toBeUndefined()
  })

  test('keeps what its resource does not declare, and is refused while a kept value does not fit its type', async () => {
    const at = { appKey: 'shop', name: 'kept-fields' }
    const rule = { name: 'r', conditions: [{ attribute: 'v', operator: 'eq' as const, values: ['1'] }], value: '0' }
    const kept = {
      ...{
        description: 'Dark mode',
        title: 'Dark',
        enabled: '0' as const,
        client_visible: '1' as const,
        rollout: 12.5,
      },
      rules: [rule],
      schedules: [{ at: 9_999_999_999, value: '0' }],
    }
    await createSwitch(context, systemActor, at, { ...NEW_SWITCH, ...kept })
    const declare = (fields: SwitchFields) => declareSwitch(context, by('y'), at, fields, { adopt: true })
    expect((await declare({ type: 'boolean', value: '1' })).stored).toMatchObject({ ...kept, value: '1' })
    expect((await declare({ type: 'boolean', value: '1' })).outcome).toBe('unchanged')
    await expect(declare({ type: 'number', value: '3' })).resolves.toMatchObject({ outcome: 'updated' })
    await expect(declare({ type: 'json', value: '{}' })).rejects.toMatchObject({ code: 'validation_failed' })
    const reset = { rules: [], schedules: [], enabled: '1' as const, rollout: 100 }
    expect((await declare({ type: 'json', value: '{}', ...reset })).stored).toMatchObject(reset)
  })

  test('follows the schedules that its resource declares, and nothing reverts them', async () => {
    const at = { appKey: 'shop', name: 'launch' }
    const now = Math.floor(context.clock.now().getTime() / 1000)
    const fields = { type: 'boolean' as const, value: '0', rollout: 50 }
    const later = { at: now + 3_600, enabled: '0' as const }
    const declare = (schedules: SwitchFields['schedules']) =>
      declareSwitch(context, by('launch'), at, { ...fields, schedules }, own)
    const first = await declare([{ at: now - 60, value: '1' }, later])
    expect(first).toMatchObject({ outcome: 'created', stored: { value: '1', rollout: 50, schedules: [later] } })
    expect((await declare([{ at: now - 60, value: '1' }, later])).outcome).toBe('unchanged')
    // One that falls due later: before and after the job has merged it, the record is as declared.
    const pending = { at: now - 1, rollout: 100 }
    await context.collections.switches.updateOne(
      { app_key: 'shop', name: 'launch' },
      { $set: { schedules: [pending] } },
    )
    const due = await declare([pending])
    expect(due).toMatchObject({ outcome: 'updated', stored: { value: '0', rollout: 100, schedules: [] } })
    await context.collections.switches.updateOne(
      { app_key: 'shop', name: 'launch' },
      { $set: { schedules: [pending], rollout: 50 } },
    )
    expect(await declare([pending])).toMatchObject({ outcome: 'unchanged', stored: { rollout: 100 } })
    await applySchedules(context, systemActor)
    expect(await findSwitch(context.collections, 'shop', 'launch')).toMatchObject({ rollout: 100, schedules: [] })
    expect(await declare([pending])).toMatchObject({ outcome: 'unchanged', stored: { rollout: 100 } })
  })

  test('with a value that does not fit is refused', async () => {
    const wrong = declareSwitch(context, by('s'), target, { type: 'number', value: 'x' }, own)
    await expect(wrong).rejects.toMatchObject({ code: 'validation_failed' })
  })
})

describe('a recreated resource keeps its record, which the deleted resource no longer changes', () => {
  const recreated = (name: string) => ({ ...by(name), uid: `uid-${name}-2` })

  test('an app', async () => {
    expect((await declareApp(context, recreated('a'), 'shop', { ...spec, app_description: 'again' })).outcome).toBe(
      'updated',
    )
    await withdrawApp(context, by('a'), 'shop', 'Delete')
    expect((await findApp(context.collections, 'shop'))?.managed_by).toEqual(recreated('a'))
    expect((await declareApp(context, by('a'), 'shop', spec)).outcome).toBe('updated')
  })

  test('a plan', async () => {
    const declared = { ...plan, name: 'Silver' }
    const { plan: made } = await declarePlan(context, by('silver'), 'shop', declared, own)
    expect((await declarePlan(context, recreated('silver'), 'shop', declared, own)).outcome).toBe('updated')
    await withdrawPlans(context, by('silver'), 'Delete')
    expect((await findPlan(context.collections, 'shop', made._id))?.managed_by).toEqual(recreated('silver'))
    const foreign = { ...recreated('silver'), namespace: 'other', uid: 'uid-x' }
    await expect(declarePlan(context, foreign, 'shop', declared, own)).rejects.toMatchObject({
      code: 'managed_by_resource',
    })
  })

  test('a switch', async () => {
    const target = { appKey: 'shop', name: 'recreated' }
    await declareSwitch(context, by('s'), target, { type: 'boolean', value: '1' }, own)
    await declareSwitch(context, recreated('s'), target, { type: 'boolean', value: '0' }, own)
    await withdrawSwitches(context, by('s'), 'Delete')
    expect((await findSwitch(context.collections, 'shop', 'recreated'))?.managed_by).toEqual(recreated('s'))
    await withdrawSwitches(context, recreated('s'), 'Delete')
    expect(await findSwitch(context.collections, 'shop', 'recreated')).toBeUndefined()
  })
})

test('an app is deleted with its resource, and its key stays reserved', async () => {
  await withdrawApp(context, by('b'), 'shop', 'Delete')
  expect(await findApp(context.collections, 'shop')).toBeDefined()
  await withdrawApp(context, by('a'), 'shop', 'Delete')
  expect(await findApp(context.collections, 'shop')).toBeUndefined()
  await expect(declareApp(context, by('a'), 'shop', spec)).rejects.toMatchObject({ code: 'name_taken' })
  expect(operatorActor(by('a')).name).toBe('k8s:shop/a')
})
