/** The memory for large bodies is bounded, and one account may use half of it; mail of common size does not count. */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { giveDomain, giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { sendApiForThisTest } from '../../support/http/send-api.ts'
import { until } from '../../support/time/until.ts'

const MIB = 1024 * 1024
const PART = Buffer.alloc(MIB, 'a')

test('rejects large bodies of an account that uses its half, and accepts those of others and small mail', async () => {
  const api = await sendApiForThisTest({ MAX_MESSAGE_BYTES: String(40 * MIB) })
  const second = await giveUser(api.mongo.db)
  await giveDomain(api.mongo.db, second._id, 'second.example', { status: 'verified', verified_by: 'dns' })
  const other = (await giveToken(api.mongo.db, second._id)).value
  const open = async (token: string, from: string, mib: number, headers = {}) => {
    const call = request(`${api.url}/api/v1/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    })
    const answered = once(call, 'response') as Promise<[IncomingMessage]>
    answered.catch(() => undefined) // a call that is aborted below
    call.on('error', () => undefined)
    onTestFinished(() => {
      call.destroy()
    })
    call.write(
      `{"from":"${from}","to":"b@example.net","subject":"Large","text":"x","attachments":[{"filename":"a","content":"`,
    )
    for (let n = 0; n < mib; n++) await Promise.race([answered, new Promise(resolve => call.write(PART, resolve))])
    return { call, answered }
  }
  const statusOf = async ({ call, answered }: { call: ClientRequest; answered: Promise<[IncomingMessage]> }) => {
    call.end('"}]}')
    return (await answered)[0].statusCode
  }
  const held = []
  // Only the last piece exceeds the limit: writing more would lose the response to a closed connection.
  for (const mib of [30, 30, 21]) held.push(await open(api.token, 'a@example.com', mib))
  const answers = await Promise.race(held.map(({ answered }) => answered))
  expect(answers[0]).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5', connection: 'close' } })
  expect(await statusOf(await open(other, 'a@second.example', 30))).toBe(202)
  const small = { from: 'a@example.com', to: 'b@example.net', subject: 'Small', text: 'x'.repeat(100_000) }
  expect((await api.call('POST', '/api/v1/emails', { body: small })).status).toBe(202)

  for (const { call } of held) call.destroy()
  await until(async () => (await statusOf(await open(api.token, 'a@example.com', 30))) === 202, 60_000)
})

test.each<[string, (text: string) => Buffer, number]>([
  ['gzip', gzipSync, 4], // 20 MB of zeros become 20 KB, which count as 20 MiB
  ['deflate', deflateSync, 4],
  ['br', brotliCompressSync, 1], // counts as the maximum
])('counts the decompressed size of a %s body before decompression', async (encoding, pack, fit) => {
  const api = await sendApiForThisTest({ MAX_MESSAGE_BYTES: String(40 * MIB) })
  const email = { from: 'a@example.com', to: 'b@example.net', subject: 'Packed' }
  const attachments = [{ filename: 'a', content: 'A'.repeat(20_000_000) }]
  const large = pack(JSON.stringify({ ...email, text: 'x', attachments }))
  const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
  const calls = Array.from({ length: fit + 1 }, () =>
    request(`${api.url}/api/v1/emails`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${api.token}` },
    }),
  )
  for (const call of calls) {
    call.on('error', () => undefined)
    call.write(large.subarray(0, -1))
  }
  const [refused] = (await Promise.race(calls.map(call => once(call, 'response')))) as [IncomingMessage]
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
  for (const call of calls) call.destroy()

  const send = () =>
    fetch(`${api.url}/api/v1/emails`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${api.token}` },
      body: large,
    })
  // All memory is available again.
  await until(
    async () => (await Promise.all(Array.from({ length: fit }, send))).every(({ status }) => status === 202),
    60_000,
  )
})
