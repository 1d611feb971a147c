import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedPost } from './guarded-fetch.ts'
import { isPublicAddress } from './public-address.ts'

describe('an address is public or not', () => {
  test.each([
    ['93.184.216.34', true],
    ['2606:4700::1111', true],
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['172.16.0.1', false],
    ['192.168.1.1', false],
    ['169.254.169.254', false],
    ['100.64.0.1', false],
    ['0.0.0.0', false],
    ['203.0.113.9', false],
    ['198.18.0.1', false],
    ['::1', false],
    ['fe80::1', false],
    ['fd00::1', false],
    ['::ffff:10.0.0.1', false],
    ['2001:db8::1', false],
    ['no address', false],
  ])('%s: %s', (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected)
  })
})

const server = createServer((request, response) => {
  seen.push(request.url ?? '')
  if (request.url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end()
  else if (request.url !== '/silent') response.end('thanks')
})
const seen: string[] = []
let origin: string
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const request = (url: string, timeoutMs = 5_000) => ({ url, headers: {}, body: '{}', timeoutMs })

test('private targets are never connected to, whether written as a number, a name or a mapped address', async () => {
  const post = createGuardedPost({ allowPrivate: false })
  const { port } = new URL(origin)
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])
    await expect(post(request(`http://${host}:${port}/private`))).rejects.toThrow()
  expect(seen).toEqual([])
})

test('a redirect is an answer, not a way, and a silent server is left', async () => {
  const post = createGuardedPost({ allowPrivate: true })
  expect(await post(request(`${origin}/good`))).toBe(200)
  expect(await post(request(`${origin}/moved`))).toBe(302)
  await expect(post(request(`${origin}/silent`, 200))).rejects.toThrow()
  expect(seen).toEqual(['/good', '/moved', '/silent'])
})
