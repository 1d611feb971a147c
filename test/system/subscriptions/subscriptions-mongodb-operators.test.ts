/**
 * MongoDB operators and prototype keys in every query field, body field, path parameter and header of every operation.
 * The database profiler shows whether one of them reached the database.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { operations } from '../../../services/subscriptions/http/openapi.ts'
import {
  type ApiAnswer,
  type SubscriptionApi,
  startSubscriptionApi,
} from '../../support/subscriptions/subscription-api.ts'

type Operation = (typeof operations)[number]

let api: SubscriptionApi
const ids: Record<string, string> = {}
beforeAll(async () => {
  api = await startSubscriptionApi({ SERVER_REQUESTS_PER_MINUTE: '1000000', ADMIN_REQUESTS_PER_MINUTE: '1000000' })
  const headers = { prefer: 'return=representation' }
  const features = '{"features":[]}'
  const plan = { name: 'P', price: 1, duration: 30, features }
  ids.plan = (await api.call('POST', '/subscription_plan', { body: plan, headers })).body.data.id
  ids.user = (await api.server('POST', '/server/user', { body: { openid: 'victim' } })).body.data.id
  const bought = { user_id: ids.user, plan_id: ids.plan, payment_method: 'alipay', payment_id: 'P1', amount: 1 }
  ids.subscription = (await api.server('POST', '/server/subscription', { body: bought })).body.data.subscription.id
  await api.call('POST', '/switch_manage', { body: { name: 'flag', type: 'boolean', value: '1' } })
  const { db } = api.foundation.mongo
  await db.createCollection('system.profile', { capped: true, size: 200_000_000 })
  await db.command({ profile: 2 })
})
afterAll(async () => {
  await api.foundation.mongo.db.command({ profile: 0 })
  await api.stop()
})

/** Operators that this service never uses, so that each occurrence in the database is a failure. */
const OPERATORS = ['$where', '$expr', '$jsonSchema']
const operator = { $where: 'sleep(1)' }
const values: unknown[] = [operator, { $expr: true }, [operator], { __proto__: null, $jsonSchema: {} }]
const prototypes = ['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}']

const fieldsOf = (schema: z.ZodType | undefined): string[] => {
  if (!schema) return []
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return Object.keys(properties as object)
}

/** A body that is valid apart from the field under test. */
function goodBody(): Record<string, unknown> {
  return {
    ...{ name: 'x', price: 1, duration: 30, features: '{"features":[]}', type: 'boolean', value: '1' },
    ...{ user_id: ids.user, plan_id: ids.plan, openid: 'victim', out_trade_no: 'T-1', payment_id: 'P1' },
    ...{ payment_method: 'alipay', app_name: 'x', role: 'viewer', refund_id: 'r', at: 'period_end' },
    ...{ action: 'set_auto_renew', auto_renew: '0', revision: 1, ids: [ids.subscription], kind: 'secret' },
  }
}

function pathOf({ path }: Operation, parameter: string): string {
  const known = path.startsWith('/subscription_plan')
    ? ids.plan
    : path.startsWith('/user') || path.startsWith('/server/user')
      ? ids.user
      : path.startsWith('/app_manage')
        ? api.demo.id
        : path.startsWith('/admin')
          ? '1'
          : ids.subscription
  const values: Record<string, string | undefined> = { id: known, channel: 'alipay' }
  const evil = encodeURIComponent(JSON.stringify(operator))
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === parameter ? evil : (values[name] ?? 'none')))
}

/** One request with a malicious value. */
interface Attack {
  what: string
  query?: string
  body?: string
  parameter?: string
  headers?: Record<string, string>
}

function attacksOn(operation: Operation): Attack[] {
  const good = goodBody()
  const hasBody = operation.method === 'POST' || operation.method === 'PUT'
  const text = encodeURIComponent(JSON.stringify(operator))
  const query: Attack[] = [...fieldsOf(operation.query), 'unknown'].flatMap(field => [
    { what: `query ${field}`, query: `${field}=${text}` },
    { what: `query ${field}[$where]`, query: `${field}[$where]=1&${encodeURIComponent(field)}%5B%24expr%5D=1` },
    { what: `query ${field}, twice`, query: `${field}=${text}&${field}=__proto__` },
  ])
  const body: Attack[] = [...fieldsOf(operation.body), '$where', 'unknown'].flatMap(field =>
    values.map(value => ({ what: `body ${field}`, body: JSON.stringify({ ...good, [field]: value }) })),
  )
  const complete = [...prototypes, JSON.stringify(operator), JSON.stringify([operator]), '"$where"', 'null'].map(
    raw => ({
      what: 'complete body',
      body: raw,
    }),
  )
  const parameters = ['id', 'credential', 'channel', 'webhook']
    .filter(name => operation.path.includes(`{${name}}`))
    .map(parameter => ({ what: `path ${parameter}`, parameter }))
  const headers = ['token', 'authorization', 'idempotency-key', 'lang', 'x-api-key'].map(name => ({
    what: `header ${name}`,
    headers: { [name]: name === 'authorization' ? 'Bearer {"$where":"1"}' : '{"$where":"1"}' },
  }))
  const polluting = { what: 'query __proto__', query: '__proto__[polluted]=1&constructor[prototype][polluted]=1' }
  return [...query, polluting, ...(hasBody ? [...body, ...complete] : []), ...parameters, ...headers]
}

async function attack(operation: Operation, { query, body, parameter, headers }: Attack): Promise<ApiAnswer> {
  const app = operation.access.kind === 'admin' && !query?.includes('app_key') ? 'app_key=demo&' : ''
  const path = `${pathOf(operation, parameter ?? '')}?${app}${query ?? ''}`
  const withBody = body !== undefined || operation.method === 'POST' || operation.method === 'PUT'
  const request = {
    query: {},
    ...(withBody ? { body: body ?? JSON.stringify(goodBody()) } : {}),
    ...(headers ? { headers } : {}),
  }
  if (operation.access.kind === 'app') return api.server(operation.method, path, request)
  return api.call(operation.method, path, operation.access.kind === 'open' ? { ...request, token: '' } : request)
}

/** Paths at which an operator is a key, at any depth. */
function sightings(value: unknown, place = ''): string[] {
  if (typeof value !== 'object' || value === null || value instanceof RegExp || value instanceof Date) return []
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(OPERATORS.includes(key) ? [`${place}.${key}`] : []),
    ...sightings(inner, `${place}.${key}`),
  ])
}

/** These would delete the session, the app or the user that other requests need. */
const SPARED = ['DELETE /token', 'DELETE /user/{id}', 'DELETE /app_manage/{id}', 'DELETE /switch_manage']

const attacked = operations.filter(({ method, path }) => !SPARED.includes(`${method} ${path}`))
let attacks = 0

test.each(attacked.map(operation => [`${operation.method} ${operation.path}`, operation] as const))(
  '%s never fails because of them',
  async (_, operation) => {
    for (const given of attacksOn(operation)) {
      const { status, text } = await attack(operation, given)
      // The client has checked that the response is an envelope of the contract.
      expect([given.what, status, text]).toEqual([given.what, expect.toSatisfy((code: number) => code < 500), text])
      attacks++
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  },
)

test('evaluation and payment notices reject them', async () => {
  const evil = JSON.stringify({ context: { targetingKey: operator, $where: '1', __proto__: { polluted: 1 } } })
  const headers = { 'x-api-key': api.demo.publishableKey }
  const path = '/ofrep/v1/evaluate/flags'
  for (const body of [evil, ...prototypes, JSON.stringify({ context: { $where: '1', constructor: { x: 1 } } })])
    for (const key of ['', '/flag', '/%7B%22%24where%22%3A1%7D', '/__proto__', '/constructor']) {
      const { status } = await api.call('POST', path + key, { token: '', query: {}, body, headers })
      expect([200, 400, 404]).toContain(status)
    }
  for (const channel of ['alipay', 'wechat', 'huawei', '__proto__', 'constructor', '%7B%22%24where%22%3A1%7D'])
    for (const app of ['demo', '__proto__', '%7B%22%24where%22%3A1%7D']) {
      const { status } = await api.call('POST', `/notify/${channel}/${app}`, { token: '', query: {}, body: evil })
      expect([400, 401, 404, 422]).toContain(status)
    }
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

test('no operator reached the database, neither in a command nor in a record', async () => {
  const { db } = api.foundation.mongo
  expect(attacks).toBeGreaterThan(1_500)
  await api.context.collections.nonces.find({ $expr: { $eq: [1, 1] } }).toArray() // one expected occurrence, which proves that the profiler records them
  const commands = await db.collection('system.profile').find().toArray()
  expect(commands.length).toBeGreaterThan(1_000) // fewer than attacks because of caches
  const seen = commands.flatMap(command => sightings(command.command, String(command.ns)))
  expect(seen).toEqual([`${db.databaseName}.sub_nonces.filter.$expr`])
  const names = (await db.listCollections().toArray()).map(({ name }) => name)
  for (const name of names.filter(name => name.startsWith('sub_')))
    expect((await db.collection(name).find().toArray()).flatMap(record => sightings(record, name))).toEqual([])
})
