import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import Router from '@koa/router'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/support/time/until.ts'
import { silentLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import { sentence } from '../sentences/sentence.ts'
import { createBodyRoom, readInPlace } from './body-room.ts'
import { readBytes } from './json-body.ts'
import { createWeb } from './web-app.ts'

const KIB = 1024
const FREE = 128 * KIB
const BUSY = sentence('detail.files_busy')
const refusal = { code: 'unavailable', retryAfter: 5, sentence: BUSY }

test.each<[string, number, number, number]>([
  ['nothing of a small body', FREE, 400, 0],
  ['what is above the free part', FREE + 100, 400, 100],
  ['no more than a body may have', 10_000 * KIB, 2_000 * KIB, 1_000 * KIB - FREE],
])('%s counts', (_, bytes, most, counted) => {
  const room = createBodyRoom(most, 1_000 * KIB, BUSY)
  room('a', undefined).count(bytes)
  const half = (most - counted) / 2
  room('b', undefined).count(FREE + half)
  expect(() => room('b', undefined).count(FREE + 1)).toThrow(expect.objectContaining(refusal))
})

test.each([
  ['identity', 1],
  ['gzip', 1_032],
  ['deflate', 1_032],
  ['br', Number.POSITIVE_INFINITY],
])('a byte of %s counts as %d', (encoding, weight) => {
  const mostOfBody = 4_000 * KIB
  const bytes = 1_000
  const counted = Math.max(0, Math.min(bytes * weight, mostOfBody) - FREE)
  const fits = (most: number) => createBodyRoom(most, mostOfBody, BUSY)('a', encoding).count(bytes)
  expect(() => fits(2 * counted)).not.toThrow()
  if (counted > 0) expect(() => fits(2 * counted - 1)).toThrow(expect.objectContaining(refusal))
})

test('one account has half, another one finds room, and released room is freed once', () => {
  const room = createBodyRoom(2_000, 10_000 * KIB, BUSY)
  const first = room('a', undefined)
  first.count(FREE + 1_000)
  expect(() => room('a', undefined).count(FREE + 1)).toThrow(expect.objectContaining(refusal))
  expect(() => room('b', undefined).count(FREE + 500)).not.toThrow()
  first.release()
  first.release()
  expect(() => room('a', undefined).count(FREE + 750)).not.toThrow()
  expect(() => room('a', undefined).count(FREE + 1)).toThrow(expect.objectContaining(refusal))
})

/** A service that reads bodies of at most 1 MiB in a room for one of them, and holds each until it is released. */
async function serve() {
  const room = createBodyRoom(2 * KIB * KIB, KIB * KIB, BUSY)
  const released = Promise.withResolvers<void>()
  let held = 0
  const router = new Router()
  router.post('/', async context => {
    const leave = await readInPlace(context, room('a', undefined), async ({ count }) => {
      context.body = String((await readBytes(context, { bytes: KIB * KIB, count })).length)
    })
    held++
    await released.promise
    leave?.()
  })
  const app = createWeb({ log: silentLog, metrics: createMetrics('test'), trustedProxies: [] })
  const server = createServer(app.use(router.routes()).callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const post = (bytes: number) => fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: new Uint8Array(bytes) })
  return { post, port, isHeld: () => held > 0, release: released.resolve }
}

test('while a large body is processed another one of the account is refused, and a small one is not', async () => {
  const { post, isHeld, release } = await serve()
  const first = post(KIB * KIB)
  await until(isHeld)
  const second = await post(KIB * KIB)
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5'])
  const small = post(1_000)
  release()
  expect(await Promise.all([first, small].map(async answer => (await answer).text()))).toEqual(['1048576', '1000'])
  expect((await post(KIB * KIB)).status).toBe(200)
})

test('a body without a length is refused when it is too large, and its connection closed', async () => {
  const { port } = await serve()
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${piece.repeat(17)}`)
  const [head] = (await once(socket.setEncoding('latin1'), 'data')) as [string]
  expect(head).toMatch(/^HTTP\/1\.1 413 /)
  expect(head).toMatch(/\r\nConnection: close\r\n/i)
})
