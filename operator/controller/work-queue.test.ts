import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { until } from '../../test/support/time/until.ts'
import { WorkQueue } from './work-queue.ts'

const metrics = () => createMetrics('test').operator
const queue = (random = () => 1) => new WorkQueue('test', { baseMs: 10, capMs: 80 }, metrics(), random)

test('a key that waits is not added twice', async () => {
  const keys = queue()
  keys.add('a')
  keys.add('a')
  keys.add('b')
  expect(keys.depth()).toBe(2)
  expect([await keys.next(), await keys.next()]).toEqual(['a', 'b'])
})

test('a key that is added during its run runs once more afterwards, not in parallel', async () => {
  const keys = queue()
  keys.add('a')
  await keys.next()
  keys.add('a')
  keys.add('a')
  expect(keys.depth()).toBe(0)
  keys.done('a')
  expect(keys.depth()).toBe(1)
  await keys.next()
  keys.done('a')
  expect(keys.depth()).toBe(0)
})

test('changes go before the first list, and a change lifts a key that waits low', async () => {
  const keys = queue()
  for (const key of ['a', 'b', 'c']) keys.add(key, 'low')
  keys.add('c', 'high')
  keys.add('d', 'high')
  keys.add('d', 'low')
  const order = [await keys.next(), await keys.next(), await keys.next(), await keys.next()]
  expect(order).toEqual(['c', 'd', 'a', 'b'])
})

test('namespaces take turns, however many keys one of them has', async () => {
  const keys = queue()
  for (const key of ['many/1', 'many/2', 'many/3', 'many/4']) keys.add(key, 'low')
  for (const key of ['one/1', 'many/5', 'two/1', 'two/2', 'many/6']) keys.add(key)
  const order = []
  while (keys.depth() > 0) order.push(await keys.next())
  expect(order).toEqual(['one/1', 'many/5', 'two/1', 'many/6', 'two/2', 'many/1', 'many/2', 'many/3', 'many/4'])
})

test('pauses double up to the cap, are never shorter than requested, and are reset after success', () => {
  const keys = queue()
  expect([keys.retry('a'), keys.retry('a'), keys.retry('a'), keys.retry('a'), keys.retry('a')]).toEqual([
    10, 20, 40, 80, 80,
  ])
  expect(keys.retry('b', 5_000)).toBe(5_000)
  expect(keys.failures('a')).toBe(5)
  keys.forget('a')
  expect(keys.retry('a')).toBe(10)
  keys.close()
})

test('pauses are drawn from the upper half of the step', () => {
  const keys = queue(() => 0)
  expect([keys.retry('a'), keys.retry('a')]).toEqual([5, 10])
  keys.close()
})

test('of two times for a key the earlier one counts, and a change replaces both', async () => {
  const keys = queue()
  keys.addAfter('a', 60_000)
  keys.addAfter('a', 5)
  keys.addAfter('a', 90_000)
  await until(() => keys.depth() === 1)
  expect(await keys.next()).toBe('a')
  keys.done('a')
  keys.addAfter('b', 5)
  keys.add('b')
  expect(await keys.next()).toBe('b')
  keys.done('b')
  keys.close()
  expect(keys.depth()).toBe(0)
})

test('a time beyond the range of a timer does not fire immediately', async () => {
  const keys = queue()
  keys.addAfter('a', 40 * 86_400_000)
  keys.addAfter('b', 5)
  await until(() => keys.depth() > 0)
  expect(await keys.next()).toBe('b')
  expect(keys.depth()).toBe(0)
  keys.close()
})

test('closing ends waiting callers and accepts no more keys', async () => {
  const keys = queue()
  const waiting = keys.next()
  keys.close()
  keys.add('a')
  expect(await waiting).toBeUndefined()
  expect(await keys.next()).toBeUndefined()
})

/** A queue together with its model: keys added and not returned since. */
function model() {
  const keys = queue()
  const active: string[] = []
  const owed = new Set<string>()
  const take = async () => {
    const key = keys.depth() > 0 ? await keys.next() : undefined
    if (key === undefined) return
    expect(active).not.toContain(key)
    active.push(key)
    owed.delete(key)
  }
  const steps = {
    add: async (key: string) => {
      keys.add(key)
      owed.add(key)
    },
    take,
    done: async () => {
      const key = active.shift()
      if (key) keys.done(key)
    },
  }
  const drain = async () => {
    while (active.length > 0 || keys.depth() > 0) {
      await steps.done()
      await take()
    }
    keys.close()
    return [...owed]
  }
  return { steps, drain }
}

test('for any sequence, no key runs twice in parallel and none is lost', async () => {
  const step = fc.tuple(fc.constantFrom('add', 'take', 'done'), fc.constantFrom('a', 'b', 'c'))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async list => {
      const { steps, drain } = model()
      for (const [name, key] of list) await steps[name](key)
      expect(await drain()).toEqual([])
    }),
  )
})
