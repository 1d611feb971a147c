import { expect, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { type Actor, systemActor } from '../context.ts'
import { freeKey, storeAnswer, takeKey, takeOverKey } from '../store/nonces-and-idempotency.ts'
import { record } from './record-change.ts'

async function held() {
  const { s, clock } = await openSubscriptionsModule()
  const startedAt = clock.now()
  const exp = new Date(startedAt.getTime() + 86_400_000)
  const fresh = { _id: 'key', hash: 'h', state: 'running' as const, started_at: startedAt, exp }
  expect(await takeKey(s.c, fresh)).toBeUndefined()
  const claim = { id: 'key', startedAt }
  const change = (by: Actor['claim'], fails = false) =>
    record(s, { ...systemActor, ...(by ? { claim: by } : {}) }, async session => {
      await s.c.sequences.insertOne({ _id: `change-${Math.random()}`, next: 1 }, { session })
      if (fails) throw new Error('refused')
      return { result: 'done', deed: { action: 'test', appKey: '', target: { kind: 'test', id: '1' } } }
    })
  const changes = () => s.c.sequences.countDocuments({ _id: /^change/ })
  const stored = () => s.c.idempotency.findOne({ _id: 'key' })
  return { s, clock, claim, fresh, change, changes, stored }
}

test('a change marks the key of its request, one that is refused leaves it', async () => {
  const { s, claim, change, changes, stored } = await held()
  await expect(change(claim, true)).rejects.toThrow('refused')
  expect([await changes(), (await stored())?.state]).toEqual([0, 'running'])
  expect(await change(claim)).toBe('done')
  expect(await change(claim)).toBe('done')
  expect([await changes(), (await stored())?.state]).toEqual([2, 'changed'])
  await freeKey(s.c, claim)
  expect((await stored())?.state).toBe('changed')
  await storeAnswer(s.c, claim, 'sealed')
  expect(await stored()).toMatchObject({ state: 'done', answer: 'sealed' })
})

test('a request whose key was taken over changes nothing, frees nothing and answers for nobody', async () => {
  const { s, clock, claim, fresh, change, changes, stored } = await held()
  clock.advance(61_000)
  expect(await takeOverKey(s.c, fresh, clock.now())).toBe(true)
  expect(await takeOverKey(s.c, fresh, clock.now())).toBe(false)
  await expect(change(claim)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  await freeKey(s.c, claim)
  await storeAnswer(s.c, claim, 'late')
  expect([await changes(), (await stored())?.state]).toEqual([0, 'running'])
  expect(await change({ id: 'key', startedAt: clock.now() })).toBe('done')
  expect([await changes(), (await stored())?.state]).toEqual([1, 'changed'])
})

test('a key that changed something is not taken over: nobody knows what the answer was', async () => {
  const { s, clock, claim, fresh, change } = await held()
  await change(claim)
  clock.advance(61_000)
  expect(await takeOverKey(s.c, fresh, clock.now())).toBe(false)
})

test('without a key nothing is marked', async () => {
  const { change, changes, stored } = await held()
  await change(undefined)
  expect([await changes(), (await stored())?.state]).toEqual([1, 'running'])
})
