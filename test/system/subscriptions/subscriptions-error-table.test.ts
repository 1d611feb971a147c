/**
 * Provokes every code of the envelope once in each language: HTTP status, shape, a message of its own, and no change.
 * A code without a row here fails the first test.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../../../services/accounts/manage-accounts.ts'
import { secondFactorPlace } from '../../../services/accounts/second-factor.ts'
import { putSecondFactor } from '../../../services/accounts/store/second-factors.ts'
import { type Problem, type ProblemCode, problems } from '../../../services/platform/problems.ts'
import {
  type ApiAnswer,
  type ApiRequest,
  type SubscriptionApi,
  startSubscriptionApi,
} from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
/** The same service with a limit of three requests a minute. */
let slow: SubscriptionApi
/** The same service without its database. */
let lost: SubscriptionApi
let viewer: string
const ids: Record<string, string> = {}
const PLAN = { name: 'P', price: 10, duration: 30, features: '{"features":[]}' }

beforeAll(async () => {
  api = await startSubscriptionApi()
  slow = await startSubscriptionApi({ ADMIN_REQUESTS_PER_MINUTE: '3' })
  lost = await startSubscriptionApi()
  await lost.foundation.mongo.connection.close()
  viewer = await api.logIn('viewer', ['demo'])
  const headers = { prefer: 'return=representation' }
  const plan = async (name: string, more = {}) =>
    (await api.call('POST', '/subscription_plan', { body: { ...PLAN, name, ...more }, headers })).body.data.id
  ids.plan = await plan('P')
  ids.managed = await plan('managed')
  ids.forever = await plan('forever', { duration: 0 })
  await api.context.collections.plans.updateOne(
    { _id: Number(ids.managed) },
    { $set: { managed_by: { kind: 'SubscriptionPlan', namespace: 'shop', name: 'gold', uid: 'u1' } } },
  )
  for (const openid of ['one', 'two']) {
    ids[openid] = (await api.server('POST', '/server/user', { body: { openid } })).body.data.id
    await pay(ids[openid], `P-${openid}`)
  }
  await api.server('POST', '/server/user', { body: { huawei_openid: 'three' } })
  const order = { user_id: ids.one, plan_id: ids.plan, payment_method: 'alipay', out_trade_no: 'T-1' }
  await api.server('POST', '/server/order', { body: order })
  await pay(ids.two, 'forever', { plan_id: ids.forever })
  await api.call('POST', '/switch_manage', { body: { name: 'known', type: 'boolean', value: '1' } })
  const shut = { app_name: 'Shut', app_key: 'shut', status: 0 }
  ids.shutSecret = (await api.call('POST', '/app_manage', { body: shut })).body.data.app_secret
  await api.logIn('viewer', ['demo'])
  const { admins } = (await api.call('GET', '/admin')).body.data
  await api.call('PUT', `/admin/${admins.at(-1).id}`, { body: { status: '0' } })
  ids.disabledName = admins.at(-1).username
  await giveSecondFactor('careful', 'correct horse battery')
  // A record that was damaged outside of the API.
  await api.context.collections.users.insertOne({ _id: 999_999, app_key: 'demo' } as never)
})
afterAll(async () => {
  await slow.stop()
  await api.stop()
})

/** An admin whose logins need a code. */
async function giveSecondFactor(username: string, password: string): Promise<void> {
  const { foundation } = api
  const given = { username, password, role: 'admin', lang: 'en', tz: 'UTC' } as const
  const { user } = await createUser(foundation, given)
  const { secrets, clock, mongo } = foundation
  const sealed = secrets.seal('totp', secondFactorPlace(user._id), Buffer.alloc(20, 7).toString('base64'))
  const now = clock.now()
  const factor = { _id: user._id, sealed, confirmed_at: now, last_step: 0, recovery: [], created_at: now }
  expect(await putSecondFactor(mongo.db, factor)).toBe(true)
}

function pay(user_id: string | undefined, payment_id: string, more = {}) {
  const body = { user_id, plan_id: ids.plan, payment_method: 'alipay', payment_id, amount: 10, ...more }
  return api.server('POST', '/server/subscription', { body })
}

type Call = (given: ApiRequest) => Promise<ApiAnswer>
const call =
  (method: string, path: string | (() => string), request: ApiRequest = {}): Call =>
  ({ headers }) =>
    api.call(method, typeof path === 'string' ? path : path(), {
      ...request,
      headers: { ...request.headers, ...headers },
    })
const server =
  (method: string, path: string, request: () => ApiRequest = () => ({})): Call =>
  ({ headers }) => {
    const given = request()
    return api.server(method, path, { ...given, headers: { ...given.headers, ...headers } })
  }
const login =
  (credentials: () => object): Call =>
  ({ headers = {} }) =>
    api.call('POST', '/token', { token: '', query: {}, body: credentials(), headers })
const query = (more: Record<string, string>) => ({ query: { app_key: 'demo', ...more } })
const keyed = (key: string, body: object) => ({ body, headers: { 'idempotency-key': key } })

/** Repeats a request whose first run began `agoMs` ago and has no response. */
async function repeatOfUnanswered(state: 'running' | 'changed', agoMs: number, headers: Record<string, string>) {
  const given = keyed(state, { openid: 'one' })
  await api.server('POST', '/server/user', given)
  const [last] = await api.context.collections.idempotency.find().sort({ $natural: -1 }).limit(1).toArray()
  const started_at = new Date(api.clock.now().getTime() - agoMs)
  const unanswered = { $set: { state, started_at }, $unset: { answer: '' as const } }
  await api.context.collections.idempotency.updateOne({ _id: last?._id ?? '' }, unanswered)
  return api.server('POST', '/server/user', { ...given, headers: { ...given.headers, ...headers } })
}

/** How to provoke each problem. */
const provocations: Partial<Record<ProblemCode, Call>> = {
  invalid_json: call('POST', '/subscription_plan', { body: '{"name":' }),
  message_too_large: call('POST', '/subscription_plan', { body: { name: 'x'.repeat(1_100_000) } }),
  unsupported_media_type: call('POST', '/subscription_plan', {
    body: 'a=b',
    headers: { 'content-type': 'text/plain' },
  }),
  session_missing: call('GET', '/user', { token: '' }),
  session_invalid: call('GET', '/user', { token: 'at_nobody' }),
  invalid_login: login(() => ({ username: 'root', password: 'wrong' })),
  app_credential_invalid: server('POST', '/server/user', () => ({ headers: { authorization: 'Bearer ask_x' } })),
  async app_signature_invalid({ headers }) {
    const path = `/app_manage/${api.demo.id}/credential`
    ids.hmac ??= (await api.call('POST', path, { body: { kind: 'hmac' } })).body.data.id as string
    const authorization = `SUB-HMAC-SHA256 key_id=${ids.hmac}, timestamp=1, nonce=nonce-nonce-1, signature="x"`
    return api.server('POST', '/server/user', { body: {}, headers: { ...headers, authorization } })
  },
  forbidden: ({ headers = {} }) => api.call('POST', '/subscription_plan', { token: viewer, body: PLAN, headers }),
  admin_disabled: login(() => ({ username: ids.disabledName, password: 'correct horse battery' })),
  app_disabled: server('POST', '/server/user', () => ({
    headers: { authorization: `Bearer ${ids.shutSecret}` },
    body: {},
  })),
  not_found: call('GET', '/nowhere'),
  end_user_not_found: call('GET', '/user/424242'),
  plan_not_found: call('GET', '/subscription_plan/424242'),
  subscription_not_found: call('GET', '/subscription/424242'),
  switch_not_found: call('GET', '/switch_manage', query({ name: 'nope' })),
  app_not_found: call('GET', '/app_manage/424242'),
  record_not_found: call('POST', '/switch_manage/restore', { body: { name: 'known', revision: 77 } }),
  app_key_unknown: call('GET', '/user', query({ app_key: 'nope' })),
  method_not_allowed: call('PATCH', '/user'),
  name_taken: call('POST', '/subscription_plan', { body: PLAN }),
  version_conflict: call('PUT', () => `/subscription_plan/${ids.plan}`, { body: { price: 1, version: 77 } }),
  transition_refused: server('POST', '/server/subscription', () => ({
    body: { user_id: ids.two, plan_id: ids.forever, payment_method: 'alipay', payment_id: 'again', amount: 10 },
  })),
  app_in_use: call('DELETE', () => `/app_manage/${api.demo.id}`),
  async idempotency_key_mismatch({ headers = {} }) {
    await api.server('POST', '/server/user', keyed('mismatch', { openid: 'one' }))
    const other = keyed('mismatch', { openid: 'two' })
    return api.server('POST', '/server/user', { ...other, headers: { ...other.headers, ...headers } })
  },
  idempotency_in_progress: ({ headers = {} }) => repeatOfUnanswered('running', 0, headers),
  idempotency_answer_lost: ({ headers = {} }) => repeatOfUnanswered('changed', 61_000, headers),
  managed_by_resource: call('PUT', () => `/subscription_plan/${ids.managed}`, { body: { price: 1 } }),
  payment_taken: server('POST', '/server/subscription', () => ({
    body: { user_id: ids.two, plan_id: ids.plan, payment_method: 'alipay', payment_id: 'P-one', amount: 10 },
  })),
  identities_conflict: server('POST', '/server/user', () => ({ body: { openid: 'one', huawei_openid: 'three' } })),
  validation_failed: call('GET', '/user', query({ page: '0' })),
  app_key_missing: call('GET', '/user', { query: {} }),
  page_too_deep: call('GET', '/user', query({ page: '99999999' })),
  amount_mismatch: server('POST', '/server/subscription', () => ({
    body: { user_id: ids.one, plan_id: ids.plan, payment_method: 'alipay', payment_id: 'O-1', amount: 9.99 },
  })),
  async rate_limited({ headers = {} }) {
    for (let i = 0; i < 3; i++) await slow.call('GET', '/user')
    return slow.call('GET', '/user', { headers })
  },
  second_factor_required: login(() => ({ username: 'careful', password: 'correct horse battery' })),
  invalid_code: login(() => ({ username: 'careful', password: 'correct horse battery', code: 'not a code' })),
  async login_locked(given) {
    const guess = login(() => ({ username: 'victim', password: 'x' }))
    for (let i = 0; i < 5; i++) await guess({})
    return guess(given)
  },
  internal: call('GET', '/user/999999'),
  unavailable: ({ headers = {} }) => lost.call('GET', '/user', { headers }),
}

/** Problems that cannot occur on this port, and the tests that provoke them. */
const ELSEWHERE: Partial<Record<ProblemCode, string>> = {
  invalid_request: 'a request that is not HTTP: subscriptions-bad-input.test.ts',
  not_logged_in: 'below the panel: subscriptions-panel.test.ts',
  csrf_header_missing: 'below the panel: subscriptions-panel.test.ts',
}

const rows = Object.entries(problems).filter(([, problem]) => 'envelope' in problem)

test('every problem with an envelope code has a row', () => {
  const known = [...Object.keys(provocations), ...Object.keys(ELSEWHERE)].toSorted()
  expect(known).toEqual(rows.map(([code]) => code).toSorted())
})

/** Everything that a rejected request must leave unchanged. */
async function snapshot(): Promise<string> {
  const names = ['plans', 'switches', 'apps', 'users', 'subscriptions', 'payments', 'orders', 'channels']
  return JSON.stringify(
    await Promise.all(
      names.map(name => api.context.mongo.db.collection(`sub_${name}`).find().sort({ _id: 1 }).toArray()),
    ),
  )
}

describe.each(Object.entries(provocations))('%s', (code, provoke) => {
  test('has its code, status and message in both languages', async () => {
    const { http, envelope } = problems[code as ProblemCode] as Required<Problem>
    const before = code.startsWith('idempotency_') ? '' : await snapshot()
    const chinese = await provoke({})
    const english = await provoke({ headers: { lang: 'en' } })
    for (const { status, body, headers } of [chinese, english]) {
      expect([status, body.code, Math.floor(body.code / 100)]).toEqual([http, envelope, http])
      expect(Object.keys(body)).toEqual(['code', 'message', 'data'])
      expect(body.data).toEqual(expect.any(Object))
      expect(headers.get('x-request-id')).toBeTruthy()
      if (http === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      if (http === 405) expect(headers.get('allow')).toBe('HEAD, GET')
    }
    expect(chinese.body.message).toMatch(/[\u4e00-\u9fff]/)
    expect(chinese.headers.get('content-language')).toBe('zh')
    expect(english.body.message).toMatch(/^[\x20-\x7e]+$/)
    expect(english.headers.get('content-language')).toBe('en')
    if (before !== '') expect(await snapshot()).toBe(before)
  })
})
