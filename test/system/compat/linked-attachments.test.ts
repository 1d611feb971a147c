/** Attachments by their address: fetched from public addresses only, and within the limits of a message. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CompatApi, startCompatApi } from '../../support/http/compat-api.ts'

const MESSAGE = { from: 'ann@sender.example', to: 'bob@example.net', subject: 'Hello', text: 'Hello' }
const LIMIT = 100_000

const routes: Record<string, RequestListener> = {
  '/files/a%20b.pdf?v=1': (_, response) => response.end('content of a file'),
  '/moved': (_, response) => response.writeHead(302, { location: '/files/a%20b.pdf?v=1' }).end(),
  '/round': (_, response) => response.writeHead(302, { location: '/round' }).end(),
  '/to-private': (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  '/promised': (_, response) => response.writeHead(200, { 'content-length': LIMIT + 1 }).flushHeaders(),
  '/endless': (_, response) => {
    const more = () => void response.write(Buffer.alloc(20_000), error => !error && setImmediate(more))
    more()
  },
  '/half': (_, response) => response.end(Buffer.alloc(60_000, 'h')),
}
const server = createServer((request, response) => {
  const route = routes[request.url ?? '']
  if (route) route(request, response)
  else response.writeHead(404).end('not here')
}).listen(0, '127.0.0.1')

let api: CompatApi
let origin: string
beforeAll(async () => {
  if (!server.listening) await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  api = await startCompatApi({ WEBHOOK_ALLOW_PRIVATE: 'loopback', MAX_MESSAGE_BYTES: String(LIMIT) })
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await api.stop()
})

const send = (paths: readonly string[], headers = {}) =>
  api.call('POST', '/emails', { ...MESSAGE, attachments: paths.map(path => ({ path })) }, headers)

test.each(['/files/a%20b.pdf?v=1', '/moved'])('the content of %s is in the message', async path => {
  const { status, body } = await send([`${origin}${path}`])
  expect([status, body.message]).toEqual([200, undefined])
  const raw = await api.rawOf(String(body.id))
  expect(raw).toContain(Buffer.from('content of a file').toString('base64'))
  if (path.startsWith('/files')) expect(raw).toContain('a b.pdf')
})

test('a repeated request is answered without fetching again', async () => {
  const key = { 'idempotency-key': 'linked-1' }
  const path = `${origin}/once`
  routes['/once'] = (_, response) => response.end('once')
  const first = await send([path], key)
  delete routes['/once']
  expect((await send([path], key)).body).toEqual(first.body)
  expect((await send([path])).body.name).toBe('invalid_attachment')
  expect((await send([`${origin}/other`], key)).body).toMatchObject({ statusCode: 409 })
})

describe('is refused', () => {
  test.each([
    ['/missing', '404'],
    ['/round', '302'],
    ['/to-private', '10.0.0.1 is not a public address'],
    ['/promised', `more than ${LIMIT} bytes`],
    ['/endless', `more than ${LIMIT} bytes`],
  ])('an attachment at %s', async (path, message) => {
    const { status, body } = await send([`${origin}${path}`])
    expect([status, body.name]).toEqual([422, 'invalid_attachment'])
    expect(body.message).toContain(message)
  })

  test('what is too large together', async () => {
    const { body } = await send([`${origin}/half`, `${origin}/half`])
    expect(body).toMatchObject({ name: 'invalid_attachment', message: expect.stringContaining('more than') })
  })

  test.each([
    'http://10.1.2.3/a',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00::1]/a',
    'http://0x0a000001/a',
    'https://user:password@example.com/a',
  ])('the address %s', async path => {
    const { status, body } = await send([path])
    expect([status, body.name]).toEqual([422, 'invalid_attachment'])
  })

  test('an address of this machine, and a name that leads there, where they are not allowed', async () => {
    const strict = await startCompatApi({ WEBHOOK_ALLOW_PRIVATE: 'false' })
    try {
      const { port } = new URL(origin)
      for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
        const attachments = [{ path: `http://${host}:${port}/half` }]
        const { status, body } = await strict.call('POST', '/emails', { ...MESSAGE, attachments })
        expect([status, body.name, host]).toEqual([422, 'invalid_attachment', host])
      }
    } finally {
      await strict.stop()
    }
  })
})
