/**
 * Kills under load with an oracle: everything that was accepted is delivered, bounced or still queued; a recipient that
 * got a message twice had an attempt of unknown outcome, and the log contains it.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { cellsOf } from '../../../services/mail/store/cells.ts'
import { growCells, nameCells, readCellSettings } from '../../../services/mail/store/change-cells.ts'
import type { EventDoc } from '../../../services/mail/store/documents.ts'
import { cellOf } from '../../../services/mail/store/rules/cell.ts'
import { fixSlotCount } from '../../../services/mail/store/slots.ts'
import { wakeOf } from '../../../services/mail/store/wake.ts'
import { createEnqueue } from '../../../services/mail/submission/store/store-accepted.ts'
import { connectMongo, ensureIndexes, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { giveDomain, giveUser } from '../accounts/accounts-and-domains.ts'
import { type ReplicaSet, startReplicaSet } from '../database/replica-set.ts'
import { startShardRouter } from '../database/shards/shard-router.ts'
import { type ServiceProcess, startService } from '../processes/service-process.ts'
import { until } from '../time/until.ts'
import { type Receiver, startReceiver } from './receiving-server.ts'

/** The disruption of one round. `cell`: another cell is added. Those of `mongod` and `step-down` take the shards in turns. */
export type Disruption = 'worker' | 'mongod' | 'step-down' | 'freeze' | 'cell'

/** The parameters of a run. */
export interface KillPlan {
  members: 1 | 3
  workers: number
  disruptions: readonly Disruption[]
  /** Pause between disruptions (milliseconds). */
  pauseMs: number
  /** Messages per second. */
  rate: number
  /** Commands name cells, as on a sharded cluster. */
  namesCells?: boolean
  /** So many replica sets of `members` behind a router, each with a cell; without it one set. */
  shards?: number
  report?(line: string): void
}

/** The result of a run. */
export interface KillReport {
  disruptions: number
  /** Messages that were answered as durable. */
  accepted: number
  /** Messages that were rejected because of the database; they may still arrive. */
  refused: number
  delivered: number
  bounced: number
  queued: number
  lost: number
  /** Message and recipient pairs that arrived more than once. */
  duplicates: number
  /** Attempts marked as ambiguous. */
  ambiguous: number
  /** Duplicates without an ambiguous attempt. */
  unexplained: number
  /** How many accepted messages each cell has. */
  cells: Record<number, number>
}

const SECRET = 'a secret of at least thirty-two bytes'

/** Runs a plan. */
export async function runKills(plan: KillPlan): Promise<KillReport> {
  const database = await startDatabase(plan)
  const receiver = await startReceiver()
  const mongo = await connectMongo(database.uri, silentLog)
  const workers: ServiceProcess[] = []
  const restartWorker = () => startWorker(database.uri, receiver)
  try {
    const submit = await prepare(mongo)
    if (plan.namesCells) await nameCells(mongo, () => undefined, 0)
    for (let more = 1; more < (plan.shards ?? 1); more++) await addCell(mongo)
    for (let i = 0; i < plan.workers; i++) workers.push(await restartWorker())
    const load = startLoad(submit, plan.rate)
    for (const [round, disruption] of plan.disruptions.entries()) {
      await sleep(plan.pauseMs)
      plan.report?.(disruption)
      const set = database.sets[round % database.sets.length] as ReplicaSet
      await (disruption === 'cell' ? addCell(mongo) : disrupt(disruption, set, workers, restartWorker))
    }
    await sleep(plan.pauseMs)
    const { accepted, refused } = await load.stop()
    await drain(mongo)
    return await evaluate(mongo, receiver, accepted, refused, plan.disruptions.length)
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map(({ exited }) => exited))
    await receiver.stop()
    await mongo.stop()
    await database.stop()
  }
}

/** One replica set, or several behind a router. `uri` names the database. */
async function startDatabase({ members, shards = 1 }: KillPlan) {
  const sets = await Promise.all(Array.from({ length: shards }, () => startReplicaSet(members)))
  const router = shards > 1 ? await startShardRouter(sets.map(({ uri }) => uri)) : undefined
  const { uri = '' } = router ?? sets[0] ?? {}
  return {
    uri: uri.replace('/?', '/kills?'),
    sets,
    async stop() {
      await router?.stop()
      await Promise.all(sets.map(set => set.stop()))
    },
  }
}

async function addCell(mongo: Mongo): Promise<void> {
  const { cells } = await readCellSettings(mongo)
  await growCells(mongo, cells + 1)
  await cellsOf(mongo.db).read()
}

async function prepare(mongo: Mongo): Promise<() => Promise<string | undefined>> {
  await ensureIndexes(mongo.db, deliveryCollections)
  const user = await giveUser(mongo.db)
  const secrets = createSecrets(SECRET)
  const domain = await giveDomain(mongo.db, user._id, 'example.com', { status: 'verified' })
  const key = await createDkimKey(secrets, domain._id, 's1', 'ed25519-sha256', new Date())
  await mongo.db
    .collection('domains')
    .updateOne({ name: 'example.com' }, { $set: { dkim: [{ ...key, state: 'active' }] } })
  const placement = { slots: await fixSlotCount(mongo, 16), relay: true, bodyDays: 7, logDays: 30 }
  const wake = wakeOf(mongo)
  const metrics = createMetrics('kills')
  const enqueue = createEnqueue({
    mongo,
    log: silentLog,
    metrics,
    wake: (slots, flows) => wake.ring(slots, flows),
    ...placement,
  })
  return async () => {
    const id = cellsOf(mongo.db).newMessageId(new Date())
    const outcome = await enqueue({
      id,
      user_id: user._id,
      domain_id: domain._id,
      via: { channel: 'smtp' },
      mail_from: 'a@example.com',
      from: 'a@example.com',
      subject: 'load',
      message_id: `<${id}@example.com>`,
      lane: 'transactional',
      ambiguous: 'retry',
      created_at: new Date(),
      raw: Buffer.from(`From: a@example.com\r\nMessage-ID: <${id}@example.com>\r\n\r\n${'x'.repeat(60)}\r\n`),
      recipients: [{ email: 'b@example.net', type: 'envelope' }],
    })
    return outcome.kind === 'stored' ? id : undefined
  }
}

/** Submits at a steady rate until it is stopped. */
function startLoad(submit: () => Promise<string | undefined>, rate: number) {
  const accepted: string[] = []
  const pending = new Set<Promise<void>>()
  let refused = 0
  const timer = setInterval(() => {
    for (let i = 0; i < rate / 20; i++) {
      const one: Promise<void> = submit().then(id => {
        pending.delete(one)
        if (id === undefined) refused++
        else accepted.push(id)
      })
      pending.add(one)
    }
  }, 50)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(pending)
      return { accepted, refused }
    },
  }
}

async function startWorker(uri: string, receiver: Receiver): Promise<ServiceProcess> {
  const worker = startService('worker', {
    MONGODB_URI: uri,
    SESSION_SECRET: SECRET,
    MAIL_HOSTNAME: 'mail.test',
    DELIVERY_MODE: 'relay',
    RELAY_URL: `smtp://127.0.0.1:${receiver.port}`,
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
  })
  await worker.line('ready')
  return worker
}

async function disrupt(
  disruption: Exclude<Disruption, 'cell'>,
  set: ReplicaSet,
  workers: ServiceProcess[],
  restartWorker: () => Promise<ServiceProcess>,
): Promise<void> {
  if (disruption === 'mongod') return set.killAndRestart(await set.primary())
  if (disruption === 'step-down') return set.stepDown()
  const index = randomInt(workers.length)
  const victim = workers[index]
  if (!victim) return
  if (disruption === 'freeze') {
    // Longer than its lease of 20 s, so that others own its slots when it continues.
    victim.kill('SIGSTOP')
    await sleep(25_000)
    victim.kill('SIGCONT')
    return
  }
  victim.kill('SIGKILL')
  await victim.exited
  workers[index] = await restartWorker()
}

/**
 * Waits until nothing accepted is queued; deliveries that wait for a retry become due immediately. Those of messages that
 * were rejected in the end wait for their sweep.
 */
async function drain(mongo: Mongo): Promise<void> {
  const deliveries = mongo.db.collection('deliveries')
  const messages = mongo.db.collection<{ _id: string }>('messages')
  await until(async () => {
    try {
      const waiting = { due: { $gt: new Date() }, tok: { $exists: false } }
      await deliveries.updateMany(waiting, { $set: { due: new Date() } })
      await sleep(500)
      return (await messages.countDocuments({ _id: { $in: await deliveries.distinct('m') } })) === 0
    } catch {
      return false // the database is recovering
    }
  }, 300_000)
}

async function evaluate(
  mongo: Mongo,
  receiver: Receiver,
  accepted: readonly string[],
  refused: number,
  disruptions: number,
): Promise<KillReport> {
  const arrivals = new Map<string, number>()
  for (const { content } of receiver.received) {
    const id = /^Message-ID: <([^@]+)@/m.exec(content.toString('latin1'))?.[1] ?? ''
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
  }
  const events = await mongo.db.collection<EventDoc>('events').find().toArray()
  const ambiguous = new Set(events.filter(event => event.ambiguous).map(({ m }) => m))
  const bounced = new Set(
    events.filter(({ type }) => ['bounced', 'failed', 'expired'].includes(type)).map(({ m }) => m),
  )
  const queued = new Set(await mongo.db.collection('deliveries').distinct('m'))
  const twice = [...arrivals].filter(([, count]) => count > 1).map(([id]) => id)
  return {
    disruptions,
    accepted: accepted.length,
    refused,
    delivered: accepted.filter(id => arrivals.has(id)).length,
    bounced: accepted.filter(id => !arrivals.has(id) && bounced.has(id)).length,
    queued: accepted.filter(id => !arrivals.has(id) && !bounced.has(id) && queued.has(id)).length,
    lost: accepted.filter(id => !arrivals.has(id) && !bounced.has(id) && !queued.has(id)).length,
    duplicates: twice.length,
    ambiguous: events.filter(event => event.ambiguous).length,
    unexplained: twice.filter(id => !ambiguous.has(id)).length,
    cells: countBy(accepted, cellOf),
  }
}

function countBy<T>(all: readonly T[], keyOf: (one: T) => number): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const one of all) counts[keyOf(one)] = (counts[keyOf(one)] ?? 0) + 1
  return counts
}
