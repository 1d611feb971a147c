import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lookup } from './guarded-fetch.ts'
import { createGuardedGet } from './guarded-get.ts'

const server = createServer((request, response) => {
  if (request.url === '/silent') return
  if (request.url === '/away') response.writeHead(302, { location: 'ftp://example.net/' }).end()
  else if (request.url === '/packed')
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(500)))
  else if (request.url?.startsWith('/promise/'))
    response.writeHead(200, { 'content-length': request.url.slice('/promise/'.length) }).write('content')
  else response.end('content')
}).listen(0, '127.0.0.1')
let port: number
beforeAll(async () => {
  if (!server.listening) await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const request = (path: string, host = '127.0.0.1') => ({
  url: `http://${host}:${port}${path}`,
  timeoutMs: 5_000,
  count: () => undefined,
})

/** Every name has this address. */
const resolveTo = (address: string) =>
  ((_: string, options: { all?: boolean }, done: (...result: unknown[]) => void) =>
    options.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4)) as unknown as Lookup

test('the content is counted as it arrives, unpacked', async () => {
  const get = createGuardedGet({ allowPrivate: 'loopback' })
  for (const [path, size] of [
    ['/', 7],
    ['/packed', 500],
  ] as const) {
    const counted: number[] = []
    const { status, bytes } = await get({ ...request(path), count: more => counted.push(more) })
    expect([status, bytes.length, counted.reduce((sum, more) => sum + more, 0)]).toEqual([200, size, size])
  }
})

test('an error of the count ends the transfer', async () => {
  const get = createGuardedGet({ allowPrivate: 'loopback' })
  const count = () => {
    throw new RangeError('too much')
  }
  await expect(get({ ...request('/'), count })).rejects.toThrow('too much')
})

test.each(['1000', '9007199254740991', '9007199254740993', '18446744073709551615'])(
  'a length of %s that is promised is counted before the content arrives',
  async length => {
    const get = createGuardedGet({ allowPrivate: 'loopback' })
    const count = (bytes: number) => {
      if (bytes > 500) throw new RangeError('too much')
    }
    await expect(get({ ...request(`/promise/${length}`), count })).rejects.toThrow('too much')
  },
)

test('a name that leads to a private address is not fetched, whatever it is called', async () => {
  const get = createGuardedGet({ allowPrivate: false, resolve: resolveTo('127.0.0.1') })
  await expect(get(request('/', 'files.example.com'))).rejects.toThrow()
  const allowed = createGuardedGet({ allowPrivate: 'loopback', resolve: resolveTo('127.0.0.1') })
  expect((await allowed(request('/', 'files.example.com'))).bytes.toString()).toBe('content')
})

test('a redirect to another protocol is not followed, and no answer in time is an error', async () => {
  const get = createGuardedGet({ allowPrivate: 'loopback' })
  expect(await get(request('/away'))).toEqual({ status: 302, bytes: Buffer.alloc(0) })
  await expect(get({ ...request('/silent'), timeoutMs: 50 })).rejects.toThrow()
})
