/** No operation of the Subscription Administration API reaches records of another app; a new operation needs an entry. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../../services/subscriptions/http/openapi.ts'
import {
  type ApiRequest,
  request,
  type SubscriptionApi,
  startSubscriptionApi,
} from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
/** An app besides `demo`: its key, administrators for it only, the secret of its back end, and its records. */
const other = {
  id: '',
  operator: '',
  viewer: '',
  secret: '',
  records: { user: '', plan: '', subscription: '', name: '' },
}
beforeAll(async () => {
  api = await startSubscriptionApi()
  const { body } = await api.call('POST', '/app_manage', { body: { app_name: 'Other', app_key: 'other' } })
  other.id = body.data.id
  other.secret = body.data.app_secret
  other.operator = await api.logIn('operator', ['other'])
  other.viewer = await api.logIn('viewer', ['other'])
  other.records = await give('other', other.secret)
})
afterAll(() => api.stop())

/** Ids of one app's records; `name` is the name of a switch. */
type Records = typeof other.records
type Given = Pick<ApiRequest, 'body' | 'headers'> & { query?: Record<string, string> }

/** What the test does with an operation. */
type Row =
  /** Concerns one app: for an administrator of another, the app does not exist. */
  | { kind: 'app'; given?: Given }
  /** Also names records of the app, in its path (`{id}` is `id`), query or body: unknown in another app. */
  | { kind: 'record'; id?: keyof Records; given?: (of: Records) => Given }
  /** Covers all apps in scope: returns nothing of the others. */
  | { kind: 'scope' }
  /** For super administrators. */
  | { kind: 'super'; given?: Given }
  /** Of an app's back end, which names records of its app. */
  | { kind: 'server'; id?: keyof Records; given: (of: Records) => Given }
  /** Takes no ids: only for the caller, or the app of the secret. */
  | { kind: 'own' }

let count = 0
const next = () => ++count
const HEADING = 'user_id,plan_id,days,client_ref\n'
const PLAN = () => ({ name: `P${next()}`, description: '', price: 10, duration: 30, features: '{"features":[]}' })
const party = ({ user, plan }: Records) => ({ user_id: user, plan_id: plan })
const paid = () => ({ payment_method: 'alipay', payment_id: `p${next()}` })

const TABLE: Record<string, Row> = {
  'POST /token': { kind: 'own' },
  'GET /token': { kind: 'own' },
  'DELETE /token': { kind: 'own' },
  'PUT /admin/password': { kind: 'own' },
  'GET /user': { kind: 'app' },
  'GET /user/export': { kind: 'app' },
  'GET /user/{id}': { kind: 'record', id: 'user' },
  'PUT /user/{id}': { kind: 'record', id: 'user', given: () => ({ body: { status: '0' } }) },
  'DELETE /user/{id}': { kind: 'record', id: 'user' },
  'GET /user/{id}/payment': { kind: 'record', id: 'user' },
  'GET /user/{id}/entitlement': { kind: 'record', id: 'user' },
  'GET /user_stats': { kind: 'scope' },
  'GET /subscription_plan': { kind: 'app' },
  'GET /subscription_plan/{id}': { kind: 'record', id: 'plan' },
  'POST /subscription_plan': { kind: 'app', given: { body: PLAN() } },
  'PUT /subscription_plan/{id}': { kind: 'record', id: 'plan', given: () => ({ body: { price: 1 } }) },
  'GET /subscription_plan/{id}/history': { kind: 'record', id: 'plan' },
  'POST /subscription_plan/{id}/restore': { kind: 'record', id: 'plan', given: () => ({ body: { revision: 1 } }) },
  'GET /subscription': { kind: 'app' },
  'GET /subscription/export': { kind: 'app' },
  'POST /subscription/import': {
    kind: 'record',
    given: ({ user, plan }) => ({
      body: `${HEADING}${user},${plan},10,r${next()}\n`,
      headers: { 'content-type': 'text/csv' },
    }),
  },
  'GET /subscription/{id}': { kind: 'record', id: 'subscription' },
  'POST /subscription': { kind: 'record', given: of => ({ body: { ...party(of), days: 3 } }) },
  'PUT /subscription/{id}': {
    kind: 'record',
    id: 'subscription',
    given: () => ({ body: { action: 'extend', days: 3 } }),
  },
  'POST /subscription/batch': {
    kind: 'record',
    given: ({ subscription }) => ({ body: { ids: [subscription], action: 'extend', days: 3 } }),
  },
  'GET /overview': { kind: 'scope' },
  'GET /audit_log': { kind: 'scope' },
  'GET /resource': { kind: 'scope' },
  'GET /admin': { kind: 'super' },
  'POST /admin': {
    kind: 'super',
    given: { body: { username: 'mallory', password: 'correct horse battery', role: 'super', app_keys: [] } },
  },
  'PUT /admin/{id}': { kind: 'super', given: { body: { role: 'super' } } },
  'GET /switch_manage': { kind: 'record', given: ({ name }) => ({ query: { name } }) },
  'POST /switch_manage': { kind: 'app', given: { body: { name: 'fresh', type: 'boolean', value: '1' } } },
  'PUT /switch_manage': { kind: 'record', given: ({ name }) => ({ query: { name }, body: { value: '0' } }) },
  'DELETE /switch_manage': { kind: 'record', given: ({ name }) => ({ query: { name } }) },
  'POST /switch_manage/restore': { kind: 'record', given: ({ name }) => ({ body: { name, revision: 1 } }) },
  'POST /switch_manage/evaluate': { kind: 'record', given: ({ user, name }) => ({ body: { user_id: user, name } }) },
  'GET /app_manage': { kind: 'scope' },
  'GET /app_manage/{id}': { kind: 'scope' },
  'POST /app_manage': { kind: 'super', given: { body: { app_name: 'Third' } } },
  'PUT /app_manage/{id}': { kind: 'super', given: { body: { app_name: 'Mine' } } },
  'DELETE /app_manage/{id}': { kind: 'super' },
  'GET /app_manage/{id}/credential': { kind: 'super' },
  'POST /app_manage/{id}/credential': { kind: 'super', given: { body: { kind: 'secret' } } },
  'DELETE /app_manage/{id}/credential/{credential}': { kind: 'super' },
  'GET /app_manage/{id}/webhook': { kind: 'super' },
  'POST /app_manage/{id}/webhook': { kind: 'super', given: { body: { url: 'https://example.com/', events: [] } } },
  'PUT /app_manage/{id}/webhook/{webhook}': { kind: 'super', given: { body: { enabled: '0' } } },
  'DELETE /app_manage/{id}/webhook/{webhook}': { kind: 'super' },
  'POST /app_manage/{id}/webhook/{webhook}/rotate_secret': { kind: 'super' },
  'POST /app_manage/{id}/webhook/{webhook}/test': { kind: 'super' },
  'GET /app_manage/{id}/webhook/{webhook}/delivery': { kind: 'super' },
  'GET /app_manage/{id}/webhook/{webhook}/delivery/{delivery}': { kind: 'super' },
  'POST /app_manage/{id}/webhook/{webhook}/delivery/{delivery}/replay': { kind: 'super' },
  'POST /app_manage/{id}/webhook/{webhook}/replay': { kind: 'super', given: { body: { since: 0 } } },
  'GET /app_manage/{id}/channel': { kind: 'super' },
  'PUT /app_manage/{id}/channel/{channel}': { kind: 'super', given: { body: { enabled: '0' } } },
  'POST /server/user': { kind: 'own' },
  'PUT /server/user/{id}': { kind: 'server', id: 'user', given: () => ({ body: { status: '2' } }) },
  'GET /server/entitlement': { kind: 'server', given: ({ user }) => ({ query: { user_id: user } }) },
  'POST /server/order': {
    kind: 'server',
    given: of => ({ body: { ...party(of), payment_method: 'alipay', out_trade_no: `o${next()}` } }),
  },
  'POST /server/subscription': { kind: 'server', given: of => ({ body: { ...party(of), ...paid() } }) },
  'POST /server/subscription/{id}/renew': { kind: 'server', id: 'subscription', given: () => ({ body: paid() }) },
  'POST /server/subscription/{id}/cancel': {
    kind: 'server',
    id: 'subscription',
    given: () => ({ body: { at: 'now' } }),
  },
  'POST /server/subscription/{id}/refund': {
    kind: 'server',
    id: 'subscription',
    given: () => ({ body: { refund_id: `r${next()}` } }),
  },
  'POST /server/local_sync': {
    kind: 'server',
    given: of => ({
      body: {
        purchases: [{ ...party(of), client_ref: `s${next()}`, start_date: 1_790_000_000, end_date: 1_890_000_000 }],
      },
    }),
  },
}

const rows = <K extends Row['kind']>(...kinds: K[]) =>
  Object.entries(TABLE).flatMap(([key, row]) =>
    (kinds as string[]).includes(row.kind) ? [[key, row as Extract<Row, { kind: K }>] as const] : [],
  )

/** Creates a user, a plan, a paid subscription and a switch of an app. */
async function give(app_key: string, secret: string): Promise<Records> {
  const n = next()
  const ok = async (method: string, path: string, given: ApiRequest) => {
    const { body } = await api.call(method, path, { query: { app_key }, ...given })
    expect(body.code).toBe(0)
    return body.data
  }
  const back = { token: '', query: {}, headers: { authorization: `Bearer ${secret}` } }
  const user: string = (await ok('POST', '/server/user', { ...back, body: { openid: `wx-${n}` } })).id
  const plan: string = (
    await ok('POST', '/subscription_plan', { body: PLAN(), headers: { prefer: 'return=representation' } })
  ).id
  const bought = await ok('POST', '/server/subscription', {
    ...back,
    body: { user_id: user, plan_id: plan, ...paid() },
  })
  const name = `switch_${n}`
  await ok('POST', '/switch_manage', { body: { name, type: 'boolean', value: '1' } })
  await ok('PUT', '/switch_manage', { query: { app_key, name }, body: { value: '0' } })
  await ok('PUT', `/subscription_plan/${plan}`, { body: { price: 20 } })
  return { user, plan, subscription: bought.subscription.id, name }
}

/** Everything that both apps own. */
async function snapshot() {
  const names = ['plans', 'switches', 'apps', 'users', 'subscriptions', 'payments', 'orders', 'credentials', 'webhooks']
  return JSON.stringify(
    await Promise.all(
      [...names, 'channels'].map(name =>
        api.context.mongo.db.collection(`sub_${name}`).find().sort({ _id: 1 }).toArray(),
      ),
    ),
  )
}

/** Calls the operation of a table key. */
function call(key: string, id: string, token: string, { query = {}, ...given }: Given = {}, secret = '') {
  const [method = '', path = ''] = key.split(' ')
  const headers = { ...given.headers, ...(secret && { authorization: `Bearer ${secret}` }) }
  return request(api.url, method, path.replace('{id}', id).replace(/\{\w+\}/, 'alipay'), {
    ...{ ...given, token, query, headers },
  })
}
const inApp = (app_key: string, { query, ...given }: Given = {}) => ({ ...given, query: { ...query, app_key } })

test('the table contains every operation and nothing else', () => {
  const keys = operations.map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(TABLE).toSorted()).toEqual(keys.toSorted())
})

test.each(rows('app', 'record'))('%s: a foreign app returns the same error as a missing one', async (key, row) => {
  const records = await give('demo', api.demo.secret)
  const before = await snapshot()
  const id = row.kind === 'record' && row.id ? records[row.id] : ''
  const given = row.kind === 'record' ? row.given?.(records) : row.given
  const [foreign, none] = [
    await call(key, id, other.operator, inApp('demo', given)),
    await call(key, id, other.operator, inApp('none', given)),
  ]
  expect([foreign.status, foreign.body.code, foreign.body.message]).toEqual([404, 40410, none.body.message])
  expect(none.body.code).toBe(40410)
  expect(await snapshot()).toBe(before)
})

test.each(rows('record'))('%s: records of one app are unknown in another', async (key, { id, given }) => {
  const records = await give('demo', api.demo.secret)
  const before = await snapshot()
  const foreign = await call(key, id ? records[id] : '', other.operator, inApp('other', given?.(records)))
  const { results, imported } = foreign.body.data
  // These return a result for each row.
  if (results) expect(results).toEqual([expect.objectContaining({ code: 40403 })])
  else if (imported === undefined) expect(foreign.status).toBe(404)
  else expect(imported).toBe(0)
  expect(await snapshot()).toBe(before)
  const own = await call(key, id ? other.records[id] : '', other.operator, inApp('other', given?.(other.records)))
  expect(own.body?.code ?? 0).toBe(0)
  if (!key.startsWith('GET')) other.records = await give('other', other.secret)
})

test.each(rows('server'))('%s: a back end cannot use records of another app', async (key, { id, given }) => {
  const records = await give('demo', api.demo.secret)
  const before = await snapshot()
  const mixed = [
    { ...other.records, user: records.user },
    { ...other.records, plan: records.plan },
  ]
  for (const of of [records, ...(id || key.includes('entitlement') ? [] : mixed)])
    expect((await call(key, id ? records[id] : '', '', given(of), other.secret)).status).toBe(404)
  expect(await snapshot()).toBe(before)
  const own = await give('other', other.secret)
  expect((await call(key, id ? own[id] : '', '', given(own), other.secret)).body.code).toBe(0)
})

test.each(rows('super'))('%s: rejects operators and viewers, also those of the app', async (key, { given }) => {
  const before = await snapshot()
  for (const [token, id] of [
    [other.operator, api.demo.id],
    [other.operator, other.id],
    [other.viewer, other.id],
  ] as const)
    expect((await call(key, id, token, given)).body.code).toBe(40301)
  expect(await snapshot()).toBe(before)
})

test.each(rows('scope'))('%s: returns only the apps in scope', async key => {
  await give('demo', api.demo.secret)
  if (key.includes('{id}')) {
    expect((await call(key, api.demo.id, other.operator)).body.code).toBe(40405)
    expect((await call(key, other.id, other.operator)).body.code).toBe(0)
    return
  }
  const wide = await call(key, '', other.operator)
  expect(wide.body.code).toBe(0)
  expect(wide.text).not.toContain('demo')
  if (key === 'GET /app_manage') return
  expect((await call(key, '', other.operator, inApp('demo'))).body.code).toBe(40410)
  expect(wide.body.data).toEqual((await call(key, '', other.operator, inApp('other'))).body.data)
})
