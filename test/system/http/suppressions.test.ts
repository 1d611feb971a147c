import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
beforeAll(async () => {
  // Bulk mail needs a public address for its links.
  api = await startPanelApi({ APP_BASE_URL: 'https://mail.example.net' })
})
afterAll(() => api.stop())

const path = '/api/v1/suppressions'

interface Caller {
  user: UserDoc
  client: ApiClient
  domain: string
}

let accounts = 0
async function caller(): Promise<Caller> {
  const { user, client } = await api.newUser()
  const domain = `s${accounts++}.example.com`
  await giveDomain(api.db, user._id, domain, { status: 'verified', verified_by: 'dns' })
  return { user, client, domain }
}

const add = ({ client }: Caller, email: string, more: object = {}) => client.post(path, { email, ...more })
const send = ({ client, domain }: Caller, to: string[], more: object = {}) =>
  client.post('/api/v1/emails', { from: `ann@${domain}`, to, subject: 'Hello', text: 'Hi', ...more })
const upload = ({ client }: Caller, file: string, type = 'text/csv') =>
  client.call('POST', `${path}/import`, file, { 'content-type': type })
const actions = async ({ client }: Caller) =>
  (await client.get('/api/v1/audit-logs')).body.data.map(
    ({ action, target }: { action: string; target: { name: string } }) => `${action} ${target.name}`,
  )

describe('an entry', () => {
  test('is found by its id and its address, and removed; both are in the audit log', async () => {
    const ann = await caller()
    const created = await add(ann, 'Bob@Example.NET', { detail: 'asked by phone' })
    const { id } = created.body
    expect(created).toMatchObject({
      status: 201,
      body: { email: 'bob@example.net', stream: null, reason: 'manual', origin: 'api', detail: 'asked by phone' },
    })
    for (const key of [id, 'bob@example.net', 'BOB@example.net'])
      expect((await ann.client.get(`${path}/${encodeURIComponent(key)}`)).body).toEqual(created.body)
    expect((await ann.client.call('DELETE', `${path}/bob@example.net`)).status).toBe(204)
    for (const method of ['GET', 'DELETE'])
      expect(await ann.client.call(method, `${path}/${id}`)).toMatchObject({
        ...{ status: 404, body: { detail_code: 'detail.no_suppression' } },
      })
    expect(await actions(ann)).toEqual(['suppression.removed bob@example.net', 'suppression.added bob@example.net'])
  })

  test('of a stream is another one than that of all mail', async () => {
    const ann = await caller()
    await add(ann, 'bob@example.net', { stream: 'bulk', reason: 'unsubscribe' })
    expect((await ann.client.get(`${path}/bob@example.net`)).status).toBe(404)
    expect((await ann.client.get(`${path}/bob@example.net?stream=bulk`)).body).toMatchObject({ stream: 'bulk' })
  })

  test.each<[string, object, string]>([
    ['no address', { email: 'bob' }, '/email'],
    ['an unknown reason', { email: 'bob@example.net', reason: 'x' }, '/reason'],
    ['an end that is past', { email: 'bob@example.net', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    ['an operator', { email: { $gt: '' } }, '/email'],
  ])('with %s is refused', async (_, body, pointer) => {
    const answer = await (await caller()).client.post(path, body)
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
  })
})

describe('a list', () => {
  test('has pages, newest first, and filters', async () => {
    const ann = await caller()
    for (const name of ['a', 'b', 'c'])
      await add(ann, `${name}@example.net`, { reason: name === 'b' ? 'complaint' : 'manual' })
    const emails = async (query: string) =>
      (await ann.client.get(`${path}?${query}`)).body.data.map(({ email }: { email: string }) => email[0]).join('')
    const first = await ann.client.get(`${path}?limit=2`)
    expect(first.body.has_more).toBe(true)
    expect(await emails('limit=2')).toBe('cb')
    expect(await emails(`after=${first.body.data[1].id}`)).toBe('a')
    expect(await emails('reason=complaint')).toBe('b')
    expect(await emails('email=A@example.net')).toBe('a')
    expect(await emails('stream=bulk')).toBe('')
  })

  test('a batch changes many at once', async () => {
    const ann = await caller()
    await add(ann, 'old@example.net')
    const change = { add: [{ email: 'a@example.net' }, { email: 'b@example.net' }], remove: ['old@example.net'] }
    expect((await ann.client.post(`${path}/batch`, change)).body).toMatchObject({ added: 2, updated: 0, removed: 1 })
    expect((await ann.client.post(`${path}/batch`, change)).body).toMatchObject({ added: 0, removed: 0 })
    expect(await actions(ann)).toEqual(
      expect.arrayContaining(['suppression.removed old@example.net', 'suppression.added 2']),
    )
    const many = Array.from({ length: 1_001 }, (_, n) => ({ email: `u${n}@example.net` }))
    expect((await ann.client.post(`${path}/batch`, { add: many })).status).toBe(422)
  })
})

describe('files', () => {
  test('what was exported can be imported by another account', async () => {
    const [ann, bob] = [await caller(), await caller()]
    await add(ann, 'a@example.net', { reason: 'complaint', stream: 'bulk/news', detail: '=1+1, "quoted"' })
    await add(ann, 'b@example.net', { expires_at: '2090-01-01T00:00:00Z' })
    const exported = await ann.client.get(`${path}/export`)
    expect(exported.headers.get('content-disposition')).toBe('attachment; filename="suppressions.csv"')
    expect((await upload(bob, exported.body)).body).toMatchObject({ total: 2, added: 2, invalid: 0 })
    const entryOf = async (email: string, stream = '') =>
      (await bob.client.get(`${path}/${email}${stream && `?stream=${stream}`}`)).body
    expect(await entryOf('a@example.net', 'bulk/news')).toMatchObject({ reason: 'complaint', origin: 'import' })
    expect(await entryOf('b@example.net')).toMatchObject({ expires_at: '2090-01-01T00:00:00.000Z' })
    expect(await actions(bob)).toEqual(['suppression.imported 2'])
  })

  test('rows that are not valid are named', async () => {
    const answer = await upload(await caller(), 'email\nnobody\na@example.net\n')
    expect(answer.body).toMatchObject({
      ...{ total: 2, added: 1, invalid: 1 },
      errors: [{ row: 2, message_code: 'detail.of_field', message: expect.stringContaining('nobody') }],
    })
  })

  test.each([
    ['JSON', 'application/json', 415],
    ['a form without a file', 'multipart/form-data; boundary=x', 422],
  ])('%s is no file: %s', async (_, type, status) => {
    expect((await upload(await caller(), '--x--\r\n', type)).status).toBe(status)
  })
})

describe('sending', () => {
  const deliveries = async (id: string) =>
    (await collectionOf(api.db, DELIVERIES).find({ m: id }).toArray()).map(({ rcpt }) => rcpt)

  test('leaves suppressed recipients out, and the log says why', async () => {
    const ann = await caller()
    await add(ann, 'bob@example.net', { reason: 'complaint' })
    const answer = await send(ann, ['Bob@example.net', 'eve@example.net'])
    expect(answer).toMatchObject({
      status: 202,
      body: { recipients: [{ status: 'suppressed' }, { status: 'queued' }] },
    })
    const { id } = answer.body
    expect(await deliveries(id)).toEqual(['eve@example.net'])
    const { body } = await ann.client.get(`/api/v1/emails/${id}`)
    expect(body).toMatchObject({ status: 'queued', recipients: [{ status: 'suppressed' }, { status: 'queued' }] })
    const events = (await ann.client.get(`/api/v1/emails/${id}/events`)).body.data
    expect(events).toMatchObject([
      { type: 'email.queued', recipient: 'eve@example.net' },
      {
        type: 'email.suppressed',
        recipient: 'Bob@example.net',
        text_params: { reason: { code: 'suppression.complaint' } },
      },
    ])
    expect((await ann.client.get('/api/v1/emails?status=suppressed')).body.data).toMatchObject([{ id }])
    expect((await ann.client.get('/api/v1/stats')).body.totals).toMatchObject({ recipients: 2, suppressed: 1 })
  })

  test('to suppressed recipients alone is refused, and nothing is stored', async () => {
    const ann = await caller()
    await add(ann, 'bob@example.net')
    const before = await collectionOf(api.db, MESSAGES).countDocuments()
    expect(await send(ann, ['bob@example.net'])).toMatchObject({
      status: 422,
      body: { code: 'all_recipients_suppressed', detail_params: { count: 1, address: 'bob@example.net' } },
    })
    expect(await collectionOf(api.db, MESSAGES).countDocuments()).toBe(before)
    const batch = await ann.client.post('/api/v1/emails/batch?mode=partial', [
      { from: `ann@${ann.domain}`, to: 'bob@example.net', subject: 'x', text: 'x' },
      { from: `ann@${ann.domain}`, to: 'eve@example.net', subject: 'x', text: 'x' },
    ])
    expect(batch.body.data).toMatchObject([
      { status: 422, error: { code: 'all_recipients_suppressed' } },
      { status: 202 },
    ])
  })

  test('again with an idempotency key gets the answer of the first time', async () => {
    const ann = await caller()
    const message = { from: `ann@${ann.domain}`, to: ['bob@example.net'], subject: 'Hello', text: 'Hi' }
    const post = () => ann.client.call('POST', '/api/v1/emails', message, { 'idempotency-key': 'k1' })
    const first = await post()
    await add(ann, 'bob@example.net')
    expect((await post()).body).toEqual(first.body)
  })

  test.each([
    ['the whole account', {}, undefined, 422],
    ['bulk mail: not transactional mail', { stream: 'bulk' }, undefined, 202],
    ['bulk mail: bulk mail', { stream: 'bulk' }, 'bulk', 422],
    ['one list: not all bulk mail', { stream: 'bulk/news' }, 'bulk', 202],
    ['another account', undefined, undefined, 202],
  ])('an entry of %s', async (_, entry, stream, status) => {
    const ann = await caller()
    await add(entry ? ann : await caller(), 'bob@example.net', entry)
    expect((await send(ann, ['bob@example.net'], stream ? { stream } : {})).status).toBe(status)
  })

  test('counts only recipients that get the message against the daily limit', async () => {
    const { user, client } = await api.newUser({ recipients_per_day: 1 })
    const ann = { user, client, domain: 'limited.example.com' }
    await giveDomain(api.db, user._id, ann.domain, { status: 'verified', verified_by: 'dns' })
    await add(ann, 'bob@example.net')
    expect((await send(ann, ['bob@example.net', 'eve@example.net'])).status).toBe(202)
    expect((await send(ann, ['eve@example.net'])).status).toBe(429)
  })
})

describe('a token', () => {
  const withScopes = async ({ user }: Caller, change: Parameters<typeof giveToken>[2]) => {
    const { value } = await giveToken(api.db, user._id, change)
    return api.anonymous.with({ authorization: `Bearer ${value}` })
  }

  test('needs the scope', async () => {
    const ann = await caller()
    const reader = await withScopes(ann, { scopes: ['suppressions:read'] })
    expect((await reader.get(path)).status).toBe(200)
    expect((await reader.post(path, { email: 'bob@example.net' })).status).toBe(403)
    const sender = await withScopes(ann, { scopes: ['emails:send'] })
    expect((await sender.get(path)).status).toBe(403)
  })

  test('that is limited to a domain sees none of the account', async () => {
    const ann = await caller()
    const limited = await withScopes(ann, { scopes: ['suppressions:read'], domains: [ann.domain] })
    expect(await limited.get(path)).toMatchObject({ status: 403, body: { detail_code: 'detail.needs_all_domains' } })
  })
})
