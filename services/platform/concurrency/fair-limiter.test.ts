import { describe, expect, test } from 'vitest'
import { ProblemError } from '../problems.ts'
import { createFairLimiter, type FairLimits } from './fair-limiter.ts'

/** A limiter whose tasks end when the test ends them. */
function limiter(limits: FairLimits) {
  const run = createFairLimiter(limits)
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const settle = () => new Promise(resolve => setImmediate(resolve))
  return {
    started,
    settle,
    request(name: string) {
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      const done = run(name.slice(0, 1), async () => {
        started.push(name)
        await end.promise
        return name
      })
      done.catch(() => undefined)
      return done
    },
    async end(name: string) {
      ends.get(name)?.resolve()
      await settle()
    },
    async fail(name: string) {
      ends.get(name)?.reject(new Error(name))
      await settle()
    },
  }
}

describe('a limiter', () => {
  test('runs at most the limit in parallel, and of one key no more than its share', async () => {
    const { request, started, end, settle } = limiter({ atOnce: 3, perKey: 2 })
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void request(name)
    await settle()
    expect(started).toEqual(['a1', 'a2', 'b1'])
    await end('a1')
    expect(started.slice(3)).toEqual(['b2'])
    await end('b1')
    expect(started.slice(4)).toEqual(['a3'])
  })

  test('lets keys take turns, however many pieces one of them has', async () => {
    const { request, started, end, settle } = limiter({ atOnce: 1, perKey: 1 })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void request(name)
    await settle()
    for (let n = 0; n < 7; n++) await end(started[n] ?? '')
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  test('returns the result of the task, and continues after a failure', async () => {
    const { request, fail, end } = limiter({ atOnce: 1, perKey: 1 })
    const [first, second] = [request('a1'), request('a2')]
    await fail('a1')
    await expect(first).rejects.toThrow('a1')
    await end('a2')
    expect(await second).toBe('a2')
  })

  test('refuses a key with too many pieces waiting, and no other', async () => {
    const { request, started, end, settle } = limiter({ atOnce: 1, perKey: 1, waiting: 2 })
    for (const name of ['a1', 'a2', 'a3']) void request(name)
    const refused = await request('a4').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ProblemError)
    expect(refused).toMatchObject({ code: 'rate_limited', retryAfter: 5 })
    void request('b1')
    for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name)
    expect(started).toEqual(['a1', 'b1', 'a2', 'a3'])
    void request('a5')
    await settle()
    expect(started.at(-1)).toBe('a5')
  })
})
