import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { findUser, updateUser } from '../../../services/accounts/store/users.ts'
import { leaseQuota } from '../../../services/mail/limits/store/quota-leases.ts'
import { DAY_MS } from '../../../services/platform/durations.ts'
import { giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi({ ADMIN_USERNAME: 'Root', ADMIN_PASSWORD: 'the first password' })
})
afterAll(() => api.stop())

const admin = () => api.newUser({ role: 'admin' })
const logIn = (username: string, password: string) => api.anonymous.post('/api/v1/session', { username, password })
const dayOf = (holder: string) => ({ holder, ms: DAY_MS, index: Math.floor(Date.now() / DAY_MS) })
const cookieOf = (headers: Headers) => headers.get('set-cookie') ?? ''

describe('logging in', () => {
  test('returns the user and a cookie that scripts and other sites cannot use', async () => {
    const answer = await logIn(' ROOT ', 'the first password')
    expect(answer).toMatchObject({ status: 200, body: { user: { username: 'root', role: 'admin' } } })
    expect(cookieOf(answer.headers)).toMatch(/^pw_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    const [cookie = ''] = cookieOf(answer.headers).split(';')
    const client = api.anonymous.with({ cookie })
    expect(await client.get('/api/v1/session')).toMatchObject({ status: 200, body: { user: { username: 'root' } } })
    expect(await client.call('DELETE', '/api/v1/session')).toMatchObject({ body: { code: 'csrf_header_missing' } })
    const out = await client.call('DELETE', '/api/v1/session', undefined, { 'x-csrf': '1' })
    expect(out.status).toBe(204)
    expect(cookieOf(out.headers)).toContain('Max-Age=0')
    expect(await client.get('/api/v1/session')).toMatchObject({ status: 401, body: { code: 'not_logged_in' } })
  })

  test('binds the cookie to the host over https', async () => {
    const https = await startPanelApi({ APP_BASE_URL: 'https://mail.example.net' })
    try {
      const user = await giveUser(https.db)
      const answer = await https.anonymous.post('/api/v1/session', { username: user.username, password: PASSWORD })
      expect(cookieOf(answer.headers)).toMatch(/^__Host-pw_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
      expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
      const plain = https.anonymous.with({ cookie: cookieOf(answer.headers).replace('__Host-', '') })
      expect(await plain.get('/api/v1/session')).toMatchObject({ status: 401 })
    } finally {
      await https.stop()
    }
  })

  test('returns the same error for a wrong password, an unknown name and a suspended account', async () => {
    const known = await giveUser(api.db)
    const suspended = await giveUser(api.db, { status: 'suspended' })
    const answers = [
      await logIn(known.username, 'wrong'),
      await logIn('nobody-at-all', PASSWORD),
      await logIn(suspended.username, PASSWORD),
    ]
    for (const { body } of answers) expect(body).toMatchObject({ status: 401, code: 'invalid_login' })
    const essence = answers.map(({ body: { instance, detail, title, message } }) => [instance, detail, title, message])
    expect(new Set(essence.map(String)).size).toBe(1)
  })

  test('ends the old session when the same browser logs in again', async () => {
    const user = await giveUser(api.db)
    const [first = ''] = cookieOf((await logIn(user.username, PASSWORD)).headers).split(';')
    await api.anonymous.call(
      'POST',
      '/api/v1/session',
      { username: user.username, password: PASSWORD },
      { cookie: first },
    )
    expect(await api.anonymous.with({ cookie: first }).get('/api/v1/session')).toMatchObject({ status: 401 })
  })

  test.each([
    ['no body', undefined, 422, 'validation_failed'],
    ['broken JSON', '{"username":', 400, 'invalid_json'],
    ['an operator object', { username: 'root', password: { $gt: '' } }, 422, 'validation_failed'],
    ['an operator object as the name', { username: { $ne: null }, password: 'x' }, 422, 'validation_failed'],
    ['an unknown field', { username: 'root', password: 'x', role: 'admin' }, 422, 'validation_failed'],
    ['a password of a megabyte', { username: 'root', password: 'x'.repeat(1_000_000) }, 413, 'message_too_large'],
    ['a password beyond the bound', { username: 'root', password: 'x'.repeat(2_000) }, 422, 'validation_failed'],
  ])('rejects %s', async (_, body, status, code) =>
    expect(await api.anonymous.post('/api/v1/session', body)).toMatchObject({ status, body: { code } }),
  )

  test('rejects a form of another site', async () => {
    const form = { 'content-type': 'text/plain' }
    const body = JSON.stringify({ username: 'root', password: 'the first password' })
    expect(await api.anonymous.call('POST', '/api/v1/session', body, form)).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    })
  })
})

describe('failed logins', () => {
  test('return 429 with the time to wait, even for the correct password, and do not affect other accounts', async () => {
    const user = await giveUser(api.db)
    const other = await giveUser(api.db)
    for (let attempt = 0; attempt < 10; attempt++) await logIn(user.username, 'wrong')
    const answer = await logIn(user.username, PASSWORD)
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(800)
    expect(await logIn(other.username, PASSWORD)).toMatchObject({ status: 200 })
  })

  test('include a wrong current password', async () => {
    const { user, client } = await api.newUser()
    const change = (current_password: string) =>
      client.call('PUT', '/api/v1/me/password', { current_password, new_password: 'another password' })
    for (let attempt = 0; attempt < 10; attempt++)
      expect(await change('wrong')).toMatchObject({ status: 401, body: { code: 'invalid_login' } })
    expect(await change(PASSWORD)).toMatchObject({ status: 429 })
    expect(await logIn(user.username, PASSWORD)).toMatchObject({ status: 429 })
  })
})

describe("the user's own account", () => {
  test('accepts changes of language and time zone only', async () => {
    const { client } = await api.newUser()
    // The time zone alone chooses no language.
    expect(await client.call('PATCH', '/api/v1/me', { tz: 'UTC' })).toMatchObject({ body: { lang_chosen: false } })
    expect(await client.call('PATCH', '/api/v1/me', { lang: 'en' })).toMatchObject({ body: { lang_chosen: true } })
    expect(await client.call('PATCH', '/api/v1/me', { lang: 'zh', tz: 'Asia/Shanghai' })).toMatchObject({
      status: 200,
      body: { lang: 'zh', tz: 'Asia/Shanghai' },
    })
    expect(await client.call('PATCH', '/api/v1/me', {})).toMatchObject({ body: { lang: 'zh' } })
    for (const body of [
      { role: 'admin' },
      { status: 'active' },
      { tz: 'Moon/Base' },
      { lang: 'fr' },
      { lang: { $ne: 1 } },
    ])
      expect(await client.call('PATCH', '/api/v1/me', body)).toMatchObject({ status: 422 })
    expect(await client.get('/api/v1/me')).toMatchObject({ body: { role: 'user', lang: 'zh' } })
  })

  test('a new password ends all other sessions and invalidates the old password', async () => {
    const { user, client } = await api.newUser()
    const elsewhere = await api.as(user)
    const change = { current_password: PASSWORD, new_password: 'a much better one' }
    expect(await client.call('PUT', '/api/v1/me/password', change)).toMatchObject({ status: 204 })
    expect(await client.get('/api/v1/me')).toMatchObject({ status: 200 })
    expect(await elsewhere.get('/api/v1/me')).toMatchObject({ status: 401 })
    expect(await logIn(user.username, PASSWORD)).toMatchObject({ status: 401 })
    expect(await logIn(user.username, 'a much better one')).toMatchObject({ status: 200 })
  })

  test.each([
    ['too short', 'seven77'],
    ['too long', 'x'.repeat(257)],
    ['contains NUL', 'eight888\0'],
    ['contains a line end', 'eight888\n'],
  ])('rejects a new password that is %s', async (_, new_password) => {
    const { client } = await api.newUser()
    const answer = await client.call('PUT', '/api/v1/me/password', { current_password: PASSWORD, new_password })
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/new_password' }] } })
  })
})

describe('accounts, managed by an admin', () => {
  test('are created with a generated password that works, and listed in pages', async () => {
    const { client } = await admin()
    const created = await client.post('/api/v1/admin/users', { username: 'Carol@Example.com' })
    expect(created).toMatchObject({
      status: 201,
      body: { username: 'carol@example.com', role: 'user', status: 'active' },
    })
    expect(created.headers.get('location')).toBe(`/api/v1/admin/users/${created.body.id}`)
    expect(await logIn('carol@example.com', created.body.password)).toMatchObject({ status: 200 })
    const seen: string[] = []
    let after = ''
    for (let more = true; more; ) {
      const page = await client.get(`/api/v1/admin/users?limit=3${after}`)
      seen.push(...page.body.data.map(({ id }: { id: string }) => id))
      more = page.body.has_more
      after = `&after=${seen.at(-1)}`
    }
    expect(seen).toContain(created.body.id)
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('created with a given password return none', async () => {
    const { client } = await admin()
    const created = await client.post('/api/v1/admin/users', {
      username: 'dave',
      password: 'given by hand',
      role: 'admin',
    })
    expect(created.body).not.toHaveProperty('password')
    expect(await logIn('dave', 'given by hand')).toMatchObject({ body: { user: { role: 'admin' } } })
  })

  test('reject the same name in other letter case, also concurrently', async () => {
    const { client } = await admin()
    const answers = await Promise.all(
      ['erin', 'ERIN', 'Erin', 'eriN'].map(username => client.post('/api/v1/admin/users', { username })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
  })

  test.each([[''], ['a b'], ['-x'], ['x'.repeat(129)], ['名'], ['a\nb'], [{ $ne: '' }]])(
    'reject the name %j',
    async username => {
      const { client } = await admin()
      expect(await client.post('/api/v1/admin/users', { username })).toMatchObject({ status: 422 })
    },
  )

  test('a suspended account loses its sessions and tokens immediately; an active one accepts its tokens and logins again', async () => {
    const { client } = await admin()
    const { user, client: victim } = await api.newUser()
    const token = await api.withToken(user, { scopes: ['domains:read'] })
    expect(await victim.get('/api/v1/me')).toMatchObject({ status: 200 })
    expect(await client.post(`/api/v1/admin/users/${user._id}/suspend`)).toMatchObject({
      body: { status: 'suspended' },
    })
    expect(await victim.get('/api/v1/me')).toMatchObject({ status: 401 })
    expect(await token.get('/api/v1/domains')).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    expect(await logIn(user.username, PASSWORD)).toMatchObject({ status: 401 })
    expect(await client.post(`/api/v1/admin/users/${user._id}/unsuspend`)).toMatchObject({ body: { status: 'active' } })
    expect(await victim.get('/api/v1/me')).toMatchObject({ status: 401 })
    expect(await token.get('/api/v1/domains')).toMatchObject({ status: 200 })
    expect(await logIn(user.username, PASSWORD)).toMatchObject({ status: 200 })
  })

  test('resetting a password ends all sessions and returns a new password', async () => {
    const { client } = await admin()
    const { user, client: victim } = await api.newUser()
    const reset = await client.post(`/api/v1/admin/users/${user._id}/reset-password`, {})
    expect(await victim.get('/api/v1/me')).toMatchObject({ status: 401 })
    expect(await logIn(user.username, PASSWORD)).toMatchObject({ status: 401 })
    expect(await logIn(user.username, reset.body.password)).toMatchObject({ status: 200 })
  })

  test('have a daily recipient limit, unlimited at first, that an admin sets and the user sees', async () => {
    const boss = await admin()
    const { user, client } = await api.newUser()
    const path = `/api/v1/admin/users/${user._id}`
    expect(await boss.client.get(path)).toMatchObject({ body: { recipients_per_day: 0, recipients_today: 0 } })
    expect(await boss.client.call('PATCH', path, { recipients_per_day: 500 })).toMatchObject({
      status: 200,
      body: { id: user._id, recipients_per_day: 500, recipients_today: 0 },
    })
    await leaseQuota(api.mongo, dayOf(user._id), { limit: 500, need: 7, wanted: 7 })
    expect(await client.get('/api/v1/me')).toMatchObject({ body: { recipients_per_day: 500 } })
    const list = await boss.client.get('/api/v1/admin/users?limit=100')
    const limits = list.body.data.map((one: { id: string; recipients_per_day: number; recipients_today: number }) => [
      one.id,
      one.recipients_per_day,
      one.recipients_today,
    ])
    expect(limits).toContainEqual([user._id, 500, 7])
    expect(limits).toContainEqual([boss.user._id, 0, 0])
    const log = await boss.client.get(`/api/v1/audit-logs?user_id=${user._id}`)
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual(['user.changed'])
    expect(await boss.client.call('PATCH', path, { recipients_per_day: 0 })).toMatchObject({
      body: { recipients_per_day: 0 },
    })
  })

  test('are created with or without a daily limit', async () => {
    const { client } = await admin()
    const create = (body: object) => client.post('/api/v1/admin/users', body)
    const limited = await create({ username: 'limited', recipients_per_day: 25 })
    expect(limited).toMatchObject({ status: 201, body: { recipients_per_day: 25 } })
    expect(await client.get(`/api/v1/admin/users/${limited.body.id}`)).toMatchObject({
      body: { recipients_per_day: 25, recipients_today: 0 },
    })
    for (const body of [{ username: 'free' }, { username: 'free-0', recipients_per_day: 0 }])
      expect(await create(body)).toMatchObject({ status: 201, body: { recipients_per_day: 0 } })
    for (const wrong of [-1, 1.5, '5', null, 1_000_000_001])
      expect(await create({ username: 'wrong', recipients_per_day: wrong })).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/recipients_per_day' }] },
      })
  })

  test.each([
    [{}],
    [{ recipients_per_day: -1 }],
    [{ recipients_per_day: 1.5 }],
    [{ recipients_per_day: '5' }],
    [{ recipients_per_day: 1_000_000_001 }],
    [{ recipients_per_day: null }],
    [{ recipients_per_day: 5, role: 'admin' }],
  ])('reject the change %j', async body => {
    const { client } = await admin()
    const { user } = await api.newUser()
    expect(await client.call('PATCH', `/api/v1/admin/users/${user._id}`, body)).toMatchObject({ status: 422 })
  })

  test('a user cannot change the own limit', async () => {
    const { user, client } = await api.newUser()
    expect(await client.call('PATCH', '/api/v1/me', { recipients_per_day: 5 })).toMatchObject({ status: 422 })
    expect(await client.call('PATCH', `/api/v1/admin/users/${user._id}`, { recipients_per_day: 5 })).toMatchObject({
      status: 403,
    })
  })

  test('lists contain no hash', async () => {
    const { client } = await admin()
    const list = await client.get('/api/v1/admin/users?limit=100')
    expect(JSON.stringify(list.body)).not.toMatch(/argon2|hash/)
  })

  test('an unknown account returns 404', async () => {
    const { client } = await admin()
    expect(await client.call('PATCH', '/api/v1/admin/users/usr_none', { recipients_per_day: 1 })).toMatchObject({
      status: 404,
    })
    for (const [method, path] of [
      ['GET', '/api/v1/admin/users/usr_none'],
      ['POST', '/api/v1/admin/users/usr_none/suspend'],
      ['POST', '/api/v1/admin/users/usr_none/unsuspend'],
      ['POST', '/api/v1/admin/users/usr_none/reset-password'],
    ] as const)
      expect(await client.call(method, path, method === 'POST' ? {} : undefined)).toMatchObject({ status: 404 })
  })

  test('reject users and tokens of admins', async () => {
    const { client } = await api.newUser()
    expect(await client.get('/api/v1/admin/users')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    const { user } = await admin()
    const token = await api.withToken(user, { scopes: ['audit:read', 'domains:write', 'tokens:write'] })
    expect(await token.get('/api/v1/admin/users')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(await token.get('/api/v1/me')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  })
})

describe('the last active admin', () => {
  test('cannot be suspended, not even when two admins suspend each other in parallel', async () => {
    const alone = await startPanelApi()
    try {
      const [one, two] = await Promise.all([alone.newUser({ role: 'admin' }), alone.newUser({ role: 'admin' })])
      const answers = await Promise.all([
        one.client.post(`/api/v1/admin/users/${two.user._id}/suspend`),
        two.client.post(`/api/v1/admin/users/${one.user._id}/suspend`),
      ])
      const left = await Promise.all([one, two].map(({ user }) => findUser(alone.db, user._id)))
      expect(left.filter(user => user?.status === 'active')).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const last = left[0]?.status === 'active' ? one : two
      const again = await (await alone.as(last.user)).post(`/api/v1/admin/users/${last.user._id}/suspend`)
      expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } })
      const user = await giveUser(alone.db)
      expect(await (await alone.as(last.user)).post(`/api/v1/admin/users/${user._id}/suspend`)).toMatchObject({
        status: 200,
      })
    } finally {
      await alone.stop()
    }
  })
})

describe('the audit log', () => {
  test('records who did what to whom and from where, newest first, without secrets', async () => {
    const boss = await admin()
    const { body: created } = await boss.client.post('/api/v1/admin/users', { username: 'frank' })
    await boss.client.post(`/api/v1/admin/users/${created.id}/suspend`)
    const log = await boss.client.get(`/api/v1/audit-logs?user_id=${created.id}`)
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual(['user.suspended', 'user.created'])
    expect(log.body.data[0]).toMatchObject({
      user_id: created.id,
      target: { type: 'user', id: created.id, name: 'frank' },
      actor: { user_id: boss.user._id, name: boss.user.username, via: 'session', ip: '127.0.0.1', token_id: null },
    })
    expect(JSON.stringify(await listAudit(api.db, undefined, { limit: 100 }))).not.toContain(created.password)
  })

  test("shows all accounts to an admin, and only the own entries to a user and to an admin's token", async () => {
    const boss = await admin()
    const { user, client } = await api.newUser()
    await boss.client.post(`/api/v1/admin/users/${user._id}/suspend`)
    await boss.client.post(`/api/v1/admin/users/${user._id}/unsuspend`)
    const own = await (await api.as(user)).get('/api/v1/audit-logs')
    expect(own.body.data.map((entry: { user_id: string }) => entry.user_id)).toEqual([user._id, user._id])
    expect(await client.get('/api/v1/audit-logs')).toMatchObject({ status: 401 })
    const token = await api.withToken(boss.user, { scopes: ['audit:read'] })
    expect(await token.get(`/api/v1/audit-logs?user_id=${user._id}`)).toMatchObject({ status: 404 })
    const all = await boss.client.get('/api/v1/audit-logs?limit=100')
    expect(all.body.data.map((entry: { user_id: string }) => entry.user_id)).toContain(user._id)
  })
})

test('a removed role takes effect with the next request', async () => {
  const { user, client } = await admin()
  await updateUser(api.db, user._id, { role: 'user' })
  expect(await client.get('/api/v1/admin/users')).toMatchObject({ status: 403 })
})

test('responses carry the security headers, and unknown methods return 405', async () => {
  const { client } = await api.newUser()
  const { headers } = await client.get('/api/v1/me')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('access-control-allow-origin')).toBeNull()
  const wrong = await client.call('DELETE', '/api/v1/me')
  expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
  expect(wrong.headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'PATCH'])
  expect(await client.get('/api/v1/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } })
})
