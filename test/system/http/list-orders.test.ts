/** Lists of the mail API in each of their orders, page by page, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailWebhooksOf, queueMailEvents } from '../../../services/mail/webhooks/queue-mail-events.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'

let api: PanelApi
let client: ApiClient
/** The path of the deliveries of a webhook. */
let deliveries = ''

/** Created in an order that is not that of their names. */
const NAMES = ['bert', 'cleo', 'anna', 'dora']

beforeAll(async () => {
  api = await startPanelApi({ APP_BASE_URL: 'https://mail.example.net' })
  const admin = await api.newUser({ role: 'admin' })
  ;({ client } = admin)
  const userId = admin.user._id
  const webhook = (await client.post('/api/v1/webhooks', { url: 'https://hooks.example.com/' })).body
  deliveries = `/api/v1/webhooks/${webhook.id}/deliveries`
  const start = Date.UTC(2026, 10, 1)
  for (const [index, name] of NAMES.entries()) {
    const at = new Date(start + index * 60_000)
    await giveMessage(api.db, userId, { created_at: at, subject: name, tags: [{ name: 'kind', value: 'order' }] })
    await giveDomain(api.db, userId, `${name}.example.com`)
    const body = { name, subject: 'Hello', text: 'Hi' }
    expect((await client.post('/api/v1/templates', body)).status).toBe(201)
    expect((await client.post('/api/v1/tokens', { name })).status).toBe(201)
    expect((await client.post('/api/v1/smtp-credentials', { username: `${name}-mailer` })).status).toBe(201)
    expect((await client.post('/api/v1/suppressions', { email: `${name}@example.net` })).status).toBe(201)
    expect((await client.post('/api/v1/admin/invitations', { email: `${name}@example.org` })).status).toBe(201)
    await api.newUser({ username: name })
    await queueMailEvents(mailWebhooksOf({ mongo: api.mongo, clock: systemClock }), [
      {
        ...{ type: 'email.complained', userId, at, key: name },
        data: {
          ...{ email_id: name, message_id: '<m@example.com>', from: 'a@example.com', to: 'b@example.net' },
          ...{ subject: 'hi', stream: 'transactional', domain: 'example.com', tags: [], metadata: {} },
          feedback_type: 'abuse',
        },
      },
    ])
  }
})
afterAll(() => api.stop())

/** A list: its path, its default direction, and its columns with what they compare. */
interface List {
  path: () => string
  direction: 'asc' | 'desc'
  columns: Record<string, string>
}

const at = (path: string) => () => path
const LISTS: Readonly<Record<string, List>> = {
  messages: { path: at('/api/v1/emails'), direction: 'desc', columns: { created_at: 'id' } },
  'messages with a tag': {
    path: at('/api/v1/emails?tag=kind:order'),
    direction: 'desc',
    columns: { created_at: 'id' },
  },
  suppressions: { path: at('/api/v1/suppressions'), direction: 'desc', columns: { created_at: 'id', email: 'email' } },
  tokens: { path: at('/api/v1/tokens'), direction: 'asc', columns: { created_at: 'id' } },
  'SMTP logins': { path: at('/api/v1/smtp-credentials'), direction: 'asc', columns: { created_at: 'id' } },
  domains: { path: at('/api/v1/domains'), direction: 'asc', columns: { created_at: 'id', name: 'name' } },
  'all domains': { path: at('/api/v1/admin/domains'), direction: 'asc', columns: { created_at: 'id' } },
  templates: { path: at('/api/v1/templates'), direction: 'asc', columns: { created_at: 'id', name: 'name' } },
  webhooks: { path: at('/api/v1/webhooks'), direction: 'asc', columns: { created_at: 'id' } },
  deliveries: { path: () => deliveries, direction: 'desc', columns: { created_at: 'created_at' } },
  users: { path: at('/api/v1/admin/users'), direction: 'asc', columns: { created_at: 'id', username: 'username' } },
  invitations: {
    path: at('/api/v1/admin/invitations'),
    direction: 'asc',
    columns: { created_at: 'id', email: 'email' },
  },
  'the audit log': { path: at('/api/v1/audit-logs'), direction: 'desc', columns: { at: 'id' } },
}

const withQuery = (path: string, query: Record<string, string>) =>
  `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(query)}`

/** All items of a list, over pages of one and of three. */
async function walked(path: string, query: Record<string, string>, limit: number): Promise<Record<string, string>[]> {
  const items: Record<string, string>[] = []
  let after: string | null = null
  do {
    const { status, body } = await client.get(
      withQuery(path, { ...query, limit: String(limit), ...(after && { after }) }),
    )
    expect({ status, code: body.code }).toEqual({ status: 200 })
    items.push(...body.data)
    expect(body.has_more).toBe(body.next !== null)
    after = body.next
  } while (after)
  return items
}

describe.each(Object.entries(LISTS))('%s', (_, { path, direction, columns }) => {
  test.each(Object.entries(columns))('by %s, in both directions', async (sort, field) => {
    for (const order of ['asc', 'desc'] as const)
      for (const limit of [1, 3]) {
        const values = (await walked(path(), { sort, order }, limit)).map(item => item[field] ?? '')
        expect(new Set(values).size).toBe(path() === '/api/v1/webhooks' ? 1 : values.length)
        expect(values).not.toContain('')
        const sorted = [...values].sort()
        expect(values).toEqual(order === 'asc' ? sorted : sorted.reverse())
      }
  })

  test('without an order as with the default one, whose cursor is an id', async () => {
    const [sort = ''] = Object.keys(columns)
    expect(await walked(path(), {}, 2)).toEqual(await walked(path(), { sort, order: direction }, 2))
    const { body } = await client.get(withQuery(path(), { limit: '1' }))
    if (body.next !== null) expect(body.next).toBe(body.data[0].id)
  })

  test('an unknown column, and a cursor of another order, are refused with a sentence', async () => {
    const column = await client.get(withQuery(path(), { sort: 'size' }))
    expect(column).toMatchObject({ status: 422, body: { errors: [{ pointer: '/sort', code: 'option' }] } })
    const other = direction === 'asc' ? 'desc' : 'asc'
    const cursor = 'em_01kabcdefghjkmnpqrstvwxyz0'
    const refused = await client.get(withQuery(path(), { order: other, after: cursor }))
    expect(refused).toMatchObject({
      status: 422,
      body: {
        errors: [{ pointer: '/after', code: 'cursor_order', message: expect.stringContaining('another order') }],
      },
    })
  })
})

test.each([
  ['a cursor that is none', '/api/v1/emails?after=x'],
  ['a cursor with a value that is no id', `/api/v1/emails?order=asc&after=created_at.asc.${encoded(['x'])}`],
  ['a cursor with an operator', `/api/v1/suppressions?sort=email&after=email.asc.${encoded([{ $gt: '' }, ''])}`],
  ['a cursor with too few values', `/api/v1/suppressions?sort=email&after=email.asc.${encoded(['a'])}`],
  ['a cursor of another column', `/api/v1/domains?sort=name&after=created_at.desc.${encoded(['dom_1'])}`],
])('%s is refused', async (_, address) => {
  const { status, body } = await client.get(address)
  expect({ status, pointer: body.errors?.[0]?.pointer }).toEqual({ status: 422, pointer: '/after' })
})

function encoded(values: unknown): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}
