import { expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { type Actor, systemActor } from '../context.ts'
import { freeKey, storeAnswer, takeKey, takeOverKey } from '../store/nonces-and-idempotency.ts'
import { record } from './record-change.ts'

async function held() {
  const { context, clock } = await openSubscriptionsModule()
  const startedAt = clock.now()
  const exp = new Date(startedAt.getTime() + 86_400_000)
  const fresh = { _id: 'key', hash: 'h', state: 'running' as const, started_at: startedAt, exp }
  expect(await takeKey(context.collections, fresh)).toBeUndefined()
  const claim = { id: 'key', startedAt }
  const change = (by: Actor['claim'], fails = false) =>
    record(context, { ...systemActor, ...(by ? { claim: by } : {}) }, async session => {
      await context.collections.sequences.insertOne({ _id: `change-${Math.random()}`, next: 1 }, { session })
      if (fails) throw new Error('refused')
      return { result: 'done', event: { action: 'test', appKey: '', target: { kind: 'test', id: '1' } } }
    })
  const changes = () => context.collections.sequences.countDocuments({ _id: /^change/ })
  const stored = () => context.collections.idempotency.findOne({ _id: 'key' })
  return { context, clock, claim, fresh, change, changes, stored }
}

test('a change marks the key of its request, one that is refused leaves it', async () => {
  const { context, claim, change, changes, stored } = await held()
  await expect(change(claim, true)).rejects.toThrow('refused')
  expect([await changes(), (await stored())?.state]).toEqual([0, 'running'])
  expect(await change(claim)).toBe('done')
  expect(await change(claim)).toBe('done')
  expect([await changes(), (await stored())?.state]).toEqual([2, 'changed'])
  await freeKey(context.collections, claim)
  expect((await stored())?.state).toBe('changed')
  await storeAnswer(context.collections, claim, 'sealed')
  expect(await stored()).toMatchObject({ state: 'done', answer: 'sealed' })
})

test('a request whose key was taken over changes nothing, frees nothing and sends no response', async () => {
  const { context, clock, claim, fresh, change, changes, stored } = await held()
  clock.advance(61_000)
  expect(await takeOverKey(context.collections, fresh, clock.now())).toBe(true)
  expect(await takeOverKey(context.collections, fresh, clock.now())).toBe(false)
  await expect(change(claim)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  await freeKey(context.collections, claim)
  await storeAnswer(context.collections, claim, 'late')
  expect([await changes(), (await stored())?.state]).toEqual([0, 'running'])
  expect(await change({ id: 'key', startedAt: clock.now() })).toBe('done')
  expect([await changes(), (await stored())?.state]).toEqual([1, 'changed'])
})

test('a key that changed something is not taken over, because the response is unknown', async () => {
  const { context, clock, claim, fresh, change } = await held()
  await change(claim)
  clock.advance(61_000)
  expect(await takeOverKey(context.collections, fresh, clock.now())).toBe(false)
})

test('without a key nothing is marked', async () => {
  const { change, changes, stored } = await held()
  await change(undefined)
  expect([await changes(), (await stored())?.state]).toEqual([1, 'running'])
})
