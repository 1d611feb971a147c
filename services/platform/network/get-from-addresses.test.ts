import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { getFromAddresses } from './get-from-addresses.ts'

/** The name resolves nowhere, so that only the given address can be reached. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://no-such-host.invalid:${(server.address() as AddressInfo).port}/`
}

const get = (url: string, limits: { timeoutMs?: number; maxBytes?: number } = {}) =>
  getFromAddresses({ url, addresses: ['127.0.0.1'], timeoutMs: 5_000, maxBytes: 100, ...limits })

test.each([
  [200, { 'content-type': 'Text/Plain; charset=utf-8' }, { status: 200, type: 'text/plain', text: 'hello' }],
  [200, {}, { status: 200, type: '', text: 'hello' }],
  [404, { 'content-type': 'text/html' }, { status: 404, type: 'text/html', text: '' }],
  [302, { location: 'http://127.0.0.1:1/' }, { status: 302, type: '', text: '' }],
])('%i with %j', async (status, headers, expected) => {
  const url = await serve((_, response) => response.writeHead(status, headers).end('hello'))
  expect(await get(url)).toEqual(expected)
})

test('a body of the limit is read, a longer one is an error', async () => {
  const url = await serve((_, response) => response.end('x'.repeat(100)))
  expect((await get(url)).text).toHaveLength(100)
  await expect(get(url, { maxBytes: 99 })).rejects.toThrow(/max(imum)? ?(response)? ?size/i)
})

test('an answer that does not come ends with the time', async () => {
  const url = await serve(() => undefined)
  await expect(get(url, { timeoutMs: 50 })).rejects.toThrow('timeout')
})

test('an address where nothing listens is an error', async () => {
  await expect(get('http://no-such-host.invalid:1/')).rejects.toThrow('ECONNREFUSED')
})
