import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyPassword } from '../../../services/accounts/password-hashing.ts'
import { credentials, findCredential } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { giveCredential, giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi({ SUBMISSION_HOST: 'smtp.example.net', SUBMISSION_PORTS: '587,465,2465' })
})
afterAll(() => api.stop())

const path = '/api/v1/smtp-credentials'
let count = 0
const name = () => `login-${++count}`

describe('a new login', () => {
  test('returns its generated password once, with the connection settings', async () => {
    const { user, client } = await api.newUser()
    for (const domain of ['xn--bcher-kva.example', 'example.com']) await giveDomain(api.db, user._id, domain)
    const created = await client.post(path, {
      username: 'Shop@Example.com',
      allowed_senders: ['@Bücher.example', 'Info@EXAMPLE.com'],
      allowed_cidrs: ['192.0.2.0/24', '2001:db8::1'],
      messages_per_hour: 100,
    })
    expect(created).toMatchObject({
      status: 201,
      body: {
        username: 'shop@example.com',
        password: expect.stringMatching(/^\w{24}$/),
        allowed_senders: ['@xn--bcher-kva.example', 'Info@example.com'],
        allowed_cidrs: ['192.0.2.0/24', '2001:db8::1'],
        messages_per_hour: 100,
        copyable: true,
        connection: {
          host: 'smtp.example.net',
          ports: [
            { port: 587, mode: 'starttls' },
            { port: 465, mode: 'tls' },
            { port: 2465, mode: 'tls' },
          ],
        },
      },
    })
    const stored = await findCredential(api.db, user._id, created.body.id)
    expect(stored?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(JSON.stringify(stored)).not.toContain(created.body.password)
    const list = await client.get(path)
    expect(JSON.stringify(list.body)).not.toContain(created.body.password)
    expect(list.body.data[0]).not.toHaveProperty('password')
  })

  test('may have a fallback sender and permission for null senders, both removable', async () => {
    const { user, client } = await api.newUser()
    await giveDomain(api.db, user._id, 'fallback.example')
    const given = {
      allowed_senders: ['@fallback.example'],
      fallback_sender: 'Ops@Fallback.example',
      allow_null_sender: true,
    }
    const { status, body } = await client.post(path, { username: name(), ...given })
    expect([status, body]).toMatchObject([201, { fallback_sender: 'Ops@fallback.example', allow_null_sender: true }])
    const one = `${path}/${body.id}`
    const refused = await client.call('PATCH', one, { allowed_senders: ['@example.net'] })
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/fallback_sender' }] } })
    const cleared = await client.call('PATCH', one, { fallback_sender: null, allow_null_sender: false })
    expect(cleared).toMatchObject({ status: 200, body: { fallback_sender: null, allow_null_sender: false } })
    const plain = await client.post(path, { username: name() })
    expect(plain.body).toMatchObject({ fallback_sender: null, allow_null_sender: false })
  })

  test.each([
    [
      'another domain',
      { allowed_senders: ['@own-1.example', '@other.example'] },
      ['/allowed_senders/1'],
      'other.example',
    ],
    ['an address of another domain', { allowed_senders: ['a@other.example'] }, ['/allowed_senders/0'], 'other.example'],
    ['a subdomain', { allowed_senders: ['@sub.own-1.example'] }, ['/allowed_senders/0'], 'sub.own-1.example'],
    ['a fallback of another domain', { fallback_sender: 'a@other.example' }, ['/fallback_sender'], 'other.example'],
    [
      'a domain of another account',
      { allowed_senders: ['@theirs.example', 'a@theirs.example'] },
      ['/allowed_senders/0', '/allowed_senders/1'],
      'theirs.example',
    ],
  ])('is refused with %s as sender, with an error at each', async (_, senders, pointers, domain) => {
    const [{ user, client }, other] = await Promise.all([api.newUser(), api.newUser()])
    await giveDomain(api.db, user._id, 'own-1.example').catch(() => undefined)
    await giveDomain(api.db, other.user._id, 'theirs.example').catch(() => undefined)
    const answer = await client.post(path, { username: name(), ...senders })
    const message = `You have no domain ${domain}.`
    const expected = pointers.map(pointer => ({ pointer, message }))
    expect(answer).toMatchObject({ status: 422, body: { errors: expected } })
    expect((await client.get(path)).body.data).toEqual([])
  })

  test('a stored sender of a former release stays when the limits change; a new one of the same domain is refused', async () => {
    const { user, client } = await api.newUser()
    await giveDomain(api.db, user._id, 'kept.example')
    const { _id } = await giveCredential(api.db, user._id, name(), { allowed_senders: ['@gone.example'] })
    const patch = (body: object) => client.call('PATCH', `${path}/${_id}`, body)
    const limits = { allowed_senders: ['@gone.example', '@kept.example'], messages_per_hour: 5 }
    expect(await patch(limits)).toMatchObject({ status: 200, body: limits })
    expect(await patch({ disabled: true })).toMatchObject({ status: 200 })
    const refused = await patch({ allowed_senders: ['@gone.example', 'a@gone.example'] })
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '/allowed_senders/1' }] } })
  })

  test('takes a name once across all accounts, in any letter case', async () => {
    const [one, two] = await Promise.all([api.newUser(), api.newUser()])
    const answers = await Promise.all([
      one.client.post(path, { username: 'Unique' }),
      two.client.post(path, { username: 'uniQUE' }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
  })

  test.each([
    ['a name with a space', { username: 'a b' }],
    ['a short password', { username: 'x', password: 'short' }],
    ['a password with NUL', { username: 'x', password: 'long enough\0' }],
    ['an invalid sender', { username: 'x', allowed_senders: ['nobody'] }],
    ['a public suffix as sender', { username: 'x', allowed_senders: ['@com'] }],
    ['a sender with a line end', { username: 'x', allowed_senders: ['a@b.example\r\nBcc: c@d.example'] }],
    ['an invalid network', { username: 'x', allowed_cidrs: ['10.0.0.0/33'] }],
    ['a negative limit', { username: 'x', messages_per_hour: -1 }],
    ['half a message', { username: 'x', messages_per_hour: 0.5 }],
    ['a fallback sender that is no address', { username: 'x', fallback_sender: '@example.com' }],
    [
      'a fallback sender that it may not use',
      { username: 'x', allowed_senders: ['@example.com'], fallback_sender: 'a@example.org' },
    ],
    ['a field that is not offered', { username: 'x', user_id: 'usr_other' }],
    ['an operator object', { username: 'x', allowed_senders: { $exists: true } }],
  ])('is rejected with %s', async (_, body) => {
    const { client } = await api.newUser()
    expect(await client.post(path, body)).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
  })
})

describe('the password', () => {
  test("can be read by its owner's session only, and reading it is audited", async () => {
    const { user, client } = await api.newUser()
    const { body } = await client.post(path, { username: name(), password: 'set by hand' })
    const copy = `${path}/${body.id}/password`
    expect(await client.get(copy)).toMatchObject({ status: 200, body: { password: 'set by hand' } })
    const token = await api.withToken(user, { scopes: ['smtp:read', 'smtp:write'] })
    expect(await token.get(copy)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(await (await api.newUser({ role: 'admin' })).client.get(copy)).toMatchObject({ status: 404 })
    const log = await client.get('/api/v1/audit-logs?limit=1')
    expect(log.body.data[0]).toMatchObject({ action: 'smtp_credential.password_read', target: { id: body.id } })
  })

  test('must be set again before it can be read if only its hash is stored', async () => {
    const { user, client } = await api.newUser()
    const { _id } = await giveCredential(api.db, user._id, name())
    expect(await client.get(`${path}/${_id}`)).toMatchObject({ body: { copyable: false } })
    expect(await client.get(`${path}/${_id}/password`)).toMatchObject({
      status: 409,
      body: { code: 'password_not_copyable', detail: expect.stringContaining('set the password again') },
    })
    const set = await client.call('PUT', `${path}/${_id}/password`, {})
    expect(set).toMatchObject({ status: 200, body: { copyable: true, password: expect.any(String) } })
    expect(await client.get(`${path}/${_id}/password`)).toMatchObject({ body: { password: set.body.password } })
  })

  test('is not readable until it is set again if its encryption key is lost, and is still valid', async () => {
    const { user, client } = await api.newUser()
    const { body } = await client.post(path, { username: name() })
    const lost = createSecrets('the secret of an earlier start, of 32 bytes')
    await collectionOf(api.db, credentials).updateOne(
      { _id: body.id },
      { $set: { password_sealed: lost.seal('smtp-password', `credentials/${body.id}`, body.password) } },
    )
    expect(await client.get(`${path}/${body.id}`)).toMatchObject({ status: 200, body: { copyable: false } })
    expect(await client.get(`${path}/${body.id}/password`)).toMatchObject({
      status: 409,
      body: { code: 'password_not_copyable', detail: expect.stringContaining('SESSION_SECRET_PREVIOUS') },
    })
    const stored = await findCredential(api.db, user._id, body.id)
    expect(await verifyPassword(stored?.password_hash, body.password)).toBe(true)
    expect(await client.call('PUT', `${path}/${body.id}/password`, {})).toMatchObject({ body: { copyable: true } })
    expect(await client.get(`${path}/${body.id}/password`)).toMatchObject({ status: 200 })
  })

  test('cannot be decrypted when its ciphertext was moved to another record', async () => {
    const { user, client } = await api.newUser()
    const [one, two] = await Promise.all([
      client.post(path, { username: name() }),
      client.post(path, { username: name() }),
    ])
    const moved = await findCredential(api.db, user._id, one.body.id)
    await collectionOf(api.db, credentials).updateOne(
      { _id: two.body.id },
      { $set: { password_sealed: moved?.password_sealed ?? '' } },
    )
    expect(await client.get(`${path}/${two.body.id}/password`)).toMatchObject({
      status: 409,
      body: { code: 'password_not_copyable' },
    })
  })
})

test('limits change one by one; absent fields keep their values', async () => {
  const { client } = await api.newUser()
  const { body } = await client.post(path, { username: name(), messages_per_hour: 5, allowed_cidrs: ['10.0.0.0/8'] })
  const change = (fields: object) => client.call('PATCH', `${path}/${body.id}`, fields)
  expect(await change({ disabled: true })).toMatchObject({ body: { disabled: true, messages_per_hour: 5 } })
  expect(await change({ allowed_cidrs: [] })).toMatchObject({ body: { disabled: true, allowed_cidrs: [] } })
  expect(await change({})).toMatchObject({ status: 200, body: { messages_per_hour: 5 } })
  expect(await change({ username: 'other' })).toMatchObject({ status: 422 })
  expect(await change({ password_hash: 'x' })).toMatchObject({ status: 422 })
})

test('a removed login does not exist and its name is available again', async () => {
  const { client } = await api.newUser()
  const username = name()
  const { body } = await client.post(path, { username })
  expect((await client.call('DELETE', `${path}/${body.id}`)).status).toBe(204)
  expect((await client.get(`${path}/${body.id}`)).status).toBe(404)
  expect((await client.post(path, { username })).status).toBe(201)
})

test('a login that a resource manages is read-only', async () => {
  const { user, client } = await api.newUser()
  const managed_by = { kind: 'SMTPCredential', namespace: 'shop', name: 'app', uid: 'u-2' }
  const { _id } = await giveCredential(api.db, user._id, name(), { managed_by })
  for (const [method, where, body] of [
    ['PATCH', '', { disabled: true }],
    ['PUT', '/password', {}],
    ['DELETE', '', undefined],
  ] as const)
    expect(await client.call(method, `${path}/${_id}${where}`, body)).toMatchObject({
      status: 409,
      body: { code: 'managed_by_resource', detail: expect.stringContaining('SMTPCredential shop/app') },
    })
})

test('a token without the scope emails:send gets no SMTP password, and still limits and removes logins', async () => {
  const { user, client } = await api.newUser()
  const token = await api.withToken(user, { scopes: ['smtp:read', 'smtp:write'] })
  const refused = {
    status: 403,
    body: { code: 'insufficient_scope', detail: 'The token lacks the scope emails:send.' },
  }
  const username = name()
  expect(await token.post(path, { username })).toMatchObject(refused)
  const { body } = await client.post(path, { username })
  expect(await token.call('PUT', `${path}/${body.id}/password`, {})).toMatchObject(refused)
  expect(await client.get(`${path}/${body.id}/password`)).toMatchObject({ body: { password: body.password } })
  expect(await token.call('PATCH', `${path}/${body.id}`, { disabled: true })).toMatchObject({ status: 200 })
  expect(await token.call('DELETE', `${path}/${body.id}`)).toMatchObject({ status: 204 })
})

describe('a token that creates logins', () => {
  const NETWORKS = ['127.0.0.0/8', '2001:db8::/32']
  const maker = async (limits: object) => {
    const { user, client } = await api.newUser()
    const token = await api.withToken(user, { scopes: ['smtp:write', 'emails:send'], ...limits })
    const give = async (allowed_cidrs: string[]) =>
      (await client.post(path, { username: name(), allowed_cidrs })).body.id
    return { token, client, give }
  }
  const refusedAt = (field: string) => ({
    status: 403,
    body: { code: 'insufficient_scope', errors: [{ pointer: `/${field}` }] },
  })

  test.each([
    ['one of its networks', ['127.0.0.0/8'], true],
    ['parts of them', ['127.0.0.1', '2001:db8:1::/48'], true],
    ['another network', ['192.0.2.0/24'], false],
    ['one of them and another', ['127.0.0.1', '192.0.2.1'], false],
    ['a network around one of them', ['0.0.0.0/0'], false],
    ['every network', [], false],
  ])('cannot create a login for other networks than its own: %s', async (_, allowed_cidrs, good) => {
    const { token, client, give } = await maker({ allowed_cidrs: NETWORKS })
    const answer = (status: number) => (good ? { status } : refusedAt('allowed_cidrs'))
    expect(await token.post(path, { username: name(), allowed_cidrs })).toMatchObject(answer(201))
    const [narrow, wide] = [await give(['127.0.0.1']), await give(allowed_cidrs)]
    expect(await token.call('PATCH', `${path}/${narrow}`, { allowed_cidrs })).toMatchObject(answer(200))
    const known = (await client.get(`${path}/${wide}/password`)).body.password
    expect(await token.call('PUT', `${path}/${wide}/password`, {})).toMatchObject(answer(200))
    expect((await client.get(`${path}/${wide}/password`)).body.password === known).toBe(!good)
  })

  test('creates nothing that outlives it, and still limits and removes logins', async () => {
    const { token, give } = await maker({ expires_at: new Date(Date.now() + 3_600_000) })
    const id = await give([])
    expect(await token.post(path, { username: name() })).toMatchObject(refusedAt('expires_at'))
    expect(await token.call('PUT', `${path}/${id}/password`, {})).toMatchObject(refusedAt('expires_at'))
    expect(await token.call('PATCH', `${path}/${id}`, { disabled: true })).toMatchObject({ status: 200 })
    expect(await token.call('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 })
  })

  test('creates any login if it is unrestricted, and may change fields other than the networks', async () => {
    const free = await maker({})
    const { body } = await free.token.post(path, { username: name() })
    expect(await free.token.call('PUT', `${path}/${body.id}/password`, {})).toMatchObject({ status: 200 })
    const { token, give } = await maker({ allowed_cidrs: NETWORKS })
    expect(await token.call('PATCH', `${path}/${await give([])}`, { disabled: true })).toMatchObject({ status: 200 })
  })
})
