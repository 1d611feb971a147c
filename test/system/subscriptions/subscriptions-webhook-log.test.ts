/** What a webhook of an app has besides its events: a new secret, a test event, the delivery log, and replays. */
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedPost } from '../../../services/platform/network/guarded-fetch.ts'
import { publishEvent } from '../../../services/subscriptions/events/publish-event.ts'
import { sendWebhooks } from '../../../services/subscriptions/webhooks/send-webhooks.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

let api: SubscriptionApi
beforeAll(async () => {
  api = await startSubscriptionApi({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  // The published package compares timestamps with the clock of the machine.
  await api.later(Date.now() - api.clock.now().getTime())
})
afterAll(() => api.stop())

const post = createGuardedPost({ allowPrivate: true })
const never = new AbortController().signal
const send = () => sendWebhooks(api.context, post, never)
const HOUR = 3_600_000
let apps = 0

/** An app with a webhook at a receiver that knows its secret. */
async function hooked() {
  const receiver = await startWebhookReceiver()
  const key = `hooked${++apps}`
  const app = (await api.call('POST', '/app_manage', { body: { app_name: key, app_key: key } })).body.data
  const webhooks = `/app_manage/${app.id}/webhook`
  const made = (await api.call('POST', webhooks, { body: { url: receiver.url } })).body.data
  receiver.secrets.push(made.secret)
  const path = `${webhooks}/${made.id}`
  const publish = async (...names: string[]) => {
    for (const name of names) {
      api.clock.advance(1_000)
      await publishEvent(api.context, { appKey: key, type: 'user.created', data: { id: name } })
    }
  }
  const list = async (query: Record<string, string> = {}) =>
    (await api.call('GET', `${path}/delivery`, { query })).body.data
  return { receiver, key, made, path, webhooks, publish, list }
}
const seconds = (date: Date) => Math.floor(date.getTime() / 1000)

describe('a new secret', () => {
  test('is shown once, and both sign for 24 hours', async () => {
    const { receiver, made, path, webhooks, publish } = await hooked()
    const rotated = (await api.call('POST', `${path}/rotate_secret`)).body.data
    expect(rotated).toMatchObject({ id: made.id, secret: expect.stringMatching(/^whsec_/) })
    expect(rotated.secret).not.toBe(made.secret)
    expect(rotated.previous_secret_until).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    const [shown] = (await api.call('GET', webhooks)).body.data.webhooks
    expect(shown).toMatchObject({ previous_secret_until: rotated.previous_secret_until })
    expect(shown).not.toHaveProperty('secret')
    // The receiver knows one of both, then the other.
    await publish('first')
    await send()
    receiver.secrets = [rotated.secret]
    await publish('second')
    await send()
    expect(receiver.received.map(({ data }) => data.id)).toEqual(['first', 'second'])
    const [event] = receiver.received
    expect(String(event?.headers['webhook-signature']).split(' ')).toHaveLength(2)
    expect(receiver.forged).toBe(0)
  })

  test('is the only one that signs after a day; rotated twice, the first one ends at once', async () => {
    const { receiver, made, path, webhooks, publish } = await hooked()
    const second = (await api.call('POST', `${path}/rotate_secret`)).body.data.secret
    const third = (await api.call('POST', `${path}/rotate_secret`)).body.data.secret
    receiver.secrets = []
    await publish('now')
    await send()
    const { headers } = receiver.received[0] ?? { headers: {} }
    const verifies = (secret: string) => {
      try {
        const { id, type, timestamp, data } = receiver.received[0] as never as Record<string, string>
        expect(id).toBeDefined()
        return Boolean(new Webhook(secret).verify(JSON.stringify({ type, timestamp, data }), headers as never))
      } catch {
        return false
      }
    }
    expect([made.secret, second, third].map(verifies)).toEqual([false, true, true])
    await api.later(25 * HOUR)
    await publish('later')
    await send()
    expect(String(receiver.received[1]?.headers['webhook-signature']).split(' ')).toHaveLength(1)
    expect((await api.call('GET', webhooks)).body.data.webhooks[0]).not.toHaveProperty('previous_secret_until')
    await api.later(-25 * HOUR)
  })

  test('is in the audit log without its value, and in no record', async () => {
    const { key, path } = await hooked()
    const { secret } = (await api.call('POST', `${path}/rotate_secret`)).body.data
    const log = await api.call('GET', '/audit_log', { query: { app_key: key, action: 'webhook.rotate' } })
    expect(log.body.data.audit_logs).toHaveLength(1)
    expect(log.text).not.toContain(secret)
    const stored = await api.context.collections.webhooks.find({ app_key: key }).lean()
    expect(JSON.stringify(stored)).not.toContain(secret)
  })

  test('of a repeated request is the same', async () => {
    const { path } = await hooked()
    const again = () => api.call('POST', `${path}/rotate_secret`, { headers: { 'idempotency-key': `rotate-${path}` } })
    const [first, second] = [await again(), await again()]
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('a test event', () => {
  test('is sent at once, signed, and answered with request and answer', async () => {
    const { receiver, key, made, path } = await hooked()
    receiver.reply = response => void response.writeHead(201, { 'x-receiver': 'ours' }).end('thank you')
    const { data } = (await api.call('POST', `${path}/test`)).body
    expect(data).toMatchObject({
      webhook_id: made.id,
      type: 'webhook.test',
      state: 'done',
      attempts: '1',
      result: '201',
    })
    expect(JSON.parse(data.request_body)).toMatchObject({ type: 'webhook.test', data: { app_key: key } })
    const [attempt] = data.log
    expect(attempt).toMatchObject({
      url: receiver.url,
      answer: { status: 201, body: 'thank you', truncated: false },
    })
    expect(attempt.request_headers.map(({ name }: { name: string }) => name)).toContain('webhook-signature')
    expect(attempt.answer.headers).toContainEqual({ name: 'x-receiver', value: 'ours' })
    expect(receiver.received.map(({ id }) => id)).toEqual([data.id])
  })

  test('that fails is not repeated', async () => {
    const { receiver, path } = await hooked()
    receiver.reply = response => void response.writeHead(500).end()
    expect((await api.call('POST', `${path}/test`)).body.data).toMatchObject({ state: 'failed', result: '500' })
    expect(await send()).toBe(0)
  })

  test('to a receiver that is gone has a stable code', async () => {
    const { receiver, path } = await hooked()
    await receiver.stop()
    const { data } = (await api.call('POST', `${path}/test`)).body
    expect(data).toMatchObject({ state: 'failed', result_code: expect.stringMatching(/^webhook\./) })
    expect(data.log).toMatchObject([{ answer: null }])
  })
})

describe('the delivery log', () => {
  test('is read in pages, newest first, by state and type', async () => {
    const { receiver, path, publish, list } = await hooked()
    await publish('a', 'b', 'c')
    await send()
    receiver.reply = response => void response.writeHead(503).end()
    api.clock.advance(1_000)
    await api.call('POST', `${path}/test`)
    const first = await list({ page_size: '3' })
    expect(first).toMatchObject({ has_more: '1' })
    const rest = await list({ page_size: '3', after: first.deliveries.at(-1).id })
    expect(rest).toMatchObject({ has_more: '0', deliveries: [{ state: 'done' }] })
    const ids = [...first.deliveries, ...rest.deliveries].map(({ id }) => id)
    expect(new Set(ids).size).toBe(4)
    expect((await list({ state: 'failed' })).deliveries).toMatchObject([{ type: 'webhook.test' }])
    expect((await list({ type: 'user.created' })).deliveries).toHaveLength(3)
    expect((await list({ state: 'waiting' })).deliveries).toEqual([])
    expect((await list({ after: 'msg_unknown' })).deliveries).toEqual([])
  })

  test('shows when the next attempt of a waiting event is due', async () => {
    const { receiver, publish, list } = await hooked()
    receiver.reply = response => void response.writeHead(500).end()
    await publish('a')
    await send()
    expect((await list()).deliveries).toMatchObject([
      { state: 'waiting', attempts: '1', result: '500', next_attempt_at: expect.stringMatching(/^\d{4}-/) },
    ])
  })

  test.each<[string, Record<string, string>]>([
    ['a state that does not exist', { state: 'lost' }],
    ['a page of none', { page_size: '0' }],
    ['a page that is too large', { page_size: '101' }],
    ['a position that is too long', { after: 'x'.repeat(201) }],
  ])('refuses %s', async (_, query) => {
    const { path } = await hooked()
    expect((await api.call('GET', `${path}/delivery`, { query })).status).toBe(422)
  })
})

describe('a replay', () => {
  test('of one event sends it again under its id', async () => {
    const { receiver, path, publish, list } = await hooked()
    await publish('a')
    await send()
    const [{ id }] = (await list()).deliveries
    const { data } = (await api.call('POST', `${path}/delivery/${encodeURIComponent(id)}/replay`)).body
    expect(data).toMatchObject({ id, state: 'done', attempts: '2' })
    expect(data.log).toHaveLength(2)
    expect(receiver.received.map(event => event.id)).toEqual([id, id])
  })

  test('of a time queues what failed, or everything', async () => {
    const { receiver, path, publish } = await hooked()
    const before = api.clock.now()
    await publish('good')
    await send()
    receiver.reply = response => void response.writeHead(500).end()
    await api.call('POST', `${path}/test`)
    await publish('bad')
    await api.context.collections.webhookEvents.updateMany({ 'data.id': 'bad' }, { $set: { state: 'failed' } })
    receiver.reply = response => void response.writeHead(204).end()
    const replay = async (body: object) => (await api.call('POST', `${path}/replay`, { body })).body.data
    // Test events are not repeated.
    expect(await replay({ since: seconds(before) })).toEqual({ replayed: '1', has_more: '0', next_since: '' })
    await send()
    expect(await replay({ since: seconds(before), failed_only: '0' })).toEqual({
      replayed: '2',
      has_more: '0',
      next_since: '',
    })
    expect(await replay({ since: seconds(before) - 100, until: seconds(before) - 50, failed_only: 0 })).toEqual({
      ...{ replayed: '0', has_more: '0', next_since: '' },
    })
    await send()
    const sent = receiver.received.filter(({ type }) => type === 'user.created').map(({ data }) => data.id)
    expect(sent.toSorted()).toEqual(['bad', 'bad', 'good', 'good'])
  })

  test.each<[string, object]>([
    ['a time without a beginning', {}],
    ['a time that is no number', { since: 'yesterday' }],
    ['a choice that is none', { since: 0, failed_only: 'x' }],
  ])('refuses %s', async (_, body) => {
    const { path } = await hooked()
    expect((await api.call('POST', `${path}/replay`, { body })).status).toBe(422)
  })

  test('is refused while the event waits, and for a webhook that is off', async () => {
    const { path, publish, list } = await hooked()
    await publish('a')
    const [{ id }] = (await list()).deliveries
    const again = () => api.call('POST', `${path}/delivery/${encodeURIComponent(id)}/replay`)
    expect(await again()).toMatchObject({ status: 409, body: { code: 40903 } })
    await api.call('PUT', path, { body: { enabled: '0' } })
    expect(await again()).toMatchObject({ status: 409 })
    expect(await api.call('POST', `${path}/replay`, { body: { since: 0 } })).toMatchObject({ status: 409 })
  })
})

describe('of another app', () => {
  const operations: [string, string, object?][] = [
    ['POST', '/rotate_secret'],
    ['POST', '/test'],
    ['GET', '/delivery'],
    ['GET', '/delivery/{delivery}'],
    ['POST', '/delivery/{delivery}/replay'],
    ['POST', '/replay', { since: 0 }],
  ]
  test.each(operations)('%s %s knows no webhook and no delivery', async (method, rest, body) => {
    const [own, foreign] = [await hooked(), await hooked()]
    await foreign.publish('a')
    await send()
    const [{ id }] = (await foreign.list()).deliveries
    const tail = rest.replace('{delivery}', encodeURIComponent(id))
    const request = body === undefined ? {} : { body }
    const before = foreign.receiver.received.length
    // The webhook of another app below this one, and a delivery of another webhook below this one's.
    expect((await api.call(method, `${own.webhooks}/${foreign.made.id}${tail}`, request)).status).toBe(404)
    if (rest.includes('{delivery}')) expect((await api.call(method, `${own.path}${tail}`, request)).status).toBe(404)
    expect(foreign.receiver.received).toHaveLength(before)
  })

  test.each(operations)('%s %s is for super administrators', async (method, rest, body) => {
    const { path } = await hooked()
    const token = await api.logIn('operator', ['*'])
    const request = { token, ...(body && { body }) }
    expect((await api.call(method, path + rest.replace('{delivery}', 'x'), request)).status).toBe(403)
  })
})
