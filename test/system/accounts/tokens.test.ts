import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokens } from '../../../services/mail/credentials/store/tokens.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi({ API_TOKEN: 'the-old-token-of-the-configuration', TRUSTED_PROXIES: '127.0.0.0/8' })
})
afterAll(() => api.stop())

const path = '/api/v1/tokens'
const future = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const bearer = (value: string) => api.anonymous.with({ authorization: `Bearer ${value}` })

describe('a new token', () => {
  test('returns its value once; lists contain the prefix and its last use', async () => {
    const { client } = await api.newUser()
    const created = await client.post(path, { name: 'CI', scopes: ['tokens:read', 'tokens:read'] })
    expect(created).toMatchObject({ status: 201, body: { scopes: ['tokens:read'], mode: 'live', last_used_at: null } })
    const { token, prefix, id } = created.body
    expect(token).toMatch(/^pw_live_[0-9a-z]{26}_[\w-]{43}$/)
    expect(token.startsWith(`${prefix}_`)).toBe(true)
    const list = await bearer(token).get(path)
    expect(list.body.data).toMatchObject([{ id, prefix, name: 'CI' }])
    expect(JSON.stringify(list.body)).not.toContain(token.slice(-43))
    expect(JSON.stringify(await collectionOf(api.db, tokens).findOne({ _id: id }))).not.toContain(token.slice(-43))
    // The request that uses a token does not wait until its use is noted.
    await expect
      .poll(async () => (await client.get(`${path}/${id}`)).body)
      .toMatchObject({ last_used_at: expect.any(String) })
  })

  test('may only send by default', async () => {
    const { client } = await api.newUser()
    expect(await client.post(path, { name: 'x', mode: 'test' })).toMatchObject({
      body: { scopes: ['emails:send'], mode: 'test', token: expect.stringMatching(/^pw_test_/) },
    })
  })

  test('is restricted to domains of the account, by their stored names', async () => {
    const { user, client } = await api.newUser()
    const other = await api.newUser()
    await giveDomain(api.db, user._id, 'mine.example')
    await giveDomain(api.db, other.user._id, 'theirs.example')
    expect(await client.post(path, { name: 'x', domains: ['MINE.example.'] })).toMatchObject({
      body: { domains: ['mine.example'] },
    })
    for (const domains of [['theirs.example'], ['mine.example', 'none.example'], ['not a name']])
      expect(await client.post(path, { name: 'x', domains })).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/domains' }] },
      })
    expect(await client.post(path, { name: 'x', domains: ['mine.example'], scopes: ['smtp:write'] })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/scopes' }] },
    })
  })

  test.each([
    ['without a name', {}],
    ['without a scope', { name: 'x', scopes: [] }],
    ['with a scope that does not exist', { name: 'x', scopes: ['admin'] }],
    ['that has already expired', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }],
    ['with an invalid time', { name: 'x', expires_at: 'tomorrow' }],
    ['with an invalid network', { name: 'x', allowed_cidrs: ['home'] }],
    ['with a network that can be read in two ways', { name: 'x', allowed_cidrs: ['10.0.0.0/8', '010.0.0.0/8'] }],
    ['with an operator object', { name: { $gt: '' } }],
    ['with a secret of its own', { name: 'x', secret_hash: 'x' }],
  ])('is rejected %s', async (_, body) => {
    const { client } = await api.newUser()
    expect(await client.post(path, body)).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
  })
})

describe('a token', () => {
  test('permits what its scopes contain, without cookie and CSRF header', async () => {
    const { user } = await api.newUser()
    const reader = await api.withToken(user, { scopes: ['domains:read'] })
    expect(await reader.get('/api/v1/domains')).toMatchObject({ status: 200 })
    expect(await reader.post('/api/v1/domains', { name: 'x.example' })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', detail: expect.stringContaining('domains:write') },
    })
    const writer = await api.withToken(user, { scopes: ['domains:write'] })
    expect(await writer.post('/api/v1/domains', { name: 'by-token.example' })).toMatchObject({ status: 201 })
    const log = await (await api.as(user)).get('/api/v1/audit-logs?limit=1')
    expect(log.body.data[0].actor).toMatchObject({ via: 'token', token_id: expect.stringMatching(/^key_/) })
  })

  test('takes precedence over a cookie, even if it is invalid', async () => {
    const { client } = await api.newUser()
    expect(await client.with({ authorization: 'Bearer nonsense' }).get('/api/v1/me')).toMatchObject({ status: 401 })
  })

  test.each(['', 'Bearer', 'Basic dXNlcjpwYXNz', 'Bearer a b', 'Bearer pw_live_x'])(
    'is not recognized in "%s"',
    async header => {
      const answer = await api.anonymous.with({ authorization: header }).get('/api/v1/domains')
      expect(answer).toMatchObject({ status: 401 })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    },
  )

  test('is restricted to its networks by the address that trusted proxies report', async () => {
    const { user } = await api.newUser()
    const token = await api.withToken(user, { scopes: ['domains:read'], allowed_cidrs: ['203.0.113.0/24'] })
    const from = (ip: string) => token.with({ 'x-forwarded-for': ip }).get('/api/v1/domains')
    expect(await from('203.0.113.9')).toMatchObject({ status: 200 })
    expect(await from('198.51.100.9')).toMatchObject({ status: 403, body: { code: 'network_not_allowed' } })
    expect(await from('203.0.113.9, 198.51.100.9')).toMatchObject({ status: 403 })
  })

  test('is invalid after revocation, stays in the list, and cannot be rotated any more', async () => {
    const { user, client } = await api.newUser()
    const token = await giveToken(api.db, user._id, { scopes: ['domains:read'] })
    expect((await client.call('DELETE', `${path}/${token._id}`)).status).toBe(204)
    expect((await client.call('DELETE', `${path}/${token._id}`)).status).toBe(204)
    expect(await bearer(token.value).get('/api/v1/domains')).toMatchObject({ status: 401 })
    expect(await client.get(path)).toMatchObject({ body: { data: [{ revoked_at: expect.any(String) }] } })
    expect(await client.post(`${path}/${token._id}/rotate`)).toMatchObject({ status: 409 })
  })

  test('gets a new value by rotation, which invalidates the old one', async () => {
    const { user, client } = await api.newUser()
    const token = await giveToken(api.db, user._id, { scopes: ['domains:read'] })
    const rotated = await client.post(`${path}/${token._id}/rotate`)
    expect(rotated).toMatchObject({ status: 200, body: { id: token._id, scopes: ['domains:read'] } })
    expect(await bearer(rotated.body.token).get('/api/v1/domains')).toMatchObject({ status: 200 })
    expect(await bearer(token.value).get('/api/v1/domains')).toMatchObject({ status: 401 })
  })

  test('is read-only if a resource manages it', async () => {
    const { user, client } = await api.newUser()
    const managed_by = { kind: 'APIToken', namespace: 'shop', name: 'app', uid: 'u-3' }
    const { _id } = await giveToken(api.db, user._id, { managed_by })
    for (const [method, where] of [
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const)
      expect(await client.call(method, `${path}/${_id}${where}`)).toMatchObject({
        status: 409,
        body: { code: 'managed_by_resource', detail: expect.stringContaining('APIToken shop/app') },
      })
  })
})

describe('a token that creates tokens', () => {
  test('grants no more than it has', async () => {
    const { user } = await api.newUser()
    const limits = {
      scopes: ['tokens:write', 'emails:send'],
      allowed_cidrs: ['127.0.0.0/8'],
      expires_at: new Date(future(2)),
    }
    const maker = await api.withToken(user, limits)
    const within = { name: 'x', scopes: ['emails:send'], allowed_cidrs: ['127.0.0.1/32'], expires_at: future(1) }
    expect(await maker.post(path, within)).toMatchObject({ status: 201 })
    for (const [field, value] of Object.entries({
      scopes: ['emails:send', 'smtp:write'],
      allowed_cidrs: ['0.0.0.0/0'],
      expires_at: future(3),
    }))
      expect(await maker.post(path, { ...within, [field]: value })).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope', errors: [{ pointer: `/${field}` }] },
      })
  })

  test('does not get a stronger token by rotation', async () => {
    const { user } = await api.newUser()
    const maker = await api.withToken(user, { scopes: ['tokens:write'] })
    const strong = await giveToken(api.db, user._id, { scopes: ['smtp:write'] })
    expect(await maker.post(`${path}/${strong._id}/rotate`)).toMatchObject({ status: 403 })
    const weak = await giveToken(api.db, user._id, { scopes: ['tokens:write'] })
    expect(await maker.post(`${path}/${weak._id}/rotate`)).toMatchObject({ status: 200 })
  })
})

describe('a test token gets nothing that sends live mail', () => {
  const tester = async (scopes = ['tokens:write', 'emails:send', 'smtp:write', 'smtp:read']) => {
    const { user, client } = await api.newUser()
    return { user, client, maker: await api.withToken(user, { mode: 'test', scopes }) }
  }

  test('no live token, neither created nor rotated', async () => {
    const { user, maker } = await tester()
    const refused = { status: 403, body: { code: 'insufficient_scope', errors: [{ pointer: '/mode' }] } }
    expect(await maker.post(path, { name: 'x', scopes: ['emails:send'] })).toMatchObject(refused)
    const live = await giveToken(api.db, user._id, { scopes: ['emails:send'] })
    expect(await maker.post(`${path}/${live._id}/rotate`)).toMatchObject(refused)
    expect(await bearer(live.value).get(path)).toMatchObject({ status: 403 }) // the old value still works
    expect(await maker.post(path, { name: 'x', mode: 'test' })).toMatchObject({ status: 201, body: { mode: 'test' } })
  })

  test('no SMTP login, not even with the scope that earlier tokens could have', async () => {
    const { maker } = await tester()
    const answer = await maker.post('/api/v1/smtp-credentials', { username: 'by-a-test-token' })
    expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    expect(await maker.get('/api/v1/smtp-credentials')).toMatchObject({ status: 200 })
  })

  test('and no test token is created with that scope', async () => {
    const { client } = await tester()
    expect(await client.post(path, { name: 'x', mode: 'test', scopes: ['smtp:write'] })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/scopes' }] },
    })
  })
})

test('the configured API_TOKEN does not open management operations', async () => {
  await api.newUser({ role: 'admin' })
  const legacy = bearer('the-old-token-of-the-configuration')
  for (const where of ['/api/v1/domains', '/api/v1/tokens', '/api/v1/me', '/api/v1/admin/users', '/api/v1/session'])
    expect(await legacy.get(where)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
})
