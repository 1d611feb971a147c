import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../security/self-signed-certificate.ts'
import { VERSION } from '../version.ts'
import { createGuardedPost, failureOf, failureText, findTargetError, type Lookup } from './guarded-fetch.ts'
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
  agents.push(request.headers['user-agent'])
  if (request.url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end()
  else if (request.url === '/close') response.writeHead(200, { connection: 'close' }).end()
  else if (request.url !== '/silent') response.end('thanks')
})
const seen: string[] = []
const agents: (string | undefined)[] = []
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

/** A resolver whose answers change with each question, as those of an attacker do. */
function rebinding(...answers: string[]): { resolve: Lookup; asked: () => number } {
  let asked = 0
  const resolve = ((_: string, __: object, done: (error: null, found: object[]) => void) => {
    const address = answers[Math.min(asked++, answers.length - 1)] ?? ''
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }])
  }) as unknown as Lookup
  return { resolve, asked: () => asked }
}

test.each(['169.254.169.254', '127.0.0.1', '::1', '::ffff:10.0.0.1'])(
  'a name that leads to %s on the second look is not connected to',
  async address => {
    // A public address that refuses at once is not at hand: the first look already decides where the connection goes.
    const { resolve, asked } = rebinding(address)
    const post = createGuardedPost({ allowPrivate: false, resolve })
    for (let n = 1; n <= 2; n++) {
      const error = await post(request('https://hooks.example.com/')).catch((caught: unknown) => caught)
      expect(failureOf(error)).toEqual({ code: 'webhook.no_public_address', params: { host: 'hooks.example.com' } })
      expect(asked()).toBe(n)
    }
  },
)

test('each connection goes to the address of one look-up, which was checked', async () => {
  const { port } = new URL(origin)
  const { resolve, asked } = rebinding('127.0.0.1', '169.254.169.254')
  const post = createGuardedPost({ allowPrivate: 'loopback', resolve })
  const url = `http://hooks.localhost:${port}/close`
  expect((await post(request(url))).status).toBe(200)
  const error = await post(request(url)).catch((caught: unknown) => caught)
  expect(failureOf(error).code).toBe('webhook.no_public_address')
  expect(asked()).toBe(2)
})

test.each([
  ['http://127.0.0.1:3000', undefined],
  ['http://[::1]:3000', undefined],
  ['http://localhost:3000', undefined],
  ['http://10.0.0.1', 'private_address'],
  ['https://169.254.169.254', 'private_address'],
  ['http://example.com', 'tls_required'],
])('a trial may call %s: %s', (url, expected) => {
  expect(findTargetError(url, { allowPrivate: 'loopback' })).toBe(expected)
})

test('a redirect is an answer, not a way, and a silent server is left', async () => {
  const post = createGuardedPost({ allowPrivate: true })
  expect(await post(request(`${origin}/good`))).toEqual({ status: 200, text: '' })
  expect(await post(request(`${origin}/moved`))).toEqual({ status: 302, text: '' })
  await expect(post(request(`${origin}/silent`, 200))).rejects.toThrow()
  expect(seen.filter(path => path !== '/close')).toEqual(['/good', '/moved', '/silent'])
})

test('a receiver gets a user agent', async () => {
  const post = createGuardedPost({ allowPrivate: true })
  await post(request(`${origin}/who`))
  expect(agents.at(-1)).toBe(`Postwright/${VERSION}`)
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+/)
})

test('a response is read only on request, and only up to the limit', async () => {
  const post = createGuardedPost({ allowPrivate: true })
  const asked = { ...request(`${origin}/good`), maxAnswerBytes: 6 }
  expect(await post(asked)).toEqual({ status: 200, text: 'thanks' })
  await expect(post({ ...asked, maxAnswerBytes: 5 })).rejects.toThrow('more than 5 bytes')
})

test.each([
  ['https://example.com/hook', false, undefined],
  ['http://example.com/hook', false, 'tls_required'],
  ['http://example.com/hook', true, undefined],
  ['https://user@example.com', false, 'url_login'],
  ['https://user:secret@example.com', true, 'url_login'],
  ['https://10.0.0.1', false, 'private_address'],
  ['https://10.0.0.1', true, undefined],
  ['https://2130706433', false, 'private_address'],
  ['https://[::ffff:10.0.0.1]:8443', false, 'private_address'],
  ['https://localhost', false, 'private_address'],
  ['https://hooks.localhost.', false, 'private_address'],
  ['https://localhost.example.com', false, undefined],
  ['http://127.0.0.1', false, 'private_address'],
])('%s with private addresses allowed %s: %s', (url, allowPrivate, expected) => {
  expect(findTargetError(url, { allowPrivate })).toBe(expected)
})

describe('why a request was not answered', () => {
  const reason = (url: string, allowPrivate: boolean, timeoutMs = 5_000) =>
    createGuardedPost({ allowPrivate })(request(url, timeoutMs)).then(
      () => 'answered',
      error => failureText(error),
    )
  const setting = 'the setting WEBHOOK_ALLOW_PRIVATE=true allows it'

  test('the target is not allowed, and the setting that allows it', async () => {
    expect(await reason('http://example.com', false)).toBe(`http:// is not encrypted; ${setting}`)
    expect(await reason('https://10.0.0.1', false)).toBe(`10.0.0.1 is not a public address; ${setting}`)
    expect(await reason('https://u@example.com', true)).toBe('the address contains a user name or password')
  })

  test('TLS: no TLS, and an untrusted certificate', async () => {
    expect(await reason(origin.replace('http:', 'https:'), true)).toMatch(/^TLS failed: .*wrong version number/i)
    const { cert, key } = await makeCertificate(['hooks.example.com'], 1, new Date())
    const secure = createSecureServer({ cert, key }, (_, response) => response.end()).listen(0, '127.0.0.1')
    onTestFinished(() => void secure.close())
    await once(secure, 'listening')
    const { port } = secure.address() as AddressInfo
    expect(await reason(`https://127.0.0.1:${port}`, true)).toMatch(/^TLS failed: .*certificate.*\(\w+CERT\w*\)$/i)
  })

  test('no response in time', async () => {
    expect(await reason(`${origin}/silent`, true, 100)).toBe('no response in time')
  })
})
