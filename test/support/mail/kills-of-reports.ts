/**
 * Kills of workers and of the inbound service while mail bounces, recipients complain, webhooks are sent and addresses are
 * suppressed; the oracle knows what has to become of each recipient.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { INBOUND_MESSAGES } from '../../../services/mail/inbound/store/inbound-messages.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import type { MessageDoc } from '../../../services/mail/store/documents.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { fixSlotCount } from '../../../services/mail/store/slots.ts'
import { wakeOf } from '../../../services/mail/store/wake.ts'
import { createEnqueue } from '../../../services/mail/submission/store/store-accepted.ts'
import { SUPPRESSIONS } from '../../../services/mail/suppressions/store/suppressions.ts'
import { createMailWebhook } from '../../../services/mail/webhooks/manage-webhooks.ts'
import { acceptedEvents } from '../../../services/mail/webhooks/message-events.ts'
import { mailWebhooksOf } from '../../../services/mail/webhooks/queue-mail-events.ts'
import { MAIL_WEBHOOK_EVENTS } from '../../../services/mail/webhooks/store/webhook-collections.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { collectionOf, connectMongo, ensureIndexes, type Mongo } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { giveDomain, giveUser } from '../accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../database/test-mongod.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../http/webhook-receiver.ts'
import { type ServiceProcess, startService } from '../processes/service-process.ts'
import { until } from '../time/until.ts'
import { BOUNCES, complaint, statusReport } from './inbound-environment.ts'
import { type Receiver, startReceiver } from './receiving-server.ts'
import { converse } from './smtp-conversation.ts'

/** What the receiver does with a message to a recipient whose local part begins like this, and what becomes of it. */
const KINDS = {
  kept: { status: 'delivered', reason: undefined },
  bounces: { status: 'bounced', reason: 'hard_bounce' },
  complains: { status: 'complained', reason: 'complaint' },
  'rcpt-550-5.1.1': { status: 'bounced', reason: 'hard_bounce' },
} as const

/** The parameters of a run. */
export interface ReportKillPlan {
  victims: readonly ('worker' | 'inbound')[]
  /** Pause before each kill, in milliseconds. */
  pauseMs: number
  /** Messages per second, each to one recipient. */
  rate: number
}

/** What was counted. */
export interface ReportKillReport {
  accepted: number
  /** Recipients whose status is not the one that the receiver caused. */
  wrongStatus: number
  /** Recipients that should be suppressed and are not, or the other way round. */
  wrongSuppression: number
  /** Events that did not reach the webhook. */
  lostEvents: number
  /** Events that reached it with a signature that does not verify. */
  forged: number
  /** Different events of one kind about one recipient. */
  doubleEvents: number
  /** Requests that repeated an event under its id: a kill between the request and its settlement. */
  repeatedRequests: number
  /** Messages that the receiver got twice: a kill between the final dot and its settlement. */
  repeatedMessages: number
  reports: number
}

const SECRET = 'a secret of at least thirty-two bytes'

/** Runs a plan; everything that it starts ends with it. */
export async function runReportKills({ victims, pauseMs, rate }: ReportKillPlan): Promise<ReportKillReport> {
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
  const receiver = await startReceiver()
  const webhook = await startWebhookReceiver()
  const port = await freePort()
  const start = async (name: 'worker' | 'inbound') => {
    const service = startService(name, {
      ...{ MONGODB_URI: mongod.uri, SESSION_SECRET: SECRET, MAIL_HOSTNAME: 'mail.test', METRICS_PORT: '0' },
      ...{ DELIVERY_MODE: 'relay', RELAY_URL: `smtp://127.0.0.1:${receiver.port}`, WEBHOOK_ALLOW_PRIVATE: 'true' },
      ...{ BOUNCE_DOMAIN: BOUNCES, INBOUND_LISTEN: `127.0.0.1:${port}:starttls` },
    })
    await service.line('ready')
    return service
  }
  const running = { worker: await start('worker'), inbound: await start('inbound') }
  const reporter = startReports(receiver, port)
  try {
    const submit = await prepare(mongo, webhook)
    const load = startLoad(submit, rate)
    for (const victim of victims) {
      await sleep(pauseMs)
      await kill(running[victim])
      running[victim] = await start(victim)
    }
    await sleep(pauseMs)
    const accepted = await load.stop()
    await settle(mongo, reporter)
    return await count(mongo, { accepted, webhook, receiver, reports: reporter.sent() })
  } finally {
    await reporter.stop()
    await Promise.all([kill(running.worker), kill(running.inbound)])
    await receiver.stop()
    await mongo.stop()
    await mongod.stop()
  }
}

async function kill(service: ServiceProcess): Promise<void> {
  service.kill('SIGKILL')
  await service.exited
}

/** An account with a domain whose return path is BOUNCE_DOMAIN, and a webhook for everything; resolves to a way to submit. */
async function prepare(mongo: Mongo, receiver: WebhookReceiver): Promise<(to: string) => Promise<string | undefined>> {
  await ensureIndexes(mongo.db, deliveryCollections)
  const user = await giveUser(mongo.db)
  const domain = await giveDomain(mongo.db, user._id, 'example.com', { status: 'verified' })
  const secrets = createSecrets(SECRET)
  const key = await createDkimKey(secrets, domain._id, 's1', 'ed25519-sha256', new Date())
  const change = { $set: { dkim: [{ ...key, state: 'active' }], dns: { manage: false, return_path: 'shared' } } }
  await mongo.db.collection('domains').updateOne({ name: 'example.com' }, change)
  const config = { WEBHOOK_ALLOW_PRIVATE: true as const }
  const deps = { mongo, clock: systemClock, secrets, config, ownDomains: async () => [] }
  const settings = { name: '', url: receiver.url, events: [], domain_ids: [], enabled: true }
  const { secret } = await createMailWebhook(deps, user._id, settings)
  receiver.secrets.push(secret)
  const webhooks = mailWebhooksOf(deps)
  const wake = wakeOf(mongo)
  const enqueue = createEnqueue({
    ...{ mongo, log: silentLog, metrics: createMetrics('kills'), slots: await fixSlotCount(mongo, 8) },
    ...{ relay: true, bodyDays: 7, logDays: 30, wake: (slots, flows) => wake.ring(slots, flows) },
    webhookEvents: writes => acceptedEvents(webhooks, writes),
  })
  return async to => {
    const id = newId('em')
    const outcome = await enqueue({
      ...{ id, user_id: user._id, domain_id: domain._id, via: { channel: 'smtp' }, mail_from: 'a@example.com' },
      ...{ from: 'a@example.com', subject: 'load', message_id: `<${id}@example.com>`, lane: 'transactional' },
      ...{ ambiguous: 'retry', created_at: new Date(), recipients: [{ email: to, type: 'envelope' }] },
      raw: Buffer.from(`From: a@example.com\r\nMessage-ID: <${id}@example.com>\r\n\r\nhello\r\n`),
    })
    return outcome.kind === 'stored' ? id : undefined
  }
}

/** Submits at a steady rate, to recipients of each kind in turn; resolves to their addresses by message. */
function startLoad(submit: (to: string) => Promise<string | undefined>, rate: number) {
  const accepted = new Map<string, string>()
  const pending = new Set<Promise<void>>()
  const kinds = Object.keys(KINDS)
  let count = 0
  const timer = setInterval(() => {
    const to = `${kinds[count % kinds.length]}-${++count}@example.net`
    const one: Promise<void> = submit(to).then(id => {
      pending.delete(one)
      if (id !== undefined) accepted.set(id, to)
    })
    pending.add(one)
  }, 1_000 / rate)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(pending)
      return accepted
    },
  }
}

/** Sends a report about each message that asks for one, as a server does: until it is accepted. */
function startReports(receiver: Receiver, port: number) {
  let [seen, sent, isStopped] = [0, 0, false]
  /** True when something was done. */
  const step = async () => {
    const mail = receiver.received[seen]
    if (!mail) return false
    const report = reportOf(mail)
    if (report && !(await bring(port, mail.from, report))) return false
    if (report) sent++
    seen++
    return true
  }
  const run = async () => {
    while (!isStopped) if (!(await step())) await sleep(50)
  }
  const running = run()
  return {
    sent: () => sent,
    isIdle: () => seen === receiver.received.length,
    async stop() {
      isStopped = true
      await running
    },
  }
}

/** Mail with an empty envelope sender gets none. */
function reportOf({ from, rcpts }: Receiver['received'][number]): string | undefined {
  if (from === '') return undefined
  const [kind] = rcpts[0]?.email.split('-') ?? []
  if (kind === 'bounces') return statusReport()
  return kind === 'complains' ? complaint() : undefined
}

/** One session; false when the message was not accepted. */
async function bring(port: number, to: string, report: string): Promise<boolean> {
  try {
    const conversation = await converse(port)
    try {
      await conversation.reply()
      for (const command of ['EHLO mx.example.net', 'MAIL FROM:<>', `RCPT TO:<${to}>`, 'DATA'])
        if ((await conversation.command(command)).code >= 400) return false
      return (await conversation.command(`${report}\r\n.`)).code === 250
    } finally {
      conversation.destroy()
    }
  } catch {
    return false // it was killed
  }
}

/**
 * Waits until everything is over. What a killed process held is taken over after its claim, a minute at most; deliveries
 * that wait for a retry become due at once.
 */
async function settle({ db }: Mongo, reporter: ReturnType<typeof startReports>): Promise<void> {
  const deliveries = collectionOf(db, DELIVERIES)
  let left: Record<string, number> = {}
  const isOver = async () => {
    const now = new Date()
    await deliveries.updateMany({ due: { $gt: now }, tok: { $exists: false } }, { $set: { due: now } })
    await sleep(1_000)
    // A report can make another delivery, to its sender, after it was looked for.
    return (await isEmpty()) && (await isEmpty())
  }
  /** Looks at the places in the order in which mail passes them, so that no mail is missed between two counts. */
  const isEmpty = async () => {
    left = {
      deliveries: await deliveries.countDocuments({}),
      unreported: reporter.isIdle() ? 0 : 1,
      reports: await collectionOf(db, INBOUND_MESSAGES).countDocuments({ due: { $exists: true } }),
      events: await collectionOf(db, MAIL_WEBHOOK_EVENTS).countDocuments({ state: 'waiting' }),
    }
    return Object.values(left).every(count => count === 0)
  }
  await until(isOver, 400_000).catch((error: unknown) => {
    throw new Error(`not over: ${JSON.stringify(left)}`, { cause: error })
  })
}

async function count(
  { db }: Mongo,
  found: { accepted: Map<string, string>; webhook: WebhookReceiver; receiver: Receiver; reports: number },
): Promise<ReportKillReport> {
  const { accepted, webhook, receiver, reports } = found
  const messages = await collectionOf(db, MESSAGES).find<MessageDoc>({}).toArray()
  const statuses = new Map(messages.map(({ _id, rcpts }) => [_id, rcpts[0]?.status]))
  const suppressed = new Map(
    (await collectionOf(db, SUPPRESSIONS).find().toArray()).map(({ email, reason }) => [email, reason]),
  )
  const expected = [...accepted].map(([id, to]) => ({ id, to, ...KINDS[kindOf(to)] }))
  const queued = await collectionOf(db, MAIL_WEBHOOK_EVENTS).find().toArray()
  const ids = webhook.received.map(({ id }) => id)
  const meanings = new Map(
    webhook.received.map(({ id, type, data }) => [id, `${type} ${data.email_id ?? ''} ${data.to ?? data.email}`]),
  )
  const arrived = receiver.received.filter(({ from }) => from !== '').map(({ from }) => from)
  return {
    accepted: accepted.size,
    wrongStatus: expected.filter(({ id, status }) => statuses.get(id) !== status).length,
    wrongSuppression: expected.filter(({ to, reason }) => suppressed.get(to) !== reason).length,
    lostEvents:
      queued.filter(({ _id }) => !ids.includes(_id)).length +
      expected.filter(({ id, to, status, reason }) =>
        [
          `email.accepted ${id} ${to}`,
          `email.${status} ${id} ${to}`,
          ...(reason ? [`suppression.added ${id} ${to}`] : []),
        ].some(meaning => ![...meanings.values()].includes(meaning)),
      ).length,
    forged: webhook.forged,
    doubleEvents: meanings.size - new Set(meanings.values()).size,
    repeatedRequests: ids.length - new Set(ids).size,
    repeatedMessages: arrived.length - new Set(arrived).size,
    reports,
  }
}

function kindOf(to: string): keyof typeof KINDS {
  const kind = (Object.keys(KINDS) as (keyof typeof KINDS)[]).find(name => to.startsWith(`${name}-`))
  if (!kind) throw new Error(`an address of no kind: ${to}`)
  return kind
}
