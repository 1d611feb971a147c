import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain, giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, sendApiForThisTest, sessionHeaders, startSendApi } from '../../support/http/send-api.ts'

let api: SendApi
beforeAll(async () => {
  // Bulk mail needs a public address for its links.
  api = await startSendApi({ APP_BASE_URL: 'https://mail.example.net' })
})
afterAll(() => api.stop())

const minimal = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }
type Body = Record<string, unknown>
const post = (body: unknown, options: { token?: string; headers?: Record<string, string>; path?: string } = {}) =>
  api.call('POST', options.path ?? '/api/v1/emails', { body, ...options })
const stored = () => collectionOf(api.mongo.db, MESSAGES)
const storedMessage = async (id: unknown): Promise<MessageDoc> => {
  const found = await stored().findOne({ _id: String(id) })
  if (!found) throw new Error(`no message ${id}`)
  return found
}
const rawOf = async (id: unknown) => {
  const { _id, parts } = await storedMessage(id)
  return (await readBody(api.mongo, _id, parts))?.toString() ?? ''
}

describe('POST /api/send', () => {
  test('returns 202 after the message was stored', async () => {
    const answer = await post('{"from":"ann@example.com","to":"bob@example.net","subject":"Hello","text":"Hi"}', {
      path: '/api/send',
    })
    expect(answer.status).toBe(202)
    const body = answer.body as Body
    expect(body).toMatchObject({
      status: 'queued',
      recipients: [{ email: 'bob@example.net', type: 'to', status: 'queued' }],
      warnings: [],
    })
    expect(answer.headers.get('location')).toBe(`/api/v1/emails/${body.id}`)
    expect(await storedMessage(body.id)).toMatchObject({
      user_id: api.user._id,
      domain_id: api.domainId,
      mail_from: 'ann@example.com',
      via: { channel: 'http' },
      message_id: body.message_id,
    })
    expect(await collectionOf(api.mongo.db, DELIVERIES).countDocuments({ m: String(body.id) })).toBe(1)
    const raw = await rawOf(body.id)
    expect(raw).toMatch(/^Received: by mail\.example\.com with HTTP id em_/)
    expect(raw).toMatch(/\r\n\r\nHi\r\n$/)
  })

  test('accepts unknown and unsupported fields with warnings', async () => {
    const answer = await post({ ...minimal, apikey: 1, template: { id: 't' } }, { path: '/api/send' })
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      warnings: [
        { code: 'unknown_field', field: 'apikey' },
        { code: 'unsupported_field', field: 'template' },
      ],
    })
  })

  test.each([
    [{ ...minimal, from: undefined }, '/from'],
    [{ ...minimal, to: undefined }, '/to'],
    [{ ...minimal, subject: undefined }, '/subject'],
    [{ ...minimal, text: undefined }, '/text'],
  ])('requires the field: %#', async (body, pointer) => {
    const answer = await post(body, { path: '/api/send' })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: expect.stringMatching(`^${pointer}`) }],
    })
  })
})

describe('POST /api/v1/emails', () => {
  test('stores one message with every recipient in the envelope and Bcc in no header', async () => {
    const { status, body } = await post({
      ...minimal,
      to: ['Bob <bob@example.net>', { email: 'b2@example.net', name: 'Lee, B' }],
      cc: 'carl@example.net',
      bcc: ['secret@example.net'],
      reply_to: 'reply@example.com',
      html: '<p>Hi</p>',
      headers: { 'X-Order': '42' },
      attachments: [{ filename: 'a.txt', content: Buffer.from('file').toString('base64') }],
      tags: [{ name: 'kind', value: 'welcome' }],
      metadata: { order: '42' },
      stream: 'bulk',
    })
    expect(status).toBe(202)
    const { id, recipients } = body as { id: string; recipients: { email: string; type: string }[] }
    expect(recipients.map(({ email, type }) => `${type} ${email}`)).toEqual([
      'to bob@example.net',
      'to b2@example.net',
      'cc carl@example.net',
      'bcc secret@example.net',
    ])
    expect(await storedMessage(id)).toMatchObject({
      lane: 'bulk',
      left: 4,
      tags: [{ name: 'kind', value: 'welcome' }],
      metadata: { order: '42' },
    })
    const raw = await rawOf(id)
    expect(raw).not.toMatch(/secret|^bcc:/im)
    expect(raw).toContain('X-Order: 42\r\n')
    expect(raw).toContain('Reply-To: reply@example.com\r\n')
    expect(raw).toContain('filename=a.txt')
  })

  test('a scheduled message waits until its time', async () => {
    const at = new Date(Date.now() + 3_600_000)
    const { body } = await post({ ...minimal, scheduled_at: at.toISOString() })
    expect(body).toMatchObject({ status: 'scheduled', recipients: [{ status: 'scheduled' }] })
    const { id } = body as { id: string }
    expect(await collectionOf(api.mongo.db, DELIVERIES).findOne({ m: id })).toMatchObject({ due: at })
  })

  test.each(['opens', 'clicks'])('rejects tracking of %s while the domain does not track', async what => {
    for (const query of ['', '?dry_run=true']) {
      const answer = await post({ ...minimal, track: { [what]: true } }, { path: `/api/v1/emails${query}` })
      expect([answer.status, answer.body]).toMatchObject([
        422,
        { code: 'tracking_off', detail_code: `tracking.off_${what}` },
      ])
    }
    expect((await post({ ...minimal, track: { [what]: false } })).status).toBe(202)
  })

  test.each<[string, () => Promise<{ body: unknown; status: number }>]>([
    ['test: true', () => post({ ...minimal, test: true })],
    [
      'a test token',
      async () => post(minimal, { token: (await giveToken(api.mongo.db, api.user._id, { mode: 'test' })).value }),
    ],
  ])('%s sends nothing and simulates a delivery', async (_, submit) => {
    const { status, body } = await submit()
    expect(status).toBe(202)
    const { id } = body as { id: string }
    expect(await storedMessage(id)).toMatchObject({ test: true, left: 0, rcpts: [{ status: 'delivered' }] })
    expect(await collectionOf(api.mongo.db, DELIVERIES).countDocuments({ m: id })).toBe(0)
  })

  test('a dry run returns a preview and stores nothing', async () => {
    const before = await stored().countDocuments()
    const answer = await post(
      { ...minimal, html: '<p>Hi</p>', bcc: 'x@example.net' },
      { path: '/api/v1/emails?dry_run=true' },
    )
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      object: 'email_preview',
      recipients: [
        { email: 'bob@example.net', type: 'to' },
        { email: 'x@example.net', type: 'bcc' },
      ],
      html: '<p>Hi</p>',
      headers: expect.stringContaining('Subject: Hello'),
    })
    expect((await post({ ...minimal, from: 'a@foreign.example' }, { path: '/api/send?dry_run=1' })).status).toBe(403)
    expect(await stored().countDocuments()).toBe(before)
  })

  test('accepts a session with a CSRF header', async () => {
    // The name of the cookie depends on the scheme of APP_BASE_URL: plain http, as by default.
    const plain = await sendApiForThisTest()
    const headers = await sessionHeaders(plain.mongo, plain.user._id)
    const send = (sent: Record<string, string>) =>
      plain.call('POST', '/api/v1/emails', { body: minimal, token: '', headers: sent })
    expect((await send(headers)).status).toBe(202)
    const { 'x-csrf': _, ...withoutCsrf } = headers
    const refused = await send(withoutCsrf)
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'csrf_header_missing' }])
  })
})

describe('a raw message', () => {
  const raw = (text: string) => Buffer.from(text).toString('base64')
  const envelope = { from: 'ann@example.com', to: ['bob@example.net', 'c@example.net'] }

  test('is sent unchanged except for line ends and Bcc, with its envelope', async () => {
    const text = 'From: Ann <ann@example.com>\nTo: list@example.net\nBcc: secret@example.net\nSubject: raw\n\nline\n'
    const answer = await post({ ...envelope, raw: raw(text) }, { path: '/api/v1/emails/raw' })
    expect(answer.status).toBe(202)
    const { id, recipients } = answer.body as { id: string; recipients: unknown[] }
    expect(recipients).toEqual(envelope.to.map(email => ({ email, type: 'envelope', status: 'queued' })))
    expect(await rawOf(id)).toMatch(
      /\r\nFrom: Ann <ann@example.com>\r\nTo: list@example.net\r\nSubject: raw\r\n\r\nline\r\n$/,
    )
  })

  test.each<[string, Body, number, string]>([
    ['a foreign From', { raw: raw('From: eve@foreign.example\r\n\r\nx') }, 403, 'sender_not_allowed'],
    ['two From fields', { raw: raw('From: ann@example.com\r\nFrom: eve@foreign.example\r\n\r\nx') }, 422, 'bad_header'],
    [
      'a foreign envelope sender',
      { from: 'eve@foreign.example', raw: raw('From: ann@example.com\r\n\r\nx') },
      403,
      'sender_not_allowed',
    ],
    ['a bare CR', { raw: raw('From: ann@example.com\r\n\r\na\rb') }, 422, 'bad_line_endings'],
    ['no base64', { raw: 'From: ann' }, 422, 'validation_failed'],
    ['an unknown field', { raw: raw('From: ann@example.com\r\n\r\nx'), envelope: {} }, 422, 'validation_failed'],
    ['no recipients', { to: [], raw: raw('From: ann@example.com\r\n\r\nx') }, 422, 'validation_failed'],
  ])('with %s is rejected', async (_, fields, status, code) => {
    const answer = await post({ ...envelope, ...fields }, { path: '/api/v1/emails/raw' })
    expect([answer.status, answer.body]).toMatchObject([status, { code }])
  })
})

describe('rejects', () => {
  test('an unknown domain, a domain of another account and one that is not verified', async () => {
    const other = await giveUser(api.mongo.db)
    await giveDomain(api.mongo.db, other._id, 'victim.example', { status: 'verified', verified_by: 'dns' })
    await giveDomain(api.mongo.db, api.user._id, 'new.example')
    const codes = await Promise.all(
      ['nobody.example', 'victim.example', 'new.example', 'sub.example.com'].map(async domain => {
        const { status, body } = await post({ ...minimal, from: `ann@${domain}` }, { path: '/api/send' })
        return [status, (body as Body).code]
      }),
    )
    expect(codes).toEqual([
      [403, 'sender_not_allowed'],
      [403, 'sender_not_allowed'],
      [403, 'domain_not_verified'],
      [403, 'sender_not_allowed'],
    ])
  })

  test.each<[string, () => Promise<string>, number, string]>([
    ['no token', async () => '', 401, 'not_logged_in'],
    ['an unknown token', async () => `pw_live_${'0'.repeat(26)}_${'x'.repeat(43)}`, 401, 'invalid_token'],
    ['something else', async () => 'letmein', 401, 'invalid_token'],
    ['a revoked token', async () => tokenWith({ revoked_at: new Date(0) }), 401, 'invalid_token'],
    ['an expired token', async () => tokenWith({ expires_at: new Date(0) }), 401, 'invalid_token'],
    ['a token that only reads', async () => tokenWith({ scopes: ['emails:read'] }), 403, 'insufficient_scope'],
    ['a token from elsewhere', async () => tokenWith({ allowed_cidrs: ['192.0.2.0/24'] }), 403, 'network_not_allowed'],
    ['a token for another domain', async () => tokenWith({ domains: ['other.example'] }), 403, 'sender_not_allowed'],
    ['a suspended account', suspendedToken, 401, 'invalid_token'],
  ])('%s', async (_, token, status, code) => {
    const answer = await post(minimal, { token: await token(), path: '/api/send' })
    expect([answer.status, answer.body]).toMatchObject([status, { code }])
    if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('a request without credentials with a detail that names the header', async () => {
    const { body } = await post(minimal, { token: '', path: '/api/send' })
    expect(body).toMatchObject({ detail: 'Log in, or send Authorization: Bearer <token>.' })
  })

  async function tokenWith(change: Parameters<typeof giveToken>[2]): Promise<string> {
    return (await giveToken(api.mongo.db, api.user._id, change)).value
  }

  async function suspendedToken(): Promise<string> {
    const user = await giveUser(api.mongo.db, { status: 'suspended' })
    return (await giveToken(api.mongo.db, user._id)).value
  }
})

test('the configured API_TOKEN may only send, for the first admin', async () => {
  const token = 'legacy-token-of-the-installation'
  const own = await sendApiForThisTest({ API_TOKEN: token })
  const admin = await giveUser(own.mongo.db, { role: 'admin' })
  await giveDomain(own.mongo.db, admin._id, 'admin.example', { status: 'verified', verified_by: 'dns' })
  const call = async (method: string, path: string, body?: unknown) =>
    (await own.call(method, path, { token, ...(body !== undefined && { body }) })).status
  const mine = { ...minimal, from: 'root@admin.example' }
  expect(await call('POST', '/api/send', mine)).toBe(202)
  expect(await call('POST', '/api/v1/emails', mine)).toBe(202)
  expect(await call('POST', '/api/send', minimal)).toBe(403)
  expect(await call('POST', '/api/v1/emails/batch', [mine])).toBe(403)
  expect(await call('POST', '/api/v1/emails/raw', { ...mine, raw: '' })).toBe(403)
  expect(await call('GET', '/api/v1/emails')).toBe(403)
  expect(await call('GET', '/api/v1/events/stream')).toBe(403)
})

describe('rejects without storing anything', () => {
  test.each<[string, unknown, number, string]>([
    ['broken JSON', '{"from":', 400, 'invalid_json'],
    ['no JSON object', '[]', 422, 'validation_failed'],
    ['null', 'null', 400, 'invalid_json'],
    ['an empty body', '', 422, 'validation_failed'],
    ['wrong types', { from: 1, to: 2, subject: 3, text: 4 }, 422, 'validation_failed'],
    ['CRLF in from', { ...minimal, from: 'ann@example.com\r\nBcc: e@example.net' }, 422, 'validation_failed'],
    ['CRLF in to', { ...minimal, to: 'bob@example.net\r\nBcc: e@example.net' }, 422, 'validation_failed'],
    ['CRLF in a name', { ...minimal, to: { email: 'b@example.net', name: 'B\r\nX: y' } }, 422, 'validation_failed'],
    ['CRLF in the subject', { ...minimal, subject: 'a\r\nBcc: e@example.net' }, 422, 'validation_failed'],
    ['LF in a header', { ...minimal, headers: { 'X-A': 'a\nBcc: e@example.net' } }, 422, 'validation_failed'],
    ['a header of ours', { ...minimal, headers: { 'DKIM-Signature': 'v=1' } }, 422, 'validation_failed'],
    ['an operator object', { ...minimal, to: { $gt: '' } }, 422, 'validation_failed'],
    ['an operator key', { ...minimal, metadata: { $where: 'x' } }, 422, 'validation_failed'],
    [
      'a prototype key',
      '{"from":"ann@example.com","to":"b@example.net","subject":"","text":"","__proto__":{"test":true}}',
      400,
      'invalid_json',
    ],
    ['an unknown field', { ...minimal, colour: 'red' }, 422, 'validation_failed'],
    ['a time too far ahead', { ...minimal, scheduled_at: '2099-01-01T00:00:00Z' }, 422, 'validation_failed'],
    [
      '51 recipients',
      { ...minimal, to: Array.from({ length: 51 }, (_, i) => `u${i}@example.net`) },
      422,
      'validation_failed',
    ],
  ])('%s', async (_, body, status, code) => {
    const before = await stored().countDocuments()
    const answer = await post(body)
    expect([answer.status, answer.body]).toMatchObject([status, { code }])
    expect(answer.headers.get('x-request-id')).toBeTruthy()
    expect(await stored().countDocuments()).toBe(before)
  })

  test('a body that is not JSON', async () => {
    const answer = await post('from=a', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      path: '/api/send',
    })
    expect(answer.status).toBe(415)
  })

  test.each([
    ['application/json; charset=UTF-8', 202],
    ['application/json;charset=utf8', 202],
    ['application/vnd.shop+json', 202],
    ['application/json; charset=gbk', 415],
    ['application/json; charset=utf-16le', 415],
    ['text/json', 415],
    ['text/plain', 415],
  ])('JSON with the content type %s: %i', async (type, status) => {
    const answer = await post(JSON.stringify(minimal), { headers: { 'content-type': type }, path: '/api/send' })
    expect([answer.status, answer.status === 415 && answer.body]).toMatchObject([
      status,
      status === 415 && { code: 'unsupported_media_type' },
    ])
  })

  test('a body and a message above the limit', async () => {
    const small = await sendApiForThisTest({ MAX_MESSAGE_BYTES: '10000' })
    const send = (text: string) => small.call('POST', '/api/send', { body: { ...minimal, text } })
    expect([(await send('a'.repeat(8000))).status, (await send('a'.repeat(20_000))).status]).toEqual([202, 413])
    expect((await send('a'.repeat(7 * 1024 * 1024))).status).toBe(413)
  })

  test('a large body without credentials before it is read', async () => {
    const answer = await post({ ...minimal, text: 'a'.repeat(2_000_000) }, { token: '', path: '/api/send' }).catch(
      (error: unknown) => error,
    )
    expect(answer).toMatchObject({ status: 401 })
  })

  test('unknown addresses and methods', async () => {
    expect((await api.call('POST', '/api/v1/nothing')).status).toBe(404)
    expect((await api.call('DELETE', '/api/v1/emails')).status).toBe(405)
  })
})
