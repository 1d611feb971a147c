/** An action on many subscriptions. */
import { expect, test } from 'vitest'
import { type BatchResult, PART, runBatch } from './run-batch.ts'

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))
const done = (id: string): BatchResult => ({ id, done: true, message: '' })

test.each([
  [0, []],
  [1, [1]],
  [PART, [PART]],
  [PART + 1, [PART, 1]],
  [PART * 3, [PART, PART, PART]],
])('%i ids are sent in parts of %j, each reported', async (count, parts) => {
  const sent: number[] = []
  const seen: number[] = []
  const act = async (part: string[]) => {
    sent.push(part.length)
    return part.map(done)
  }
  const results = await runBatch(ids(count), act, so => seen.push(so.length), String)
  expect(sent).toEqual(parts)
  expect(results).toEqual(ids(count).map(done))
  expect(seen.at(-1) ?? 0).toBe(count)
  expect(seen).toHaveLength(parts.length)
})

test('a part that fails is reported with its reason, and the next ones are tried', async () => {
  let calls = 0
  const act = async (part: string[]) => {
    calls++
    if (calls === 2) throw new Error('offline')
    return part.map(done)
  }
  const results = await runBatch(
    ids(PART * 3),
    act,
    () => undefined,
    error => (error as Error).message,
  )
  const failed = results.filter(one => !one.done)
  expect(failed.map(({ id }) => id)).toEqual(ids(PART * 3).slice(PART, PART * 2))
  expect(new Set(failed.map(({ message }) => message))).toEqual(new Set(['offline']))
  expect(calls).toBe(3)
})

test('refusals of single subscriptions are kept', async () => {
  const act = async (part: string[]) => part.map(id => ({ id, done: id !== '2', message: id === '2' ? 'final' : '' }))
  const results = await runBatch(ids(3), act, () => undefined, String)
  expect(results[1]).toEqual({ id: '2', done: false, message: 'final' })
})
