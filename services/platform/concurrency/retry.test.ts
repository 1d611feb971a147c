import { expect, test } from 'vitest'
import { poll, retry, writeAsRead } from './retry.ts'

/** Returns these in turn, the last one repeatedly; an error is thrown. */
function inTurn<T>(...given: (T | Error)[]) {
  const calls = { count: 0 }
  const next = async (): Promise<T> => {
    const one = given[Math.min(calls.count++, given.length - 1)]
    if (one instanceof Error) throw one
    return one as T
  }
  return { calls, next }
}

const [away, broken] = [new Error('away'), new Error('broken')]
const on = (error: unknown) => error === away

test.each<[string, (string | Error)[], string | Error, number]>([
  ['work that succeeds is done once', ['done'], 'done', 1],
  ['work that fails is tried again', [away, away, 'done'], 'done', 3],
  ['another error ends it', [away, broken, 'done'], broken, 2],
])('%s', async (_, given, outcome, count) => {
  const { calls, next } = inTurn(...given)
  const reported: unknown[] = []
  const done = retry(next, { on, pauseMs: 0, onRetry: error => reported.push(error) })
  if (outcome instanceof Error) await expect(done).rejects.toBe(outcome)
  else expect(await done).toBe(outcome)
  expect([calls.count, reported]).toEqual([count, given.filter(one => one === away)])
})

test('work that fails for too long rejects with its last error', async () => {
  const { calls, next } = inTurn(away, broken)
  await expect(retry(next, { on: () => true, pauseMs: 5, timeoutMs: 1 })).rejects.toBe(broken)
  expect(calls.count).toBe(2)
  await expect(retry(inTurn(away).next, { on, pauseMs: 0, timeoutMs: 0 })).rejects.toBe(away)
})

test.each<[string, (number | undefined | false)[], number | undefined, number]>([
  ['an answer', [7], 7, 1],
  ['zero, which is one', [0], 0, 1],
  ['an answer after a while', [undefined, false, 7], 7, 3],
])('polling returns %s', async (_, given, answer, count) => {
  const { calls, next } = inTurn<number | undefined | false>(...given)
  expect(await poll(next, { pauseMs: 0 })).toBe(answer)
  expect(calls.count).toBe(count)
})

test('polling ends at its timeout, and on abort during a pause', async () => {
  expect(await poll(inTurn(false as const).next, { pauseMs: 0, timeoutMs: 1 })).toBeUndefined()
  const stop = new AbortController()
  const { calls, next } = inTurn(undefined)
  const asked = poll(next, { pauseMs: 1e9, signal: stop.signal })
  stop.abort()
  expect([await asked, calls.count]).toEqual([undefined, 1])
})

test.each<[string, (string | undefined)[], string | undefined, number]>([
  ['first', ['written'], 'written', 1],
  ['at the fifth try', [undefined, undefined, undefined, undefined, 'written'], 'written', 5],
  ['never', [undefined], undefined, 5],
])('a write that succeeds %s', async (_, given, outcome, count) => {
  const { calls, next } = inTurn<string | undefined>(...given)
  const done = writeAsRead(next, 'identities_conflict')
  if (outcome === undefined) await expect(done).rejects.toMatchObject({ code: 'identities_conflict' })
  else expect(await done).toBe(outcome)
  expect(calls.count).toBe(count)
})
