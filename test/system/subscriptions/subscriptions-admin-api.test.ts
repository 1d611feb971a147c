/** The operations of the reference, as an administrator uses them; every response is checked against the contract. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resetPassword } from '../../../services/accounts/manage-accounts.ts'
import { findUserByName } from '../../../services/accounts/store/users.ts'
import { checked, type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
beforeAll(async () => {
  api = await startSubscriptionApi({ ADMIN_BASE_URL: 'https://admin.example.net' })
})
afterAll(() => api.stop())

const monthly = {
  name: 'Monthly',
  description: 'Thirty days',
  price: 19.9,
  original_price: 29.9,
  duration: 30,
  features: '{"features":["export","sync"]}',
  sort_order: '1',
  status: '1',
}
const newUser = (openid: string, more = {}) =>
  api.server('POST', '/server/user', { body: { openid, nickname: `N-${openid}`, platform: 'ios', ...more } })

describe('login', () => {
  test('returns a token with its administrator, and deletes it', async () => {
    const body = { username: 'ROOT ', password: 'correct horse battery' }
    const { data } = (await api.call('POST', '/token', { body, token: '' })).body
    expect(data.admin).toMatchObject({ username: 'root', role: 'super', status: '1', last_login_ip: '127.0.0.1' })
    const status = await api.call('GET', '/token', { token: data.token })
    expect(status.body.data.token).toBe(data.token)
    expect((await api.call('DELETE', '/token', { token: data.token })).body.data).toEqual({})
    expect((await api.call('GET', '/token', { token: data.token })).body.code).toBe(40102)
  })

  test('all=1 ends every session of the administrator', async () => {
    const first = await api.logIn('viewer', ['demo'])
    const login = await api.call('POST', '/token', {
      token: '',
      body: { username: 'admin-1', password: 'correct horse battery' },
    })
    await api.call('DELETE', '/token', { token: login.body.data.token, query: { all: '1' } })
    expect((await api.call('GET', '/token', { token: first })).body.code).toBe(40102)
  })

  test('a password reset outside of this API ends the session', async () => {
    const login = { username: 'reset-me', password: 'correct horse battery' }
    await api.call('POST', '/admin', { body: { ...login, role: 'viewer', app_keys: ['demo'] } })
    const { token } = (await api.call('POST', '/token', { token: '', body: login })).body.data
    expect((await api.call('GET', '/token', { token })).status).toBe(200)
    const account = await findUserByName(api.foundation.mongo.db, login.username)
    await resetPassword(api.foundation, account?._id ?? '', undefined)
    api.clock.advance(5_000) // the maximum age of cached sessions
    expect((await api.call('GET', '/token', { token })).body.code).toBe(40102)
  })

  test('a session expires 12 hours after its last use', async () => {
    const token = await api.logIn('viewer', ['demo'])
    api.clock.advance(11 * 3_600_000)
    expect((await api.call('GET', '/token', { token })).status).toBe(200)
    api.clock.advance(11 * 3_600_000)
    expect((await api.call('GET', '/token', { token })).status).toBe(200)
    api.clock.advance(12 * 3_600_000)
    expect((await api.call('GET', '/token', { token })).body.code).toBe(40102)
    await api.later(0)
  })
})

const root = (method: string, path: string, given = {}) => api.call(method, path, given)

describe('users', () => {
  test('are listed newest first, found by search, counted and returned by id', async () => {
    await newUser('wx-1', { phone: '13800000001', email: 'Ann@example.com' })
    api.clock.advance(1000)
    const second = (await newUser('wx-2', { nickname: '(special) *name' })).body.data
    const list = await root('GET', '/user', { query: { app_key: 'demo', pageSize: '1' } })
    expect(list.body.data.users.map((user: { openid: string }) => user.openid)).toEqual(['wx-2'])
    const { next_cursor, ...pagination } = list.body.data.pagination
    expect(pagination).toEqual({ current_page: 1, page_size: 1, total_pages: 2, total_records: 2 })
    expect(next_cursor).toMatch(/^[\w-]+$/)
    expect(list.body.data.filters).toEqual({ search: '', status: '', platform: '', start_date: '', end_date: '' })
    for (const [search, openid] of [
      ['ann@EX', 'wx-1'],
      ['1380000', 'wx-1'],
      ['(special) *', 'wx-2'],
    ] as const) {
      const found = await root('GET', '/user', { query: { app_key: 'demo', search } })
      expect(found.body.data.users.map((user: { openid: string }) => user.openid)).toEqual([openid])
      expect(found.body.data.filters.search).toBe(search)
    }
    const one = await root('GET', `/user/${second.id}`)
    expect(one.body.data.users).toHaveLength(1)
    expect(one.body.data.users[0]).toMatchObject({ phone: null, email: null, login_count: '1', status: '1' })
    expect((await root('GET', '/user/999999')).body.code).toBe(40401)
  })

  test('a list accepts an empty multipart body', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    expect((await root('GET', '/user', { headers })).status).toBe(200)
  })

  test('a date range includes both days, in the business time zone', async () => {
    const total = async (start_date: string, end_date: string) =>
      (await root('GET', '/user', { query: { app_key: 'demo', start_date, end_date } })).body.data.pagination
        .total_records
    const today = api.context.zone.day(api.clock.now())
    expect(await total(today, today)).toBe(2)
    expect(await total('2020-01-01', '2020-01-02')).toBe(0)
    expect(await total('0', String(Math.floor(api.clock.now().getTime() / 1000)))).toBe(2)
  })

  test('statistics are consistent, and a disabled user counts as inactive', async () => {
    const { data } = (await newUser('wx-3')).body
    await root('PUT', `/user/${data.id}`, { body: { status: 0 } })
    const stats = (await root('GET', '/user_stats', { query: { type: 'overview' } })).body.data
    expect(stats).toMatchObject({ total_users: 3, active_users: 2, inactive_users: 1, today_new_users: 3 })
    expect(stats.active_rate).toBe(66.67)
    expect(stats.daily_growth_rate).toBe(100)
    const trend = await root('GET', '/user_stats', { query: { type: 'trend', days: '2' } })
    expect(trend.body.data.trend).toHaveLength(2)
    const { data: parts } = (await root('GET', '/user_stats', { query: { app_key: 'demo', type: 'platform' } })).body
    expect(parts.platforms).toEqual([{ platform: 'ios', total_users: 3, share: 100 }])
    expect(parts.total_users).toBe(3)
  })

  test('erasing a user removes personal data and keeps the record', async () => {
    const { data } = (await newUser('wx-gone', { phone: '13900000000' })).body
    await root('DELETE', `/user/${data.id}`)
    const [user] = (await root('GET', `/user/${data.id}`)).body.data.users
    expect(user).toMatchObject({ openid: '', phone: null, nickname: '', status: '0' })
    expect((await root('PUT', `/user/${data.id}`, { body: { status: '1' } })).body.code).toBe(40903)
  })

  test('the export is CSV without spreadsheet formulas', async () => {
    await newUser('wx-csv', { nickname: '=1+1,"x"' })
    const { text, headers } = await root('GET', '/user/export', { query: { app_key: 'demo', search: '=1+1' } })
    expect(headers.get('content-type')).toContain('text/csv')
    expect(text.startsWith('id,nickname') || text.startsWith('\uFEFFid,nickname')).toBe(true)
    expect(text).toContain(`"'=1+1,""x"""`)
  })
})

describe('plans', () => {
  test('creation returns an empty object with a Location, or the record on request', async () => {
    const made = await root('POST', '/subscription_plan', { body: monthly })
    expect(made.body.data).toEqual({})
    const location = made.headers.get('location') ?? ''
    const plan = (await root('GET', location)).body.data
    expect(plan).toMatchObject({ ...monthly, price: '19.90', original_price: '29.90', duration: '30', version: '1' })
    const headers = { prefer: 'return=representation' }
    const forever = { ...monthly, name: 'Forever', duration: 0, sort_order: 0 }
    const full = (await root('POST', '/subscription_plan', { body: forever, headers })).body.data
    expect(full).toMatchObject({ name: 'Forever', is_permanent: true, duration: '0' })
    const list = (await root('GET', '/subscription_plan')).body.data
    expect(list.plans.map((known: { name: string }) => known.name)).toEqual(['Forever', 'Monthly'])
  })

  test('an update is partial, a changed offer gets a new version, and an old revision can be restored', async () => {
    const [, plan] = (await root('GET', '/subscription_plan')).body.data.plans
    const path = `/subscription_plan/${plan.id}`
    expect((await root('PUT', path, { body: { description: 'new' } })).body.data).toMatchObject({
      description: 'new',
      version: '1',
    })
    const dearer = (await root('PUT', path, { body: { price: '25', original_price: 30, version: 1 } })).body.data
    expect(dearer).toMatchObject({ price: '25.00', version: '2' })
    expect((await root('PUT', path, { body: { price: 26, version: 1 } })).body.code).toBe(40902)
    const { revisions } = (await root('GET', `${path}/history`)).body.data
    expect(revisions).toHaveLength(2)
    const back = await root('POST', `${path}/restore`, { body: { revision: revisions[1].revision } })
    expect(back.body.data).toMatchObject({ price: '19.90', description: 'Thirty days', version: '3' })
  })

  test('one of two concurrent creations with one name succeeds', async () => {
    const twice = await Promise.all(
      [1, 2].map(() => root('POST', '/subscription_plan', { body: { ...monthly, name: 'Twin' } })),
    )
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(twice.find(({ status }) => status === 409)?.body.code).toBe(40901)
  })
})

describe('subscriptions', () => {
  test('are listed with user and plan, the total as text, and an empty array without filters', async () => {
    const plans = (await root('GET', '/subscription_plan')).body.data.plans
    const id = (name: string) => plans.find((plan: { name: string }) => plan.name === name).id
    const user = (await newUser('wx-sub', { nickname: 'Zoe', email: 'zoe@example.com' })).body.data
    const timed = await root('POST', '/subscription', { body: { user_id: user.id, plan_id: id('Monthly') } })
    api.clock.advance(1000)
    const forever = await root('POST', '/subscription', { body: { user_id: user.id, plan_id: id('Forever') } })
    expect(timed.body.data).toMatchObject({
      status: '1',
      payment_method: 'manual',
      payment_id: '0'.repeat(28),
      user_nickname: 'Zoe',
      user_email: 'zoe@example.com',
      user_phone: null,
      plan_name: 'Monthly',
      plan_price: '19.90',
      plan_duration: '30',
      is_permanent: false,
      is_expiring_soon: false,
      is_expired: false,
    })
    expect(forever.body.data).toMatchObject({ end_date: '0', end_date_formatted: '永久有效', is_permanent: true })
    expect(forever.body.data).not.toHaveProperty('is_expiring_soon')
    const list = (await root('GET', '/subscription', { query: { app_key: 'demo', page: '1', pageSize: '2' } })).body
      .data
    expect(list.pagination).toMatchObject({ current_page: 1, page_size: 2, total_pages: 1, total_records: '2' })
    expect(list.filters).toEqual([])
    expect(list.subscriptions.map((entry: { id: string }) => entry.id)).toEqual([
      forever.body.data.id,
      timed.body.data.id,
    ])
    const found = (await root('GET', '/subscription', { query: { app_key: 'demo', search: 'zoe', status: '1' } })).body
    expect(found.data.filters).toEqual({ search: 'zoe', status: '1' })
    expect(found.data.pagination.total_records).toBe('2')
  })

  test('keep the price at which they were bought', async () => {
    const [sold] = (await root('GET', '/subscription', { query: { app_key: 'demo', auto_renew: '0' } })).body.data
      .subscriptions
    await root('PUT', `/subscription_plan/${sold.plan_id}`, { body: { price: 99, original_price: 99 } })
    expect((await root('GET', `/subscription/${sold.id}`)).body.data.plan_price).toBe(sold.plan_price)
  })

  test('can be extended and canceled at the end of the period or immediately; final states are final', async () => {
    const user = (await newUser('wx-act')).body.data
    const plans = (await root('GET', '/subscription_plan', { query: { app_key: 'demo', search: 'month' } })).body.data
    const made = (await root('POST', '/subscription', { body: { user_id: user.id, plan_id: plans.plans[0].id } })).body
    const path = `/subscription/${made.data.id}`
    const longer = (await root('PUT', path, { body: { action: 'extend', days: 5 } })).body.data
    expect(Number(longer.end_date) - Number(made.data.end_date)).toBe(5 * 86_400)
    expect((await root('PUT', path, { body: { action: 'set_auto_renew', auto_renew: 1 } })).body.data.auto_renew).toBe(
      '1',
    )
    const kept = (await root('PUT', path, { body: { action: 'cancel' } })).body.data
    expect(kept).toMatchObject({ status: '1', auto_renew: '0' })
    const gone = (await root('PUT', path, { body: { action: 'cancel', at: 'now' } })).body.data
    expect(gone).toMatchObject({ status: '3', is_expired: true })
    expect((await root('PUT', path, { body: { action: 'extend', days: 5 } })).body.code).toBe(40903)
    expect((await root('PUT', path, { body: { action: 'extend' } })).body.code).toBe(42200)
    const batch = await root('POST', '/subscription/batch', {
      body: { ids: [made.data.id, 999_999], action: 'extend', days: 1 },
    })
    expect(batch.body.data.results.map((result: { code: number }) => result.code)).toEqual([40903, 40403])
  })

  test('an import validates every row first, and repeating it changes nothing', async () => {
    const user = (await newUser('wx-import')).body.data
    const [plan] = (await root('GET', '/subscription_plan', { query: { app_key: 'demo', search: 'twin' } })).body.data
      .plans
    const headers = { 'content-type': 'text/csv' }
    const send = (body: string, dry_run = '0') =>
      root('POST', '/subscription/import', { body, headers, query: { app_key: 'demo', dry_run } })
    const heading = 'user_id,plan_id,days,client_ref\n'
    const wrong = await send(`${heading}${user.id},${plan.id},10,a\n999,${plan.id},x,b\n`)
    expect([wrong.status, wrong.body.code, wrong.body.message]).toEqual([422, 42200, '参数校验失败'])
    expect(wrong.body.data).toMatchObject({ total: 2, imported: 0, dry_run: false })
    expect(wrong.body.data.errors[0]).toMatchObject({ row: 3 })
    const file = `\uFEFF${heading}${user.id},${plan.id},10,ref-1\r\n`
    expect((await send(file, '1')).body.data).toMatchObject({ total: 1, imported: 0, dry_run: true, errors: [] })
    expect((await send(file)).body.data).toMatchObject({ imported: 1, repeated: 0 })
    expect((await send(file)).body.data).toMatchObject({ imported: 0, repeated: 1 })
    const other = await send(file.replace(',10,', ',20,'))
    expect([other.status, other.body.data.errors]).toEqual([
      422,
      [
        {
          ...{ row: 2, field: 'client_ref', rule: 'other_days', code: 'field.other_days' },
          message: '该编号此前已按其他天数授予',
        },
      ],
    ])
    const checked = await send(file.replace(',10,', ',20,'), '1')
    expect([checked.status, checked.body.code, checked.body.data.errors.length]).toEqual([200, 0, 1])
    const list = (await root('GET', '/subscription', { query: { app_key: 'demo', user_id: user.id } })).body.data
    expect(list.subscriptions).toHaveLength(1)
    const { start_date, end_date } = list.subscriptions[0]
    expect(Number(end_date) - Number(start_date)).toBe(10 * 86_400)
  })

  describe('an import by a form', () => {
    const send = async (form: FormData, headers: Record<string, string> = {}) => {
      const encoded = new Response(form)
      const type = encoded.headers.get('content-type') ?? ''
      const response = await fetch(`${api.url}/subscription/import?app_key=demo&dry_run=1`, {
        method: 'POST',
        headers: { token: await api.logIn('super', []), 'content-type': type, ...headers },
        body: await encoded.arrayBuffer(),
      })
      return { status: response.status, body: (await response.json()) as { data: Record<string, unknown> } }
    }
    const file = (content: string | Uint8Array<ArrayBuffer>, type: string, name = 'grants.csv') =>
      new File([content], name, { type })
    const table = 'User_ID;Plan_ID;Days;Client_Ref\r\n1;1;5;a\r\n'
    const formOf = (...files: File[]) => {
      const form = new FormData()
      form.set('note', 'from the shop')
      for (const one of files) form.append('file', one)
      return form
    }

    test.each([
      ['text/csv', 'utf-8'],
      ['application/vnd.ms-excel', 'utf-8'],
      ['', 'utf-8'],
      ['text/csv; charset=gbk', 'gb18030'],
    ])('reads a file of the type %j', async (type, encoding) => {
      const { status, body } = await send(formOf(file(table, type)))
      expect(status).toBe(200)
      expect(body.data).toMatchObject({ total: 1, encoding, separator: ';', dry_run: true })
    })

    test('explains what to do with a spreadsheet', async () => {
      const { body } = await send(formOf(file(new Uint8Array([0x50, 0x4b, 3, 4, 20, 0]), '', 'grants.xlsx')), {
        lang: 'en',
      })
      expect(body.data.errors).toEqual([
        {
          ...{ row: 1, field: 'file', rule: 'spreadsheet', code: 'field.spreadsheet' },
          message: 'is a spreadsheet (.xlsx, .xls or .ods); save it as "CSV UTF-8" and import that',
        },
      ])
    })

    test.each<[string, FormData, Record<string, string>, number]>([
      ['without a file', formOf(), {}, 422],
      ['with two files', formOf(file(table, ''), file(table, '')), {}, 422],
      ['with another boundary', formOf(file(table, '')), { 'content-type': 'multipart/form-data; boundary=x' }, 400],
      ['of too many fields', formOf(...Array(101).fill(file(table, ''))), {}, 400],
      ['without a boundary', formOf(file(table, '')), { 'content-type': 'multipart/form-data' }, 400],
      ['of another type', formOf(file(table, '')), { 'content-type': 'application/pdf' }, 415],
      ['that is too large', formOf(file('x'.repeat(20 * 1024 * 1024), '')), {}, 413],
    ])('rejects a form %s', async (_, form, headers, status) => {
      expect((await send(form, headers)).status).toBe(status)
    })
  })

  test('the overview counts them', async () => {
    const data = (await root('GET', '/overview', { query: { app_key: 'demo', days: '3' } })).body.data
    expect(data).toMatchObject({ total_apps: 1, permanent_subscriptions: 1, timed_subscriptions: 2, mrr: 0 })
    expect(data.trend).toHaveLength(3)
    expect(data.active_subscriptions).toBe(3)
  })
})

describe('switches', () => {
  const create = (body: object) => root('POST', '/switch_manage', { body })

  test('creation, update and deletion return the new list with the changed switch first', async () => {
    const first = (await create({ name: 'dark_mode', description: 'd', type: 'boolean', value: '1' })).body.data
    expect(first.switches[0]).toMatchObject({
      name: 'dark_mode',
      type: 'boolean',
      value: { title: '', logs: [], test_json: 'true' },
      display_value: '开启',
      status_class: 'success',
      created_by: 'root',
    })
    api.clock.advance(1000)
    const second = (await create({ name: 'limit', type: 'number', value: '42' })).body.data
    expect(second.switches.map((entry: { name: string }) => entry.name)).toEqual(['limit', 'dark_mode'])
    expect(second.pagination).toEqual({ page: 1, pageSize: 20, total: 2, totalPages: 1 })
    api.clock.advance(1000)
    const changed = await root('PUT', '/switch_manage', {
      query: { app_key: 'demo', name: 'dark_mode' },
      body: { value: '0' },
      headers: { lang: 'en' },
    })
    expect(changed.body.data.switches[0]).toMatchObject({ name: 'dark_mode', display_value: 'Off', status_text: 'Off' })
    const rest = await root('DELETE', '/switch_manage', { query: { app_key: 'demo', name: 'limit' } })
    expect(rest.body.data.switches).toHaveLength(1)
  })

  test('a deleted switch can be restored from its history with its id, which salts its rollout', async () => {
    const query = { app_key: 'demo', name: 'limit', action: 'history' }
    const [kept] = (await root('GET', '/switch_manage', { query })).body.data.revisions
    expect(kept).toMatchObject({ deleted: true, by: 'root' })
    const back = await root('POST', '/switch_manage/restore', { body: { name: 'limit', revision: kept.revision } })
    expect(back.body.data).toMatchObject({ name: 'limit', raw_value: '42', id: String(kept.record._id) })
  })

  test('one path serves a switch, the types and the metadata', async () => {
    const one = await root('GET', '/switch_manage', { query: { app_key: 'demo', name: 'limit' } })
    expect(one.body.data.value.test_json).toBe('42')
    const types = await root('GET', '/switch_manage', { query: { app_key: 'demo', action: 'types' } })
    expect(types.body.data.types.map((entry: { type: string }) => entry.type)).toContain('changelog')
    expect(types.body.data.switches).toHaveLength(2)
    const metadata = await root('GET', '/switch_manage', { query: { app_key: 'demo', action: 'metadata' } })
    expect(metadata.body.data).toMatchObject({ total: 2, enabled: 1, disabled: 1, by_type: { number: 1, boolean: 1 } })
  })

  test('a changelog is returned newest first, with its notes in the value', async () => {
    const note = (version: string) => ({ version, date: '2026-01-31', title: '', features: ['x'] })
    const value = JSON.stringify({ title: 'News', logs: [note('1.2.0'), note('1.10.0')] })
    const made = (await create({ name: 'changes', type: 'changelog', value })).body.data.switches[0]
    expect(made.value.logs.map((log: { version: string }) => log.version)).toEqual(['1.10.0', '1.2.0'])
    expect(made.display_value).toBe('1.10.0 (2)')
  })

  test('one of two concurrent creations with one name succeeds', async () => {
    const twin = { name: 'twin', type: 'boolean', value: '1' }
    const answers = await Promise.all([create(twin), create(twin)])
    expect(answers.map(({ body }) => body.code).toSorted()).toEqual([0, 40901])
  })
})

describe('apps', () => {
  test('accept the status as a number and return it as text', async () => {
    const made = (await root('POST', '/app_manage', { body: { app_name: 'Second', status: 1 } })).body.data
    expect(made).toMatchObject({ app_name: 'Second', status: '1' })
    expect(made.app_key).toMatch(/^app_[0-9a-f]{16}$/)
    const path = `/app_manage/${made.id}`
    expect((await root('PUT', path, { body: { status: 0 } })).body.data.status).toBe('0')
    expect((await root('GET', path)).body.data.status).toBe('0')
    const left = (await root('DELETE', path)).body.data
    expect(left.apps.map((app: { app_name: string }) => app.app_name)).toEqual(['Demo'])
    expect((await root('GET', path)).body.code).toBe(40405)
    expect((await root('GET', '/user', { query: { app_key: made.app_key } })).body.code).toBe(40410)
    const again = await root('POST', '/app_manage', { body: { app_name: 'Third', app_key: made.app_key } })
    expect(again.body.code).toBe(40901)
  })

  test('with live subscriptions cannot be deleted without force', async () => {
    expect((await root('DELETE', `/app_manage/${api.demo.id}`)).body.code).toBe(40904)
  })

  test('have at most two live secrets, each of which can be revoked', async () => {
    const path = `/app_manage/${api.demo.id}/credential`
    const second = (await root('POST', path, { body: {} })).body.data
    expect(second.secret).toMatch(/^ask_[0-9a-f]{16}_[\w-]{43}$/)
    expect((await root('POST', path, { body: { kind: 'secret' } })).body.code).toBe(40903)
    const auth = { authorization: `Bearer ${second.secret}` }
    expect((await api.server('POST', '/server/user', { body: { openid: 'wx-1' }, headers: auth })).status).toBe(200)
    await root('DELETE', `${path}/${second.id}`)
    api.clock.advance(1_100)
    expect((await api.server('POST', '/server/user', { body: { openid: 'wx-1' }, headers: auth })).body.code).toBe(
      40110,
    )
    const { credentials } = (await root('GET', path)).body.data
    expect(JSON.stringify(credentials)).not.toContain('ask_')
  })
})

describe('the reason of an action', () => {
  const history = async (id: string) =>
    (await root('GET', '/audit_log', { query: { app_key: 'demo', target_kind: 'subscription', target_id: id } })).body
      .data.audit_logs as { action: string; reason: string; changes: object }[]
  const grant = async (openid: string) => {
    const user = (await newUser(openid)).body.data
    const plans = (await root('GET', '/subscription_plan', { query: { app_key: 'demo', search: 'month' } })).body.data
    const made = await root('POST', '/subscription', { body: { user_id: user.id, plan_id: plans.plans[0].id } })
    return { id: made.body.data.id as string, userId: user.id as string }
  }

  test('is in the history of the subscription, for one action and for many', async () => {
    const { id } = await grant('wx-reason')
    const path = `/subscription/${id}`
    await root('PUT', path, { body: { action: 'extend', days: 5, reason: '  outage of 3 May, 补偿 ' } })
    await root('PUT', path, { body: { action: 'set_auto_renew', auto_renew: 1, reason: 'asked by phone' } })
    await root('PUT', path, { body: { action: 'extend', days: 1, reason: '   ' } })
    await root('POST', '/subscription/batch', { body: { ids: [id], action: 'extend', days: 1, reason: 'for all' } })
    await root('PUT', path, { body: { action: 'refund', reason: 'x'.repeat(200) } })
    expect((await history(id)).map(({ action, reason }) => [action, reason])).toEqual([
      ['subscription.refund', 'x'.repeat(200)],
      ['subscription.extend', 'for all'],
      ['subscription.extend', ''],
      ['subscription.auto_renew', 'asked by phone'],
      ['subscription.extend', 'outage of 3 May, 补偿'],
      ['subscription.create', ''],
    ])
  })

  test.each([
    ['201 characters', 'x'.repeat(201)],
    ['a control character', 'a\u0000b'],
    ['a number', 7],
  ])('is rejected with %s, and nothing changes', async (_, reason) => {
    const { id } = await grant(`wx-reason-${String(reason).length}`)
    const answer = await root('PUT', `/subscription/${id}`, { body: { action: 'cancel', at: 'now', reason } })
    expect([answer.status, answer.body.code]).toEqual([422, 42200])
    expect(await history(id)).toHaveLength(1)
  })

  test('is removed when the user is erased; the action stays', async () => {
    const { id, userId } = await grant('wx-reason-erased')
    const other = await grant('wx-reason-kept')
    for (const one of [id, other.id])
      await root('PUT', `/subscription/${one}`, { body: { action: 'cancel', at: 'now', reason: 'Ann left us' } })
    expect((await root('DELETE', `/user/${userId}`)).status).toBe(200)
    expect((await history(id))[0]).toMatchObject({
      action: 'subscription.cancel',
      reason: '',
      changes: { status: [1, 3] },
    })
    expect((await history(other.id))[0]).toMatchObject({ reason: 'Ann left us' })
  })
})

test('the audit log contains who changed which field', async () => {
  const { audit_logs } = (await root('GET', '/audit_log', { query: { app_key: 'demo', action: 'plan.update' } })).body
    .data
  expect(audit_logs[0]).toMatchObject({
    actor_name: 'root',
    target_kind: 'plan',
    changes: { price_cents: [expect.any(Number), 9900] },
  })
})

test('lang selects the language of messages', async () => {
  expect((await root('GET', '/overview', { headers: { lang: 'en' } })).body.message).toBe('OK')
  expect((await root('GET', '/overview')).body.message).toBe('操作成功')
  expect((await root('GET', '/nowhere', { headers: { lang: 'en-GB' } })).body.message).toMatch(
    /^There is nothing at \/.*nowhere\.$/,
  )
  expect((await root('GET', '/nowhere')).body.message).toMatch(/nowhere 不存在。$/)
})

test.each([
  ['zh', 'en-US,en', 'zh'],
  ['en', 'zh-CN', 'en'],
  ['fr', 'en', 'zh'],
  ['', 'en-US,en;q=0.9', 'en'],
  ['', 'zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
  ['', 'fr,en;q=0.2', 'en'],
  ['', 'en;q=0.2,zh;q=0.8', 'zh'],
  ['', 'fr-FR', 'zh'],
  ['', '*', 'zh'],
  ['', '', 'zh'],
  ['', ';;q=,', 'zh'],
])('lang %j and Accept-Language %j select %s', async (lang, accepted, language) => {
  const answer = await root('GET', '/overview', { headers: { lang, 'accept-language': accepted } })
  expect(answer.headers.get('content-language')).toBe(language)
  expect(answer.body.message).toBe(language === 'zh' ? '操作成功' : 'OK')
})

test.each([
  ['a response', 'GET', '/overview'],
  ['an error', 'GET', '/nowhere'],
  ['its document', 'GET', '/openapi.json'],
  ['a payment notice', 'POST', '/notify/alipay/demo'],
  ['an evaluation', 'POST', '/ofrep/v1/evaluate/flags'],
  ['a file', 'GET', '/user/export?app_key=demo'],
])('%s has headers that forbid caching, sniffing and plain HTTP', async (_, method, path) => {
  const { headers } = await root(method, path)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('every response above was checked against a contract', () => {
  expect(checked.frozen).toBeGreaterThan(60)
  expect(checked.generated).toBeGreaterThan(20)
})
