import { describe, expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { systemActor } from '../context.ts'
import { declareSwitch, withdrawSwitches } from '../kubernetes/declare-switch.ts'
import { createSwitch, deleteSwitch, restoreSwitch, updateSwitch } from './manage-flags.ts'
import { NEW_SWITCH } from './rules/flag-spec.ts'

const at = { appKey: 'shop', name: 'dark' }
const by = { kind: 'FeatureSwitch', namespace: 'shop', name: 'dark', uid: 'uid-1' }

async function withApp() {
  const subscriptions = await openSubscriptionsModule()
  await subscriptions.giveApp('shop')
  const { context } = subscriptions
  return {
    ...subscriptions,
    create: () => createSwitch(context, systemActor, at, NEW_SWITCH),
    set: (value: string) => updateSwitch(context, systemActor, at, { value }),
    remove: () => deleteSwitch(context, systemActor, at),
    restore: (revision: number) => restoreSwitch(context, systemActor, at, revision),
    revisions: async () =>
      (await context.collections.revisions.find({ name: 'dark' }).sort({ revision: 1 }).toArray()).map(
        ({ revision }) => revision,
      ),
  }
}

describe('a removed switch', () => {
  test.each([1, 2, 3])('is restored to state %i and continues like any other', async revision => {
    const { create, set, remove, restore, revisions } = await withApp()
    const made = await create()
    await set('1')
    await set('0')
    await remove()
    const back = await restore(revision)
    expect(back).toMatchObject({ _id: made._id, version: 4, value: revision === 2 ? '1' : '0' })
    expect((await set('1')).version).toBe(5)
    await remove()
    expect((await restore(revision)).version).toBe(6)
    expect(await revisions()).toEqual([1, 2, 3, 4, 5])
  })

  test('comes back once, also when two restore it in the same moment', async () => {
    const { create, remove, restore, context } = await withApp()
    await create()
    await remove()
    const outcomes = await Promise.allSettled([restore(1), restore(1)])
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(['name_taken', 'version_conflict']).toContain((outcome.reason as { code: string }).code)
    expect(await context.collections.switches.countDocuments({ name: 'dark' })).toBe(1)
  })

  test('that a resource had managed belongs to the administrators for good, whichever state is restored', async () => {
    const { context, restore, set } = await withApp()
    await declareSwitch(context, by, at, { type: 'boolean', value: '1' }, { adopt: false })
    await declareSwitch(context, by, at, { type: 'boolean', value: '0' }, { adopt: false })
    await withdrawSwitches(context, by, 'Delete')
    for (const revision of [2, 1]) {
      const back = await restore(revision)
      expect(back).not.toHaveProperty('managed_by')
      expect(back).not.toHaveProperty('k8s')
    }
    expect((await set('0')).value).toBe('0')
  })
})
