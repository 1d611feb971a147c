/** The official SDK for Node, unmodified: domains, keys, suppressions, templates and webhooks. */
import { Resend } from 'resend'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CompatApi, startCompatApi } from '../../support/http/compat-api.ts'

let api: CompatApi
let resend: Resend
beforeAll(async () => {
  api = await startCompatApi({ DNS_SERVERS: '127.0.0.1:9' })
  resend = new Resend(api.key, { baseUrl: api.url })
})
afterAll(() => api.stop())

/** The data of a call that must succeed. */
async function ok<T>(call: PromiseLike<{ data: T; error: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await call
  expect(error).toBeNull()
  return data as NonNullable<T>
}

test('a domain is made, shown with its records, verified, changed, listed and removed', async () => {
  const made = await ok(resend.domains.create({ name: 'new.example', openTracking: false, tls: 'opportunistic' }))
  expect(made).toMatchObject({ name: 'new.example', status: 'not_started', region: 'us-east-1' })
  const shown = await ok(resend.domains.get(made.id))
  expect(shown).toMatchObject({
    object: 'domain',
    id: made.id,
    capabilities: { sending: 'enabled', receiving: 'disabled' },
  })
  expect(shown.records.map(({ record, type, name }) => [record, type, name])).toEqual(
    expect.arrayContaining([
      ['SPF', 'TXT', '@'],
      ['SPF', 'TXT', '_dmarc'],
      ['SPF', 'TXT', '_postwright-challenge'],
      ['DKIM', 'TXT', expect.stringMatching(/\._domainkey$/)],
    ]),
  )
  expect(await ok(resend.domains.verify(made.id))).toEqual({ object: 'domain', id: made.id })
  await ok(resend.domains.update({ id: made.id, openTracking: true }))
  expect(await ok(resend.domains.get(made.id))).toMatchObject({ open_tracking: true, click_tracking: false })
  expect(await ok(resend.domains.update({ id: made.id, clickTracking: false }))).toEqual({
    object: 'domain',
    id: made.id,
  })
  const { data, has_more } = await ok(resend.domains.list())
  expect([data.map(({ name }) => name), has_more]).toEqual([['sender.example', 'new.example'], false])
  expect(await ok(resend.domains.remove(made.id))).toEqual({ object: 'domain', id: made.id, deleted: true })
  expect((await resend.domains.get(made.id)).error).toMatchObject({ statusCode: 404, name: 'not_found' })
})

test.each([
  ['receiving', { capabilities: { receiving: 'enabled' as const } }],
  ['enforced', { tls: 'enforced' as const }],
  ['custom_return_path', { customReturnPath: 'send' }],
])('a domain with %s is refused, and not made', async (word, settings) => {
  const { error } = await resend.domains.create({ name: 'other.example', ...settings })
  expect(error).toMatchObject({ statusCode: 501, name: 'not_implemented', message: expect.stringContaining(word) })
  expect((await ok(resend.domains.list())).data.map(({ name }) => name)).not.toContain('other.example')
})

test('a key is made, sends for its domain alone, is listed and removed', async () => {
  const [domain] = (await ok(resend.domains.list())).data
  const made = await ok(
    resend.apiKeys.create({ name: 'App', permission: 'sending_access', domain_id: domain?.id ?? '' }),
  )
  expect(made).toEqual({ id: expect.stringMatching(/^key_/), token: expect.stringMatching(/^pw_live_/) })
  const app = new Resend(made.token, { baseUrl: api.url })
  const message = { from: 'a@sender.example', to: 'b@example.net', subject: 'Hi', text: 'Hi' }
  await ok(app.emails.send(message))
  expect((await app.domains.list()).error).toMatchObject({ statusCode: 401, name: 'restricted_api_key' })
  const listed = async () => (await ok(resend.apiKeys.list())).data.find(({ id }) => id === made.id)
  // The request that uses a key does not wait until its use is noted.
  await expect
    .poll(listed)
    .toEqual({ id: made.id, name: 'App', created_at: expect.any(String), last_used_at: expect.anything() })
  expect((await resend.apiKeys.update(made.id, { name: 'Other' })).error).toMatchObject({ name: 'not_implemented' })
  expect(await ok(resend.apiKeys.remove(made.id))).toMatchObject({ object: 'api_key', id: made.id, deleted: true })
  expect((await ok(resend.apiKeys.list())).data.map(({ id }) => id)).not.toContain(made.id)
})

test('revoked keys leave no empty page', async () => {
  const first = await ok(resend.apiKeys.create({ name: 'first' }))
  for (const name of ['a', 'b', 'c']) await ok(resend.apiKeys.remove((await ok(resend.apiKeys.create({ name }))).id))
  const last = await ok(resend.apiKeys.create({ name: 'last' }))
  const { data, has_more } = await ok(resend.apiKeys.list({ limit: 1, after: first.id }))
  expect([data.map(({ id }) => id), has_more]).toEqual([[last.id], false])
})

test('a key with full access has the rights of the one that made it', async () => {
  const { token } = await ok(resend.apiKeys.create({ name: 'All' }))
  await ok(new Resend(token, { baseUrl: api.url }).suppressions.list())
})

describe('suppressions', () => {
  test('are added, found by id and by address, listed and removed', async () => {
    const { id } = await ok(resend.suppressions.add({ email: 'bob@example.net' }))
    const entry = { id, email: 'bob@example.net', origin: 'manual', source_id: null, created_at: expect.any(String) }
    for (const key of [id, 'bob@example.net'])
      expect(await ok(resend.suppressions.get(key))).toEqual({ object: 'suppression', ...entry })
    expect((await ok(resend.suppressions.list({ origin: 'manual' }))).data).toEqual([entry])
    expect((await ok(resend.suppressions.list({ origin: 'bounce' }))).data).toEqual([])
    expect(await ok(resend.suppressions.remove('bob@example.net'))).toEqual({
      object: 'suppression',
      id,
      deleted: true,
    })
    for (const key of [id, 'bob@example.net'])
      expect((await resend.suppressions.remove(key)).error).toMatchObject({ statusCode: 404, name: 'not_found' })
  })

  test('are added and removed in batches', async () => {
    const emails = ['a@example.net', 'b@example.net', 'c@example.net']
    const { data } = await ok(resend.suppressions.batch.add({ emails }))
    expect(data).toHaveLength(3)
    const ids = data.map(({ id }) => id)
    expect((await ok(resend.suppressions.batch.remove({ ids: ids.slice(0, 1) }))).data).toEqual([
      { object: 'suppression', id: ids[0], deleted: true },
    ])
    expect((await ok(resend.suppressions.batch.remove({ emails }))).data.map(({ deleted }) => deleted)).toEqual([
      false,
      true,
      true,
    ])
  })
})

test('a template is made, published, sent by its alias, changed, duplicated and removed', async () => {
  const made = await ok(
    resend.templates
      .create({
        ...{ name: 'Order confirmation', subject: 'Order {{{NUMBER}}}', html: '<p>Hello {{{NAME}}}</p>' },
        variables: [
          { key: 'NAME', type: 'string', fallbackValue: 'customer' },
          { key: 'NUMBER', type: 'number' },
        ],
      })
      .publish(),
  )
  const shown = await ok(resend.templates.get('order-confirmation'))
  expect(shown).toMatchObject({
    ...{ id: made.id, alias: 'order-confirmation', status: 'published', has_unpublished_versions: false },
    ...{ subject: 'Order {{{NUMBER}}}', html: '<p>Hello {{{NAME}}}</p>', from: null },
    variables: [
      { key: 'NAME', type: 'string', fallback_value: 'customer' },
      { key: 'NUMBER', type: 'number', fallback_value: null },
    ],
  })
  const email = { from: 'a@sender.example', to: 'b@example.net' }
  const { id } = await ok(
    resend.emails.send({ ...email, template: { id: 'order-confirmation', variables: { NUMBER: 7, NAME: 'A & B' } } }),
  )
  expect(await ok(resend.emails.get(id))).toMatchObject({ subject: 'Order 7', html: '<p>Hello A &amp; B</p>' })
  const lacking = await resend.emails.send({ ...email, template: { id: made.id, variables: {} } })
  expect(lacking.error).toMatchObject({ statusCode: 422, message: expect.stringContaining('NUMBER') })

  await ok(resend.templates.update(made.id, { html: '<p>Dear {{{NAME}}}</p>' }))
  expect(await ok(resend.templates.get(made.id))).toMatchObject({ has_unpublished_versions: true })
  const copy = await ok(resend.templates.duplicate(made.id))
  const list = await ok(resend.templates.list())
  expect(list.data.map(({ status }) => status)).toEqual(['published', 'draft'])
  for (const one of [copy.id, made.id])
    expect(await ok(resend.templates.remove(one))).toEqual({ object: 'template', id: one, deleted: true })
})

test('a template with a sender is refused', async () => {
  const { error } = await resend.templates.create({ name: 'x', html: '<p>x</p>', from: 'a@sender.example' })
  expect(error).toMatchObject({ statusCode: 501, name: 'not_implemented', message: expect.stringContaining('from') })
})

test('a webhook is made, shown without its secret, changed, listed, given a new secret and removed', async () => {
  const endpoint = 'http://127.0.0.1:9/hook'
  const made = await ok(resend.webhooks.create({ endpoint, events: ['email.bounced', 'email.delivered'] }))
  expect(made).toEqual({ object: 'webhook', id: made.id, signing_secret: expect.stringMatching(/^whsec_/) })
  const { signing_secret, ...shown } = await ok(resend.webhooks.get(made.id))
  expect(signing_secret).toBeUndefined()
  expect(shown).toMatchObject({ status: 'enabled', endpoint, events: ['email.delivered', 'email.bounced'] })
  await ok(resend.webhooks.update(made.id, { status: 'disabled', events: ['email.clicked'] }))
  expect((await ok(resend.webhooks.list())).data).toMatchObject([{ status: 'disabled', events: ['email.clicked'] }])
  const rotated = await ok(resend.webhooks.rotateSigningSecret(made.id))
  expect(rotated.signing_secret).not.toBe(made.signing_secret)
  expect(await ok(resend.webhooks.remove(made.id))).toEqual({ object: 'webhook', id: made.id, deleted: true })
})

test('a webhook for events that there are none of is refused', async () => {
  const { error } = await resend.webhooks.create({ endpoint: 'http://127.0.0.1:9/', events: ['contact.created'] })
  expect(error).toMatchObject({ statusCode: 501, name: 'not_implemented' })
})
