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
import { createWebhook, deleteWebhook, updateWebhook } from './manage-webhooks.ts'
import { publishEvent } from './publish-event.ts'
import { sendWebhooks } from './send-webhooks.ts'
import { webhookStore } from './store/webhooks.ts'

const post = createGuardedPost({ allowPrivate: true })
const never = new AbortController().signal

/** An app with a webhook to a server of the test, which answers as `answer` says and remembers what it heard. */
async function hooked(answer: (response: ServerResponse, request: IncomingMessage) => void = good) {
  const half = await openSubscriptionsModule()
  const { s, giveApp, clock } = half
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
  const { webhook, secret } = await createWebhook(s, systemActor, 'shop', { url, events: [], enabled: true })
  const tell = (key: string, data: Record<string, unknown> = {}) =>
    publishEvent(s, { appKey: 'shop', type: 'user.created', key, data })
  const send = (by: Subscriptions = s, signal = never) => sendWebhooks(by, post, signal)
  const event = async (key: string) => s.c.webhookEvents.findOne({ _id: `${key}:${webhook._id}` })
  const at = { appKey: 'shop', id: webhook._id }
  return { s, clock, heard, webhook, secret, tell, send, event, at, url, shut }
}

function good(response: ServerResponse): void {
  response.writeHead(204).end()
}

test('an app with many events and a receiver that hangs leaves room for others', async () => {
  const { s, giveApp } = await openSubscriptionsModule()
  for (const app of ['slow', 'other']) {
    await giveApp(app)
    const url = `http://127.0.0.1/${app}`
    await createWebhook(s, systemActor, app, { url, events: [], enabled: true })
  }
  const tell = (appKey: string, key: string) => publishEvent(s, { appKey, type: 'user.created', key, data: {} })
  for (let n = 0; n < 15; n++) await tell('slow', `slow ${n}`)
  await tell('other', 'last')
  const [heardOther, release] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()]
  let held = 0
  const hanging: typeof post = async ({ url }) => {
    if (url.endsWith('/other')) heardOther.resolve('heard')
    else if (++held === 10) heardOther.resolve('all lanes wait for one app')
    await release.promise
    return { status: 204, text: '' }
  }
  const sending = sendWebhooks(s, hanging, never)
  expect(await heardOther.promise).toBe('heard')
  release.resolve()
  expect(await sending).toBe(16)
})

describe('the answer decides', () => {
  test.each<[number, 'done' | 'waiting']>([
    [200, 'done'],
    [202, 'done'],
    [204, 'done'],
    [299, 'done'],
    [301, 'waiting'],
    [302, 'waiting'],
    [400, 'waiting'],
    [410, 'waiting'],
    [429, 'waiting'],
    [500, 'waiting'],
  ])('%i: %s', async (status, state) => {
    const { tell, send, event, heard } = await hooked((response, { url }) => {
      if (url === '/hook') response.writeHead(status, { location: '/elsewhere' }).end()
      else good(response)
    })
    await tell('a')
    expect(await send()).toBe(1)
    expect(await event('a')).toMatchObject({ state, attempts: 1, result: String(status) })
    expect(heard).toHaveLength(1)
  })

  test('a connection that is cut is a try in vain, with its reason in short', async () => {
    const { tell, send, event } = await hooked(response => response.socket?.destroy())
    await tell('a')
    await send()
    const { state, result = '' } = (await event('a')) ?? {}
    expect(state).toBe('waiting')
    expect(result).toMatch(/\w/)
    expect(result.length).toBeLessThanOrEqual(200)
  })

  test('nobody who listens is a try in vain', async () => {
    const { tell, send, event, shut } = await hooked()
    await tell('a')
    await shut()
    await send()
    expect(await event('a')).toMatchObject({ state: 'waiting', result: expect.stringContaining('ECONNREFUSED') })
  })
})

test('what is told is signed to the byte, whatever stands in it', async () => {
  const { clock, tell, send, heard, secret } = await hooked()
  const data = { nickname: '密"\\\u2028\n😀\ud800', app_key: 'shop', ...JSON.parse('{"__proto__":1,"constructor":2}') }
  await tell('a', data)
  await send()
  const [{ body, headers, id } = { body: '', headers: {}, id: '' }] = heard
  const signed = signedHeaders(secret, id, Math.floor(clock.now().getTime() / 1000), body)
  expect(headers).toMatchObject(signed)
  expect(headers['user-agent']).toMatch(/^Postwright\/\d/)
  expect(JSON.parse(body)).toMatchObject({ type: 'user.created', timestamp: clock.now().toISOString() })
  expect(JSON.parse(body).data).toMatchObject({ nickname: '密"\\\u2028\n😀\ufffd', constructor: 2 })
})

describe('a webhook that is off by the time it is told', () => {
  test('hears nothing, and its events are over', async () => {
    const { s, tell, send, event, at, heard } = await hooked()
    await tell('a', { openid: 'ann', id: '1' })
    await updateWebhook(s, systemActor, at, { enabled: false })
    expect(await send()).toBe(1)
    expect(heard).toEqual([])
    expect(await event('a')).toMatchObject({ state: 'failed', result: 'the webhook is off', data: { id: '1' } })
    expect((await event('a'))?.data).not.toHaveProperty('openid')
  })

  test('is told what came while it was on, once it is on again before it was tried', async () => {
    const { s, tell, send, at, heard } = await hooked()
    await tell('a')
    await updateWebhook(s, systemActor, at, { enabled: false })
    await tell('while off')
    await updateWebhook(s, systemActor, at, { enabled: true })
    expect(await send()).toBe(1)
    expect(heard).toHaveLength(1)
  })

  test('and removed in the moment of the try: the event goes nowhere', async () => {
    const { s, clock, tell, send, event, at, heard } = await hooked()
    await tell('a')
    const claimed = await claimEvent(webhookStore(s.c), clock.now(), new Date(clock.now().getTime() + 60_000))
    await deleteWebhook(s, systemActor, at)
    if (claimed) await insertEvents(s.c.webhookEvents, [claimed])
    clock.advance(60_000)
    expect(await send()).toBe(1)
    expect([heard, (await event('a'))?.state]).toEqual([[], 'failed'])
  })
})

test('a secret that cannot be opened holds nobody else up, and its event waits for the secret to come back', async () => {
  const { s, clock, tell, send, event, heard, url } = await hooked()
  const anew: Subscriptions = { ...s, secrets: createSecrets('another secret of thirty-two bytes') }
  await tell('old')
  const { webhook } = await createWebhook(anew, systemActor, 'shop', { url, events: [], enabled: true })
  for (let n = 0; n < 30; n++) await tell(`new-${n}`)
  await s.c.webhookEvents.deleteMany({ _id: /^new/, webhook_id: { $ne: webhook._id } })
  expect(await send(anew)).toBe(31)
  expect(heard).toHaveLength(30)
  expect(await event('old')).toMatchObject({ state: 'waiting', attempts: 1, result: expect.stringMatching(/secret/i) })
  clock.advance(5_000)
  await send()
  expect([heard.length, (await event('old'))?.state]).toEqual([31, 'done'])
})

test('a secret that never comes back is given up like an address where nobody listens', async () => {
  const { s, clock, tell, send, event } = await hooked()
  const anew: Subscriptions = { ...s, secrets: createSecrets('another secret of thirty-two bytes') }
  await tell('old')
  let tries = 0
  for (; (await event('old'))?.state === 'waiting' && tries < 20; tries++) {
    expect(await send(anew)).toBe(1)
    clock.advance(36_000_000)
  }
  expect([tries, (await event('old'))?.state]).toEqual([8, 'failed'])
})

test('who is told to stop begins no further try', async () => {
  const { tell, send, heard } = await hooked()
  for (let n = 0; n < 5; n++) await tell(`e-${n}`)
  expect(await send(undefined, AbortSignal.abort())).toBe(0)
  expect(heard).toEqual([])
  expect(await send()).toBe(5)
})
