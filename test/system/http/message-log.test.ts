import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import { explained } from '../../../services/mail/store/rules/explanation.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, sessionHeaders, startSendApi } from '../../support/http/send-api.ts'
import { giveEvent, giveMessage } from '../../support/mail/stored-messages.ts'

let api: SendApi
let message: MessageDoc
let stranger: string
const RAW = [
  'From: ann@example.com',
  'Subject: Hello',
  'Content-Type: multipart/related; boundary=B',
  '',
  '--B',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<script>alert(1)</script><img src="cid:logo"><img src="https://tracker.example/x.gif">',
  '--B',
  'Content-Type: image/png',
  'Content-ID: <logo>',
  'Content-Transfer-Encoding: base64',
  '',
  'iVBO',
  '--B--',
  '',
].join('\r\n')

beforeAll(async () => {
  api = await startSendApi()
  const { db } = api.mongo
  message = await giveMessage(db, api.user._id, {
    raw: RAW,
    tags: [{ name: 'kind', value: 'welcome' }],
    metadata: { order: '42' },
    rcpts: [
      { email: 'bob@example.net', type: 'to', status: 'delivered', code: 250, enhanced: '2.0.0', at: new Date() },
      { email: 'gone@example.net', type: 'bcc', status: 'bounced', code: 550, enhanced: '5.1.1', at: new Date() },
    ],
  })
  await giveEvent(db, message, {
    type: 'deferred',
    code: 451,
    enhanced: '4.7.1',
    text: '451 4.7.1 later',
    at: new Date(Date.now() - 60_000),
    tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
    conversation: 'S: 220 mx\nC: EHLO mail.example.com',
  })
  await giveEvent(db, message, { attempt: 2 })
  stranger = (await giveToken(db, (await giveUser(db))._id)).value
})
afterAll(() => api.stop())

const get = (path: string, options: { token?: string; headers?: Record<string, string> } = {}) =>
  api.call('GET', path, options)

describe('a message', () => {
  test('is returned with the state of each recipient', async () => {
    const { status, body } = await get(`/api/v1/emails/${message._id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: message._id,
      status: 'bounced',
      source: 'api',
      domain: 'example.com',
      metadata: { order: '42' },
      has_raw: true,
      waiting: [],
      recipients: [
        { email: 'bob@example.net', status: 'delivered', smtp_code: 250 },
        { email: 'gone@example.net', type: 'bcc', status: 'bounced', enhanced_code: '5.1.1' },
      ],
    })
  })

  test('that waits is returned with its next attempts', async () => {
    const answer = await api.call('POST', '/api/v1/emails', {
      body: {
        from: 'ann@example.com',
        to: 'b@example.net',
        subject: 's',
        text: 't',
        scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
      },
    })
    const { id } = answer.body as { id: string }
    const { body } = await get(`/api/v1/emails/${id}`)
    expect(body).toMatchObject({
      status: expect.stringMatching(/scheduled|queued/),
      waiting: [{ email: 'b@example.net', attempts: 0 }],
    })
  })

  test('has a history that starts with the acceptance for each recipient', async () => {
    const { body } = await get(`/api/v1/emails/${message._id}/events`)
    expect((body as { data: { type: string; recipient: string }[] }).data.map(e => `${e.type} ${e.recipient}`)).toEqual(
      [
        'email.queued bob@example.net',
        'email.queued gone@example.net',
        'email.deferred bob@example.net',
        'email.delivered bob@example.net',
      ],
    )
  })

  test('has attempts with server, TLS, reply, duration and conversation', async () => {
    const { body } = await get(`/api/v1/emails/${message._id}/attempts`)
    expect(body).toMatchObject({
      data: [
        {
          attempt: 1,
          outcome: 'deferred',
          mx_host: 'mx.example.net',
          smtp_code: 451,
          enhanced_code: '4.7.1',
          reply: '451 4.7.1 later',
          reply_code: 'text.verbatim',
          reply_params: { text: '451 4.7.1 later' },
          duration_ms: 12,
          tls: { version: 'TLSv1.3', verified: true },
          conversation: 'S: 220 mx\nC: EHLO mail.example.com',
        },
        { attempt: 2, outcome: 'delivered', tls: null, conversation: null },
      ],
      has_more: false,
    })
  })

  test('has texts of ours with code and parameters', async () => {
    const own = await giveMessage(api.mongo.db, api.user._id)
    const reason = sentence('delivery.domain_missing', { domain: 'no.example' })
    await giveEvent(api.mongo.db, own, { type: 'bounced', ...explained(reason) })
    const coded = { code: 'delivery.domain_missing', params: { domain: 'no.example' } }
    const text = 'the domain no.example does not exist'
    expect((await get(`/api/v1/emails/${own._id}/attempts`)).body).toMatchObject({
      data: [{ reply: text, reply_code: coded.code, reply_params: coded.params }],
    })
    expect((await get(`/api/v1/emails/${own._id}/events`)).body).toMatchObject({
      data: [
        { text: 'accepted', text_code: 'delivery.accepted', text_params: {} },
        { text, text_code: coded.code, text_params: coded.params },
      ],
    })
  })

  test('can be downloaded', async () => {
    const { status, headers, text } = await get(`/api/v1/emails/${message._id}/raw`)
    expect([status, text]).toEqual([200, RAW])
    expect(headers.get('content-type')).toMatch(/^message\/rfc822/)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${message._id}.eml"`)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('has an HTML preview with a restrictive policy', async () => {
    const { headers, text } = await get(`/api/v1/emails/${message._id}/preview`)
    expect(headers.get('content-security-policy')).toBe(
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    )
    expect(headers.get('x-frame-options')).toBeNull()
    expect(headers.get('origin-agent-cluster')).toBeNull()
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).toContain('<img src="data:image/png;base64,iVBO">')
  })

  test('of plain text is escaped in its preview', async () => {
    const plain = await giveMessage(api.mongo.db, api.user._id, { raw: 'From: a@example.com\r\n\r\n<b>1 & 2</b>' })
    expect((await get(`/api/v1/emails/${plain._id}/preview`)).text).toContain('&lt;b&gt;1 &amp; 2&lt;/b&gt;')
  })

  test.each(['raw', 'preview'])('returns 404 for %s if its body is not stored', async part => {
    const old = await giveMessage(api.mongo.db, api.user._id)
    const answer = await get(`/api/v1/emails/${old._id}/${part}`)
    expect([answer.status, answer.body]).toMatchObject([404, { detail: expect.stringMatching(/not kept/) }])
    expect((await get(`/api/v1/emails/${old._id}`)).body).toMatchObject({ has_raw: false })
  })
})

describe('another account', () => {
  test.each([
    ['GET', ''],
    ['GET', '/events'],
    ['GET', '/attempts'],
    ['GET', '/explain'],
    ['GET', '/raw'],
    ['GET', '/preview'],
  ])('gets the same 404 for %s %s as for a message that does not exist', async (method, part) => {
    const ask = (id: string, token: string) => api.call(method, `/api/v1/emails/${id}${part}`, { token })
    const [foreign, missing] = await Promise.all([ask(message._id, stranger), ask(`em_${'0'.repeat(26)}`, stranger)])
    const strip = (answer: { body: unknown }) => ({ ...(answer.body as object), instance: '', request_id: '' })
    expect([foreign.status, missing.status]).toEqual([404, 404])
    expect(strip(foreign)).toEqual(strip(missing))
  })

  test('has empty lists and statistics', async () => {
    expect((await get('/api/v1/emails', { token: stranger })).body).toMatchObject({ data: [] })
    expect((await get('/api/v1/stats', { token: stranger })).body).toMatchObject({
      totals: { messages: 0 },
      domains: [],
    })
  })
})

describe('reading', () => {
  test('is possible with a session, and not with a token that may only send', async () => {
    const { value } = await giveToken(api.mongo.db, api.user._id, { scopes: ['emails:send'] })
    expect((await get('/api/v1/emails', { token: value })).status).toBe(403)
    expect((await get('/api/v1/emails', { token: '' })).status).toBe(401)
    const headers = await sessionHeaders(api.mongo, api.user._id)
    expect((await get('/api/v1/emails', { token: '', headers })).status).toBe(200)
  })
})

describe('the list', () => {
  test('is paginated by cursor', async () => {
    const user = await giveUser(api.mongo.db)
    const { value: token } = await giveToken(api.mongo.db, user._id)
    const made: string[] = []
    for (let n = 0; n < 5; n++)
      made.unshift((await giveMessage(api.mongo.db, user._id, { created_at: new Date(Date.now() - 10_000 + n) }))._id)
    const seen: string[] = []
    let next: string | null = null
    do {
      const page = await get(`/api/v1/emails?limit=2${next ? `&after=${next}` : ''}`, { token })
      const body = page.body as { data: { id: string }[]; has_more: boolean; next: string | null }
      expect(body.has_more).toBe(body.next !== null)
      seen.push(...body.data.map(({ id }) => id))
      next = body.next
    } while (next && seen.length <= made.length)
    expect(seen).toEqual(made)
  })

  test.each([
    'limit=0',
    'limit=101',
    'status=lost',
    'source=fax',
    'q=a',
    'since=yesterday',
    'after=em_1',
    'colour=red',
    'status[$ne]=x',
    'tag=a&tag=b',
  ])('rejects %s', async query => {
    const answer = await get(`/api/v1/emails?${query}`)
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'validation_failed' }])
  })
})

test.each(['q', 'from', 'to', 'domain', 'tag', 'message_id'])(
  'rejects a filter with NUL or a line break: %s',
  async field => {
    for (const value of ['a%00b', 'a%0Ab'])
      expect(await get(`/api/v1/emails?${field}=${value}`)).toMatchObject({
        status: 422,
        body: { code: 'validation_failed', errors: [{ pointer: `/${field}` }] },
      })
  },
)

test('statistics by day and recipient domain are computed once and cached', async () => {
  const user = await giveUser(api.mongo.db)
  const { value: token } = await giveToken(api.mongo.db, user._id)
  const day = (days: number) => new Date(Date.now() - days * 86_400_000)
  const give = (days: number, ...statuses: MessageDoc['rcpts'][number]['status'][]) =>
    giveMessage(api.mongo.db, user._id, {
      created_at: day(days),
      rcpts: statuses.map((status, n) => ({ email: `u@${n === 0 ? 'one' : 'two'}.example`, type: 'to', status })),
    })
  await give(0, 'queued')
  await give(1, 'delivered', 'bounced')
  await give(1, 'deferred')
  await give(40, 'delivered')
  await giveMessage(api.mongo.db, user._id, { test: true })
  const report = async (query = '') => (await get(`/api/v1/stats${query}`, { token })).body as Record<string, unknown>
  const first = await report()
  expect(first).toMatchObject({
    totals: { messages: 3, recipients: 4, delivered: 1, bounced: 1, failed: 0, waiting: 2 },
    domains: [
      { domain: 'one.example', recipients: 3, delivered: 1, waiting: 2 },
      { domain: 'two.example', recipients: 1, bounced: 1 },
    ],
  })
  expect((first.days as unknown[]).length).toBe(14)
  expect((first.days as object[]).slice(-2)).toMatchObject([{ messages: 2 }, { messages: 1 }])
  await give(0, 'delivered')
  expect(await report()).toEqual(first)
  const old = day(40).toISOString().slice(0, 10)
  expect(await report(`?since=${old}&until=${old}`)).toMatchObject({ totals: { messages: 1, delivered: 1 } })
  expect((await get('/api/v1/stats?since=2020-01-01', { token })).status).toBe(422)
})

test('returns the limits', async () => {
  expect((await get('/api/v1/limits')).body).toMatchObject({ recipients: 50, message_bytes: 26_214_400, batch: 100 })
})
