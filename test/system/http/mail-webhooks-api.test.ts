/** The operations on webhooks of accounts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mailWebhooksOf, queueMailEvents } from '../../../services/mail/webhooks/queue-mail-events.ts'
import { mailWebhookSending } from '../../../services/mail/webhooks/send-mail-webhooks.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { readConfig } from '../../../services/platform/process/config.ts'
import { sendEvents } from '../../../services/platform/webhooks/deliver-events.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi({ WEBHOOK_ALLOW_PRIVATE: 'loopback' })
})
afterAll(() => api.stop())

const never = new AbortController().signal

/** An account with a webhook at a receiver that knows its secret. */
async function hooked(more: object = {}) {
  const receiver = await startWebhookReceiver()
  const { user, client } = await api.newUser()
  const made = (await client.post('/api/v1/webhooks', { url: receiver.url, ...more })).body
  receiver.secrets.push(made.secret)
  const path = `/api/v1/webhooks/${made.id}`
  const webhooks = mailWebhooksOf({ mongo: api.mongo, clock: systemClock })
  const queue = (...keys: string[]) =>
    queueMailEvents(
      webhooks,
      keys.map(key => ({
        ...{ type: 'email.complained', userId: user._id, at: new Date(), key },
        data: {
          ...{
            email_id: key,
            message_id: '<m@example.com>',
            from: 'a@example.com',
            to: 'b@example.net',
            subject: 'hi',
            stream: 'transactional',
          },
          ...{ domain: 'example.com', tags: [], metadata: {}, feedback_type: 'abuse' },
        },
      })),
    )
  const config = readConfig({
    ...{ MAIL_HOSTNAME: 'mail.test', SESSION_SECRET: 'x'.repeat(32), MONGODB_URI: 'mongodb://unused' },
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
  })
  const { mongo, secrets } = api
  const send = () =>
    sendEvents(mailWebhookSending({ mongo, secrets, clock: systemClock, log: silentLog, config }), never)
  return { receiver, user, client, made, path, queue, send }
}

test('a webhook is created with a secret that no other answer has, changed and removed', async () => {
  const { client, made, path, user } = await hooked({ name: 'Shop', events: ['email.bounced', 'email.bounced'] })
  expect(made).toMatchObject({
    object: 'webhook',
    name: 'Shop',
    events: ['email.bounced'],
    enabled: true,
    disabled: null,
  })
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const list = (await client.get('/api/v1/webhooks')).body
  expect(list.data).toHaveLength(1)
  expect(JSON.stringify(list)).not.toContain('whsec_')
  const changed = await client.call('PATCH', path, { enabled: false, notice_email: 'ops@example.net' })
  expect(changed.body).toMatchObject({ enabled: false, notice_email: 'ops@example.net', name: 'Shop' })
  expect((await client.call('PATCH', path, { notice_email: null })).body.notice_email).toBeNull()
  expect((await client.call('DELETE', path)).status).toBe(204)
  expect((await client.get(path)).status).toBe(404)
  const audit = (await client.get('/api/v1/audit-logs')).body.data.map(({ action }: { action: string }) => action)
  expect(audit.toSorted()).toEqual(['webhook.created', 'webhook.removed', 'webhook.updated', 'webhook.updated'])
  expect(user._id).toBeTruthy()
})

test.each<[string, object, string]>([
  ['another scheme', { url: 'ftp://example.com' }, '/url'],
  ['plain HTTP', { url: 'http://example.com' }, '/url'],
  ['a private address', { url: 'https://10.0.0.1' }, '/url'],
  ['a login', { url: 'https://me:pw@example.com' }, '/url'],
  ['an unknown type', { url: 'https://example.com', events: ['email.read'] }, '/events/0'],
  ['the type of tests', { url: 'https://example.com', events: ['webhook.test'] }, '/events/0'],
  ['a foreign domain', { url: 'https://example.com', domain_ids: ['dom_1'] }, '/domain_ids/0'],
  ['no address for notices', { url: 'https://example.com', notice_email: 'nobody' }, '/notice_email'],
])('%s is refused', async (_, body, pointer) => {
  const { client } = await api.newUser()
  const answer = await client.post('/api/v1/webhooks', body)
  expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([422, pointer])
})

test('a webhook in the format of Resend gets and shows its bodies and headers; a changed format counts at once', async () => {
  const { client, made, path, receiver } = await hooked({ format: 'resend' })
  expect(made.format).toBe('resend')
  const { body } = await client.post(`${path}/test`)
  expect(JSON.parse(body.request_body)).toEqual({
    type: 'webhook.test',
    created_at: expect.any(String),
    data: { webhook_id: made.id },
  })
  const [received] = receiver.received
  expect([received?.body, received?.headers['svix-id'], received?.headers['webhook-id']]).toEqual([
    body.request_body,
    body.id,
    body.id,
  ])
  expect((await client.call('PATCH', path, { format: 'postwright' })).body.format).toBe('postwright')
  const again = (await client.post(`${path}/test`)).body
  expect(JSON.parse(again.request_body)).toMatchObject({ type: 'webhook.test', timestamp: expect.any(String) })
  expect(receiver.received[1]?.headers['svix-id']).toBeUndefined()
  const refused = await client.call('PATCH', path, { format: 'other' })
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '/format'])
  expect((await client.post('/api/v1/webhooks', { url: receiver.url })).body.format).toBe('postwright')
})

test('an account has at most ten webhooks', async () => {
  const { client } = await api.newUser()
  const statuses: number[] = []
  for (let n = 0; n < 11; n++)
    statuses.push((await client.post('/api/v1/webhooks', { url: 'https://example.com' })).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 409])
})

test('a test event shows what was sent and answered', async () => {
  const { client, path, receiver, made } = await hooked({ enabled: false })
  const { status, body } = await client.post(`${path}/test`)
  expect([status, body.state, body.type, body.result]).toEqual([200, 'delivered', 'webhook.test', '204'])
  expect(JSON.parse(body.request_body)).toMatchObject({ type: 'webhook.test', data: { webhook_id: made.id } })
  expect(receiver.received[0]).toMatchObject({ id: body.id, type: 'webhook.test' })
  await receiver.stop()
  const failed = (await client.post(`${path}/test`)).body
  expect(failed).toMatchObject({ state: 'failed', result_code: 'webhook.connection', next_attempt_at: null })
  expect(failed.log[0].answer).toBeNull()
})

test('after a rotation both secrets verify', async () => {
  const { client, path, receiver, made } = await hooked()
  const rotated = (await client.post(`${path}/rotate-secret`)).body
  expect(rotated.secret).not.toBe(made.secret)
  expect(Date.parse(rotated.previous_secret_until) - Date.now()).toBeGreaterThan(86_000_000)
  expect((await client.post(`${path}/test`)).body.state).toBe('delivered')
  receiver.secrets = [rotated.secret]
  expect((await client.post(`${path}/test`)).body.state).toBe('delivered')
  expect([receiver.received.length, receiver.forged]).toEqual([2, 0])
})

describe('deliveries', () => {
  test('are listed newest first in pages, and filtered by state, type and message', async () => {
    const { client, path, queue, send, receiver } = await hooked()
    await queue('em_1', 'em_2')
    await send()
    receiver.reply = response => void response.writeHead(500).end('broken')
    await queue('em_3')
    await send()
    const list = async (query: string) => (await client.get(`${path}/deliveries${query}`)).body
    const first = await list('?limit=2')
    expect([first.data.length, first.has_more, first.data[0].email_id]).toEqual([2, true, 'em_3'])
    const rest = await list(`?limit=2&after=${first.data[1].id}`)
    expect([rest.data.length, rest.has_more]).toEqual([1, false])
    expect((await list('?state=delivered')).data).toHaveLength(2)
    expect((await list('?state=waiting')).data[0]).toMatchObject({ result: '500', attempts: 1 })
    expect((await list('?type=email.bounced')).data).toEqual([])
    expect((await list('?email_id=em_1')).data).toHaveLength(1)
    expect((await list('?after=msg_none')).data).toEqual([])
    const detail = (await client.get(`${path}/deliveries/${first.data[0].id}`)).body
    expect(detail.log[0].answer).toMatchObject({ status: 500, body: 'broken', truncated: false })
    expect(JSON.parse(detail.request_body).data.email_id).toBe('em_3')
    expect((await client.get(`${path}/deliveries/msg_none`)).status).toBe(404)
  })

  test('are replayed under their ids, by one or by time; a webhook that is off replays nothing', async () => {
    const { client, path, queue, send, receiver } = await hooked()
    await queue('em_1', 'em_2')
    await send()
    const [{ id }] = (await client.get(`${path}/deliveries?email_id=em_1`)).body.data
    const again = await client.post(`${path}/deliveries/${id}/replay`)
    expect(again.body).toMatchObject({ id, state: 'delivered', attempts: 2 })
    const since = new Date(Date.now() - 60_000).toISOString()
    expect((await client.post(`${path}/replay`, { since })).body).toMatchObject({
      replayed: 0,
      has_more: false,
      next_since: null,
    })
    expect((await client.post(`${path}/replay`, { since, failed_only: false })).body.replayed).toBe(2)
    expect((await client.post(`${path}/deliveries/${id}/replay`)).body.detail_code).toBe('detail.delivery_waits')
    await send()
    expect(new Set(receiver.received.map(one => one.id)).size).toBe(2)
    expect(receiver.received).toHaveLength(5)
    await client.call('PATCH', path, { enabled: false })
    expect((await client.post(`${path}/replay`, { since })).body.detail_code).toBe('detail.webhook_off')
    expect((await client.post(`${path}/deliveries/${id}/replay`)).body.detail_code).toBe('detail.webhook_off')
  })
})

test('a webhook that the platform disabled says why, and works again once it is enabled', async () => {
  const { client, path, queue, send, receiver } = await hooked()
  receiver.reply = response => void response.writeHead(410).end()
  await queue('em_1')
  await send()
  expect((await client.get(path)).body).toMatchObject({ enabled: false, disabled: { reason_code: 'webhook.gone' } })
  receiver.reply = response => void response.writeHead(204).end()
  expect((await client.call('PATCH', path, { enabled: true })).body).toMatchObject({ enabled: true, disabled: null })
  const since = new Date(Date.now() - 60_000).toISOString()
  expect((await client.post(`${path}/replay`, { since })).body.replayed).toBe(1)
  await send()
  expect(receiver.received.at(-1)?.data.email_id).toBe('em_1')
})
