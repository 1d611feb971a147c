/** Templates through the API: drafts, versions, previews, and messages made of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { templateVersions } from '../../../services/mail/templates/store/templates.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
let from: string
let client: ApiClient
let token: string
beforeAll(async () => {
  api = await startPanelApi()
  const created = await api.newUser()
  client = created.client
  const { name } = await giveDomain(api.db, created.user._id, 'templates.example', {
    status: 'verified',
    verified_by: 'dns',
  })
  from = `shop@${name}`
  token = (await giveToken(api.db, created.user._id)).value
})
afterAll(() => api.stop())

const path = '/api/v1/templates'
const to = 'ann@example.net'
const variables = [
  { key: 'name', type: 'string', required: true },
  { key: 'lines', type: 'list', default: [] },
]
const content = {
  subject: 'Order for {{ name }}',
  html: '<p>Hello {{ name }}</p>{% for line in lines %}<p>{{ line.title }}</p>{% endfor %}',
  variables,
}

let count = 0
async function give(change: object = {}): Promise<{ id: string; name: string }> {
  const name = `order-${count++}`
  const created = await client.post(path, { name, ...content, ...change })
  expect(created).toMatchObject({ status: 201 })
  return { id: created.body.id, name }
}

async function givePublished(change: object = {}) {
  const template = await give(change)
  expect(await client.post(`${path}/${template.id}/publish`, {})).toMatchObject({ status: 200, body: { version: 1 } })
  return template
}

const send = (template: object, more: object = {}, address = '/api/v1/emails') =>
  client.post(address, { from, to, template, ...more })
const rawOf = async (id: string): Promise<string> => (await client.get(`/api/v1/emails/${id}/raw`)).body

describe('a draft', () => {
  test('is stored, listed without its parts, found by id and name, changed and removed', async () => {
    const { id, name } = await give()
    for (const reference of [id, name])
      expect(await client.get(`${path}/${reference}`)).toMatchObject({
        body: { id, name, ...content, text: null, revision: 1, version: null, has_changes: true },
      })
    const listed = (await client.get(`${path}?limit=100`)).body.data.find((row: { id: string }) => row.id === id)
    expect(listed).toMatchObject({ name, subject: content.subject })
    expect(listed).not.toHaveProperty('html')
    expect(await client.call('PATCH', `${path}/${name}`, { text: 'Hi {{ name }}', html: null })).toMatchObject({
      status: 200,
      body: { html: null, text: 'Hi {{ name }}', revision: 2 },
    })
    expect(await client.call('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 })
    expect(await client.get(`${path}/${id}`)).toMatchObject({ status: 404 })
  })

  test('has a name of its own in the account', async () => {
    const { name } = await give()
    const taken = { status: 409, body: { code: 'conflict', detail_code: 'detail.template_name_taken' } }
    expect(await client.post(path, { name, ...content })).toMatchObject(taken)
    expect(await client.call('PATCH', `${path}/${(await give()).id}`, { name })).toMatchObject(taken)
    const other = (await api.newUser()).client
    expect(await other.post(path, { name, ...content })).toMatchObject({ status: 201 })
  })

  test('of an older revision is not written', async () => {
    const { id } = await give()
    expect(await client.call('PATCH', `${path}/${id}`, { revision: 1, subject: 'A' })).toMatchObject({ status: 200 })
    const conflict = { status: 409, body: { code: 'version_conflict' } }
    expect(await client.call('PATCH', `${path}/${id}`, { revision: 1, subject: 'B' })).toMatchObject(conflict)
    expect(await client.post(`${path}/${id}/publish`, { revision: 1 })).toMatchObject(conflict)
    expect(await client.get(`${path}/${id}`)).toMatchObject({ body: { subject: 'A', revision: 2 } })
  })

  test('written by many at once keeps one change for each revision', async () => {
    const { id } = await give()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => client.call('PATCH', `${path}/${id}`, { revision: 1, subject: `S${n}` })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)])
    expect(await client.get(`${path}/${id}`)).toMatchObject({ body: { revision: 2 } })
  })

  test.each<[string, object, string]>([
    ['no part', { html: undefined }, '/html'],
    ['syntax', { html: '{% if name %}' }, '/html'],
    ['an undeclared variable', { subject: '{{ nme }}' }, '/subject'],
    ['a place without escaping', { html: '<script>{{ name }}</script>' }, '/html'],
    ['the same variable twice', { variables: [...variables, variables[0]] }, '/variables/2/key'],
    ['a name of the language', { variables: [...variables, { key: 'forloop' }] }, '/variables/2/key'],
    [
      'a default of another type',
      { variables: [...variables, { key: 'n', type: 'number', default: 'a' }] },
      '/variables/2/default',
    ],
    ['many variables', { variables: Array.from({ length: 101 }, (_, n) => ({ key: `v${n}` })) }, '/variables'],
    ['a large html part', { html: 'ä'.repeat(262_145) }, '/html'],
    ['a reserved name', { name: 'tpl_a' }, '/name'],
    ['a name in use by a path', { name: 'preview' }, '/name'],
  ])('is refused with %s', async (_, change, pointer) => {
    const answer = await client.post(path, { name: 'refused', ...content, ...change })
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ pointer }] } })
  })

  test('of the largest size is stored', async () => {
    const part = `${'ä'.repeat(262_140)}`
    expect(await client.post(path, { name: 'large', ...content, html: part, text: part })).toMatchObject({
      status: 201,
    })
  })
})

describe('versions', () => {
  test('are numbered, immutable, listed newest first, and published again by a rollback', async () => {
    const { id } = await givePublished()
    expect(await client.post(`${path}/${id}/publish`, {})).toMatchObject({ body: { version: 1 } })
    await client.call('PATCH', `${path}/${id}`, { subject: 'Second' })
    expect(await client.get(`${path}/${id}`)).toMatchObject({ body: { version: 1, has_changes: true } })
    expect(await client.post(`${path}/${id}/publish`, {})).toMatchObject({ body: { version: 2, has_changes: false } })
    const rolledBack = await client.post(`${path}/${id}/rollback`, { version: 1 })
    expect(rolledBack).toMatchObject({ status: 200, body: { version: 3, subject: 'Second', has_changes: true } })
    const list = (await client.get(`${path}/${id}/versions?limit=2`)).body
    expect(list).toMatchObject({
      has_more: true,
      data: [
        { version: 3, subject: content.subject, rolled_back_to: 1 },
        { version: 2, subject: 'Second', rolled_back_to: null },
      ],
    })
    expect((await client.get(`${path}/${id}/versions?after=2`)).body.data).toMatchObject([{ version: 1 }])
    expect(await client.get(`${path}/${id}/versions/1`)).toMatchObject({ body: { html: content.html, variables } })
    expect(await client.post(`${path}/${id}/rollback`, { version: 9 })).toMatchObject({ status: 404 })
  })

  test('published by many at once are one', async () => {
    const { id } = await give()
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.post(`${path}/${id}/publish`, {})))
    expect(answers.map(({ status, body }) => [status, body.version])).toEqual(Array(6).fill([200, 1]))
    expect(await collectionOf(api.db, templateVersions).countDocuments({ template_id: id })).toBe(1)
  })

  test('are kept up to the limit, and go with their template', async () => {
    const { id } = await givePublished()
    const versions = collectionOf(api.db, templateVersions)
    await api.db.collection('templates').updateOne({ _id: id as never }, { $set: { 'published.version': 100 } })
    await client.call('PATCH', `${path}/${id}`, { subject: 'B' })
    expect(await client.post(`${path}/${id}/publish`, {})).toMatchObject({ body: { version: 101 } })
    expect(await versions.distinct('version', { template_id: id })).toEqual([101])
    await client.call('DELETE', `${path}/${id}`)
    expect(await versions.countDocuments({ template_id: id })).toBe(0)
  })
})

describe('a preview', () => {
  test('renders a draft, a version, and a content that is not stored', async () => {
    const { id } = await givePublished()
    await client.call('PATCH', `${path}/${id}`, { subject: 'New for {{ name }}' })
    const values = { name: 'Ann & <Bob>', lines: [{ title: '1 < 2' }] }
    expect(await client.post(`${path}/${id}/preview`, { values })).toMatchObject({
      status: 200,
      body: {
        subject: 'New for Ann & <Bob>',
        html: '<p>Hello Ann &amp; &lt;Bob&gt;</p><p>1 &lt; 2</p>',
        text: 'Hello Ann & <Bob>\n\n1 < 2\n',
        text_is_derived: true,
      },
    })
    expect(await client.post(`${path}/${id}/preview`, { values, version: 1 })).toMatchObject({
      body: { subject: 'Order for Ann & <Bob>' },
    })
    const unsaved = { subject: '{{ a }}', text: '{{ a }}', variables: [{ key: 'a', default: 'd' }] }
    expect(await client.post(`${path}/preview`, unsaved)).toMatchObject({
      body: { subject: 'd', html: null, text: 'd' },
    })
  })

  test('for a frame is a page of its own with a policy that lets nothing run, of the account alone', async () => {
    const html = '<p style="color: red">{{ a }}</p>'
    const unsaved = { subject: '', html, variables: [{ key: 'a', default: '<b>' }], framed: true }
    const first = (await client.post(`${path}/preview`, unsaved)).body.frame
    const { frame } = (await client.post(`${path}/preview`, unsaved)).body
    const page = await client.get(frame)
    expect(page).toMatchObject({ status: 200, body: '<p style="color: red">&lt;b&gt;</p>' })
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    // A frame that is slower than the next preview still gets its page.
    expect(await client.get(first)).toMatchObject({ status: 200 })
    expect(await (await api.newUser()).client.get(frame)).toMatchObject({ status: 404 })
  })

  test('points at what is wrong', async () => {
    const { id } = await give()
    expect(await client.post(`${path}/${id}/preview`, { values: {} })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/values/name' }] },
    })
    expect(await client.post(`${path}/preview`, { subject: '', text: 'a\n{{ b }}' })).toMatchObject({
      body: { errors: [{ pointer: '/text', message: expect.stringContaining('line 2, column 4') }] },
    })
  })
})

describe('a message', () => {
  test.each(['/api/v1/emails', '/api/send'])('is made of the published version: %s', async address => {
    const { id, name } = await givePublished()
    await client.call('PATCH', `${path}/${id}`, { subject: 'Not published' })
    for (const reference of [{ id }, { id: name }, { name }]) {
      const values = { name: 'Ann', lines: [{ title: '<b>' }] }
      const answer = await send({ ...reference, variables: values }, {}, address)
      expect(answer).toMatchObject({ status: 202, body: { warnings: [] } })
      const raw = await rawOf(answer.body.id)
      expect(raw).toContain('Subject: Order for Ann\r\n')
      expect(raw).toContain('<p>Hello Ann</p><p>&lt;b&gt;</p>')
      expect(raw).toContain('Hello Ann\r\n\r\n<b>\r\n')
      expect((await client.get(`/api/v1/emails/${answer.body.id}`)).body).toMatchObject({
        template: { id, version: 1 },
      })
      const found = await client.get(`/api/v1/emails?template=${id}&limit=1`)
      expect(found.body.data).toMatchObject([{ id: answer.body.id }])
    }
  })

  test('may use another version and another subject, which is not a template', async () => {
    const { id } = await givePublished()
    await client.call('PATCH', `${path}/${id}`, { subject: 'Second' })
    await client.post(`${path}/${id}/publish`, {})
    const answer = await send({ id, version: 1, variables: { name: 'Ann' } }, { subject: 'Own {{ name }}' })
    expect((await client.get(`/api/v1/emails/${answer.body.id}`)).body).toMatchObject({
      subject: 'Own {{ name }}',
      template: { id, version: 1 },
    })
  })

  test('cannot get further headers through the subject', async () => {
    const { id } = await givePublished()
    const answer = await send({ id, variables: { name: 'A\r\nBcc: eve@example.com\r\n\r\nBody' } })
    expect(answer.status).toBe(202)
    const [head = ''] = (await rawOf(answer.body.id)).split('\r\n\r\n')
    expect(head).toContain('Subject: Order for A Bcc: eve@example.com Body')
    expect(head).not.toMatch(/^Bcc:/m)
  })

  test('ignores variables that the template does not have, with a warning', async () => {
    const { id } = await givePublished()
    expect(await send({ id, variables: { name: 'Ann', nme: 'x' } })).toMatchObject({
      status: 202,
      body: { warnings: [{ code: 'unknown_field', field: 'template/variables/nme' }] },
    })
  })

  test.each<[string, object, object, string]>([
    ['a missing value', { variables: {} }, {}, '/template/variables/name'],
    ['a value of another type', { variables: { name: 1 } }, {}, '/template/variables/name'],
    ['10 MB', { variables: { name: 'x'.repeat(10_000_000) } }, {}, '/template/variables/name'],
    ['a version that does not exist', { version: 9, variables: { name: 'a' } }, {}, '/template/version'],
    ['html', { variables: { name: 'a' } }, { html: '<p>' }, '/html'],
    ['text', { variables: { name: 'a' } }, { text: 'a' }, '/text'],
    ['both references', { name: 'a', variables: { name: 'a' } }, {}, '/template'],
    ['an unknown field', { values: {} }, {}, '/template/values'],
  ])('is refused with %s', async (_, template, more, pointer) => {
    const { id } = await givePublished()
    const before = await collectionOf(api.db, MESSAGES).countDocuments()
    expect(await send({ id, ...template }, more)).toMatchObject({
      status: 422,
      body: { code: 'validation_failed', errors: [{ pointer }] },
    })
    expect(await collectionOf(api.db, MESSAGES).countDocuments()).toBe(before)
  })

  test('is refused without a template, with one that is not published, and with that of another account', async () => {
    const { id } = await give()
    const other = (await api.newUser()).client
    const foreign = (await other.post(path, { name: 'other', ...content })).body.id
    await other.post(`${path}/${foreign}/publish`, {})
    for (const reference of [{ id }, { id: foreign }, { name: 'other' }])
      expect(await send({ ...reference, variables: { name: 'a' } })).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/template/id' }] },
      })
  })

  test('of a value that may not stand in an address is refused', async () => {
    const { id } = await givePublished({ html: '<p>\n<a href="{{ name }}">x</a>' })
    expect(await send({ id, variables: { name: 'javascript:alert(1)' } })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/template', message: expect.stringMatching(/^line 2, column 10: .*javascript:/) }] },
    })
  })

  test('of the old address keeps its text, whatever its field template holds', async () => {
    const answer = await client.post('/api/send', { from, to, subject: 'S', text: 'T', template: 7 })
    expect(answer).toMatchObject({
      status: 202,
      body: { warnings: [{ code: 'unsupported_field', field: 'template' }] },
    })
  })

  test('is shown by a dry run and not stored', async () => {
    const { id } = await givePublished()
    const before = await collectionOf(api.db, MESSAGES).countDocuments()
    const response = await fetch(`${api.url}/api/v1/emails?dry_run=true`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to, template: { id, variables: { name: 'Ann' } } }),
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      text: expect.stringContaining('Hello Ann'),
      html: expect.stringContaining('<p>Hello Ann</p>'),
    })
    expect(await collectionOf(api.db, MESSAGES).countDocuments()).toBe(before)
  })

  test('of a repeated request is one, also after its template is gone', async () => {
    const { id } = await givePublished()
    const keyed = client.with({ 'idempotency-key': 'template-1' })
    const body = { from, to, template: { id, variables: { name: 'Ann' } } }
    const first = await keyed.post('/api/v1/emails', body)
    await client.call('DELETE', `${path}/${id}`)
    expect(await keyed.post('/api/v1/emails', body)).toMatchObject({ status: 202, body: { id: first.body.id } })
  })

  test('of a batch: each has its values; in strict mode one error refuses all', async () => {
    const { id } = await givePublished()
    const item = (variables: object) => ({ from, to, template: { id, variables } })
    const sent = await client.post('/api/v1/emails/batch', [item({ name: 'Ann' }), item({ name: 'Bob' })])
    expect(sent.body.data).toMatchObject([{ status: 202 }, { status: 202 }])
    expect(await rawOf(sent.body.data[1].id)).toContain('Subject: Order for Bob')
    expect(await client.post('/api/v1/emails/batch', [item({ name: 'Ann' }), item({})])).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/1/template/variables/name' }] },
    })
    const partial = await client.post('/api/v1/emails/batch?mode=partial', [item({ name: 'Ann' }), item({})])
    expect(partial.body.data).toMatchObject([{ status: 202 }, { status: 422 }])
  })

  test('of a batch has room for as much as one message', async () => {
    const { id } = await givePublished({ html: undefined, text: 'x'.repeat(500_000) })
    const item = { from, to, template: { id, variables: { name: 'a' } } }
    expect(await client.post('/api/v1/emails/batch', Array(60).fill(item))).toMatchObject({
      status: 413,
      body: { code: 'message_too_large', detail: expect.stringContaining('smaller batches') },
    })
  })
})

test('every change is in the audit log', async () => {
  const { user, client: other } = await api.newUser()
  const { id } = (await other.post(path, { name: 'audited', ...content })).body
  await other.call('PATCH', `${path}/${id}`, { subject: 'B' })
  await other.post(`${path}/${id}/publish`, {})
  await other.call('PATCH', `${path}/${id}`, { subject: 'C' })
  await other.post(`${path}/${id}/publish`, {})
  await other.post(`${path}/${id}/rollback`, { version: 1 })
  await other.call('DELETE', `${path}/${id}`)
  const { data } = (await other.get('/api/v1/audit-logs')).body
  const verbs = ['deleted', 'rolled_back', 'published', 'changed', 'published', 'changed', 'created']
  expect(data.map(({ action }: { action: string }) => action)).toEqual(verbs.map(verb => `template.${verb}`))
  expect(user._id).toMatch(/^usr_/)
})

test('reading and writing need their scopes', async () => {
  const { user, client: session } = await api.newUser()
  const { id } = (await session.post(path, { name: 'scoped', ...content })).body
  const reader = await api.withToken(user, { scopes: ['templates:read'] })
  expect(await reader.post(`${path}/${id}/preview`, { values: { name: 'a' } })).toMatchObject({ status: 200 })
  expect(await reader.post(`${path}/${id}/publish`, {})).toMatchObject({ status: 403 })
  const sender = await api.withToken(user, { scopes: ['emails:send'] })
  expect(await sender.get(`${path}/${id}`)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
})
