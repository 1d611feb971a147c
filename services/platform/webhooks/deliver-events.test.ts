import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/support/http/webhook-receiver.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import * as field from '../database/fields.ts'
import { type DocumentOf, defineModel, modelOf } from '../database/models.ts'
import { collectionOf, defineCollection, ensureIndexes } from '../database/mongo.ts'
import { createGuardedPost } from '../network/guarded-fetch.ts'
import { silentLog } from '../observability/log.ts'
import { makeCertificate } from '../security/self-signed-certificate.ts'
import { type Sending, sendEvents, startSending } from './deliver-events.ts'
import { EVENT_INDEXES, insertEvents, type WebhookEvent, type WebhookStore, webhookFields } from './event-queue.ts'
import { replayEvent, replayRange, sendTest } from './replay-events.ts'

const HOOKS = defineModel('hooks', { ...webhookFields, user_id: field.text, events: field.required([String]) })
type Endpoint = DocumentOf<typeof HOOKS>
interface Event extends WebhookEvent {
  user_id: string
}
const EVENTS = defineCollection<Event>('hook_events', EVENT_INDEXES)
const never = new AbortController().signal
/** What a lost SESSION_SECRET leaves behind. */
const UNREADABLE = 'unreadable'
const HOUR = 3_600_000
const secretOf = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`

/** A queue with webhooks; secrets are stored as they are. */
async function queue() {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [EVENTS])
  const clock = testClock(new Date())
  const store: WebhookStore<Endpoint, Event> = {
    endpoints: modelOf(mongo.db, HOOKS),
    events: collectionOf(mongo.db, EVENTS),
    owner: 'user_id',
    personal: [],
  }
  const disabled: string[] = []
  const sending: Sending<Endpoint, Event> = {
    ...{ store, clock, log: silentLog, random: () => 0.5 },
    post: createGuardedPost({ allowPrivate: true }),
    open: (_, sealed) => {
      if (sealed === UNREADABLE) throw new Error('sealed with another key')
      return sealed
    },
    dataOf: ({ data }) => data,
    onDisabled: ({ _id }) => void disabled.push(_id),
  }
  const hook = async (_id: string, url: string, more: Partial<Endpoint> = {}) => {
    const now = clock.now()
    const chosen = { user_id: 'ann', url, events: [], enabled: true, sealed: secretOf('a') }
    await store.endpoints.insertOne({ _id, ...chosen, created_at: now, updated_at: now, ...more })
    return read(_id)
  }
  const read = async (_id: string) => (await store.endpoints.findOne({ _id }).lean<Endpoint>()) as Endpoint
  const publish = async (webhook_id: string, ...ids: string[]) => {
    const at = clock.now()
    const common = { user_id: 'ann', webhook_id, type: 'sent', state: 'waiting' as const, attempts: 0, due: at, at }
    await insertEvents(
      store.events,
      ids.map(_id => ({ _id, data: { id: _id }, ...common })),
    )
  }
  const event = async (_id: string) => (await store.events.findOne({ _id })) as Event
  return { store, clock, sending, hook, read, publish, event, disabled, send: () => sendEvents(sending, never) }
}

/** A queue with one webhook to a receiver. */
async function hooked(reply?: WebhookReceiver['reply']) {
  const [known, receiver] = await Promise.all([queue(), startWebhookReceiver(reply)])
  receiver.secrets.push(secretOf('a'))
  await known.hook('w', receiver.url)
  return { ...known, receiver }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('the log of an attempt', () => {
  test('has the request and the answer', async () => {
    const { send, publish, event, receiver, clock } = await hooked(response =>
      response.writeHead(200, { 'x-trace': '7', 'content-type': 'text/plain' }).end('thanks'),
    )
    await publish('w', 'a')
    expect(await send()).toBe(1)
    const { state, result, log } = await event('a')
    expect([state, result, log?.length]).toEqual(['done', '200', 1])
    const [record] = log ?? []
    expect(record).toMatchObject({ at: clock.now(), url: receiver.url, result: '200' })
    expect(record?.answer).toMatchObject({ status: 200, body: 'thanks' })
    expect(Object.fromEntries(record?.answer?.headers ?? [])).toMatchObject({ 'x-trace': '7' })
    expect(Object.fromEntries(record?.headers ?? [])).toMatchObject({
      'webhook-id': 'a',
      'webhook-signature': receiver.received[0]?.headers['webhook-signature'],
    })
    expect(record?.ms).toBeGreaterThanOrEqual(0)
  })

  test('keeps the first 4 KiB of a huge answer and 30 short headers, and an answer that never ends counts', async () => {
    const { send, publish, event } = await hooked((response, { id }) => {
      for (let n = 0; n < 40; n++) response.setHeader(`x-${n}`, 'v'.repeat(300))
      response.writeHead(200)
      if (id === 'huge') response.end('x'.repeat(1024 * 1024))
      else response.write('begun')
    })
    await publish('w', 'huge', 'endless')
    await send()
    const [huge, endless] = [await event('huge'), await event('endless')]
    expect([huge.state, endless.state]).toEqual(['done', 'done'])
    expect(huge.log?.[0]?.answer).toMatchObject({ cut: true, body: 'x'.repeat(4096) })
    expect(endless.log?.[0]?.answer).toMatchObject({ cut: true, body: 'begun' })
    expect(huge.log?.[0]?.answer?.headers.length).toBe(30)
    expect(huge.log?.[0]?.answer?.headers.every(([, value]) => value.length <= 200)).toBe(true)
  })

  test('an answer without an end is cut off by the time of the attempt', async () => {
    const { sending, publish, event } = await hooked(() => undefined)
    const impatient = {
      ...sending,
      post: (given: Parameters<typeof sending.post>[0]) => sending.post({ ...given, timeoutMs: 200 }),
    }
    await publish('w', 'a')
    await sendEvents(impatient, never)
    expect(await event('a')).toMatchObject({
      state: 'waiting',
      result: 'no response in time',
      reason: { code: 'webhook.timeout' },
    })
  })
})

describe('an attempt in vain', () => {
  test.each<[string, WebhookReceiver['reply'], object]>([
    ['500', response => response.writeHead(500).end('broken'), { result: '500' }],
    [
      'a redirect',
      response => response.writeHead(302, { location: '/other' }).end(),
      { result: '302', reason: { code: 'webhook.redirect', params: { status: 302 } } },
    ],
    [
      'a cut connection',
      response => response.socket?.destroy(),
      { result: expect.stringContaining('no connection'), reason: { code: 'webhook.connection' } },
    ],
  ])('%s: tried again after five seconds', async (_, reply, expected) => {
    const { send, publish, event, clock, receiver, read } = await hooked(reply)
    await publish('w', 'a')
    await send()
    expect(await event('a')).toMatchObject({ state: 'waiting', attempts: 1, ...expected })
    expect((await event('a')).due.getTime() - clock.now().getTime()).toBe(5_000)
    expect((await read('w')).failing).toMatchObject({ since: clock.now(), turns: 1 })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook'])
    receiver.reply = response => void response.writeHead(204).end()
    clock.advance(5_000)
    await send()
    expect([(await event('a')).state, (await read('w')).failing]).toEqual(['done', undefined])
  })

  test('a certificate that nobody trusts', async () => {
    const { cert, key } = await makeCertificate(['hooks.example.com'], 1, new Date())
    const port = await listen(createSecureServer({ cert, key }, (_, response) => response.end()))
    const { hook, publish, send, event } = await queue()
    await hook('w', `https://127.0.0.1:${port}`)
    await publish('w', 'a')
    await send()
    expect(await event('a')).toMatchObject({ state: 'waiting', reason: { code: 'webhook.tls' } })
    expect((await event('a')).log?.[0]).not.toHaveProperty('answer')
  })

  test('Retry-After makes the wait of the event and of the webhook longer, within bounds', async () => {
    const { send, publish, event, clock, read } = await hooked(response =>
      response.writeHead(429, { 'retry-after': '7200' }).end(),
    )
    await publish('w', 'a')
    await send()
    expect((await event('a')).due.getTime() - clock.now().getTime()).toBe(2 * HOUR)
    expect((await read('w')).failing?.paused_until.getTime()).toBe(clock.now().getTime() + HOUR)
  })

  test('of many waiting events: one probe for each pause', async () => {
    const { send, publish, clock, receiver } = await hooked(response => response.writeHead(503).end())
    await publish('w', ...Array.from({ length: 50 }, (_, n) => `e${n}`))
    await send()
    const first = receiver.received.length
    expect(first).toBeLessThanOrEqual(4)
    await send()
    clock.advance(2_000)
    await send()
    expect(receiver.received.length).toBe(first + 1)
  })
})

describe('the platform disables a webhook', () => {
  test('at once when its receiver is gone (410)', async () => {
    const { send, publish, event, read, disabled, clock } = await hooked(response => response.writeHead(410).end())
    await publish('w', 'a')
    await send()
    await publish('w', 'b')
    await send()
    expect(await read('w')).toMatchObject({
      enabled: false,
      disabled: { at: clock.now(), reason: { code: 'webhook.gone' }, notify: true },
    })
    expect((await event('a')).result).toBe('410')
    expect(await event('b')).toMatchObject({ state: 'failed', reason: { code: 'webhook.off' } })
    expect(disabled).toEqual(['w'])
  })

  test('after three days of failures, with an end of all that waits', async () => {
    const { send, publish, event, read, disabled, clock } = await hooked(response => response.writeHead(500).end())
    await publish('w', 'first')
    for (let hours = 0; hours < 71; hours++) {
      await send()
      clock.advance(HOUR)
    }
    expect((await read('w')).enabled).toBe(true)
    await publish('w', ...Array.from({ length: 20 }, (_, n) => `e${n}`))
    clock.advance(2 * HOUR)
    await send()
    expect(await read('w')).toMatchObject({
      enabled: false,
      disabled: { reason: { code: 'webhook.failing', params: { days: 3 } } },
    })
    expect(await event('e19')).toMatchObject({ state: 'failed', result: expect.any(String) })
    expect(disabled).toEqual(['w'])
  })

  test('not when one attempt in between succeeded', async () => {
    const { send, publish, read, clock, receiver } = await hooked(response => response.writeHead(500).end())
    receiver.secrets = [] // the package refuses times that are not those of this machine
    for (let hours = 0; hours < 100; hours++) {
      receiver.reply = response => void response.writeHead(hours === 50 ? 200 : 500).end()
      await publish('w', `e${hours}`)
      await send()
      clock.advance(HOUR)
    }
    expect((await read('w')).enabled).toBe(true)
  })

  test('not when its owner changed it in the meantime', async () => {
    const { send, publish, read, store, clock, receiver } = await hooked()
    receiver.reply = async response => {
      const updated_at = new Date(clock.now().getTime() + 1)
      await store.endpoints.updateOne({ _id: 'w' }, { $set: { updated_at } })
      response.writeHead(410).end()
    }
    await publish('w', 'a')
    await send()
    expect((await read('w')).enabled).toBe(true)
  })
})

test('during a rotation both secrets verify, and afterwards the new one', async () => {
  const { send, publish, store, clock, receiver } = await hooked()
  const until = new Date(clock.now().getTime() + 24 * HOUR)
  await store.endpoints.updateOne(
    { _id: 'w' },
    { $set: { sealed: secretOf('b'), previous: { sealed: secretOf('a'), until } } },
  )
  await publish('w', 'during')
  await send()
  const header = String(receiver.received[0]?.headers['webhook-signature'])
  expect(header.split(' ')).toHaveLength(2)
  clock.advance(24 * HOUR)
  receiver.secrets = []
  await publish('w', 'after')
  await send()
  const after = receiver.received[1]
  expect(after?.id).toBe('after')
  expect(String(after?.headers['webhook-signature']).split(' ')).toHaveLength(1)
})

test('an old secret that cannot be opened any more does not stop what the new one signs', async () => {
  const { send, publish, store, clock, receiver } = await hooked()
  const until = new Date(clock.now().getTime() + 24 * HOUR)
  const change = { sealed: secretOf('b'), previous: { sealed: UNREADABLE, until } }
  await store.endpoints.updateOne({ _id: 'w' }, { $set: change })
  await publish('w', 'after the key was lost')
  await send()
  expect(String(receiver.received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(1)
})

describe('again', () => {
  test('a test event is sent once, and its failure is not repeated', async () => {
    const { sending, read, receiver, send } = await hooked(response => response.writeHead(500).end('no'))
    const event = await sendTest(sending, await read('w'), { user_id: 'ann' })
    expect(event).toMatchObject({ type: 'webhook.test', state: 'failed', result: '500', data: { webhook_id: 'w' } })
    expect(event.log?.[0]?.answer?.body).toBe('no')
    expect([await send(), receiver.received.length]).toEqual([0, 1])
  })

  test('an event keeps its id and gets all its attempts anew', async () => {
    const { sending, read, publish, send, receiver, event, store, clock } = await hooked()
    await publish('w', 'a')
    await send()
    const replayed = await replayEvent(sending, await read('w'), 'a')
    expect(replayed).toMatchObject({ state: 'done', attempts: 2, earlier: 1 })
    expect(receiver.received.map(({ id }) => id)).toEqual(['a', 'a'])
    receiver.reply = response => void response.writeHead(500).end()
    await replayEvent(sending, await read('w'), 'a')
    expect(await event('a')).toMatchObject({ state: 'waiting', attempts: 3, earlier: 2 })
    expect((await event('a')).due.getTime() - clock.now().getTime()).toBe(5_000)
    expect(await replayEvent(sending, await read('w'), 'a')).toBeUndefined()
    expect(await store.events.countDocuments()).toBe(1)
  })

  test.each([
    [true, ['b']],
    [false, ['a', 'b']],
  ])('the events of a time, failed only %s: %j', async (failedOnly, expected) => {
    const { store, publish, clock, receiver, send } = await hooked()
    await publish('w', 'early')
    clock.advance(1_000)
    const since = clock.now()
    await publish('w', 'a', 'b')
    await send()
    await store.events.updateOne({ _id: 'b' }, { $set: { state: 'failed' } })
    receiver.received = []
    const until = clock.now()
    clock.advance(1_000)
    await publish('w', 'waiting')
    const found = await replayRange(store, 'w', { since, until, failedOnly }, clock.now())
    expect(found).toEqual({ replayed: expected.length })
    expect((await replayRange(store, 'w', { since, until, failedOnly }, clock.now())).replayed).toBe(0)
    await send()
    expect(receiver.received.map(({ id }) => id).toSorted()).toEqual([...expected, 'waiting'])
  })

  test('the events of a time in several requests: each begins where the one before ended', async () => {
    const { store, publish, clock, receiver, send } = await hooked()
    const since = clock.now()
    for (const key of ['a', 'b', 'c']) {
      await publish('w', key)
      clock.advance(1_000)
    }
    await send()
    receiver.received = []
    const range = { until: clock.now(), failedOnly: false }
    const first = await replayRange(store, 'w', { ...range, since }, clock.now(), 2)
    expect(first).toEqual({ replayed: 2, next: new Date(since.getTime() + 2_000) })
    await send()
    const rest = await replayRange(store, 'w', { ...range, since: first.next ?? since }, clock.now(), 2)
    expect(rest).toEqual({ replayed: 1 })
    await send()
    expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('what is older than 26 days stays as it is', async () => {
    const { store, publish, clock, send } = await hooked()
    await publish('w', 'a')
    await send()
    const since = clock.now()
    clock.advance(27 * 24 * HOUR)
    const range = { since, until: clock.now(), failedOnly: false }
    expect(await replayRange(store, 'w', range, clock.now())).toEqual({ replayed: 0 })
  })
})

describe('one receiver that hangs', () => {
  test('delays no other, whichever comes first', async () => {
    const { sending, hook, publish, store } = await queue()
    const release = Promise.withResolvers<void>()
    const heard: string[] = []
    const allHeard = Promise.withResolvers<void>()
    const post: typeof sending.post = async ({ url }) => {
      if (url.endsWith('/dead')) await release.promise
      else if (heard.push(url) === 99 * 3) allHeard.resolve()
      return { status: 204, text: '' }
    }
    await hook('dead', 'http://127.0.0.1/dead')
    await publish('dead', ...Array.from({ length: 10_000 }, (_, n) => `dead${n}`))
    for (let n = 0; n < 99; n++) {
      await hook(`w${n}`, `http://127.0.0.1/${n}`)
      await publish(`w${n}`, ...[0, 1, 2].map(m => `e${n}.${m}`))
    }
    const running = startSending({ ...sending, post })
    await allHeard.promise
    release.resolve()
    await running.stop()
    expect(await store.events.countDocuments({ webhook_id: /^w/, state: 'done' })).toBe(297)
  })
})

test('a process that is stopped finishes its requests and begins no others', async () => {
  const { sending, publish, store } = await hooked()
  const begun = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const post: typeof sending.post = async () => {
    begun.resolve()
    await release.promise
    return { status: 204, text: '' }
  }
  await publish('w', ...Array.from({ length: 20 }, (_, n) => `e${n}`))
  const running = startSending({ ...sending, post })
  await begun.promise
  const stopped = running.stop()
  release.resolve()
  await stopped
  const done = await store.events.countDocuments({ state: 'done' })
  expect(done).toBeGreaterThanOrEqual(1)
  expect(done).toBeLessThanOrEqual(4)
  expect(await store.events.countDocuments({ state: 'waiting', attempts: { $gt: 0 } })).toBe(0)
})

test('several processes send each event once', async () => {
  const { sending, publish, receiver, store } = await hooked()
  await publish('w', ...Array.from({ length: 200 }, (_, n) => `e${n}`))
  const processes = Array.from({ length: 4 }, () => startSending(sending))
  await receiver.heard(200)
  await Promise.all(processes.map(one => one.stop()))
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(200)
  expect(receiver.received).toHaveLength(200)
  expect(await store.events.countDocuments({ state: 'done' })).toBe(200)
})

test('a server for plain text is no receiver with TLS', async () => {
  const port = await listen(createServer((_, response) => response.end()))
  const { hook, publish, send, event } = await queue()
  await hook('w', `https://127.0.0.1:${port}`)
  await publish('w', 'a')
  await send()
  expect(await event('a')).toMatchObject({ state: 'waiting', reason: { code: 'webhook.tls' } })
})
