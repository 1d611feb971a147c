/** Webhooks of apps: events, signatures, and retries. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGuardedPost } from '../../../services/platform/network/guarded-fetch.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { resealSubscriptions } from '../../../services/subscriptions/jobs/reseal-secrets.ts'
import { expireLapsed } from '../../../services/subscriptions/lifecycle/expire-subscriptions.ts'
import { remind } from '../../../services/subscriptions/reminders/send-reminders.ts'
import { sendWebhooks } from '../../../services/subscriptions/webhooks/send-webhooks.ts'
import { type SubscriptionApi, startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

interface Received {
  path: string
  id: string
  type: string
  data: Record<string, unknown>
}

let api: SubscriptionApi
let origin: string
let path: string
let plan: string
let received: Received[] = []
/** Status that the receiver returns. */
let answer = 200
const secrets = new Map<string, string>()
const never = new AbortController().signal
const post = createGuardedPost({ allowPrivate: true })
const send = () => sendWebhooks(api.context, post, never)
const DAY_MS = 86_400_000

/** Accepts only what is signed with the secret of its path at the current time. */
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', chunk => {
    body += chunk
  })
  request.on('end', () => {
    const header = (name: string) => String(request.headers[name])
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
    const key = Buffer.from((secrets.get(request.url ?? '') ?? '').slice('whsec_'.length), 'base64')
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    const late = Math.abs(api.clock.now().getTime() / 1000 - Number(timestamp)) > 300
    if (header('webhook-signature') !== `v1,${expected}` || late) return response.writeHead(401).end()
    const { type, data } = JSON.parse(body)
    received.push({ path: request.url ?? '', id, type, data })
    return response.writeHead(answer).end()
  })
})

beforeAll(async () => {
  api = await startSubscriptionApi({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  path = `/app_manage/${api.demo.id}/webhook`
  const body = { name: 'month', price: '10.00', duration: 30, features: '{"features":[]}' }
  const headers = { prefer: 'return=representation' }
  plan = (await api.call('POST', '/subscription_plan', { body, headers })).body.data.id
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await api.stop()
})
beforeEach(async () => {
  answer = 200
  for (const { id } of (await api.call('GET', path)).body.data.webhooks) await api.call('DELETE', `${path}/${id}`)
  await api.context.collections.webhookEvents.deleteMany({})
  api.context.memory.webhooks.clear()
  received = []
})

/** Registers a webhook at the receiver. */
async function listen(name: string, more: object = {}) {
  const made = (await api.call('POST', path, { body: { url: `${origin}/${name}`, ...more } })).body.data
  secrets.set(`/${name}`, made.secret)
  api.context.memory.webhooks.clear()
  return made
}

let number = 0
async function buy(profile: object = {}) {
  const openid = `wh-${++number}`
  const user = (await api.server('POST', '/server/user', { body: { openid, ...profile } })).body.data
  const pay = async (payment_id: string) => {
    const body = { user_id: user.id, plan_id: plan, payment_method: 'alipay', payment_id, auto_renew: 1 }
    return (await api.server('POST', '/server/subscription', { body })).body.data.subscription
  }
  return { user, pay, subscription: await pay(`${openid}-1`) }
}
const types = () => received.map(({ type }) => type)

describe('events', () => {
  test('report each step of a user and a subscription once and signed', async () => {
    await listen('all')
    const { user, pay, subscription } = await buy({ email: 'a@example.com', nickname: 'Ann' })
    await pay(`wh-${number}-2`)
    const cancel = (at: string) =>
      api.server('POST', `/server/subscription/${subscription.id}/cancel`, { body: { at } })
    await cancel('period_end')
    await cancel('now')
    await api.call('PUT', `/user/${user.id}`, { body: { status: 0 } })
    await api.call('DELETE', `/user/${user.id}`)
    expect(await send()).toBe(7)
    expect(types().toSorted()).toEqual(
      [
        'user.created',
        'subscription.created',
        'subscription.renewed',
        'subscription.canceled',
        'subscription.canceled',
        'user.updated',
        'user.deleted',
      ].toSorted(),
    )
    const renewed = received.find(({ type }) => type === 'subscription.renewed')
    expect(renewed?.data).toMatchObject({ app_key: 'demo', id: subscription.id, status: '1', plan_name: 'month' })
    expect(JSON.stringify(received)).not.toMatch(/example\.com|Ann/)
    expect(new Set(received.map(({ id }) => id)).size).toBe(7)
  })

  test('lose their identities after delivery, and when the user is erased', async () => {
    await listen('gone')
    const stored = async () => JSON.stringify(await api.context.collections.webhookEvents.find().toArray())
    const newUser = async (openid: string) => (await api.server('POST', '/server/user', { body: { openid } })).body.data
    const delivered = await newUser('delivered-openid')
    expect(await stored()).toContain(delivered.openid)
    await send()
    expect(received.find(({ type }) => type === 'user.created')?.data).toMatchObject({ openid: delivered.openid })
    expect(await stored()).not.toContain(delivered.openid)
    answer = 500
    const [leaving, staying] = [await newUser('leaving-openid'), await newUser('staying-openid')]
    await send()
    expect(await stored()).toContain(leaving.openid)
    await api.call('DELETE', `/user/${leaving.id}`)
    expect(await stored()).not.toContain(leaving.openid)
    expect(await stored()).toContain(staying.openid)
    answer = 200
    received = []
    api.clock.advance(6_000)
    await send()
    const created = received.filter(({ type }) => type === 'user.created').map(({ data }) => data)
    expect(created).toHaveLength(2)
    expect(created).toContainEqual({ app_key: 'demo', id: leaving.id, status: '1', reminder_mail: '1' })
    expect(created).toContainEqual({
      ...{ app_key: 'demo', id: staying.id, status: '1', reminder_mail: '1' },
      openid: staying.openid,
    })
  })

  test('report expiries, refunds, changed plans and switches, and no rejected changes', async () => {
    await listen('all')
    const [first, second] = [await buy(), await buy()]
    await api.server('POST', `/server/subscription/${second.subscription.id}/refund`, { body: { refund_id: 'r' } })
    await api.server('POST', `/server/subscription/${second.subscription.id}/cancel`, { body: {} })
    await api.call('PUT', `/subscription_plan/${plan}`, { body: { description: 'new' } })
    await api.call('PUT', `/subscription_plan/${plan}`, { body: { price: -1 } })
    await api.call('POST', '/switch_manage', { body: { name: 'flag', type: 'boolean', value: '1' } })
    await api.call('DELETE', '/switch_manage', { query: { app_key: 'demo', name: 'flag' } })
    await api.later(31 * DAY_MS)
    await expireLapsed(api.context, never)
    await send()
    const count = (type: string) => types().filter(known => known === type).length
    expect(['subscription.refunded', 'subscription.canceled', 'plan.updated', 'switch.updated'].map(count)).toEqual([
      1, 0, 1, 2,
    ])
    const expired = received.filter(({ type }) => type === 'subscription.expired').map(({ data }) => data.id)
    expect(expired).toEqual([first.subscription.id])
  })

  test('report an approaching end once if the user has no address, even if workers die', async () => {
    await listen('soon', { events: ['subscription.expiring_soon'] })
    const { subscription } = await buy()
    await api.server('POST', `/server/subscription/${subscription.id}/cancel`, { body: {} })
    await api.later(23 * DAY_MS)
    const mails: unknown[] = []
    const take = async (mail: unknown) => void mails.push(mail)
    await Promise.all([remind(api.context, take, never), remind(api.context, take, never)])
    await api.context.collections.reminders.updateMany({}, { $set: { state: 'claimed' } })
    api.clock.advance(11 * 60_000)
    await remind(api.context, take, never)
    await send()
    expect(received.map(({ type, data }) => [type, data.id])).toEqual([['subscription.expiring_soon', subscription.id]])
    expect(mails).toEqual([])
  })

  test('are sent only to enabled webhooks of the app that subscribe to them', async () => {
    await listen('users', { events: ['user.created'] })
    await listen('off', { enabled: '0' })
    await listen('all')
    const other = (await api.call('POST', '/app_manage', { body: { app_name: 'Other' } })).body.data
    await api.call('POST', `/app_manage/${other.id}/webhook`, { body: { url: `${origin}/other` } })
    await buy()
    await send()
    expect(received.map(known => `${known.path} ${known.type}`).toSorted()).toEqual([
      '/all subscription.created',
      '/all user.created',
      '/users user.created',
    ])
  })
})

describe('retries', () => {
  test('try ten times with growing delays under one id, then give up', async () => {
    const { id } = await listen('broken', { events: ['user.created'] })
    answer = 500
    await buy()
    const gaps: number[] = []
    let waited = 0
    for (let i = 0; i < 60 && gaps.length < 9; i++) {
      const tries = await send()
      if (tries > 0 && received.length > 1) gaps.push(waited)
      if (tries > 0) waited = 0
      const event = await api.context.collections.webhookEvents.findOne({ webhook_id: id })
      if (event?.state !== 'waiting') break
      const step = event.due.getTime() - api.clock.now().getTime()
      api.clock.advance(step)
      waited += step
    }
    const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(gaps.map((ms, n) => Math.abs(ms / 1000 / (seconds[n] ?? 0) - 1) <= 0.1)).toEqual(seconds.map(() => true))
    expect(new Set(received.map(known => known.id)).size).toBe(1)
    await api.later(0)
    const [shown] = (await api.call('GET', path)).body.data.webhooks
    expect(shown.recent[0]).toMatchObject({ type: 'user.created', state: 'failed', attempts: '10', result: '500' })
  })

  test('deliver with the second attempt; two concurrent workers send each event once', async () => {
    await api.later(0)
    await listen('late', { events: ['user.created'] })
    answer = 503
    await buy()
    await send()
    answer = 200
    expect(await send()).toBe(0)
    api.clock.advance(6_000)
    expect(await Promise.all([send(), send()]).then(([a, b]) => a + b)).toBe(1)
    expect(types()).toEqual(['user.created', 'user.created'])
    expect(await api.context.collections.webhookEvents.countDocuments({ state: 'done' })).toBe(1)
  })

  test('send an event that a dead worker had claimed', async () => {
    await listen('dead', { events: ['user.created'] })
    await buy()
    const due = new Date(api.clock.now().getTime() + 60_000)
    await api.context.collections.webhookEvents.updateMany({}, { $set: { due, attempts: 1 } })
    expect(await send()).toBe(0)
    api.clock.advance(60_000)
    expect(await send()).toBe(1)
    expect(types()).toEqual(['user.created'])
  })

  test('reject a private address before sending anything', async () => {
    await listen('private', { events: ['user.created'] })
    await buy()
    await sendWebhooks(api.context, createGuardedPost({ allowPrivate: false }), never)
    expect(received).toEqual([])
    const event = await api.context.collections.webhookEvents.findOne({ state: 'waiting' })
    expect(event?.result).toBe('127.0.0.1 is not a public address; the setting WEBHOOK_ALLOW_PRIVATE=true allows it')
  })
})

describe('administration', () => {
  test('returns the secret once, and reseals it with a new SESSION_SECRET', async () => {
    await api.later(0)
    const { id, secret } = await listen('secret')
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { text } = await api.call('GET', path)
    expect(text).not.toContain('whsec_')
    const log = await api.call('GET', '/audit_log', { query: { app_key: 'demo', target_kind: 'webhook' } })
    expect(log.text).not.toContain('whsec_')
    expect(log.body.data.audit_logs[0]).toMatchObject({ action: 'webhook.create', target_id: id })
    const before = await api.context.collections.webhooks.findOne({ _id: id })
    const rotated = createSecrets('another secret of thirty-two bytes', api.foundation.config.SESSION_SECRET)
    expect(await resealSubscriptions({ collections: api.context.collections, secrets: rotated })).toBeGreaterThan(0)
    const after = await api.context.collections.webhooks.findOne({ _id: id })
    expect(after?.sealed).not.toBe(before?.sealed)
    expect(rotated.open('app-secret', `sub_webhooks/${id}`, after?.sealed ?? '')).toBe(secret)
    await api.context.collections.webhooks.replaceOne({ _id: id }, before as NonNullable<typeof before>)
  })

  test('permits five webhooks that can be changed and removed, and rejects invalid ones', async () => {
    for (let n = 0; n < 5; n++) await listen(`n${n}`)
    const create = async (body: object) => (await api.call('POST', path, { body })).body.code
    expect(await create({ url: `${origin}/n5` })).toBe(40903)
    const { webhooks } = (await api.call('GET', path)).body.data
    const { id } = webhooks.find(({ url }: { url: string }) => url === `${origin}/n0`)
    const changed = (await api.call('PUT', `${path}/${id}`, { body: { enabled: 0 } })).body.data
    expect(changed).toMatchObject({ enabled: '0', url: `${origin}/n0` })
    const left = (await api.call('DELETE', `${path}/${id}`)).body.data.webhooks
    expect(left).toHaveLength(4)
    expect((await api.call('PUT', `${path}/${id}`, { body: {} })).body.code).toBe(40406)
    for (const body of [
      {},
      { url: 'ftp://example.com' },
      { url: 'https://user:secret@example.com' },
      { url: 'not a url' },
      { url: `${origin}/x`, events: ['everything'] },
    ])
      expect([body, await create(body)]).toEqual([body, 42200])
  })

  test('rejects plain HTTP and private addresses with the reason', async () => {
    const strict = await startSubscriptionApi()
    try {
      const create = async (url: string) =>
        (await strict.call('POST', `/app_manage/${strict.demo.id}/webhook`, { body: { url }, headers: { lang: 'en' } }))
          .body
      const refused = (rule: string, message: RegExp) => ({
        code: 42200,
        data: { errors: [{ field: 'url', rule, message: expect.stringMatching(message) }] },
      })
      const setting = /WEBHOOK_ALLOW_PRIVATE=true/
      expect(await create('http://example.com/hook')).toMatchObject(refused('tls_required', setting))
      expect(await create('https://10.0.0.1/hook')).toMatchObject(refused('private_address', setting))
      expect(await create('https://me:pw@example.com/hook')).toMatchObject(
        refused('url_login', /user name or password/),
      )
      expect(await create('https://example.com/hook')).toMatchObject({ code: 0 })
    } finally {
      await strict.stop()
    }
  })

  test('removing a webhook removes its waiting events', async () => {
    const { id } = await listen('gone')
    await buy()
    expect(await api.context.collections.webhookEvents.countDocuments({ webhook_id: id })).toBeGreaterThan(0)
    await api.call('DELETE', `${path}/${id}`)
    expect(await api.context.collections.webhookEvents.countDocuments({ webhook_id: id })).toBe(0)
    expect(await send()).toBe(0)
  })
})
