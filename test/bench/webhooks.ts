/**
 * Webhooks: the delay from queueing an event to its arrival at 99 receivers that answer, without and with a hundredth one
 * that never answers and has 10,000 events waiting. `node test/bench/webhooks.ts [seconds]`; starts a mongod of its own.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as field from '../../services/platform/database/fields.ts'
import { type DocumentOf, defineModel, modelOf } from '../../services/platform/database/models.ts'
import { collectionOf, connectMongo, defineCollection, ensureIndexes } from '../../services/platform/database/mongo.ts'
import { createGuardedPost } from '../../services/platform/network/guarded-fetch.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { startSending } from '../../services/platform/webhooks/deliver-events.ts'
import {
  EVENT_INDEXES,
  insertEvents,
  type WebhookEvent,
  type WebhookStore,
  webhookFields,
} from '../../services/platform/webhooks/event-queue.ts'
import { startTestMongod } from '../support/database/test-mongod.ts'
import { note, printTable } from './direct/table.ts'

const [seconds = 20] = process.argv.slice(2).map(Number)
const RECEIVERS = 99
const EVENTS_PER_SECOND = 50
const BACKLOG = 10_000

const HOOKS = defineModel('bench_hooks', { ...webhookFields, user_id: field.text, events: field.required([String]) })
interface Event extends WebhookEvent {
  user_id: string
}
const EVENTS = defineCollection<Event>('bench_hook_events', EVENT_INDEXES)

const mongod = await startTestMongod()
const mongo = await connectMongo(mongod.uri, silentLog)
const delays: number[] = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (request.url === '/dead') return
  delays.push(Date.now() - Date.parse(JSON.parse(body).timestamp))
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** One run; resolves to the sorted delays in milliseconds. */
async function run(hasDead: boolean): Promise<number[]> {
  delays.length = 0
  await mongo.db.dropDatabase()
  await ensureIndexes(mongo.db, [EVENTS])
  const store: WebhookStore<DocumentOf<typeof HOOKS>, Event> = {
    endpoints: modelOf(mongo.db, HOOKS),
    events: collectionOf(mongo.db, EVENTS),
    owner: 'user_id',
    personal: [],
  }
  const queue = (webhook_id: string, count: number) => {
    const at = new Date()
    const common = { user_id: 'u', webhook_id, type: 't', state: 'waiting' as const, attempts: 0, due: at, at }
    const events = Array.from({ length: count }, () => ({ ...common, _id: `e${++number}`, data: { number } }))
    return insertEvents(store.events, events)
  }
  const hook = (_id: string, url: string) => {
    const at = new Date()
    const chosen = { user_id: 'u', url, events: [], enabled: true, sealed: `whsec_${btoa('secret')}` }
    return store.endpoints.insertOne({ _id, ...chosen, created_at: at, updated_at: at })
  }
  for (let n = 0; n < RECEIVERS; n++) await hook(`w${n}`, `${origin}/${n}`)
  if (hasDead) {
    await hook('dead', `${origin}/dead`)
    await queue('dead', BACKLOG)
  }
  const sender = startSending({
    ...{ store, clock: { now: () => new Date() }, log: silentLog, random: Math.random },
    post: createGuardedPost({ allowPrivate: true }),
    open: (_, sealed) => sealed,
    dataOf: ({ data }) => data,
  })
  const total = seconds * EVENTS_PER_SECOND
  for (let n = 0; n < total; n++) {
    await queue(`w${n % RECEIVERS}`, 1)
    await sleep(1_000 / EVENTS_PER_SECOND)
  }
  while (delays.length < total) await sleep(50)
  server.closeAllConnections()
  await sender.stop()
  return delays.toSorted((a, b) => a - b)
}
let number = 0

const rows = []
for (const [name, hasDead] of [
  ['99 receivers', false],
  ['and one that never answers', true],
  ['99 receivers, again', false],
  ['and one that never answers, again', true],
] as const) {
  const sorted = await run(hasDead)
  const part = (share: number) => `${sorted[Math.floor(sorted.length * share)] ?? 0} ms`
  rows.push({ run: name, events: String(sorted.length), p50: part(0.5), p99: part(0.99), longest: part(0.9999) })
}
printTable('Delay from the event to its receiver', rows)
note(`${EVENTS_PER_SECOND} events a second over 99 receivers; the dead one has ${BACKLOG} events waiting`)
server.close()
await mongo.stop()
await mongod.stop()
