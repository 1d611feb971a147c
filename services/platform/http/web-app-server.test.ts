/** The layer below all HTTP services, over real sockets: authentication, request bodies, error responses. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { turnsDuring } from '../../../test/support/time/event-loop-turns.ts'
import { type Log, silentLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import { ProblemError } from '../problems.ts'
import { verbatim } from '../sentences/compose.ts'
import { inEnglish, type Sentence, sentence } from '../sentences/sentence.ts'
import { endpoint } from './endpoint.ts'
import { bind, createRouter, createWeb, factsOf, notFound } from './web-app.ts'

const OPEN = { kind: 'public' } as const
const echo = endpoint({
  operationId: 'echo',
  tag: 'Test',
  method: 'POST',
  path: '/echo/{id}',
  summary: 'Says what it got.',
  access: OPEN,
  params: z.strictObject({ id: z.string() }),
  query: z.looseObject({}),
  body: z.unknown(),
  bodyBytes: 1_024,
  status: 201,
  response: z.unknown(),
})
const fail = endpoint({
  operationId: 'fail',
  tag: 'Test',
  method: 'GET',
  path: '/fail',
  summary: 'Fails.',
  access: OPEN,
  response: z.unknown(),
})
const none = endpoint({
  operationId: 'none',
  tag: 'Test',
  method: 'DELETE',
  path: '/nothing',
  summary: 'Has no answer.',
  access: OPEN,
})

const named = endpoint({
  operationId: 'named',
  tag: 'Test',
  method: 'DELETE',
  path: '/echo/all',
  summary: 'Is no echo of "all".',
  access: OPEN,
})
const large = endpoint({
  operationId: 'large',
  tag: 'Test',
  method: 'POST',
  path: '/large',
  summary: 'Says how many members it got.',
  access: OPEN,
  body: z.unknown(),
  bodyBytes: 16 * 1024 * 1024,
  response: z.unknown(),
})
const strict = endpoint({
  operationId: 'strict',
  tag: 'Test',
  method: 'POST',
  path: '/strict',
  summary: 'Knows one field.',
  access: OPEN,
  query: z.strictObject({ q: z.string().optional() }),
  body: z.strictObject({ list: z.array(z.string()).max(10).optional() }),
  bodyBytes: 16 * 1024 * 1024,
  response: z.unknown(),
})
const guarded = endpoint({
  operationId: 'guarded',
  tag: 'Test',
  method: 'POST',
  path: '/guarded',
  summary: 'Refuses all callers.',
  access: OPEN,
  body: z.unknown(),
})

/** Response of the operations, or the problem. */
interface Answer {
  id?: string
  ip?: string
  body?: unknown
  request_id?: string
  errors?: { pointer: string }[]
}

/** A service with four operations; `thrown` is what the failing one throws. */
async function serve(
  options: {
    trusted?: string[]
    thrown?: () => unknown
    readiness?: () => string | undefined
    secretPaths?: string[]
  } = {},
) {
  const lines: [string, Record<string, unknown>][] = []
  const note = (level: string) => (fields: object) => void lines.push([level, { ...fields }])
  const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
  const metrics = createMetrics('test')
  const { trusted = [], thrown, readiness, secretPaths = [] } = options
  const app = createWeb({ log, metrics, trustedProxies: trusted, readiness, secretPaths })
  const router = createRouter()
  const anybody = () => Promise.resolve(undefined)
  bind(router, anybody, echo, async ({ params, query, body }, _, context) => ({
    ...{ id: params.id, query, body, ip: factsOf(context).ip },
  }))
  bind(router, anybody, large, async ({ body }) => ({ body: Object.keys(body as object).length }))
  bind(router, anybody, strict, async () => ({}))
  bind(router, anybody, fail, async () => {
    throw thrown?.()
  })
  bind(router, anybody, none, async () => undefined)
  bind(router, anybody, named, async () => undefined)
  const denyAll = () => Promise.reject(new ProblemError('not_logged_in'))
  bind(router, denyAll, guarded, async () => undefined)
  app.use(router.routes())
  app.use(notFound)
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const post = async (body: string | Buffer, headers: Record<string, string> = {}, path = '/echo/1') => {
    const response = await fetch(url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : new Uint8Array(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
  }
  /** Sends these bytes and reads until the server closes. */
  const raw = async (bytes: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.end(bytes)
    return text(socket)
  }
  return { url, post, raw, lines, metrics }
}

describe('the client of a request', () => {
  test.each<[string, string[], string | undefined, string]>([
    ['is the peer', [], undefined, '127.0.0.1'],
    ['is the peer, whatever an untrusted header', [], '203.0.113.9', '127.0.0.1'],
    ['is the peer, where another network is trusted', ['10.0.0.0/8', '::1'], '203.0.113.9', '127.0.0.1'],
    ['is who came to the trusted proxy', ['127.0.0.0/8'], '203.0.113.9', '203.0.113.9'],
    ['is not a hop that the client claims', ['127.0.0.1'], '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['is found behind every trusted proxy', ['127.0.0.1', '10.0.0.0/8'], '203.0.113.9, 10.1.1.1', '203.0.113.9'],
    ['is the first, where all are trusted', ['127.0.0.1', '10.0.0.0/8'], '10.0.0.7,10.1.1.1', '10.0.0.7'],
    ['is who came to a private proxy', ['private'], '203.0.113.9', '203.0.113.9'],
    [
      'is a neighbour of the private proxy, whatever its header',
      ['private'],
      '203.0.113.9, 192.168.1.77',
      '192.168.1.77',
    ],
    ['is a neighbour with the address of the proxy, too', ['private'], '203.0.113.9, 127.0.0.1', '127.0.0.1'],
    ['is behind a named proxy', ['private', '192.168.1.77'], '203.0.113.9, 192.168.1.77', '203.0.113.9'],
    ['has one form', ['127.0.0.1'], '2001:DB8:0:0::7', '2001:db8::7'],
    ['has its IPv4 form', ['127.0.0.1'], '::ffff:203.0.113.9', '203.0.113.9'],
    [
      'is behind a proxy in its mapped form',
      ['127.0.0.1', '10.0.0.0/8'],
      '203.0.113.9, ::ffff:10.1.1.1',
      '203.0.113.9',
    ],
    ['is the proxy, where its header cannot be parsed', ['127.0.0.1'], 'unknown', '127.0.0.1'],
    ['is not searched beyond such a word', ['127.0.0.1'], '203.0.113.9, _hidden', '127.0.0.1'],
    ['is found between empty places', ['127.0.0.1'], ' , 203.0.113.9 ,, ', '203.0.113.9'],
    ['is no text of a stranger', ['127.0.0.1'], '<script>', '127.0.0.1'],
  ])('%s', async (_, trusted, forwarded, ip) => {
    const { post } = await serve({ trusted })
    const answer = await post('{}', forwarded === undefined ? {} : { 'x-forwarded-for': forwarded })
    expect(answer.body.ip).toBe(ip)
  })
})

describe('the id of a request', () => {
  test.each(['a', 'Trace-1.2_3', 'x'.repeat(128)])('is the one of the request: %s', async id => {
    const { post, lines } = await serve()
    expect((await post('{}', { 'x-request-id': id })).headers.get('x-request-id')).toBe(id)
    expect(lines).toMatchObject([['info', { request: id }]])
  })

  test.each(['', 'x'.repeat(129), 'a b', 'a"b', 'a,b', '<x>', 'ÿ'])('is a new one in the place of %j', async id => {
    const { post } = await serve()
    const given = (await post('{}', { 'x-request-id': id })).headers.get('x-request-id')
    expect(given).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  })
})

describe('a body', () => {
  const zipped = (value: string) => gzipSync(value)
  const gzip = { 'content-encoding': 'gzip' }
  test.each<[string, string | Buffer, Record<string, string>, unknown]>([
    ['an object', '{"a":[1,"\\u00e9"]}', {}, { a: [1, 'é'] }],
    ['a list', '[1]', {}, [1]],
    ['UTF-8 by name', '{"a":"é"}', { 'content-type': 'application/json; charset="UTF-8"' }, { a: 'é' }],
    ['ASCII, which is UTF-8', '{}', { 'content-type': 'application/json; charset=us-ascii' }, {}],
    ['a kind of JSON', '{"a":1}', { 'content-type': 'application/vnd.example+json' }, { a: 1 }],
    ['JSON after a byte order mark', '\ufeff{"a":1}', {}, { a: 1 }],
    ['compressed', zipped('{"a":1}'), gzip, { a: 1 }],
    ['nothing at all', '', {}, {}],
    ['a name that only looks like a prototype', '{"a":"\\"__proto__\\":"}', {}, { a: '"__proto__":' }],
    ['a character of two escapes', '{"a":"\\ud83d\\ude00"}', {}, { a: '😀' }],
    ['an escaped backslash before a u', String.raw`{"a":"\\ud83d"}`, {}, { a: String.raw`\ud83d` }],
    ['lists in lists', `${'['.repeat(500)}${']'.repeat(500)}`, {}, expect.any(Array)],
  ])('is read: %s', async (_, body, headers, read) => {
    const { post } = await serve()
    expect(await post(body, headers)).toMatchObject({ status: 201, body: { body: read } })
  })

  test.each<[string, string | Buffer, Record<string, string>, number, string]>([
    ['text', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
    ['UTF-16', '{}', { 'content-type': 'application/json; charset=utf-16' }, 415, 'unsupported_media_type'],
    ['Latin-1', '{}', { 'content-type': 'application/json;charset=iso-8859-1' }, 415, 'unsupported_media_type'],
    ['half of it', '{"a":', {}, 400, 'invalid_json'],
    ['a word', 'null', {}, 400, 'invalid_json'],
    ['a text alone', '"a"', {}, 400, 'invalid_json'],
    ['blanks', ' ', {}, 400, 'invalid_json'],
    ['a prototype', '{"a":{"__proto__":{}}}', {}, 400, 'invalid_json'],
    ['a prototype by its code', '{"\\u005f_proto__":{}}', {}, 400, 'invalid_json'],
    ['Latin-1 without a charset', Buffer.from('{"a":"ä"}', 'latin1'), {}, 400, 'invalid_json'],
    ['half a character', Buffer.from([0x7b, 0x22, 0xe4, 0xb8, 0x22, 0x3a, 0x31, 0x7d]), {}, 400, 'invalid_json'],
    ['half of a pair', '{"a":"\\ud83d"}', {}, 400, 'invalid_json'],
    ['half of a pair in a name', '{"\\udc00":1}', {}, 400, 'invalid_json'],
    ['half of a pair deep inside', '{"a":[{"b":["\\ud83dx"]}]}', {}, 400, 'invalid_json'],
    ['too large', JSON.stringify({ a: 'x'.repeat(1_024) }), {}, 413, 'message_too_large'],
    ['small and large inside', zipped(JSON.stringify({ a: 'x'.repeat(1_000_000) })), gzip, 413, 'message_too_large'],
    ['compressed and cut', zipped('{"a":1}').subarray(0, 12), gzip, 400, 'invalid_json'],
    ['not compressed', '{"a":1}', gzip, 400, 'invalid_json'],
    ['compressed in a way of tomorrow', '{"a":1}', { 'content-encoding': 'x-new' }, 400, 'invalid_json'],
  ])('is refused: %s', async (_, body, headers, status, code) => {
    const { post, lines } = await serve()
    const answer = await post(body, headers)
    expect(answer).toMatchObject({ status, body: { status, code, instance: '/echo/1' } })
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(lines.map(([level]) => level)).toEqual(['info'])
  })

  const brotli = { 'content-encoding': 'br' }
  test.each<[string, string | Buffer, Record<string, string>, string]>([
    ['half of it', '{"a":', {}, 'the end of the text at octet 5, where a value is expected'],
    ['single quotes', "{'a':1}", {}, '"\'" at octet 1, where a name in double quotes or } is expected'],
    ['deep and cut', '['.repeat(501), {}, 'the end of the text at octet 501, where a value or ] is expected'],
    ['a word', 'null', {}, 'it must be an object or a list'],
    ['a prototype', '{"a":{"__proto__":{}}}', {}, 'a member has the name __proto__, which is not allowed'],
    ['Latin-1', Buffer.from('{"a":"ä"}', 'latin1'), {}, 'it has text that is not UTF-8'],
    ['half of a pair', '{"a":"\\ud83d"}', {}, 'a string has half of a surrogate pair'],
    ['compressed and cut', zipped('{"a":1}').subarray(0, 12), gzip, 'it cannot be decompressed'],
    ['not compressed', '{"a":1}', gzip, 'it cannot be decompressed'],
    ['gzip instead of Brotli', zipped('{"a":1}'), brotli, 'it cannot be decompressed'],
  ])('is refused for a reason that has a code: %s', async (_, body, headers, reason) => {
    const { post } = await serve()
    const refusal = (await post(body, headers)).body as Record<string, unknown>
    const why = (refusal.detail_params as { reason: Sentence }).reason
    expect(refusal).toMatchObject({ detail: `The body is not valid JSON: ${reason}.`, detail_code: 'detail.json' })
    expect([why.code, inEnglish(why)]).toEqual([expect.stringMatching(/^json\./), reason])
  })

  const padding = 'x'.repeat(200_000)
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, n]))
  test.each<[string, string | Buffer, number, string | undefined]>([
    ['one that is all right', `{"a":"${padding}ä","b":[1,{"c":null}]}`, 200, undefined],
    ['one after a byte order mark', `\ufeff{"a":"${padding}"}`, 200, undefined],
    ['Latin-1', Buffer.from(`{"b":"${padding}","a":"ä"}`, 'latin1'), 400, 'invalid_json'],
    ['half of a pair', `{"a":"\\ud83d","b":"${padding}"}`, 400, 'invalid_json'],
    ['a prototype', `{"b":"${padding}","__proto__":{}}`, 400, 'invalid_json'],
    ['half of it', `{"a":"${padding}"`, 400, 'invalid_json'],
    ['a text alone', `"${padding}"`, 400, 'invalid_json'],
    ['a million values', `[${'0,'.repeat(1_000_000)}0]`, 413, 'message_too_large'],
    ['as many members as one object may have', JSON.stringify(members(16_384)), 200, undefined],
    ['one member more', JSON.stringify(members(16_385)), 413, 'message_too_large'],
    ['one member more inside', JSON.stringify({ a: [members(16_385)] }), 413, 'message_too_large'],
    ['a million levels', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`, 413, 'message_too_large'],
  ])('a large body is validated like a small one: %s', async (_, body, status, code) => {
    const { post } = await serve()
    for (const sent of [body, gzipSync(body)]) {
      const answer = await post(sent, sent === body ? {} : gzip, '/large')
      expect(answer).toMatchObject({ status, ...(code && { body: { code } }) })
    }
  })

  test('that is large leaves others their turn', async () => {
    const { post } = await serve()
    const body = JSON.stringify({ a: Array.from({ length: 19 }, () => members(10_000)) })
    const turns = await turnsDuring(async () => {
      expect(await post(body, {}, '/large')).toMatchObject({ status: 200, body: { body: 1 } })
    })
    expect(turns).toBeGreaterThan(body.length / 131_072)
  })

  test('with thousands of unknown fields is answered with fifty of them', async () => {
    const { url, post } = await serve()
    const fields = Array.from({ length: 16_000 }, (_, n) => `"f${n}":0`)
    const { body, status } = await post(`{${fields.join()}}`, {}, '/strict')
    expect([status, body.errors?.length]).toEqual([422, 50])
    expect(JSON.stringify(body).length).toBeLessThan(10_000)
    const list = JSON.stringify({ list: Array(100_000).fill(0) })
    expect((await post(list, {}, '/strict')).body.errors).toMatchObject([{ pointer: '/list' }])
    const query = Array.from({ length: 1_000 }, (_, n) => `f${n}=0`).join('&')
    const answer = await fetch(`${url}/strict?${query}`, { method: 'POST' })
    expect(((await answer.json()) as Answer).errors).toHaveLength(50)
  })

  test('with one unknown field of 100 KB is answered with the beginning of its name', async () => {
    const { post } = await serve()
    const { body, status } = await post(`{"${'n'.repeat(50_000)}":0}`, {}, '/strict')
    expect([status, body.errors]).toMatchObject([422, [{ pointer: `/${'n'.repeat(128)}` }]])
    expect(JSON.stringify(body).length).toBeLessThan(1_500)
  })

  test('is not read before the caller is known', async () => {
    const { raw } = await serve()
    const head = 'POST /guarded HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n'
    expect(await raw(`${head}Content-Length: 1000000000\r\n\r\n{"a":`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('an incomplete body is not an internal error', async () => {
    const { raw, lines } = await serve()
    const head = 'POST /echo/1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n'
    await raw(`${head}{"a":`)
    expect(lines.filter(([level]) => level === 'error')).toEqual([])
  })
})

test('what a path holds is decoded once, and left alone where it cannot be', async () => {
  const { post } = await serve()
  const id = async (path: string) => (await post('{}', {}, path)).body.id
  expect(await id('/echo/a%2Fb%20%C3%A9')).toBe('a/b é')
  expect(await id('/echo/%2525')).toBe('%25')
  expect(await id('/echo/%E0%A4%A')).toBe('%E0%A4%A')
  expect(await id('/echo/__proto__')).toBe('__proto__')
})

test('an operation without an answer is 204, and a promised status is kept', async () => {
  const { url, post } = await serve()
  expect((await fetch(`${url}/nothing`, { method: 'DELETE' })).status).toBe(204)
  expect((await post('{}')).status).toBe(201)
})

describe('an error', () => {
  const failing = async (thrown: () => unknown) => {
    const service = await serve({ thrown })
    const response = await fetch(`${service.url}/fail`)
    return { ...service, response, body: (await response.json()) as Answer }
  }

  test('an internal error is logged with its request, and the client gets no details', async () => {
    const { response, body, lines } = await failing(() => new Error('mongodb://root:hunter2@db'))
    expect([response.status, JSON.stringify(body).includes('hunter2')]).toEqual([500, false])
    expect(lines[0]).toMatchObject([
      'error',
      { request: body.request_id, err: { message: 'mongodb://root:hunter2@db' } },
    ])
  })

  test.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a text', () => 'x'],
    ['an error of the framework', () => Object.assign(new Error('teapot'), { status: 418, expose: true })],
  ])('that is %s is one of ours', async (_, thrown) => {
    expect((await failing(thrown)).body).toMatchObject({ status: 500, code: 'internal' })
  })

  test('has the time to wait, and how to log in', async () => {
    const limited = await failing(() => new ProblemError('rate_limited', undefined, { retryAfter: 7 }))
    expect([limited.response.status, limited.response.headers.get('retry-after')]).toEqual([429, '7'])
    const stranger = await failing(() => new ProblemError('invalid_token'))
    expect([stranger.response.status, stranger.response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(stranger.lines.map(([level]) => level)).toEqual(['info'])
  })

  test('has no body for HEAD, and the status all the same', async () => {
    const { raw } = await serve({ thrown: () => new ProblemError('conflict') })
    const answer = await raw('HEAD /fail HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 409 /)
    expect(answer.split('\r\n\r\n')[1]).toBe('')
  })
})

test.each([
  ['GET //evil.example/x', 404],
  ['GET http://evil.example/x', 404],
  ['OPTIONS *', 404],
  ['GET /%ZZ', 404],
  ['GET /echo/1', 405],
  ['PURGE /echo/1', 405],
])('a request for nothing: %s is %i', async (request, status) => {
  const { raw, lines } = await serve()
  const answer = await raw(`${request} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer.includes('Allow: POST')).toBe(status === 405)
  expect(lines.map(([level]) => level)).toEqual(['info'])
})

test('metrics and the log name the operation, never what a stranger wrote into its path', async () => {
  const { url, post, metrics, lines } = await serve({ thrown: () => new ProblemError('conflict') })
  await post('{}', {}, '/echo/secret?token=secret')
  for (const path of ['/fail', '/made-up-by-a-stranger', '/made-up-again']) await fetch(url + path)
  const { values } = await metrics.httpRequests.get()
  const counted = values.filter(({ metricName }) => metricName?.endsWith('_count'))
  expect(counted.map(({ labels, value }) => [labels.method, labels.route, labels.status, value])).toEqual([
    ['POST', '/echo/{id}', '2xx', 1],
    ['GET', '/fail', '4xx', 1],
    ['GET', 'other', '4xx', 2],
  ])
  expect(lines[0]).toMatchObject(['info', { method: 'POST', route: '/echo/{id}', path: '/echo/secret', status: 201 }])
  expect(JSON.stringify(lines)).not.toContain('token=secret')
})

test.each([
  ['/echo/t0ken', '/echo/[redacted]'],
  ['/Echo/t0ken/more', '/echo/[redacted]'],
  ['/echo', '/echo'],
  ['/echoes/1', '/echoes/1'],
])('a secret in a path is not logged, whatever the answer: %s', async (path, logged) => {
  const { url, lines } = await serve({ secretPaths: ['/echo'] })
  for (const method of ['GET', 'POST', 'PUT']) await fetch(url + path, { method })
  expect(lines.map(([, fields]) => fields.path)).toEqual([logged, logged, logged])
})

test('readiness returns its reason, and is neither counted nor logged', async () => {
  let reason: string | undefined = 'draining'
  const { url, lines, metrics } = await serve({ readiness: () => reason })
  const probe = async () => {
    const response = await fetch(`${url}/readyz`)
    return [response.status, await response.text()]
  }
  expect(await probe()).toEqual([503, 'draining\n'])
  reason = undefined
  expect(await probe()).toEqual([200, 'ready\n'])
  expect([lines, (await metrics.httpRequests.get()).values]).toEqual([[], []])
})

test.each(['POST', 'OPTIONS'])('a path that is named literally is no value of a parameter: %s', async method => {
  const { url } = await serve()
  const response = await fetch(`${url}/echo/all`, { method })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'DELETE'])
  expect((await fetch(`${url}/echo/all`, { method: 'DELETE' })).status).toBe(204)
})

describe('an API with forms of its own', () => {
  const form = endpoint({
    operationId: 'form',
    tag: 'Test',
    method: 'POST',
    path: '/form/{id}',
    summary: 'Adds.',
    access: OPEN,
    params: z.object({ id: z.string() }),
    query: z.object({ search: z.string().min(3).optional() }),
    body: z.object({ count: z.number() }),
    response: z.object({ count: z.number(), caller: z.string() }),
  })

  async function serveForm() {
    const steps: string[] = []
    const app = createWeb({ log: silentLog, metrics: createMetrics('test'), trustedProxies: [] })
    const router = createRouter()
    const caller = async () => {
      steps.push('authorise')
      return 'first'
    }
    bind<typeof OPEN, string, typeof form, undefined>(
      router,
      caller,
      form,
      async ({ body, query }, name, context) => {
        steps.push('handle')
        if (query.search === 'own') {
          context.status = 304
          return undefined
        }
        if (query.search === 'fails') throw new ProblemError('conflict')
        return { count: body.count + 1, caller: name }
      },
      {
        emptyIsAbsent: true,
        async readBody(context) {
          steps.push('read')
          context.request.body = { count: Number(await text(context.req)) }
          return () => void steps.push('handled')
        },
        refuseFields: ({ issues }, given) =>
          new ProblemError(
            'invalid_request',
            sentence('detail.of_field', { field: String(issues.length), reason: verbatim(JSON.stringify(given)) }),
          ),
        run: async (_, name, work) => {
          steps.push(`run ${name}`)
          await work('second')
          steps.push('answered')
        },
        answer(context, data) {
          context.body = { code: 20_000, data }
        },
      },
    )
    app.use(router.routes())
    const server = createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const { port } = server.address() as AddressInfo
    return async (query: string, body: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/form/1${query}`, { method: 'POST', body })
      const answer = await response.text()
      return { status: response.status, answer: answer === '' ? undefined : JSON.parse(answer), steps }
    }
  }

  const UNTIL_WORK = ['authorise', 'read', 'run first', 'handle']
  const ENVELOPE = { code: 20_000, data: { count: 8, caller: 'second' } }
  test.each<[string, string, string, number, unknown, string[]]>([
    ['answers in its envelope', '', '7', 200, ENVELOPE, [...UNTIL_WORK, 'answered', 'handled']],
    ['takes an empty field as none', '?search=', '7', 200, ENVELOPE, [...UNTIL_WORK, 'answered', 'handled']],
    ['keeps a status without a body', '?search=own', '7', 304, undefined, [...UNTIL_WORK, 'answered', 'handled']],
    ['frees what the body took after an error', '?search=fails', '7', 409, {}, [...UNTIL_WORK, 'handled']],
    [
      'refuses in its words',
      '?search=ab',
      '7',
      400,
      { detail: '1: {"search":"ab"}' },
      ['authorise', 'read', 'handled'],
    ],
  ])('%s', async (_, query, body, status, answer, steps) => {
    const post = await serveForm()
    const result = await post(query, body)
    expect(result).toMatchObject({ status, steps, ...(answer !== undefined && { answer }) })
  })
})
