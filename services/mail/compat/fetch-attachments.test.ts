import { expect, test } from 'vitest'
import type { GuardedGetRequest } from '../../platform/network/guarded-get.ts'
import { createFetchAttachments } from './fetch-attachments.ts'

const email = (count: number) => ({
  attachments: Array.from({ length: count }, (_, n) => ({ filename: `${n}`, path: `https://files.example/${n}` })),
})
const nothing = () => undefined

test.each([
  [60_000, 15_000],
  [1_000, 1_000],
])('with %i ms for a message the first attachment has %i', async (mostMs, expected) => {
  const times: number[] = []
  const get = async ({ timeoutMs }: GuardedGetRequest) => {
    times.push(timeoutMs)
    return { status: 200, bytes: Buffer.from('x') }
  }
  await createFetchAttachments(get, 1_000, mostMs)('usr_1', email(2), nothing)
  expect(times[0]).toBeGreaterThan(expected - 500)
  expect(times.every(time => time <= expected)).toBe(true)
})

test('what is left when the time of the message is over is not fetched', async () => {
  const get = () => Promise.reject(new RangeError('called'))
  await expect(createFetchAttachments(get, 1_000, 0)('usr_1', email(2), nothing)).rejects.toMatchObject({
    refusal: { status: 422, name: 'invalid_attachment' },
    sentence: { code: 'compat.attachment_target', params: { index: 0, reason: { code: 'webhook.timeout' } } },
  })
})

test('an account has five messages that fetch at a time, and its place is free after a failure', async () => {
  let release = nothing as () => void
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const get = async () => {
    await held
    throw new Error('gone')
  }
  const fetchAttachments = createFetchAttachments(get, 1_000)
  const first = Array.from({ length: 5 }, () => fetchAttachments('usr_1', email(1), nothing))
  const failed = Promise.allSettled(first)
  await expect(fetchAttachments('usr_1', email(1), nothing)).rejects.toMatchObject({ refusal: { status: 503 } })
  release()
  expect((await failed).map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  await expect(fetchAttachments('usr_1', email(1), nothing)).rejects.toMatchObject({ refusal: { status: 422 } })
})
