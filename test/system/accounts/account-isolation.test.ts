/** No operation reads or changes what another account owns, and no field accepts MongoDB operators. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { auditLog } from '../../../services/accounts/store/audit-log.ts'
import { findUser } from '../../../services/accounts/store/users.ts'
import { createCredential } from '../../../services/mail/credentials/manage-smtp-credentials.ts'
import { credentials } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { tokens } from '../../../services/mail/credentials/store/tokens.ts'
import { sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import { dnsAccounts, insertDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { domains } from '../../../services/mail/domains/store/domain-model.ts'
import { SCOPES } from '../../../services/mail/http/shared/access.ts'
import { CAPTURED, saveCaptured } from '../../../services/mail/store/captured.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { putSuppression } from '../../../services/mail/suppressions/manage-suppressions.ts'
import { SUPPRESSIONS } from '../../../services/mail/suppressions/store/suppressions.ts'
import { createTemplate, publishTemplate } from '../../../services/mail/templates/manage-templates.ts'
import { templates } from '../../../services/mail/templates/store/templates.ts'
import { mailWebhookPlace } from '../../../services/mail/webhooks/manage-webhooks.ts'
import {
  insertMailWebhook,
  MAIL_WEBHOOK_EVENTS,
  mailWebhooks,
} from '../../../services/mail/webhooks/store/webhook-collections.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import type { AnyEndpoint } from '../../../services/platform/http/endpoint.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { MAIL_OPERATIONS, type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { DEAD_SERVER, ISOLATION, PUBLIC, type ResourceType, type Row } from './account-isolation-table.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi({ DNS_SERVERS: '127.0.0.1:1' })
})
afterAll(() => api.stop())

const pathOf = ({ path }: AnyEndpoint, id: string) =>
  path
    .replace('{id}', id)
    .replace('{selector}', 's1')
    .replace('{delivery}', `msg_${id}`)
    .replace('{version}', '1')
    .replace('{message}', `${id.replace('dom_', 'em_')}.0`)
    .replace('{index}', '0')
const keyOf = ({ method, path }: AnyEndpoint) => `${method} ${path}`
const rows = <K extends Row['kind']>(kind: K) =>
  MAIL_OPERATIONS.flatMap(operation => {
    const row = ISOLATION[keyOf(operation)]
    return row?.kind === kind ? [[keyOf(operation), operation, row as Extract<Row, { kind: K }>] as const] : []
  })

/** Creates one resource of each type for an account and returns its id. */
const GIVE: Record<ResourceType, (userId: string) => Promise<string>> = {
  domain: async userId => {
    const dkim = [
      {
        selector: 's1',
        algorithm: 'rsa-sha256' as const,
        public_key: 'AAAA',
        sealed_private_key: 'sealed',
        state: 'pending' as const,
        created_at: new Date(),
      },
    ]
    const { _id } = await giveDomain(api.db, userId, `${newId('d').replace('_', '')}.example`, { dkim })
    // Its inbox has a message with an attachment, whose id follows from that of the domain.
    const m = _id.replace('dom_', 'em_')
    const mail = { mail_from: 'a@example.com', rcpts: ['b@example.net'], at: new Date() }
    const raw = Buffer.from('Content-Type: text/csv\r\n\r\na,b\r\n')
    const exp = new Date(Date.now() + 3_600_000)
    await saveCaptured(api.mongo, [{ _id: `${m}.0`, m, user_id: userId, domain_id: _id, ...mail, raw, exp }])
    return _id
  },
  dns_account: async userId => {
    const _id = newId('dns')
    const now = new Date()
    await insertDnsAccount(api.db, {
      _id,
      user_id: userId,
      provider: 'rfc2136',
      name: 'test',
      by_hand: true,
      sealed: sealCredentials(api.secrets, _id, DEAD_SERVER),
      tested: { at: now, ok: true, zones: [] },
      created_at: now,
      updated_at: now,
    })
    return _id
  },
  credential: async userId => {
    const deps = { db: api.db, clock: systemClock, secrets: api.secrets }
    const limits = { allowed_senders: [], allowed_cidrs: [], messages_per_hour: 0 }
    return (await createCredential(deps, userId, { username: newId('c'), ...limits })).credential._id
  },
  token: async userId => (await giveToken(api.db, userId))._id,
  audit_entry: async userId => {
    const _id = newId('aud')
    const actor = { name: 'test', via: 'command' as const }
    const target = { type: 'user', id: userId }
    await api.db
      .collection<{ _id: string }>(auditLog.name)
      .insertOne({ _id, user_id: userId, actor, target, action: 'user.tested', at: new Date() } as { _id: string })
    return _id
  },
  webhook: async userId => {
    const [_id, at] = [newId('wh'), new Date()]
    const chosen = { name: '', url: 'https://127.0.0.1', events: [], domain_ids: [], enabled: true }
    const sealed = api.secrets.seal('app-secret', mailWebhookPlace(_id), `whsec_${btoa('secret')}`)
    await insertMailWebhook(api.db, { _id, user_id: userId, ...chosen, sealed, created_at: at, updated_at: at })
    await collectionOf(api.db, MAIL_WEBHOOK_EVENTS).insertOne({
      ...{ _id: `msg_${_id}`, webhook_id: _id, user_id: userId, type: 'email.accepted', data: {} },
      ...{ state: 'failed', attempts: 1, due: at, at },
    })
    return _id
  },
  message: async userId => {
    const { name } = await verifiedDomain(userId)
    const user = await findUser(api.db, userId)
    if (!user) throw new Error('there is no such user')
    const to = ['someone@example.net', 'another@example.net']
    const message = { from: `a@${name}`, to, subject: 'Hello', text: 'Hello' }
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = (await (await api.as(user)).post('/api/v1/emails', { ...message, scheduled_at })).body
    // One recipient waits for its scheduled time, the other for another attempt.
    await collectionOf(api.db, DELIVERIES).updateOne({ _id: `${id}.0` }, { $set: { att: 1 } })
    return id
  },
  suppression: async userId => {
    const email = `${newId('s')}@example.net`
    const entry = { email, stream: '', reason: 'manual', expires_at: undefined } as const
    return (await putSuppression({ db: api.db, clock: systemClock }, userId, entry))._id
  },
  template: async userId => {
    const deps = { mongo: api.mongo, clock: systemClock }
    const content = { name: newId('t'), subject: 'Hello', text: 'Hello', variables: [] }
    const { _id } = await createTemplate(deps, userId, content)
    await publishTemplate(deps, userId, _id, { name: 'test' })
    return _id
  },
  captured: async userId => {
    const m = newId('em')
    const envelope = { mail_from: 'a@example.com', rcpts: ['b@example.net'] }
    const raw = Buffer.from('Subject: Hello\r\n\r\nHello\r\n')
    const exp = new Date(Date.now() + 3_600_000)
    await saveCaptured(api.mongo, [{ _id: `${m}.0`, m, user_id: userId, ...envelope, raw, at: new Date(), exp }])
    return `${m}.0`
  },
}
/** A verified sender domain of an account. */
const verifiedDomain = (userId: string) =>
  giveDomain(api.db, userId, `${newId('v').replace('_', '')}.example`, { status: 'verified', verified_by: 'dns' })

const COLLECTION: Record<ResourceType, string> = {
  domain: domains.name,
  credential: credentials.name,
  token: tokens.name,
  audit_entry: auditLog.name,
  message: MESSAGES.name,
  captured: CAPTURED.name,
  suppression: SUPPRESSIONS.name,
  dns_account: dnsAccounts.name,
  webhook: mailWebhooks.name,
  template: templates.name,
}
const stored = (resource: ResourceType, id: string) =>
  api.db.collection<{ _id: string }>(COLLECTION[resource]).findOne({ _id: id })

/** The three ways to authenticate: a session, a token with every scope, and an admin's session. */
async function callers(): Promise<[string, ApiClient][]> {
  const { user, client } = await api.newUser()
  return [
    ['a session', client],
    ['a token', await api.withToken(user, { scopes: [...SCOPES] })],
    ['an admin', (await api.newUser({ role: 'admin' })).client],
  ]
}

test('the table contains every operation of the contract and nothing else', () => {
  expect(Object.keys(ISOLATION).toSorted()).toEqual(MAIL_OPERATIONS.map(keyOf).toSorted())
})

test.each(rows('item'))(
  "%s: a foreign id returns 404 and stays unchanged, the owner's works",
  async (_, operation, row) => {
    const owner = await api.newUser()
    const id = await GIVE[row.resource](owner.user._id)
    const before = await stored(row.resource, id)
    const path = pathOf(operation, id)
    for (const [, client] of await callers()) {
      const answer = await client.call(operation.method, path, row.body)
      // Operations that accept sessions only reject a token before they look up the id.
      expect(answer.status === 403 ? answer.body.code : answer.status).toBeOneOf([404, 'forbidden'])
    }
    expect((await client404(operation, id, row)).status).toBe(404)
    expect(await stored(row.resource, id)).toEqual(before)
    expect(await owner.client.call(operation.method, path, row.body)).toMatchObject({ status: row.own })
  },
)

/** For a session of another user, the response equals the one for an id that does not exist. */
async function client404(operation: AnyEndpoint, id: string, row: { body?: object }) {
  const { client } = await api.newUser()
  const foreign = await client.call(operation.method, pathOf(operation, id), row.body)
  const missing = await client.call(
    operation.method,
    pathOf(operation, `${id.slice(0, 12)}0000${id.slice(16)}`),
    row.body,
  )
  expect([foreign.status, foreign.body.code, foreign.body.detail]).toEqual([
    missing.status,
    missing.body.code,
    missing.body.detail,
  ])
  return foreign
}

test.each(rows('list'))("%s: lists only the caller's own", async (_, operation, row) => {
  const owner = await api.newUser()
  const id = await GIVE[row.resource](owner.user._id)
  const shown = async (client: ApiClient) =>
    (await client.get(`${operation.path}?limit=100`)).body.data.map((item: { id: string }) => item.id)
  expect(await shown(owner.client)).toEqual([id])
  const [session, token] = await callers()
  for (const [, client] of [session, token].filter(entry => entry !== undefined))
    expect(await shown(client)).not.toContain(id)
  for (const suffix of ['0', 'z']) {
    const after = await session?.[1].get(`${operation.path}?after=${id.slice(0, -1)}${suffix}`)
    expect(after?.body.data.map((item: { id: string }) => item.id)).not.toContain(id)
  }
})

test.each(rows('send'))('%s: rejects a sender domain of another account', async (_, operation, row) => {
  const owner = await api.newUser()
  const { name } = await verifiedDomain(owner.user._id)
  const before = await api.db.collection(MESSAGES.name).countDocuments()
  for (const [, client] of await callers()) {
    const answer = await client.call(operation.method, operation.path, row.body(`a@${name}`))
    expect(JSON.stringify(answer.body)).toContain('sender_not_allowed')
  }
  expect(await api.db.collection(MESSAGES.name).countDocuments()).toBe(before)
  const own = await owner.client.call(operation.method, operation.path, row.body(`a@${name}`))
  expect(own.status).toBe(202)
  expect(await api.db.collection(MESSAGES.name).countDocuments()).toBe(before + 1)
})

test.each(rows('admin'))('%s: rejects users and tokens of admins with 403', async (_, operation, row) => {
  const victim = await api.newUser()
  const path = operation.path.replace('{id}', victim.user._id)
  const boss = await api.newUser({ role: 'admin' })
  for (const client of [
    (await api.newUser()).client,
    victim.client,
    await api.withToken(boss.user, { scopes: [...SCOPES] }),
  ])
    expect(await client.call(operation.method, path, row.body)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    })
})

test.each(MAIL_OPERATIONS.map(operation => [keyOf(operation), operation] as const))(
  '%s: rejects a request without credentials with 401',
  async (_, operation) => {
    if (PUBLIC.has(keyOf(operation))) return
    const path = operation.path.replaceAll(/\{\w+\}/g, 'x_1')
    const body = operation.method === 'GET' ? undefined : {}
    expect(await api.anonymous.call(operation.method, path, body)).toMatchObject({ status: 401 })
  },
)

describe('MongoDB operators', () => {
  const OPERATORS = [{ $gt: '' }, { $ne: null }, { $regex: '.*' }, { $where: '1' }, ['x', { $gt: '' }]]
  const fieldsOf = (schema: z.ZodType | undefined) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])

  test.each(
    MAIL_OPERATIONS.flatMap(operation =>
      fieldsOf(operation.body).map(field => [`${keyOf(operation)} ${field}`, operation, field] as const),
    ),
  )('are rejected in the body: %s', async (_, operation, field) => {
    const boss = await api.newUser({ role: 'admin' })
    // In these fields the caller chooses the names: an object is data and never part of a query.
    if (['headers', 'metadata', 'values'].includes(field)) return
    const path = operation.path.replaceAll(/\{\w+\}/g, `em_${'0'.repeat(26)}`)
    for (const value of OPERATORS) {
      const answer = await boss.client.call(operation.method, path, { [field]: value })
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
      const pointers = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer.split('/')[1])
      expect(pointers).toContain(field)
    }
  })

  test.each(
    MAIL_OPERATIONS.flatMap(operation =>
      fieldsOf(operation.query).map(field => [`${keyOf(operation)} ${field}`, operation, field] as const),
    ),
  )('are rejected in the query: %s', async (_, operation, field) => {
    const { client } = await api.newUser({ role: 'admin' })
    for (const query of [`${field}[$gt]=`, `${field}[]=a`, `${field}=1&${field}=2`, `$where=1&${field}=1`])
      expect(await client.call(operation.method, `${operation.path}?${query}`)).toMatchObject({ status: 422 })
  })

  test.each(rows('item'))('find nothing in the path: %s', async (_, operation, row) => {
    const { client } = await api.newUser()
    for (const id of ['{"$gt":""}', '[$ne]', '$where', 'a,b', '%00']) {
      const path = pathOf(operation, encodeURIComponent(id))
      expect((await client.call(operation.method, path, row.body)).status).toBeOneOf([404, 422])
    }
  })
})
