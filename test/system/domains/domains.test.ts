import { createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { domains } from '../../../services/mail/domains/store/domain-model.ts'
import { findDomainById } from '../../../services/mail/domains/store/domains.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi()
})
afterAll(() => api.stop())

const admin = async () => (await api.newUser({ role: 'admin' })).client

describe('a new domain', () => {
  test('has a normalized name, waits for verification and has a DKIM key of 2048 bits', async () => {
    const { user, client } = await api.newUser()
    const created = await client.post('/api/v1/domains', { name: ' Bücher.Example. ' })
    expect(created).toMatchObject({
      status: 201,
      body: {
        name: 'xn--bcher-kva.example',
        user_id: user._id,
        status: 'pending',
        verified_by: null,
        may_send: false,
        dkim: [{ algorithm: 'rsa-sha256', state: 'active' }],
      },
    })
    expect(created.headers.get('location')).toBe(`/api/v1/domains/${created.body.id}`)
    const [key] = created.body.dkim
    expect(key.selector).toMatch(/^pw\d{6}[a-z]+$/)
    const publicKey = createPublicKey({ key: Buffer.from(key.public_key, 'base64'), format: 'der', type: 'spki' })
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
  })

  test('is found by id and by name in any notation', async () => {
    const { client } = await api.newUser()
    const { body } = await client.post('/api/v1/domains', { name: 'find.example' })
    for (const key of [body.id, 'find.example', 'FIND.example.', 'find%2Eexample'])
      expect(await client.get(`/api/v1/domains/${key}`)).toMatchObject({ status: 200, body: { id: body.id } })
    for (const key of ['other.example', 'dom_none', '%00', '$ne', '..example'])
      expect((await client.get(`/api/v1/domains/${key}`)).status).toBe(404)
  })

  test('stores its private key encrypted', async () => {
    const { client } = await api.newUser()
    const { body } = await client.post('/api/v1/domains', { name: 'closed.example' })
    const stored = await findDomainById(api.db, body.id)
    expect(stored?.dkim[0]?.sealed_private_key).toMatch(/^v1\./)
    expect(JSON.stringify(stored)).not.toContain('PRIVATE KEY')
    expect(JSON.stringify(body)).not.toMatch(/sealed|private/)
  })

  test.each(['com', 'co.uk', 'github.io', 'localhost', '192.0.2.1', 'a b.example', '_dmarc.example.com', ''])(
    'is rejected with the name %j',
    async name => {
      const { client } = await api.newUser()
      expect(await client.post('/api/v1/domains', { name })).toMatchObject({
        status: 422,
        body: { code: 'validation_failed', errors: [{ pointer: '/name' }] },
      })
    },
  )

  test('is a conflict if the account has the name, also concurrently', async () => {
    const { client } = await api.newUser()
    const answers = await Promise.all(
      ['twice.example', 'TWICE.example', 'twice.example.'].map(name => client.post('/api/v1/domains', { name })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  })

  test('may have a name that another account registered too, with a different selector', async () => {
    const [one, two] = await Promise.all([api.newUser(), api.newUser()])
    const first = await one.client.post('/api/v1/domains', { name: 'shared.example' })
    const second = await two.client.post('/api/v1/domains', { name: 'shared.example' })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(first.body.dkim[0].selector).not.toBe(second.body.dkim[0].selector)
  })
})

describe('an admin', () => {
  test('marks a domain as verified, which then may send', async () => {
    const boss = await admin()
    const { user, client } = await api.newUser()
    const { body } = await client.post('/api/v1/domains', { name: 'marked.example' })
    expect(await client.post(`/api/v1/admin/domains/${body.id}/verify`)).toMatchObject({ status: 403 })
    const marked = await boss.post(`/api/v1/admin/domains/${body.id}/verify`)
    expect(marked).toMatchObject({ status: 200, body: { status: 'verified', verified_by: 'admin', may_send: true } })
    expect(await boss.post(`/api/v1/admin/domains/${body.id}/verify`)).toMatchObject({ body: marked.body })
    expect(await boss.get(`/api/v1/admin/domains?user_id=${user._id}`)).toMatchObject({ body: { data: [marked.body] } })
    const log = await (await api.as(user)).get('/api/v1/audit-logs')
    expect(log.body.data[0]).toMatchObject({ action: 'domain.verified_by_admin', target: { name: 'marked.example' } })
  })

  test('cannot verify a name for two accounts, not even concurrently', async () => {
    const boss = await admin()
    const [one, two] = await Promise.all([api.newUser(), api.newUser()])
    const claims = await Promise.all(
      [one, two].map(({ client }) => client.post('/api/v1/domains', { name: 'rival.example' })),
    )
    const answers = await Promise.all(claims.map(({ body }) => boss.post(`/api/v1/admin/domains/${body.id}/verify`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

describe('the DNS account of a domain', () => {
  const giveAccount = async (userId: string) => {
    const account = {
      _id: newId('dns'),
      user_id: userId,
      provider: 'cloudflare',
      name: 'x',
      sealed: 'x',
      by_hand: true,
    } as const
    const now = new Date()
    await insertDnsAccount(api.db, {
      ...account,
      tested: { at: now, ok: true, zones: [] },
      created_at: now,
      updated_at: now,
    })
    return account._id
  }

  test('can be set and removed; removing it ends the management of the records', async () => {
    const { user, client } = await api.newUser()
    const account = await giveAccount(user._id)
    const { _id } = await giveDomain(api.db, user._id, 'bound.example', { dns: { manage: true, spf: ['mx'] } })
    const bind = (dns_account_id: unknown) => client.call('PATCH', `/api/v1/domains/${_id}`, { dns_account_id })
    expect(await bind(account)).toMatchObject({ status: 200, body: { dns_account_id: account } })
    expect(await client.call('PATCH', '/api/v1/domains/bound.example', {})).toMatchObject({
      body: { dns_account_id: account },
    })
    expect(await bind(null)).toMatchObject({ status: 200, body: { dns_account_id: null } })
    expect((await findDomainById(api.db, _id))?.dns).toEqual({ manage: false, spf: ['mx'] })
  })

  test('must belong to the same account', async () => {
    const { user, client } = await api.newUser()
    const foreign = await giveAccount((await api.newUser()).user._id)
    const { _id } = await giveDomain(api.db, user._id, 'foreign.example')
    for (const dns_account_id of [foreign, 'dns_none'])
      expect(await client.call('PATCH', `/api/v1/domains/${_id}`, { dns_account_id })).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/dns_account_id' }] },
      })
    expect(await client.call('PATCH', `/api/v1/domains/${_id}`, { name: 'other.example' })).toMatchObject({
      status: 422,
    })
  })
})

describe('deleting', () => {
  test('releases the name', async () => {
    const { client } = await api.newUser()
    const { body } = await client.post('/api/v1/domains', { name: 'gone.example' })
    expect((await client.call('DELETE', `/api/v1/domains/${body.id}`)).status).toBe(204)
    expect((await client.call('DELETE', `/api/v1/domains/${body.id}`)).status).toBe(404)
    expect(await client.post('/api/v1/domains', { name: 'gone.example' })).toMatchObject({ status: 201 })
  })

  test('is rejected while a resource manages the domain, which the error names', async () => {
    const { user, client } = await api.newUser()
    const managed_by = { kind: 'MailDomain', namespace: 'shop', name: 'shop-example', uid: 'u-1' }
    const { _id } = await giveDomain(api.db, user._id, 'managed.example', { managed_by })
    expect(await client.get(`/api/v1/domains/${_id}`)).toMatchObject({
      body: { managed_by: { kind: 'MailDomain', namespace: 'shop', name: 'shop-example' } },
    })
    expect(await client.call('DELETE', `/api/v1/domains/${_id}`)).toMatchObject({
      status: 409,
      body: { code: 'managed_by_resource', detail: expect.stringContaining('MailDomain shop/shop-example') },
    })
    expect(await findDomainById(api.db, _id)).toBeDefined()
  })
})

test('a list is paginated and keeps its order', async () => {
  const { user, client } = await api.newUser()
  // The order is that of the ids, which those of the same millisecond do not have.
  for (const [n, name] of ['c', 'a', 'b'].entries())
    await giveDomain(api.db, user._id, `${name}.example`, { _id: newId('dom', Date.now() + n * 1_000) })
  const first = await client.get('/api/v1/domains?limit=2')
  expect(first.body).toMatchObject({ data: [{ name: 'c.example' }, { name: 'a.example' }], has_more: true })
  const second = await client.get(`/api/v1/domains?limit=2&after=${first.body.data[1].id}`)
  expect(second.body).toMatchObject({ data: [{ name: 'b.example' }], has_more: false })
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'page=2', 'after[$gt]='])
    expect((await client.get(`/api/v1/domains?${query}`)).status).toBe(422)
})

describe('in capture mode', () => {
  test('the first admin has a sandbox domain that may send; in other modes it may not', async () => {
    const settings = { DELIVERY_MODE: 'capture', ADMIN_USERNAME: 'root', ADMIN_PASSWORD: 'the first password' }
    const capture = await startPanelApi(settings)
    try {
      const [sandbox] = await collectionOf(capture.db, domains).find().toArray()
      expect(sandbox).toMatchObject({ name: 'sandbox.mail.example.net', status: 'verified', verified_by: 'sandbox' })
      const { user, client } = await api.newUser()
      if (!sandbox) throw new Error('there is no sandbox')
      await collectionOf(api.db, domains).insertOne({ ...sandbox, user_id: user._id })
      expect(await client.get('/api/v1/domains/sandbox.mail.example.net')).toMatchObject({
        body: { verified_by: 'sandbox', may_send: false },
      })
    } finally {
      await capture.stop()
    }
  })
})
