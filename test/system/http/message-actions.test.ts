import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, startSendApi } from '../../support/http/send-api.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'

let api: SendApi
beforeAll(async () => {
  // Bulk mail needs a public address for its links.
  api = await startSendApi({ APP_BASE_URL: 'https://mail.example.net' })
})
afterAll(() => api.stop())

const minimal = { from: 'ann@example.com', to: ['bob@example.net', 'carl@example.net'], subject: 'Hello', text: 'Hi' }
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000)
const deliveriesOf = (m: string) => collectionOf(api.mongo.db, DELIVERIES).find({ m }).sort({ _id: 1 }).toArray()

async function scheduled(hours = 1): Promise<string> {
  const { body } = await api.call('POST', '/api/v1/emails', {
    body: { ...minimal, scheduled_at: inHours(hours).toISOString() },
  })
  return (body as { id: string }).id
}

describe('rescheduling a message', () => {
  const patch = (id: string, at: unknown) => api.call('PATCH', `/api/v1/emails/${id}`, { body: { scheduled_at: at } })

  test('moves every recipient and the expiry', async () => {
    const id = await scheduled()
    const at = inHours(48)
    const answer = await patch(id, at.toISOString())
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ id, scheduled_at: at.toISOString(), status: 'scheduled' })
    const expires = new Date(at.getTime() + 72 * 3_600_000)
    expect(await deliveriesOf(id)).toMatchObject([
      { due: at, expires_at: expires },
      { due: at, expires_at: expires },
    ])
  })

  test.each([
    ['the past', () => inHours(-1).toISOString()],
    ['too far ahead', () => inHours(31 * 24).toISOString()],
    ['no time', () => 'soon'],
    ['an operator', () => ({ $gt: '' })],
  ])('rejects %s', async (_, at) => {
    const id = await scheduled()
    const before = await deliveriesOf(id)
    expect((await patch(id, at())).status).toBe(422)
    expect(await deliveriesOf(id)).toEqual(before)
  })

  test('rejects a message that is in flight', async () => {
    const { body } = await api.call('POST', '/api/v1/emails', { body: minimal })
    const { id } = body as { id: string }
    const answer = await patch(id, inHours(1).toISOString())
    expect([answer.status, answer.body]).toMatchObject([409, { code: 'conflict' }])
    const claimed = await scheduled()
    await collectionOf(api.mongo.db, DELIVERIES).updateMany({ m: claimed }, { $set: { tok: '1:1:x' } })
    expect((await patch(claimed, inHours(2).toISOString())).status).toBe(409)
  })
})

describe('resending a message', () => {
  const stored =
    'Received: from api ([192.0.2.1])\r\n\tby x\r\nFrom: ann@example.com\r\nMessage-ID: <old@example.com>\r\n\r\nHi\r\n'
  const give = () =>
    giveMessage(api.mongo.db, api.user._id, {
      raw: stored,
      smtputf8: true,
      lane: 'bulk',
      rcpts: [
        { email: 'ok@example.net', type: 'to', status: 'delivered' },
        { email: 'gone@example.net', type: 'bcc', status: 'bounced' },
      ],
    })
  const resend = (id: string, body?: unknown, headers?: Record<string, string>) =>
    api.call('POST', `/api/v1/emails/${id}/resend`, {
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    })

  test('sends to the failed recipients, with a new Message-ID and one Received field', async () => {
    const answer = await resend((await give())._id)
    expect(answer.status).toBe(202)
    const { id, message_id, recipients } = answer.body as { id: string; message_id: string; recipients: unknown[] }
    expect(recipients).toEqual([{ email: 'gone@example.net', type: 'bcc', status: 'queued' }])
    const copy = await collectionOf(api.mongo.db, MESSAGES).findOne({ _id: id })
    expect(copy).toMatchObject({ lane: 'bulk', smtputf8: true, message_id })
    const raw = (await readBody(api.mongo, id, 1))?.toString() ?? ''
    expect(raw.match(/^Received:/gm)).toHaveLength(1)
    expect(raw).not.toContain('<old@example.com>')
    expect(raw).toMatch(/\r\n\r\nHi\r\n$/)
  })

  test('sends to all recipients on request, once for one key', async () => {
    const { _id } = await give()
    const first = await resend(_id, { to: 'all' }, { 'idempotency-key': 'copy' })
    expect((first.body as { recipients: unknown[] }).recipients).toHaveLength(2)
    const second = await resend(_id, { to: 'all' }, { 'idempotency-key': 'copy' })
    expect([second.text, second.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
  })

  test('rejects a message without failed recipients or without a stored body', async () => {
    const fine = await giveMessage(api.mongo.db, api.user._id, { raw: stored })
    expect((await resend(fine._id)).status).toBe(409)
    expect((await resend((await giveMessage(api.mongo.db, api.user._id))._id, { to: 'all' })).status).toBe(404)
    expect((await resend(fine._id, { to: 'everybody' })).status).toBe(422)
  })

  test('requires the scope emails:send', async () => {
    const { value } = await giveToken(api.mongo.db, api.user._id, { scopes: ['emails:read'] })
    const answer = await api.call('POST', `/api/v1/emails/${(await give())._id}/resend`, { token: value })
    expect(answer.status).toBe(403)
  })
})

describe('a waiting message', () => {
  const act = (id: string, what: string, token = api.token) =>
    api.call('POST', `/api/v1/emails/${id}/${what}`, { token })

  test('can be canceled once, for every recipient', async () => {
    const id = await scheduled()
    const answer = await act(id, 'cancel')
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      status: 'canceled',
      waiting: [],
      recipients: [{ status: 'canceled' }, { status: 'canceled' }],
    })
    expect(await deliveriesOf(id)).toEqual([])
    const again = await act(id, 'cancel')
    expect([again.status, again.body]).toMatchObject([409, { code: 'not_cancelable' }])
    const { body } = await api.call('GET', `/api/v1/emails/${id}/events`)
    expect((body as { data: { type: string }[] }).data.map(({ type }) => type)).toEqual([
      'email.scheduled',
      'email.scheduled',
      'email.canceled',
      'email.canceled',
    ])
  })

  test('is retried immediately', async () => {
    const id = await scheduled()
    await collectionOf(api.mongo.db, DELIVERIES).updateMany({ m: id }, { $set: { att: 1 } })
    expect((await act(id, 'retry')).status).toBe(200)
    for (const { due } of await deliveriesOf(id)) expect(due.getTime()).toBeLessThanOrEqual(Date.now())
    expect((await act((await giveMessage(api.mongo.db, api.user._id))._id, 'retry')).status).toBe(409)
  })

  test('that is scheduled cannot be sent early by a retry', async () => {
    const id = await scheduled()
    const before = await deliveriesOf(id)
    const answer = await act(id, 'retry')
    expect([answer.status, answer.body]).toMatchObject([409, { code: 'conflict' }])
    expect(await deliveriesOf(id)).toEqual(before)
  })
})

test.each([
  ['POST', '/cancel', undefined],
  ['POST', '/retry', undefined],
  ['PATCH', '', { scheduled_at: inHours(24).toISOString() }],
  ['POST', '/resend', { to: 'all' }],
])('%s%s of a message of another account returns 404', async (method, part, body) => {
  const id = await scheduled()
  const stranger = (await giveToken(api.mongo.db, (await giveUser(api.mongo.db))._id)).value
  const answer = await api.call(method, `/api/v1/emails/${id}${part}`, { token: stranger, ...(body && { body }) })
  expect(await deliveriesOf(id)).toHaveLength(2)
  expect([answer.status, answer.body]).toMatchObject([404, { code: 'not_found' }])
})
