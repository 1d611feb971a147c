import { expect, test } from 'vitest'
import { atMost } from './concurrency-limit.ts'

test('runs at most its limit in parallel, in the order of arrival, also after failures', async () => {
  const bounded = atMost(2)
  const started: number[] = []
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<number>())
  const all = gates.map(({ promise }, n) =>
    bounded(() => {
      started.push(n)
      return promise
    }),
  )
  const settled = Promise.allSettled(all)
  expect(started).toEqual([0, 1])
  gates[1]?.reject(new Error('failed'))
  await expect(all[1]).rejects.toThrow('failed')
  expect(started).toEqual([0, 1, 2])
  for (const [n, gate] of gates.entries()) gate.resolve(n)
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  expect(started).toEqual([0, 1, 2, 3, 4])
  expect(await bounded(async () => 'again')).toBe('again')
})
