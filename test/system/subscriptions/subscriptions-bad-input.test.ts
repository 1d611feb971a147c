/** Invalid input gets an envelope with its own code, and changes nothing. */
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import type { IdempotencyDoc } from '../../../services/subscriptions/store/documents.ts'
import {
  type ApiRequest,
  type SubscriptionApi,
  startSubscriptionApi,
} from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
let viewer: string
let foreigner: string
let planId: string
beforeAll(async () => {
  api = await startSubscriptionApi()
  viewer = await api.logIn('viewer', ['demo'])
  foreigner = await api.logIn('operator', ['other'])
  await api.call('POST', '/subscription_plan', { body: plan })
  planId = (await api.call('GET', '/subscription_plan')).body.data.plans[0].id
  await api.call('POST', '/switch_manage', { body: { name: 'known', type: 'boolean', value: '1' } })
})
afterAll(() => api.stop())

const plan = { name: 'P', description: '', price: 10, duration: 30, features: '{"features":[]}' }
const flag = { name: 'new_switch', type: 'boolean', value: '1' }
const query = (more: Record<string, string>) => ({ query: { app_key: 'demo', ...more } })

/** Everything that a rejected request must leave unchanged. */
async function snapshot() {
  const names = ['plans', 'switches', 'apps', 'users', 'subscriptions', 'payments']
  const all = await Promise.all(
    names.map(name => api.context.mongo.db.collection(`sub_${name}`).find().sort({ _id: 1 }).toArray()),
  )
  return JSON.stringify(all)
}

describe('credentials and rights', () => {
  test.each<[string, string, string, ApiRequest, number]>([
    ['no token', 'GET', '/user', { token: '' }, 40101],
    ['an unknown token', 'GET', '/user', { token: `at_${'x'.repeat(43)}` }, 40102],
    ['no token at the status', 'GET', '/token', { token: '' }, 40101],
    ['a wrong password', 'POST', '/token', { token: '', body: { username: 'root', password: 'wrong' } }, 40103],
    ['an unknown name', 'POST', '/token', { token: '', body: { username: 'nobody', password: 'wrong' } }, 40103],
    ['no app_key', 'GET', '/user', { query: {} }, 42210],
    ['an unknown app_key', 'GET', '/user', query({ app_key: 'nope' }), 40410],
    ['a server call without a credential', 'POST', '/server/user', { body: { openid: 'x' } }, 40110],
    [
      'a server call with a session token',
      'GET',
      '/server/entitlement',
      { headers: { authorization: 'Bearer at_x' } },
      40110,
    ],
  ])('rejects %s', async (_, method, path, given, code) => {
    expect((await api.call(method, path, given)).body.code).toBe(code)
  })

  test('a viewer changes nothing, an operator creates no apps, and a foreign app does not exist for them', async () => {
    const refused = async (method: string, path: string, given: ApiRequest) =>
      (await api.call(method, path, given)).body.code
    expect(await refused('POST', '/subscription_plan', { token: viewer, body: plan })).toBe(40301)
    expect(await refused('POST', '/switch_manage', { token: viewer, body: flag })).toBe(40301)
    expect(await refused('DELETE', '/switch_manage', { token: viewer, ...query({ name: 'known' }) })).toBe(40301)
    expect(await refused('POST', '/app_manage', { token: viewer, body: { app_name: 'x' } })).toBe(40301)
    expect(await refused('POST', '/app_manage', { token: foreigner, body: { app_name: 'x' } })).toBe(40301)
    expect(await refused('GET', '/user', { token: foreigner })).toBe(40410)
    expect(await refused('GET', `/app_manage/${api.demo.id}`, { token: foreigner })).toBe(40405)
    expect(await refused('GET', '/admin', { token: viewer })).toBe(40301)
    expect((await api.call('GET', '/user', { token: viewer })).status).toBe(200)
  })

  test('a disabled account gets 40303 only with the correct password', async () => {
    const { data } = (await api.call('GET', '/admin', { query: { pageSize: '100' } })).body
    const { id, username } = data.admins.at(-1)
    await api.call('PUT', `/admin/${id}`, { body: { status: '0' } })
    expect((await api.call('GET', '/user', { token: foreigner })).body.code).toBe(40102)
    const logIn = (password: string) => api.call('POST', '/token', { token: '', body: { username, password } })
    expect((await logIn('correct horse battery')).body.code).toBe(40303)
    expect((await logIn('wrong')).body.code).toBe(40103)
  })

  test('the fifth failed login locks the name, with the time to wait', async () => {
    const guess = () => api.call('POST', '/token', { token: '', body: { username: 'victim', password: 'x' } })
    for (let i = 0; i < 5; i++) expect((await guess()).body.code).toBe(40103)
    const locked = await guess()
    expect(locked.body.code).toBe(42902)
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('an administrator cannot remove the own rights', async () => {
    expect((await api.call('PUT', '/admin/1', { body: { role: 'viewer' } })).body.code).toBe(40903)
  })
})

describe('fields', () => {
  const rows: [string, string, string, ApiRequest, number, string?][] = [
    ['page 0', 'GET', '/user', query({ page: '0' }), 42200, 'page'],
    ['page -1', 'GET', '/user', query({ page: '-1' }), 42200, 'page'],
    ['pageSize abc', 'GET', '/user', query({ pageSize: 'abc' }), 42200, 'pageSize'],
    ['a page too deep', 'GET', '/subscription', query({ page: '99999999' }), 42220],
    [
      'start after end',
      'GET',
      '/user',
      query({ start_date: '2026-02-02', end_date: '2026-02-01' }),
      42200,
      'start_date',
    ],
    ['a day that does not exist', 'GET', '/user', query({ start_date: '2026-02-30' }), 42200, 'start_date'],
    ['an operator in a query', 'GET', '/user', query({ status: '{"$gt":""}' }), 42200, 'status'],
    ['a field twice', 'GET', '/user?page=1&page=2&app_key=demo', { query: {} }, 42200, 'page'],
    ['an unknown type of statistics', 'GET', '/user_stats', query({ type: 'everything' }), 42200, 'type'],
    ['a user id that is not a number', 'GET', '/user/abc', {}, 40401],
    ['a plan id that is not a number', 'GET', '/subscription_plan/1e3', {}, 40402],
    ['a subscription that does not exist', 'GET', '/subscription/77', {}, 40403],
    ['a switch that does not exist', 'GET', '/switch_manage', query({ name: 'nope' }), 40404],
    ['a deleted app', 'GET', '/app_manage/999', {}, 40405],
    ['a price with three decimals', 'POST', '/subscription_plan', { body: { ...plan, price: 1.999 } }, 42200, 'price'],
    ['a negative price', 'POST', '/subscription_plan', { body: { ...plan, price: -1 } }, 42200, 'price'],
    [
      'an original price below the price',
      'POST',
      '/subscription_plan',
      { body: { ...plan, original_price: 5 } },
      42200,
      'original_price',
    ],
    [
      'features that are not JSON',
      'POST',
      '/subscription_plan',
      { body: { ...plan, features: 'export' } },
      42200,
      'features',
    ],
    [
      'features without their array',
      'POST',
      '/subscription_plan',
      { body: { ...plan, features: '{"features":"x"}' } },
      42200,
      'features',
    ],
    ['a name that is taken', 'POST', '/subscription_plan', { body: plan }, 40901],
    ['an operator for a name', 'POST', '/subscription_plan', { body: { ...plan, name: { $gt: '' } } }, 42200, 'name'],
    [
      'an operator for a duration',
      'POST',
      '/subscription_plan',
      { body: { ...plan, duration: { $ne: 1 } } },
      42200,
      'duration',
    ],
    ['a NUL in a name', 'POST', '/subscription_plan', { body: { ...plan, name: 'a\u0000b' } }, 42200, 'name'],
    ['a missing name', 'POST', '/subscription_plan', { body: {} }, 42200, 'name'],
    ['an array for a body', 'POST', '/subscription_plan', { body: '[]' }, 42200],
    ['a switch name with a slash', 'POST', '/switch_manage', { body: { ...flag, name: 'a/b' } }, 42200, 'name'],
    [
      'a value that does not fit its type',
      'POST',
      '/switch_manage',
      { body: { ...flag, value: 'maybe' } },
      42200,
      'value',
    ],
    [
      'a number out of range',
      'POST',
      '/switch_manage',
      { body: { ...flag, type: 'number', value: '1e999' } },
      42200,
      'value',
    ],
    [
      'JSON that is an array',
      'POST',
      '/switch_manage',
      { body: { ...flag, type: 'json', value: '[1]' } },
      42200,
      'value',
    ],
    [
      '64 KiB and one byte',
      'POST',
      '/switch_manage',
      { body: { ...flag, type: 'string', value: 'x'.repeat(65_537) } },
      42200,
      'value',
    ],
    ['an unknown type', 'POST', '/switch_manage', { body: { ...flag, type: 'colour' } }, 42200, 'type'],
    [
      'a rollout with four decimals',
      'POST',
      '/switch_manage',
      { body: { ...flag, rollout: 0.0001 } },
      42200,
      'rollout',
    ],
    [
      'a rule value that does not fit',
      'POST',
      '/switch_manage',
      { body: { ...flag, rules: [{ conditions: [{ attribute: 'a', operator: 'eq', values: ['1'] }], value: 'x' }] } },
      42200,
      'rules.0.value',
    ],
    ['a switch name that is taken', 'POST', '/switch_manage', { body: { ...flag, name: 'known' } }, 40901],
    [
      'another type without a value',
      'PUT',
      '/switch_manage',
      { ...query({ name: 'known' }), body: { type: 'number' } },
      42200,
      'value',
    ],
    [
      'an update of an unknown switch',
      'PUT',
      '/switch_manage',
      { ...query({ name: 'nope' }), body: { value: '1' } },
      40404,
    ],
    [
      'an older version',
      'PUT',
      '/switch_manage',
      { ...query({ name: 'known' }), body: { value: '0', version: 9 } },
      40902,
    ],
    ['an app key with capitals', 'POST', '/app_manage', { body: { app_name: 'x', app_key: 'Demo' } }, 42200, 'app_key'],
    ['an app name that is taken', 'POST', '/app_manage', { body: { app_name: 'Demo' } }, 40901],
    ['a status of 7', 'PUT', '/app_manage/1', { body: { status: 7 } }, 42200, 'status'],
    ['broken JSON', 'POST', '/subscription_plan', { body: '{"name":' }, 40001],
    [
      'a body that is not JSON',
      'POST',
      '/subscription_plan',
      { body: 'name=x', headers: { 'content-type': 'text/plain' } },
      41501,
    ],
    ['more than 1 MiB', 'POST', '/subscription_plan', { body: JSON.stringify({ name: 'x'.repeat(1_100_000) }) }, 41301],
    ['an unknown path', 'GET', '/admin/backup/now', {}, 40400],
    ['an unknown method', 'PATCH', '/user', {}, 40501],
    [
      'an idempotency key with a blank',
      'POST',
      '/subscription_plan',
      { body: plan, headers: { 'idempotency-key': 'a b' } },
      42200,
      'Idempotency-Key',
    ],
  ]
  test.each(rows)('rejects %s', async (_, method, path, given, code, field) => {
    const before = await snapshot()
    const { body, headers, status } = await api.call(method, path, given)
    expect(body.code).toBe(code)
    expect(status).toBe(Math.floor(code / 100))
    if (field) expect(body.data.errors.map((entry: { field: string }) => entry.field)).toContain(field)
    if (code === 40501) expect(headers.get('allow')).toContain('GET')
    expect(await snapshot()).toBe(before)
  })

  test('pageSize is limited to 100, and a page after the last one is empty', async () => {
    const cut = (await api.call('GET', '/user', query({ pageSize: '10000' }))).body.data
    expect(cut.pagination.page_size).toBe(100)
    const past = (await api.call('GET', '/subscription_plan', query({ page: '9' }))).body.data
    expect(past).toMatchObject({ plans: [], pagination: { current_page: 9, total_records: 1 } })
  })

  test('ignores operators in the names of query fields', async () => {
    const { body } = await api.call('GET', '/user?app_key=demo&status[$gt]=&search[$regex]=.*', { query: {} })
    expect(body.data.filters).toMatchObject({ status: '', search: '' })
    expect((await api.call('GET', '/user?app_key[$gt]=', { query: {} })).body.code).toBe(42210)
  })

  test.each([
    ['__proto__', '{"__proto__":{"status":"0"}', 40001],
    ['constructor', '{"constructor":{"prototype":{"x":1}}', 0],
    ['an unknown field', '{"whatever":1', 0],
  ])('%s as a key has no effect', async (name, start, code) => {
    const body = `${start},"name":"Key ${name}","price":1,"duration":1,"features":"{\\"features\\":[]}"}`
    expect((await api.call('POST', '/subscription_plan', { body })).body.code).toBe(code)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
    const stored = await api.context.collections.plans.findOne({ name: `Key ${name}` })
    expect(Object.keys(stored ?? {})).not.toContain('whatever')
    expect(stored?.status).toBe(code === 0 ? '1' : undefined)
  })

  test('error messages exist in both languages', async () => {
    const given = { body: { ...plan, price: 1.999 } }
    const zh = (await api.call('POST', '/subscription_plan', given)).body
    const en = (await api.call('POST', '/subscription_plan', { ...given, headers: { lang: 'en' } })).body
    expect(zh.data.errors[0]).toEqual({
      ...{ field: 'price', rule: 'decimals' },
      ...{ code: 'field.decimals', message: '最多两位小数' },
    })
    expect(en.data.errors[0].message).toBe('may have two decimals at most')
    expect([zh.message, en.message]).toEqual(['参数校验失败', 'Some fields are not valid.'])
  })

  test('a grant without user and plan names both as required', async () => {
    const { body } = await api.call('POST', '/subscription', { body: { days: 7 } })
    expect(body).toMatchObject({ code: 42200, data: { errors: [{ field: 'user_id' }, { field: 'plan_id' }] } })
    for (const one of body.data.errors) expect(one).toMatchObject({ rule: 'required', message: '不能为空' })
  })
})

describe('idempotency keys', () => {
  const post = (body: object, key: string) =>
    api.call('POST', '/subscription_plan', { body, headers: { 'idempotency-key': key } })

  test('repeats the response and creates nothing', async () => {
    const body = { ...plan, name: 'Once' }
    const [first, second] = [await post(body, 'k-1'), await post(body, 'k-1')]
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.text).toBe(first.text)
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect((await post({ ...body, name: 'Other' }, 'k-1')).body.code).toBe(40905)
  })

  test('a rejected request releases its key', async () => {
    expect((await post({ ...plan, price: 'x' }, 'k-2')).body.code).toBe(42200)
    expect((await post({ ...plan, name: 'Freed' }, 'k-2')).status).toBe(200)
  })

  test('one of two concurrent requests runs; the other gets 40906 or the same response', async () => {
    const both = await Promise.all([1, 2].map(() => post({ ...plan, name: 'AtOnce' }, 'k-3')))
    expect(both.filter(({ body }) => body.code !== 0).every(({ body }) => body.code === 40906)).toBe(true)
    expect((await api.call('GET', '/subscription_plan', query({ search: 'AtOnce' }))).body.data.plans).toHaveLength(1)
  })
})

describe('a repeat after the first run died', () => {
  const grant = async (key: string, user_id: string) =>
    api.call('POST', '/subscription', {
      body: { user_id, plan_id: planId, days: 10 },
      headers: { 'idempotency-key': key },
    })
  const newUser = async (openid: string) =>
    (await api.server('POST', '/server/user', { body: { openid } })).body.data.id
  const keys = async () => (await api.context.collections.idempotency.find().toArray()).map(({ _id }) => _id)
  /** Runs a request with a new key, and returns what is stored of it. */
  const rowOf = async (run: () => Promise<unknown>): Promise<IdempotencyDoc> => {
    const before = await keys()
    await run()
    const [made, ...more] = await api.context.collections.idempotency.find({ _id: { $nin: before } }).toArray()
    if (!made || more.length > 0) throw new Error('one key should have been taken')
    return made
  }
  const started_at = () => new Date(api.clock.now().getTime() - 61_000)
  const periods = (user_id: string) => api.context.collections.payments.countDocuments({ user_id: Number(user_id) })

  test('after its change and before its response: does not repeat the change', async () => {
    const user = await newUser('died-late')
    const { _id } = await rowOf(() => grant('died-late', user))
    const died = { $set: { started_at: started_at(), state: 'changed' as const }, $unset: { answer: '' as const } }
    await api.context.collections.idempotency.updateOne({ _id }, died)
    expect((await grant('died-late', user)).body.code).toBe(40911)
    expect(await periods(user)).toBe(1)
  })

  test('after its response, whose encryption key is lost: does not repeat the change', async () => {
    const user = await newUser('key-lost')
    const { _id } = await rowOf(() => grant('key-lost', user))
    const answer = createSecrets('the secret of an earlier start, of 32 bytes').seal('app-secret', _id, '{}')
    await api.context.collections.idempotency.updateOne({ _id }, { $set: { answer } })
    expect(await grant('key-lost', user)).toMatchObject({ status: 409, body: { code: 40911 } })
    expect(await periods(user)).toBe(1)
  })

  test('before its change: executes it once', async () => {
    const user = await newUser('died-early')
    const { answer: _, ...row } = await rowOf(() => grant('died-early', user))
    // The state before the change: the key is stored, nothing is granted.
    await api.context.collections.payments.deleteMany({ user_id: Number(user) })
    await api.context.collections.subscriptions.deleteMany({ user_id: Number(user) })
    await api.context.collections.idempotency.replaceOne(
      { _id: row._id },
      { ...row, state: 'running', started_at: started_at() },
    )
    const first = await grant('died-early', user)
    expect([first.status, first.headers.get('idempotency-replayed'), await periods(user)]).toEqual([200, null, 1])
    const again = await grant('died-early', user)
    expect([again.text, again.headers.get('idempotency-replayed'), await periods(user)]).toEqual([
      first.text,
      'true',
      1,
    ])
  })

  test('in the middle, with an error: returns the same error and changes nothing', async () => {
    const [holder, user] = [await newUser('holds-reference'), await newUser('half-way')]
    const purchase = (user_id: string, client_ref: string) => ({
      user_id,
      plan_id: planId,
      client_ref,
      start_date: '1',
      end_date: '0',
    })
    const sync = (purchases: object[], key: string) =>
      api.server('POST', '/server/local_sync', { body: { purchases }, headers: { 'idempotency-key': key } })
    expect((await sync([purchase(holder, 'taken')], 'half-0')).status).toBe(200)
    const both = [purchase(user, 'fresh'), purchase(user, 'taken')]
    const first = await sync(both, 'half-way')
    expect([first.body.code, await periods(user)]).toEqual([40908, 1])
    const again = await sync(both, 'half-way')
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
      first.status,
      first.text,
      'true',
    ])
    expect(await periods(user)).toBe(1)
  })
})

describe('an import with a key', () => {
  const send = async (file: string, key: string) =>
    api.call('POST', '/subscription/import', {
      body: file,
      headers: { 'content-type': 'text/csv', 'idempotency-key': key },
    })
  const file = async (openid: string) => {
    const { id } = (await api.server('POST', '/server/user', { body: { openid } })).body.data
    return `user_id,plan_id,days,client_ref\n${id},${planId},5,${openid}\n`
  }

  test('is answered again for the same file, and rejected for another one', async () => {
    const [one, two] = [await file('import-1'), await file('import-2')]
    const first = await send(one, 'import')
    expect(first.body.data).toMatchObject({ total: 1, imported: 1 })
    const again = await send(one, 'import')
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expect((await send(two, 'import')).body.code).toBe(40905)
    expect((await send(two, 'import-2')).body.data).toMatchObject({ imported: 1 })
  })

  test('that is rejected can be repeated with a corrected file', async () => {
    const right = await file('import-3')
    expect((await send(right.replace(',5,', ',x,'), 'put-right')).status).toBe(422)
    expect((await send(right, 'put-right')).body.data).toMatchObject({ imported: 1 })
  })

  test('by a form is the same request with any boundary', async () => {
    const table = await file('import-4')
    const bySend = (boundary: string) => {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n`
      return api.call('POST', '/subscription/import', {
        body: `${head}${table}\r\n--${boundary}--\r\n`,
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'by-form' },
      })
    }
    const first = await bySend('one')
    expect(first.body.data).toMatchObject({ imported: 1 })
    expect((await bySend('two')).headers.get('idempotency-replayed')).toBe('true')
  })

  test('rejects other days for the reference of a manual grant through the API', async () => {
    const { id } = (await api.server('POST', '/server/user', { body: { openid: 'grant-days' } })).body.data
    const grant = (days: number | undefined) =>
      api.call('POST', '/subscription', { body: { user_id: id, plan_id: planId, days, client_ref: 'grant-days' } })
    expect((await grant(5)).status).toBe(200)
    expect((await grant(5)).status).toBe(200)
    expect((await grant(7)).body.code).toBe(40908)
    expect((await grant(undefined)).body.code).toBe(40908)
  })

  test.each([
    ['rejects a huge quoted cell', (rows: string) => `${rows}"${'x'.repeat(3_000_000)}",1,1,x\n`, 'row_length'],
    ['rejects an endless heading', (rows: string) => rows.replace('\n', `${',x'.repeat(500_000)}\n`), 'row_cells'],
    ['accepts a heading of a hundred cells', (rows: string) => rows.replace('\n', `${',x'.repeat(96)}\n`), undefined],
    [
      'accepts a heading with names of prototypes',
      (rows: string) => rows.replace('\n', ',__proto__,constructor\n'),
      undefined,
    ],
  ])('%s', async (name, spoil, rule) => {
    const rows = await file(`spoilt ${name}`.replaceAll(' ', '-'))
    const { status, body } = await send(spoil(rows), name.replaceAll(' ', '-'))
    expect([status, body.data.imported]).toEqual([rule ? 422 : 200, rule ? 0 : 1])
    expect(body.data.errors.map((error: { rule: string }) => error.rule)).toEqual(rule ? [rule] : [])
  })
})

test.each([
  ['9999-12-31', ''],
  ['', '9999-12-31'],
  ['0001-01-01', '9999-12-31'],
  ['9999-12-31', '9999-12-31'],
  ['0', '99999999999'],
])('accepts the dates %j to %j as a range', async (start_date, end_date) => {
  for (const path of ['/user', '/subscription', '/user/export', '/subscription/export'])
    expect((await api.call('GET', path, query({ start_date, end_date }))).status).toBe(200)
})

test('renewing a granted subscription requires a payment method, and its payment counts once', async () => {
  const { id } = (await api.server('POST', '/server/user', { body: { openid: 'granted' } })).body.data
  const { data } = (await api.call('POST', '/subscription', { body: { user_id: id, plan_id: planId, days: 10 } })).body
  const renew = async (more: object) =>
    (await api.server('POST', `/server/subscription/${data.id}/renew`, { body: { payment_id: 'R-1', ...more } })).body
  for (const [more, rule] of [
    [{}, 'required'],
    [{ payment_method: 'trial' }, 'value'],
  ] as const)
    expect(await renew(more)).toMatchObject({ code: 42200, data: { errors: [{ field: 'payment_method', rule }] } })
  for (const repeated of [false, true])
    expect((await renew({ payment_method: 'alipay' })).data).toMatchObject({ repeated })
  for (const repeated of [false, true]) {
    const byHand = { payment_method: 'manual', payment_id: 'BANK-1', client_ref: 'bank-1' }
    expect((await renew(byHand)).data).toMatchObject({ repeated })
  }
})

test('a repeated renewal without a method stays the same after a payment with another method', async () => {
  const { id } = (await api.server('POST', '/server/user', { body: { openid: 'changes-method' } })).body.data
  const paid = { user_id: id, plan_id: planId, payment_method: 'alipay', payment_id: 'M-1' }
  const { subscription } = (await api.server('POST', '/server/subscription', { body: paid })).body.data
  for (const [body, repeated] of [
    [{ payment_id: 'M-2' }, false],
    [{ payment_id: 'M-2', payment_method: 'alipay' }, true],
    [{ payment_id: 'M-3', payment_method: 'wechat' }, false],
    [{ payment_id: 'M-2' }, true],
    [{ payment_id: 'M-1' }, true],
    [{ payment_id: 'M-4' }, false],
    [{ payment_id: 'M-4', payment_method: 'wechat' }, true],
  ] as const)
    expect([body, (await api.server('POST', `/server/subscription/${subscription.id}/renew`, { body })).body]).toEqual([
      body,
      expect.objectContaining({ data: expect.objectContaining({ repeated }) }),
    ])
  expect(await api.context.collections.payments.countDocuments({ user_id: Number(id) })).toBe(4)
})

test('a record of a Kubernetes resource is read-only, and the error names its resource', async () => {
  await api.context.collections.plans.updateOne(
    { _id: Number(planId) },
    { $set: { managed_by: { kind: 'SubscriptionPlan', namespace: 'shop', name: 'gold', uid: 'u1' } } },
  )
  const refused = await api.call('PUT', `/subscription_plan/${planId}`, { body: { price: 1 } })
  expect(refused.body.code).toBe(40907)
  expect(refused.body.data.errors[0].message).toBe('k8s:shop/gold')
})

describe('rates', () => {
  test('a session or app above its rate gets the time to wait', async () => {
    const slow = await startSubscriptionApi({ ADMIN_REQUESTS_PER_MINUTE: '3', SERVER_REQUESTS_PER_MINUTE: '1' })
    try {
      const codes = []
      for (let i = 0; i < 4; i++) codes.push((await slow.call('GET', '/overview')).body.code)
      expect(codes.at(-1)).toBe(42901)
      const app = [
        await slow.server('POST', '/server/user', { body: { openid: 'a' } }),
        await slow.server('POST', '/server/user', { body: { openid: 'a' } }),
      ]
      expect(app.map(({ body }) => body.code)).toEqual([0, 42901])
      expect(Number(app[1]?.headers.get('retry-after'))).toBeGreaterThan(0)
    } finally {
      await slow.stop()
    }
  })
})

describe('the rate of an address', () => {
  /** A service with a limit of four, and a read with a token; by default the super administrator's. */
  const slowApi = async () => {
    const slow = await startSubscriptionApi({ ADMIN_REQUESTS_PER_MINUTE: '4' })
    onTestFinished(() => slow.stop())
    const read = async (token?: string) =>
      (await slow.call('GET', '/overview', token === undefined ? {} : { token })).body.code
    return { slow, read }
  }

  test.each([
    ['an unknown form', (n: number) => `${n}${'x'.repeat(8_000)}`],
    ['the correct form', (n: number) => `at_${String(n).padStart(43, 'x')}`],
  ])('applies to any number of invented tokens of %s, and not to open sessions', async (_, made) => {
    const { slow, read } = await slowApi()
    expect(await read()).toBe(0)
    slow.clock.advance(60_000)
    const codes = []
    for (let n = 0; n < 6; n++) codes.push(await read(made(n)))
    expect(codes).toEqual([40102, 40102, 40102, 40102, 42901, 42901])
    expect(await read()).toBe(0)
  })

  test('applies to concurrent invented tokens', async () => {
    const { read } = await slowApi()
    const codes = await Promise.all(Array.from({ length: 20 }, (_, n) => read(`at_${String(n).padStart(43, 'x')}`)))
    expect(codes.filter(code => code !== 42901).length).toBeLessThanOrEqual(4)
  })

  test('is separate from that of each session, even of rarely used ones', async () => {
    const { slow, read } = await slowApi()
    const tokens = [await slow.logIn('viewer', ['demo']), await slow.logIn('operator', ['demo'])]
    for (const token of tokens) expect(await read(token)).toBe(0)
    slow.clock.advance(60_000)
    for (let n = 0; n < 4; n++) {
      for (const token of tokens) expect(await read(token)).toBe(0)
      slow.clock.advance(5_000)
    }
    for (const token of tokens) expect(await read(token)).toBe(42901)
  })

  test('applies to a session that has ended', async () => {
    const { slow, read } = await slowApi()
    const token = await slow.logIn('viewer', ['demo'])
    expect(await read(token)).toBe(0)
    await slow.call('DELETE', '/token', { token, query: {} })
    slow.clock.advance(60_000)
    expect(await read(token)).toBe(40102)
    for (let n = 0; n < 4; n++) expect(await read(`at_${String(n).padStart(43, 'x')}`)).toBe(40102)
    expect(await read(token)).toBe(42901)
  })
})

describe('errors below the operations', () => {
  test('a path with a broken escape gets an envelope', async () => {
    const { port } = new URL(api.url)
    const text = await new Promise<string>((resolve, reject) => {
      httpRequest({ port, path: '/user/%E0%A4%A', headers: { token: viewer } }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', chunk => {
          body += chunk
        })
        response.on('end', () => resolve(body))
      })
        .on('error', reject)
        .end()
    })
    expect(JSON.parse(text)).toMatchObject({ code: 42210, data: {} })
  })

  test('a request that is not HTTP gets an envelope', async () => {
    const { port } = new URL(api.url)
    const text = await new Promise<string>((resolve, reject) => {
      let body = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
      socket.setEncoding('utf8').on('data', chunk => {
        body += chunk
      })
      socket.on('close', () => resolve(body)).on('error', reject)
    })
    expect(text.startsWith('HTTP/1.1 400')).toBe(true)
    expect(JSON.parse(text.slice(text.indexOf('{')))).toMatchObject({ code: 40002, data: {} })
  })

  test('an unavailable database gets an envelope', async () => {
    const lost = await startSubscriptionApi()
    await lost.foundation.mongo.connection.close()
    const { body, status } = await lost.call('GET', '/user')
    expect([status, body.code]).toEqual([503, 50301])
  })
})
