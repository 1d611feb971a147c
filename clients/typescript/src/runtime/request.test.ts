import { describe, expect, test } from 'vitest'
import { reset, type ScriptedAnswer, scriptedHttp, silence } from '../../../../test/support/http/scripted-http.ts'
import { exportSuppressions, getEmail, importSuppressions, listEmails, sendEmail, updateDomain } from '../index.ts'
import { evaluateFlags, getEntitlement, listUsers, logIn } from '../subscriptions.ts'
import { type Client, type ClientOptions, createClient } from './client.ts'
import { PostwrightError } from './errors.ts'

const MESSAGE = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hello' }
const OK: ScriptedAnswer = { status: 200, body: { object: 'email', id: 'em_1' } }
const problem = (status: number, code: string, headers: Record<string, string> = {}): ScriptedAnswer => ({
  status,
  headers: { 'x-request-id': 'req-1', ...headers },
  body: { status, code, detail: `It is ${code}.`, message: `It is ${code}.` },
})

async function clientOf(answers: [ScriptedAnswer, ...ScriptedAnswer[]], options: Partial<ClientOptions> = {}) {
  const { url, requests } = await scriptedHttp(...answers)
  return { client: createClient({ url, token: 'pw_live_1', ...options }), requests, url }
}

/** The error that a call ends with. */
async function errorOf(call: Promise<unknown>): Promise<PostwrightError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof PostwrightError) return error
  throw new Error(`the call ended with ${error}`)
}

const get = (client: Client) => getEmail(client, { path: { id: 'em_1' } })
const send = (client: Client) => sendEmail(client, { body: MESSAGE })
const patch = (client: Client) => updateDomain(client, { path: { id: 'dom_1' }, body: { dns_account_id: null } })

describe('a request has', () => {
  test('a parameter of the query for each value of a list', async () => {
    const { client, requests } = await clientOf([OK])
    await listEmails(client, { query: { status: ['bounced', 'failed'], limit: 2 } })
    expect(requests[0]?.path).toBe('/api/v1/emails?status=bounced&status=failed&limit=2')
  })

  test('method, path, query, credentials and header fields of the operation', async () => {
    const { client, requests } = await clientOf([OK], { language: 'zh-CN', headers: { 'user-agent': 'shop/1' } })
    await listEmails(client, { query: { limit: 2, q: 'a&b', status: undefined } })
    await sendEmail(client, { body: MESSAGE, idempotencyKey: 'first' })
    expect(requests).toMatchObject([
      { method: 'GET', path: '/api/v1/emails?limit=2&q=a%26b', body: '' },
      { method: 'POST', path: '/api/v1/emails', body: JSON.stringify(MESSAGE) },
    ])
    const common = { authorization: 'Bearer pw_live_1', 'accept-language': 'zh-CN', 'user-agent': 'shop/1' }
    expect(requests[0]?.headers).toMatchObject(common)
    expect(requests[0]?.headers).not.toHaveProperty('content-type')
    expect(requests[1]?.headers).toMatchObject({
      ...{ ...common, 'content-type': 'application/json', 'idempotency-key': 'first' },
    })
  })

  test('the base path of the address, and an escaped id', async () => {
    const { url, requests } = await clientOf([OK])
    await getEmail(createClient({ url: `${url}/mail/` }), { path: { id: 'a/b?c' } })
    expect(requests[0]?.path).toBe('/mail/api/v1/emails/a%2Fb%3Fc')
    expect(requests[0]?.headers).not.toHaveProperty('authorization')
  })

  test.each(['', '.', '..'])('no id "%s", with which the address would be that of another operation', async id => {
    const { client, requests } = await clientOf([OK])
    await expect(getEmail(client, { path: { id } })).rejects.toThrow('path.id must be an id')
    expect(requests).toEqual([])
  })

  test('a file as it is', async () => {
    const { client, requests } = await clientOf([OK])
    await importSuppressions(client, { body: 'email\na@example.net\n' })
    expect(requests[0]).toMatchObject({ body: 'email\na@example.net\n', headers: { 'content-type': 'text/csv' } })
  })

  test('the credentials that each part of the Subscription Administration API takes', async () => {
    const { client, requests } = await clientOf([
      { status: 200, body: { code: 200, message: '', data: { users: [] } } },
    ])
    await listUsers(client, { query: { app_key: 'demo' } })
    await getEntitlement(client, { query: { user_id: '1' } })
    await evaluateFlags(client, { body: { context: {} } })
    await logIn(client, { body: { username: 'root', password: 'secret' } })
    expect(requests.map(({ headers: { token, authorization } }) => [token, authorization])).toEqual([
      ['pw_live_1', undefined],
      [undefined, 'Bearer pw_live_1'],
      [undefined, 'Bearer pw_live_1'],
      [undefined, undefined],
    ])
  })
})

describe('the result is', () => {
  test('the data of an envelope, and of OFREP the answer itself', async () => {
    const { client } = await clientOf([{ status: 200, body: { code: 200, message: '', data: { users: [1] } } }])
    expect(await listUsers(client, { query: { app_key: 'demo' } })).toEqual({ users: [1] })
    expect(await evaluateFlags(client, { body: { context: {} } })).toHaveProperty('code')
  })
  test('the response where the answer is a file', async () => {
    const { client } = await clientOf([{ status: 200, headers: { 'content-type': 'text/csv' }, body: 'email\n' }])
    expect(await (await exportSuppressions(client)).text()).toBe('email\n')
  })
  test('undefined for 204 and 304, with the header fields in onResponse', async () => {
    const { client } = await clientOf([{ status: 304, headers: { etag: '"1"' } }])
    const tags: (string | null)[] = []
    const headers = { 'If-None-Match': '"1"' }
    const result = await evaluateFlags(client, {
      ...{ body: { context: {} }, headers, onResponse: response => void tags.push(response.headers.get('etag')) },
    })
    expect([result, tags]).toEqual([undefined, ['"1"']])
  })
})

describe('an error has', () => {
  test('status, code, message, errors of fields and the request id', async () => {
    const errors = [{ pointer: '/subject', code: 'too_long', message: 'It is too long.' }]
    const body = { status: 422, code: 'validation_failed', detail: 'Fields are invalid.', errors }
    const { client } = await clientOf([{ status: 422, headers: { 'x-request-id': 'req-1' }, body }])
    expect(await errorOf(send(client))).toMatchObject({
      ...{ name: 'PostwrightError', status: 422, code: 'validation_failed', message: 'Fields are invalid.' },
      ...{ problems: [{ field: '/subject', code: 'too_long', message: 'It is too long.' }], requestId: 'req-1', body },
    })
  })
  test('the number of an envelope as its code', async () => {
    const data = { errors: [{ field: 'name', rule: 'required', code: 'missing', message: 'It is missing.' }] }
    const { client } = await clientOf([{ status: 422, body: { code: 42200, message: 'Invalid.', data } }])
    expect(await errorOf(listUsers(client, { query: { app_key: 'demo' } }))).toMatchObject({
      ...{ status: 422, code: '42200', message: 'Invalid.' },
      problems: [{ field: 'name', code: 'missing', message: 'It is missing.' }],
    })
  })
  test.each<[string, ScriptedAnswer, object]>([
    [
      'a page of a proxy',
      { status: 400, body: '<h1>Bad</h1>' },
      { status: 400, code: 'http_400', body: '<h1>Bad</h1>' },
    ],
    ['an empty body', { status: 403 }, { status: 403, code: 'http_403', message: expect.stringContaining('403') }],
    ['a list as body', { status: 400, body: [1] }, { status: 400, code: 'http_400', problems: [] }],
    ['errors of another form', { status: 422, body: { code: 'x', errors: [null, 3, {}] } }, { code: 'x' }],
    ['a success that is no JSON', { status: 200, body: '<html>' }, { status: 200, code: 'invalid_answer' }],
    ['a redirect', { status: 301, headers: { location: 'https://x.example/' } }, { status: 301, code: 'redirected' }],
  ])('a code and a message for %s', async (_, answer, expected) => {
    const { client, requests } = await clientOf([answer])
    expect(await errorOf(get(client))).toMatchObject({ message: expect.stringMatching(/\w/), ...expected })
    expect(requests).toHaveLength(1)
  })
  test('a code for an address where nothing listens', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', retries: 0 })
    const error = await errorOf(get(client))
    expect(error).toMatchObject({ status: 0, code: 'network_error' })
    expect(error.message).toMatch(/^The request to http:\/\/127\.0\.0\.1:1 failed: .*\w\.$/)
  })
  test('a code for an answer that does not come in time', async () => {
    const { client } = await clientOf([silence], { timeoutMs: 20, retries: 0 })
    expect(await errorOf(get(client))).toMatchObject({ status: 0, code: 'timeout' })
  })
})

const NOW = { 'retry-after': '0' }

describe('another attempt is made', () => {
  test.each<[string, (client: Client) => Promise<unknown>, ScriptedAnswer]>([
    ['GET after 503', get, problem(503, 'unavailable', NOW)],
    ['GET after 429', get, problem(429, 'rate_limited', NOW)],
    ['GET after a page of a proxy with 502', get, { status: 502, body: '<h1>502</h1>' }],
    ['GET after a lost connection', get, reset],
    ['a message after 503', send, problem(503, 'queue_unavailable', NOW)],
    ['a message after a lost connection', send, reset],
    ['a message while its key is in progress', send, problem(409, 'idempotency_in_progress', NOW)],
    ['PATCH after 429, which changed nothing', patch, problem(429, 'rate_limited', NOW)],
  ])('%s', async (_, call, failure) => {
    const { client, requests } = await clientOf([failure, OK])
    expect(await call(client)).toHaveProperty('id', 'em_1')
    expect(requests).toHaveLength(2)
  })

  test('with the same key, so that a message is sent once', async () => {
    const { client, requests } = await clientOf([reset, reset, OK])
    await send(client)
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    await send(client)
    expect(requests[3]?.headers['idempotency-key']).not.toBe(keys[0])
  })

  test('with the token of that time', async () => {
    const tokens = ['one', 'two']
    const { client, requests } = await clientOf([problem(503, 'unavailable', NOW), OK], {
      token: () => Promise.resolve(tokens.shift() ?? ''),
    })
    await get(client)
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two'])
  })

  test('after the time that the answer asks for', async () => {
    const { client } = await clientOf([problem(429, 'rate_limited', { 'retry-after': '1' }), OK])
    const started = performance.now()
    await get(client)
    expect(performance.now() - started).toBeGreaterThan(990)
  })

  test('at most as often as `retries` says', async () => {
    const { client, requests } = await clientOf([problem(503, 'unavailable', NOW)], { retries: 3 })
    expect(await errorOf(get(client))).toMatchObject({ code: 'unavailable', requestId: 'req-1', retryAfterMs: 0 })
    expect(requests).toHaveLength(4)
  })
})

describe('no further attempt is made', () => {
  test.each<[string, (client: Client) => Promise<unknown>, ScriptedAnswer, string]>([
    ['after a refusal', get, problem(404, 'not_found', NOW), 'not_found'],
    ['after an internal error', get, problem(500, 'internal', NOW), 'internal'],
    ['of PATCH after 503: the change may have been made', patch, problem(503, 'unavailable', NOW), 'unavailable'],
    ['of PATCH after a lost connection', patch, reset, 'network_error'],
    [
      'after a longer wait than allowed',
      get,
      problem(429, 'daily_quota_exceeded', { 'retry-after': '3600' }),
      'daily_quota_exceeded',
    ],
    [
      'after a date that is further away than allowed',
      get,
      problem(503, 'unavailable', { 'retry-after': 'Wed, 01 Jan 2098 00:00:00 GMT' }),
      'unavailable',
    ],
  ])('%s', async (_, call, failure, code) => {
    const { client, requests } = await clientOf([failure, OK])
    expect(await errorOf(call(client))).toMatchObject({ code })
    expect(requests).toHaveLength(1)
  })

  test('with retries: 0, and no key is made then', async () => {
    const { client, requests } = await clientOf([reset, OK], { retries: 0 })
    expect(await errorOf(send(client))).toMatchObject({ code: 'network_error' })
    expect(requests).toMatchObject([{ headers: expect.not.objectContaining({ 'idempotency-key': expect.anything() }) }])
  })
})

describe('a signal', () => {
  test('ends a request with its reason', async () => {
    const { client } = await clientOf([silence])
    const controller = new AbortController()
    const call = getEmail(client, { path: { id: 'em_1' }, signal: controller.signal })
    controller.abort(new Error('The user left.'))
    await expect(call).rejects.toThrow('The user left.')
  })
  test('ends the wait for another attempt', async () => {
    const controller = new AbortController()
    const answered = Promise.withResolvers<void>()
    const { client } = await clientOf([problem(429, 'rate_limited', { 'retry-after': '20' })])
    const onResponse = () => answered.resolve()
    const call = getEmail(client, { path: { id: 'em_1' }, signal: controller.signal, onResponse })
    await answered.promise
    setImmediate(() => controller.abort(new Error('The user left.')))
    await expect(call).rejects.toThrow('The user left.')
  })
})

test.each<[Partial<ClientOptions>, string]>([
  [{ url: 'mail.example.com' }, 'must be an address'],
  [{ url: 'ftp://mail.example.com' }, 'must be an address'],
  [{ url: 'https://a:b@mail.example.com' }, 'no user name'],
  [{ retries: -1 }, 'retries must be'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs must be'],
])('settings %j are refused', (options, reason) => {
  expect(() => createClient({ url: 'https://mail.example.com', ...options })).toThrow(reason)
})
