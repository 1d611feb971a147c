import { expect, test } from 'vitest'
import { abortableDelay, repeat } from './abortable-delay.ts'

test('a delay ends early when the signal aborts', async () => {
  const end = new AbortController()
  const delay = abortableDelay(60_000, end.signal)
  end.abort()
  await delay
  await abortableDelay(60_000, end.signal)
})

test('a repetition goes on after a failure, which is reported, until the signal aborts', async () => {
  const end = new AbortController()
  const failures: unknown[] = []
  let runs = 0
  await repeat({ ms: 1, signal: end.signal, onError: error => failures.push(error) }, async () => {
    if (++runs === 3) end.abort()
    throw new Error(`run ${runs}`)
  })
  expect(failures).toEqual([1, 2, 3].map(run => new Error(`run ${run}`)))
})
