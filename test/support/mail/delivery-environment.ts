/** The environment of delivery workers: an account with a domain and keys, a queue, and workers to start and stop. */
import { onTestFinished } from 'vitest'
import { users } from '../../../services/accounts/store/users.ts'
import { type DeliverySetup, startConfiguredDelivery } from '../../../services/mail/delivery/setup.ts'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { domains } from '../../../services/mail/domains/store/domain-model.ts'
import { cellsOf } from '../../../services/mail/store/cells.ts'
import { growCells, nameCells } from '../../../services/mail/store/change-cells.ts'
import type { DeliveryDoc, EventDoc, MessageDoc } from '../../../services/mail/store/documents.ts'
import { idInCell } from '../../../services/mail/store/rules/cell.ts'
import { fixSlotCount } from '../../../services/mail/store/slots.ts'
import { wakeOf } from '../../../services/mail/store/wake.ts'
import type { NewMessage } from '../../../services/mail/submission/store/message-documents.ts'
import { createEnqueue, type Enqueue } from '../../../services/mail/submission/store/store-accepted.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics, type Metrics } from '../../../services/platform/observability/metrics.ts'
import { type Config, readConfig } from '../../../services/platform/process/config.ts'
import type { Running } from '../../../services/platform/running.ts'
import { createSecrets, type Secrets } from '../../../services/platform/security/secrets.ts'
import { OF_TEST } from '../database/profile.ts'
import { databaseForThisTest, sharedMongoUri } from '../database/test-database.ts'
import type { TestClock } from '../time/test-clock.ts'
import { type Receiver, type ReceiverOptions, startReceiver } from './receiving-server.ts'

/** Short leases, so that tests of takeovers do not wait for 20 s; a process that stalls for a moment keeps them. */
const TIMES = { ttl: 5_000, renew: 300, margin: 1_000, run: 1_000 }
/** Long: tests with receivers that do not reply set their own. */
const DEADLINES = { connect: 10_000, greeting: 10_000, command: 10_000, data: 10_000, block: 10_000, dot: 10_000 }

/** Deadlines that no receiver of a test exceeds; that of the dot is the subject of the tests which use them. */
export const PATIENT = { connect: 30_000, greeting: 30_000, command: 30_000, data: 30_000, block: 30_000 }

/** Database, receiver and account of a delivery test, with functions on them. */
export interface DeliveryEnvironment {
  mongo: Mongo
  receiver: Receiver
  clock: TestClock
  metrics: Metrics
  secrets: Secrets
  domain: DomainDoc
  userId: string
  config: Config
  /** Puts a message into the queue and returns its id. */
  submit(given?: Partial<NewMessage> & { to?: readonly string[] }): Promise<string>
  /** Starts a worker; it is stopped with the test. */
  work(setup?: DeliverySetup): Promise<Running>
  message(id: string): Promise<MessageDoc>
  deliveries(id?: string): Promise<DeliveryDoc[]>
  events(id: string): Promise<EventDoc[]>
}

/** An address whose mail is delivered to this machine, as an address literal that needs no DNS. */
export const at = (local: string) => `${local}@[127.0.0.1]`

/** Prepares a database, a receiver and an account for one test. */
export async function startDeliveryEnvironment(
  options: {
    receiver?: ReceiverOptions
    env?: Record<string, string>
    /** More than one: mail is spread over so many cells, and commands name them. TEST_SHARDS is the default. */
    cells?: number
    /** Another database server than that of the run. */
    uri?: string
  } = {},
): Promise<DeliveryEnvironment> {
  const mongo = await databaseForThisTest(options.uri)
  const receiver = await startReceiver(options.receiver)
  onTestFinished(() => receiver.stop())
  const clock = movingClock()
  const metrics = createMetrics('test')
  const secrets = createSecrets('a secret of at least thirty-two bytes')
  const config = readConfig({
    MAIL_HOSTNAME: 'mail.test',
    SESSION_SECRET: 'a secret of at least thirty-two bytes',
    MONGODB_URI: options.uri ?? sharedMongoUri(),
    DELIVERY_MODE: 'direct',
    DELIVERY_PORT: String(receiver.port),
    DELIVERY_ALLOW_PRIVATE: 'true',
    SLOTS: '8',
    METRICS_PORT: '0',
    ...options.env,
  })
  await ensureIndexes(mongo.db, deliveryCollections)
  const { userId, domain } = await addAccount(mongo, secrets, clock.now())
  const slots = await fixSlotCount(mongo, config.SLOTS)
  const cells = options.cells ?? Number(process.env.TEST_SHARDS ?? 1)
  if (cells > 1) await divide(mongo, cells)
  const enqueue = createEnqueue({
    mongo,
    log: silentLog,
    metrics,
    wake: (ids, flows) => wakeOf(mongo).ring(ids, flows),
    slots,
    relay: config.DELIVERY_MODE === 'relay',
    bodyDays: config.RETENTION_BODY_DAYS,
    logDays: config.RETENTION_LOG_DAYS,
  })
  let submitted = 0
  return {
    ...{ mongo, receiver, clock, metrics, secrets, domain, userId, config },
    submit: given => submit(enqueue, { userId, domain, now: clock.now(), cell: submitted++ % cells }, given),
    async work(setup) {
      const foundation = { config, log: silentLog, metrics, mongo, secrets, clock }
      const worker = await startConfiguredDelivery(foundation, {
        times: TIMES,
        deadlines: DEADLINES,
        graceMs: 10_000,
        ...setup,
      })
      let stopped: Promise<void> | undefined
      const stop = () => {
        stopped ??= worker.stop()
        return stopped
      }
      onTestFinished(stop)
      return { stop }
    },
    message: async id =>
      (await mongo.db.collection<MessageDoc>('messages').findOne({ _id: id }, OF_TEST)) as MessageDoc,
    deliveries: async id => {
      const all = await mongo.db.collection<DeliveryDoc>('deliveries').find({}, OF_TEST).sort({ _id: 1 }).toArray()
      return id === undefined ? all : all.filter(({ m }) => m === id)
    },
    events: id => mongo.db.collection<EventDoc>('events').find({ m: id }, OF_TEST).sort({ _id: 1 }).toArray(),
  }
}

/** Advances with the real time and by `advance`: the queue compares times that it has just written. */
function movingClock(): TestClock {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead),
    advance(ms) {
      ahead += ms
    },
  }
}

/** Cells as a sharded cluster has them, on the replica set of the tests. */
async function divide(mongo: Mongo, count: number): Promise<void> {
  await growCells(mongo, count)
  await nameCells(mongo, () => undefined, 0)
  await cellsOf(mongo.db).read()
}

async function addAccount(mongo: Mongo, secrets: Secrets, now: Date): Promise<{ userId: string; domain: DomainDoc }> {
  const userId = newId('usr')
  await collectionOf(mongo.db, users).insertOne({
    _id: userId,
    username: userId,
    status: 'active',
    role: 'user',
  } as never)
  const domainId = newId('dom')
  const key = await createDkimKey(secrets, domainId, 's1', 'rsa-sha256', now)
  const domain: DomainDoc = {
    _id: domainId,
    user_id: userId,
    name: 'example.com',
    status: 'verified',
    verification_token: 't',
    dkim: [{ ...key, state: 'active' }],
    created_at: now,
    updated_at: now,
  }
  await collectionOf(mongo.db, domains).insertOne(domain)
  return { userId, domain }
}

async function submit(
  enqueue: Enqueue,
  { userId, domain, now, cell }: { userId: string; domain: DomainDoc; now: Date; cell: number },
  { to = [at('b')], ...given }: Partial<NewMessage> & { to?: readonly string[] } = {},
): Promise<string> {
  const id = idInCell(newId('em'), cell)
  const outcome = await enqueue({
    id,
    user_id: userId,
    domain_id: domain._id,
    via: { channel: 'smtp', id: 'cred_1' },
    mail_from: 'a@example.com',
    from: 'a@example.com',
    subject: 'hello',
    message_id: `<${id}@example.com>`,
    lane: 'transactional',
    ambiguous: 'retry',
    created_at: now,
    raw: Buffer.from(`From: a@example.com\r\nSubject: hello\r\nMessage-ID: <${id}@example.com>\r\n\r\nhello\r\n`),
    recipients: to.map(email => ({ email, type: 'envelope' as const })),
    ...given,
  })
  if (outcome.kind !== 'stored') throw new Error(`not stored: ${outcome.kind}`)
  return id
}
