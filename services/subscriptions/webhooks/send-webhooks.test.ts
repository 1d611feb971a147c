import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { createGuardedPost } from '../../platform/network/guarded-fetch.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { claimEvent, insertEvents } from '../../platform/webhooks/event-queue.ts'
import { signedHeaders } from '../../platform/webhooks/rules/standard-webhooks.ts'
import { type Subscriptions, systemActor } from '../context.ts'
import { publishEvent } from '../events/publish-event.ts'
import { webhookStore } from '../events/store/webhooks.ts'
import { createWebhook, deleteWebhook, updateWebhook } from './manage-webhooks.ts'
import { sendWebhooks } from './send-webhooks.ts'

const post = createGuardedPost({ allowPrivate: true })
const never = new AbortController().signal

/** An app with a webhook to a server of the test, which replies with `answer` and records the requests. */
async function hooked(answer: (response: ServerResponse, request: IncomingMessage) => void = good) {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, clock } = subscriptions
  await giveApp('shop')
  const heard: { id: string; body: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    heard.push({ id: String(request.headers['webhook-id']), body, headers: request.headers })
    answer(response, request)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const shut = async () => {
    server.closeAllConnections()
    if (server.listening) await once(server.close(), 'close')
  }
  onTestFinished(shut)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const { webhook, secret } = await createWebhook(context, systemActor, 'shop', { url, events: [], enabled: true })
  const publish = (key: string, data: Record<string, unknown> = {}) =>
    publishEvent(context, { appKey: 'shop', type: 'user.created', key, data })
  const send = (by: Subscriptions = context, signal = never) => sendWebhooks(by, post, signal)
  const event = async (key: string) => context.collections.webhookEvents.findOne({ _id: `${key}:${webhook._id}` })
  const at = { appKey: 'shop', id: webhook._id }
  return { context, clock, heard, webhook, secret, publish, send, event, at, url, shut }
}

function good(response: ServerResponse): void {
  response.writeHead(204).end()
}

test('a webhook with many events and a receiver that hangs leaves room for others', async () => {
  const { context, giveApp } = await openSubscriptionsModule()
  for (const app of ['slow', 'other']) {
    await giveApp(app)
    const url = `http://127.0.0.1/${app}`
    await createWebhook(context, systemActor, app, { url, events: [], enabled: true })
  }
  const publish = (appKey: string, key: string) =>
    publishEvent(context, { appKey, type: 'user.created', key, data: {} })
  for (let n = 0; n < 15; n++) await publish('slow', `slow ${n}`)
  await publish('other', 'last')
  const [heardOther, release] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
  let held = 0
  const hanging: typeof post = async ({ url }) => {
    if (url.endsWith('/other')) heardOther.resolve('heard')
    else if (++held === 10) heardOther.resolve('all requests wait for one webhook')
    await release.promise
    return { status: 204, text: '' }
  }
  const sending = sendWebhooks(context, hanging, never)
  expect(await heardOther.promise).toBe('heard')
  release.resolve()
  expect(await sending).toBe(16)
})

describe('the answer decides', () => {
  test.each<[number, 'done' | 'waiting' | 'failed']>([
    [200, 'done'],
    [202, 'done'],
    [204, 'done'],
    [299, 'done'],
    [301, 'waiting'],
    [302, 'waiting'],
    [400, 'waiting'],
    [410, 'failed'],
    [429, 'waiting'],
    [500, 'waiting'],
  ])('%i: %s', async (status, state) => {
    const { publish, send, event, heard } = await hooked((response, { url }) => {
      if (url === '/hook') response.writeHead(status, { location: '/elsewhere' }).end()
      else good(response)
    })
    await publish('a')
    expect(await send()).toBe(1)
    expect(await event('a')).toMatchObject({ state, attempts: 1, result: String(status) })
    expect(heard).toHaveLength(1)
  })

  test('a connection that is cut is a try in vain, with its reason in short', async () => {
    const { publish, send, event } = await hooked(response => response.socket?.destroy())
    await publish('a')
    await send()
    const { state, result = '' } = (await event('a')) ?? {}
    expect(state).toBe('waiting')
    expect(result).toMatch(/\w/)
    expect(result.length).toBeLessThanOrEqual(200)
  })

  test('an unreachable receiver is a failed attempt', async () => {
    const { publish, send, event, shut } = await hooked()
    await publish('a')
    await shut()
    await send()
    expect(await event('a')).toMatchObject({ state: 'waiting', result: expect.stringContaining('ECONNREFUSED') })
  })
})

test('the signature covers every byte of any content', async () => {
  const { clock, publish, send, heard, secret } = await hooked()
  const data = { nickname: '密"\\\u2028\n😀\ud800', app_key: 'shop', ...JSON.parse('{"__proto__":1,"constructor":2}') }
  await publish('a', data)
  await send()
  const [{ body, headers, id } = { body: '', headers: {}, id: '' }] = heard
  const signed = signedHeaders([secret], id, Math.floor(clock.now().getTime() / 1000), body)
  expect(headers).toMatchObject(signed)
  expect(headers['user-agent']).toMatch(/^Postwright\/\d/)
  expect(JSON.parse(body)).toMatchObject({ type: 'user.created', timestamp: clock.now().toISOString() })
  expect(JSON.parse(body).data).toMatchObject({ nickname: '密"\\\u2028\n😀\ufffd', constructor: 2 })
})

describe('a webhook that was disabled before delivery', () => {
  test('hears nothing, and its events are over', async () => {
    const { context, publish, send, event, at, heard } = await hooked()
    await publish('a', { openid: 'ann', id: '1' })
    await updateWebhook(context, systemActor, at, { enabled: false })
    expect(await send()).toBe(1)
    expect(heard).toEqual([])
    expect(await event('a')).toMatchObject({ state: 'failed', result: 'the webhook is off', data: { id: '1' } })
    expect((await event('a'))?.data).not.toHaveProperty('openid')
  })

  test('receives events published while it was enabled, once it is enabled again before an attempt', async () => {
    const { context, publish, send, at, heard } = await hooked()
    await publish('a')
    await updateWebhook(context, systemActor, at, { enabled: false })
    await publish('while off')
    await updateWebhook(context, systemActor, at, { enabled: true })
    expect(await send()).toBe(1)
    expect(heard).toHaveLength(1)
  })

  test('removed during the attempt: the event is dropped', async () => {
    const { context, clock, publish, send, event, at, heard } = await hooked()
    await publish('a')
    const claimed = await claimEvent(
      webhookStore(context.collections),
      at.id,
      clock.now(),
      new Date(clock.now().getTime() + 60_000),
    )
    await deleteWebhook(context, systemActor, at)
    if (claimed) await insertEvents(context.collections.webhookEvents, [claimed])
    clock.advance(60_000)
    expect(await send()).toBe(1)
    expect([heard, (await event('a'))?.state]).toEqual([[], 'failed'])
  })
})

test('a secret that cannot be decrypted delays no other webhook, and its event waits for the secret', async () => {
  const { context, clock, publish, send, event, heard, url } = await hooked()
  const restarted: Subscriptions = { ...context, secrets: createSecrets('another secret of thirty-two bytes') }
  await publish('old')
  const { webhook } = await createWebhook(restarted, systemActor, 'shop', { url, events: [], enabled: true })
  for (let n = 0; n < 30; n++) await publish(`new-${n}`)
  await context.collections.webhookEvents.deleteMany({ _id: /^new/, webhook_id: { $ne: webhook._id } })
  expect(await send(restarted)).toBe(31)
  expect(heard).toHaveLength(30)
  expect(await event('old')).toMatchObject({ state: 'waiting', attempts: 1, result: expect.stringMatching(/secret/i) })
  clock.advance(6_000)
  await send()
  expect([heard.length, (await event('old'))?.state]).toEqual([31, 'done'])
})

test('a secret that never returns fails like an unreachable address', async () => {
  const { context, clock, publish, send, event } = await hooked()
  const restarted: Subscriptions = { ...context, secrets: createSecrets('another secret of thirty-two bytes') }
  await publish('old')
  let tries = 0
  for (; (await event('old'))?.state === 'waiting' && tries < 20; tries++) {
    expect(await send(restarted)).toBe(1)
    clock.advance(100_000_000)
  }
  expect([tries, (await event('old'))?.state]).toEqual([10, 'failed'])
})

test('no attempt starts after the abort signal', async () => {
  const { publish, send, heard } = await hooked()
  for (let n = 0; n < 5; n++) await publish(`e-${n}`)
  expect(await send(undefined, AbortSignal.abort())).toBe(0)
  expect(heard).toEqual([])
  expect(await send()).toBe(5)
})
