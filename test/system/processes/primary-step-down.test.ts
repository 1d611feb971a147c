/**
 * The primary of three members fails while SMTP and HTTP clients send: what was answered with 250 or 202 is in the
 * database exactly once and completely, and all other replies are 451 or 503 within the clients' timeouts.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { READ_BACK_MS } from '../../../services/mail/submission/store/batch-transaction.ts'
import { connectMongo, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { giveCredential, giveDomain, giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { startReplicaSet } from '../../support/database/replica-set.ts'
import { startSendApi } from '../../support/http/send-api.ts'
import { openSender, type Sender } from '../../support/mail/load-sender.ts'
import { startSubmission } from '../../support/mail/submission-service.ts'
import { until } from '../../support/time/until.ts'

const LOGIN = 'step-down'
const ENVELOPE = 'MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nRCPT TO:<c@example.net>\r\nDATA\r\n'
/**
 * Far below the ten minutes of an SMTP client and the usual timeout of an HTTP client (milliseconds). An SMTP reply waits up to
 * READ_BACK_MS for the outcome of a write.
 */
const PATIENCE_MS = { smtp: READ_BACK_MS + 30_000, http: 25_000 }

/** The replies to the clients of one kind. */
class Record {
  /** Subjects of accepted messages, by the id in the reply. */
  readonly accepted = new Map<string, string>()
  readonly answers = new Set<string>()
  slowest = 0
  note(started: number, answer: string, id: string | undefined, subject: string) {
    this.slowest = Math.max(this.slowest, performance.now() - started)
    this.answers.add(answer)
    if (id !== undefined) this.accepted.set(id, subject)
  }
}

/** Repeats work concurrently until the returned function is called. */
function repeat(clients: number, work: () => Promise<void>) {
  let going = true
  const loop = async () => {
    while (going) {
      await work()
      await sleep(10) // the mongods and the services share the cores with these clients
    }
  }
  const all = Array.from({ length: clients }, loop)
  const stop = async () => {
    going = false
    await Promise.all(all)
  }
  onTestFinished(stop)
  return stop
}

function sendOverSmtp(port: number, clients: number) {
  const record = new Record()
  const idle: Sender[] = []
  const stop = repeat(clients, async () => {
    const subject = `s-${randomUUID()}`
    const started = performance.now()
    let sender: Sender | undefined
    try {
      sender = idle.pop() ?? (await openSender(port, LOGIN, PASSWORD))
      const reply = await sender.send(ENVELOPE, `From: a@example.org\r\nSubject: ${subject}\r\n\r\nhello\r\n.\r\n`)
      record.note(started, reply.slice(0, 3), /^250 2\.0\.0 queued as (em_\w+)$/.exec(reply)?.[1], subject)
      idle.push(sender)
    } catch (error) {
      // A rejected login throws an error with the reply.
      record.note(started, String(error).replace(/^Error: (\d{3}).*/s, '$1'), undefined, subject)
      sender?.close()
    }
  })
  const end = async () => {
    await stop()
    for (const sender of idle) sender.close()
  }
  return { record, end }
}

/** Clients that keep a key until they get 202, as the documentation demands. */
function sendOverHttp(url: string, token: string, clients: number) {
  const record = new Record()
  const pending: string[] = []
  const end = repeat(clients, async () => {
    const subject = pending.pop() ?? `h-${randomUUID()}`
    const started = performance.now()
    const response = await fetch(`${url}/api/v1/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': subject,
      },
      body: JSON.stringify({
        from: 'a@example.com',
        to: ['b@example.net', 'c@example.net'],
        subject,
        text: 'hello',
      }),
    })
    const { id } = (await response.json()) as { id?: string }
    record.note(started, String(response.status), response.status === 202 ? id : undefined, subject)
    if (response.status !== 202) pending.push(subject)
  })
  return { record, end }
}

/** Checks that every accepted message is stored once with its id, both deliveries and its body. */
async function expectKept(mongo: Mongo, accepted: ReadonlyMap<string, string>) {
  const count = async (collection: string, field: string) => {
    const docs = await mongo.db.collection(collection).find({}, { readConcern: 'majority' }).toArray()
    return Map.groupBy(docs, doc => doc[field] as string)
  }
  const messages = await count('messages', '_id')
  const subjects = await count('messages', 'subject')
  const deliveries = await count('deliveries', 'm')
  const bodies = await count('bodies', 'm')
  const missing = [...accepted].filter(
    ([id, subject]) =>
      messages.get(id)?.[0]?.subject !== subject ||
      subjects.get(subject)?.length !== 1 ||
      deliveries.get(id)?.length !== 2 ||
      bodies.get(id)?.length !== 1,
  )
  expect(missing).toEqual([])
  // A rejected message may have been stored (its client sends it again), but never twice.
  expect([...subjects].filter(([, docs]) => docs.length > 1).map(([subject]) => subject)).toEqual([])
}

test('step-downs and the death of a primary lose no accepted message', async () => {
  const set = await startReplicaSet(3)
  onTestFinished(() => set.stop())
  const connect = async () => {
    const mongo = await connectMongo(set.uri.replace('/?', '/stepdown?'), silentLog)
    onTestFinished(() => mongo.stop())
    return mongo
  }
  const mongo = await connect()
  const user = await giveUser(mongo.db)
  await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
  await giveCredential(mongo.db, user._id, LOGIN)
  const { tls } = await startSubmission(await connect())
  const api = await startSendApi({}, { mongo: await connect() })
  onTestFinished(() => api.stop())

  const clients = [sendOverSmtp(tls, 4), sendOverHttp(api.url, api.token, 4)]
  const more = async (messages: number) => {
    const wanted = clients.map(({ record }) => record.accepted.size + messages)
    await until(() => clients.every(({ record }, index) => record.accepted.size >= (wanted[index] ?? 0)), 60_000)
  }
  await more(20)
  await set.stepDown()
  await more(20)
  await set.killAndRestart(await set.primary())
  await more(20)
  await set.stepDown()
  await more(20)
  for (const { end } of clients) await end()

  const [smtp, http] = clients.map(({ record }) => record)
  expect([...(smtp?.answers ?? [])].filter(answer => !['250', '451', '454'].includes(answer))).toEqual([])
  expect([...(http?.answers ?? [])].filter(answer => !['202', '503'].includes(answer))).toEqual([])
  expect(smtp?.slowest).toBeLessThan(PATIENCE_MS.smtp)
  expect(http?.slowest).toBeLessThan(PATIENCE_MS.http)
  for (const { record } of clients) await expectKept(mongo, record.accepted)
}, 300_000)
