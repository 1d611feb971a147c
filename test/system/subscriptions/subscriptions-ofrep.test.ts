/** Evaluation of switches over OFREP: with plain requests, and with the published OpenFeature provider. */
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OpenFeature, StandardResolutionReasons } from '@openfeature/server-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
const in2030 = String(Date.UTC(2030, 0, 1) / 1000)
const ios = [{ attribute: 'platform', operator: 'eq', values: ['ios'] }]
const switches = [
  { name: 'on', type: 'boolean', value: '1' },
  { name: 'off', type: 'boolean', value: '0' },
  { name: 'killed', type: 'boolean', value: '1', enabled: '0' },
  { name: 'killed-text', type: 'string', value: 'x', enabled: '0' },
  { name: 'limit', type: 'number', value: '42' },
  { name: 'colour', type: 'string', value: 'blue', rules: [{ conditions: ios, value: 'green' }] },
  { name: 'settings', type: 'json', value: '{"a":{"b":1}}' },
  { name: 'half', type: 'boolean', value: '1', rollout: 50 },
  { name: 'hidden', type: 'boolean', value: '1', client_visible: '0' },
  { name: 'silent', type: 'boolean', value: '1', client_visible: undefined },
  { name: 'later', type: 'boolean', value: '0', schedules: [{ at: in2030, value: '1' }] },
]
beforeAll(async () => {
  api = await startSubscriptionApi({ OFREP_REQUESTS_PER_MINUTE: '100000' })
  for (const body of switches) {
    const created = await api.call('POST', '/switch_manage', { body: { client_visible: '1', ...body } })
    expect(created.status).toBe(200)
  }
})
afterAll(async () => {
  await OpenFeature.close()
  await api.stop()
})

function evaluate(path = '', context: object = {}, headers: Record<string, string> = {}) {
  return api.call('POST', `/ofrep/v1/evaluate/flags${path}`, {
    query: {},
    token: '',
    body: { context },
    headers: { 'x-api-key': api.demo.publishableKey, ...headers },
  })
}

describe('the published provider', () => {
  test('gets every type, the reasons, and the defaults of the code', async () => {
    const headers: [string, string][] = [['X-API-Key', api.demo.publishableKey]]
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: api.url, headers }))
    const client = OpenFeature.getClient()
    expect(await client.getBooleanDetails('on', false)).toMatchObject({
      value: true,
      reason: StandardResolutionReasons.STATIC,
    })
    expect(await client.getNumberValue('limit', 0)).toBe(42)
    expect(await client.getObjectValue('settings', {})).toEqual({ a: { b: 1 } })
    expect(await client.getStringDetails('colour', '', { platform: 'ios' })).toMatchObject({
      value: 'green',
      reason: StandardResolutionReasons.TARGETING_MATCH,
    })
    expect(await client.getStringValue('colour', '', { platform: 'android' })).toBe('blue')
    expect(await client.getBooleanDetails('killed', true)).toMatchObject({ value: false, reason: 'DISABLED' })
    expect(await client.getStringValue('killed-text', 'default')).toBe('default')
    expect(await client.getBooleanDetails('nowhere', true)).toMatchObject({ value: true, errorCode: 'FLAG_NOT_FOUND' })
    expect(await client.getBooleanDetails('half', true)).toMatchObject({
      value: true,
      errorCode: 'TARGETING_KEY_MISSING',
    })
    expect(await client.getBooleanDetails('half', true, { targetingKey: 'u1' })).toMatchObject({ reason: 'SPLIT' })
  })
})

describe('plain requests', () => {
  test('evaluate all visible switches; the secret evaluates hidden ones as well', async () => {
    const { body, headers } = await evaluate('', { targetingKey: 'u1' })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(body.flags.map((entry: { key: string }) => entry.key)).not.toContain('hidden')
    const server = await evaluate('', {}, { 'x-api-key': '', authorization: `Bearer ${api.demo.secret}` })
    expect(server.body.flags.map((entry: { key: string }) => entry.key)).toContain('hidden')
    const half = server.body.flags.find((entry: { key: string }) => entry.key === 'half')
    expect(half).toMatchObject({ errorCode: 'TARGETING_KEY_MISSING' })
  })

  test('get 304 for a known entity tag in any form', async () => {
    const first = await evaluate('', { targetingKey: 'u1' })
    const etag = first.headers.get('etag') ?? ''
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*'])
      expect((await evaluate('', { targetingKey: 'u1' }, { 'if-none-match': tag })).status).toBe(304)
    expect((await evaluate('', { targetingKey: 'u1', platform: 'ios' }, { 'if-none-match': etag })).status).toBe(200)
  })

  test('apply a schedule at its time', async () => {
    const value = async () => (await evaluate('/later')).body.value
    expect(await value()).toBe(false)
    api.clock.advance(Number(in2030) * 1000 - api.clock.now().getTime())
    expect(await value()).toBe(true)
  })

  test.each<[string, string, unknown, Record<string, string>, number, object]>([
    ['no key', '/on', {}, { 'x-api-key': '' }, 401, { errorDetails: expect.any(String) }],
    ['an unknown key', '', {}, { 'x-api-key': 'pk_demo_nope' }, 401, {}],
    ['a switch that does not exist', '/nope', {}, {}, 404, { key: 'nope', errorCode: 'FLAG_NOT_FOUND' }],
    ['a prototype name', '/constructor', {}, {}, 404, { errorCode: 'FLAG_NOT_FOUND' }],
    ['a hidden switch', '/hidden', {}, {}, 404, { errorCode: 'FLAG_NOT_FOUND' }],
    ['a switch without a visibility', '/silent', {}, {}, 404, { errorCode: 'FLAG_NOT_FOUND' }],
    ['a rollout without a key', '/half', {}, {}, 400, { errorCode: 'TARGETING_KEY_MISSING' }],
    ['a targetingKey that is a number', '/on', { targetingKey: 1 }, {}, 400, { errorCode: 'INVALID_CONTEXT' }],
    ['a context that is a list', '/on', [], {}, 400, { errorCode: 'INVALID_CONTEXT' }],
  ])('get an error for %s', async (_, path, context, headers, status, body) => {
    const answer = await evaluate(path, context as object, headers)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject(body)
    expect(answer.body).not.toHaveProperty('code')
  })

  test('get a PARSE_ERROR for broken JSON', async () => {
    const headers = { 'x-api-key': api.demo.publishableKey }
    const answer = await api.call('POST', '/ofrep/v1/evaluate/flags/on', { query: {}, body: '{', headers })
    expect([answer.status, answer.body.errorCode]).toEqual([400, 'PARSE_ERROR'])
  })

  test.each([
    ['one switch', '/on', false],
    ['one switch, in chunks', '/on', true],
    ['all switches', '', false],
  ])('may omit Content-Type: %s', async (_, path, chunked) => {
    const body = JSON.stringify({ context: { targetingKey: 'u1' } })
    const length = chunked ? {} : { 'content-length': String(body.length) }
    const request = httpRequest(`${api.url}/ofrep/v1/evaluate/flags${path}`, {
      method: 'POST',
      headers: { 'x-api-key': api.demo.publishableKey, ...length },
    })
    if (chunked) request.write(body.slice(0, 10))
    request.end(chunked ? body.slice(10) : body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    const answer = await json(response)
    if (path === '') expect(answer).toMatchObject({ flags: expect.any(Array) })
    else expect(answer).toMatchObject({ key: 'on', value: true })
  })

  test('are rejected with another Content-Type', async () => {
    const answer = await evaluate('/on', {}, { 'content-type': 'text/plain' })
    expect([answer.status, answer.body.errorCode]).toEqual([415, 'PARSE_ERROR'])
  })

  test('are rejected for a disabled app', async () => {
    await api.later(0)
    await api.call('PUT', `/app_manage/${api.demo.id}`, { body: { status: 0 } })
    api.clock.advance(1_100)
    expect((await evaluate('/on')).status).toBe(403)
  })
})
