/** Two SMTP and two HTTP processes under more demand than an account may submit, beside an account without a limit. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { putLimit, sendingLimits } from '../../../services/mail/limits/store/sending-limits.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf, connectMongo, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { giveCredential, giveDomain, giveToken, giveUser, PASSWORD } from '../accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../database/test-mongod.ts'
import { startService } from '../processes/service-process.ts'
import { openSender } from './load-sender.ts'

/** What happens in the middle of a run. */
export type Disruption = 'kill a process' | 'crash the database'

/** The result of a run. */
export interface LimitedLoadReport {
  /** Seconds of demand. */
  seconds: number
  /** Accepted of the limited account, by its own count. */
  accepted: number
  /** The same by the database. */
  stored: number
  /** Most that were accepted in any ten seconds: asked for and answered within them, however slow the answers were. */
  mostInTenSeconds: number
  refused: number
  /** Answers that refused, each kind once. */
  answers: string[]
  /** Of the account without a limit. */
  others: { accepted: number; refused: number }
}

const FROM = { limited: 'ann@limited.example', other: 'bob@other.example' }
const TEN_SECONDS = 10_000

/** Runs it; `rate` is recipients a second. */
export async function runLimitedLoad({
  seconds,
  rate,
  disruption,
}: {
  seconds: number
  rate: number
  disruption?: Disruption
}): Promise<LimitedLoadReport> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-limits-'))
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
  await ensureIndexes(mongo.db, [sendingLimits])
  const account = async (name: string, login: string) => {
    const user = await giveUser(mongo.db)
    await giveDomain(mongo.db, user._id, name, { status: 'verified', verified_by: 'admin' })
    await giveCredential(mongo.db, user._id, login)
    return { id: user._id, token: (await giveToken(mongo.db, user._id)).value }
  }
  const limited = await account('limited.example', 'limited')
  const other = await account('other.example', 'other')
  const limit = { scope: 'account', subject: limited.id, name: 'limited', byAdmin: true, perSecond: rate } as const
  await putLimit(mongo.db, limited.id, limit, new Date())

  const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  await writeFile(files.cert, cert)
  await writeFile(files.key, key)
  const ports = await Promise.all(Array.from({ length: 4 }, freePort))
  const [smtpOne = 0, smtpTwo = 0, httpOne = 0, httpTwo = 0] = ports
  const common = {
    MAIL_HOSTNAME: 'mail.example.com',
    SESSION_SECRET: randomBytes(32).toString('hex'),
    MONGODB_URI: mongod.uri,
    METRICS_PORT: '0',
    SEND_REQUESTS_PER_SECOND: '0',
  }
  const tls = { SUBMISSION_TLS_CERT: files.cert, SUBMISSION_TLS_KEY: files.key }
  const services = [
    ...[smtpOne, smtpTwo].map(port => startService('smtp', { ...common, ...tls, SUBMISSION_LISTEN: `${port}:tls` })),
    ...[httpOne, httpTwo].map(port => startService('send', { ...common, APP_PORT: String(port) })),
  ]
  try {
    await Promise.all(services.map(service => service.line('ready')))
    const times: Span[] = []
    const answers = new Map<string, string>()
    const others = { accepted: 0, refused: 0 }
    let refused = 0
    let began = 0
    const isOver = () => performance.now() - began >= seconds * 1000
    const note = (answer: string, asked: number) => {
      if (/^2/.test(answer)) times.push({ asked, answered: performance.now() })
      else {
        refused++
        answers.set(answer.replace(/\d+(\.\d+)?/g, '0'), answer)
      }
    }
    const noteOther = (answer: string) => {
      if (/^2/.test(answer)) others.accepted++
      else others.refused++
    }
    const demands = [
      ...[smtpOne, smtpTwo].flatMap(port => [
        demand(note, 40, () => smtpSender(port, 'limited', FROM.limited)),
        demand(noteOther, 200, () => smtpSender(port, 'other', FROM.other)),
      ]),
      ...[httpOne, httpTwo].flatMap(port => [
        demand(note, 40, () => httpSender(port, limited.token, FROM.limited)),
        demand(noteOther, 200, () => httpSender(port, other.token, FROM.other)),
      ]),
    ]
    const ready = await Promise.all(demands) // logged in: that takes a second of a busy machine
    began = performance.now()
    const work = ready.map(run => run(isOver))
    if (disruption) {
      await sleep((seconds * 1000) / 2)
      if (disruption === 'kill a process') services[0]?.kill('SIGKILL')
      else {
        await mongod.crash()
        await mongod.start()
      }
    }
    await Promise.all(work)
    const stored = await collectionOf(mongo.db, MESSAGES).countDocuments({ user_id: limited.id })
    const report = { accepted: times.length, stored, mostInTenSeconds: mostWithin(times, TEN_SECONDS) }
    return { seconds, ...report, refused, answers: [...answers.values()], others }
  } finally {
    for (const service of services) service.kill('SIGKILL')
    await Promise.all(services.map(({ exited }) => exited))
    await mongo.stop()
    await mongod.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Opens a sender. The result sends one message after the other, at most one in `everyMs`; a lost connection is opened again. */
async function demand(
  note: (answer: string, asked: number) => void,
  everyMs: number,
  open: () => Promise<() => Promise<string>>,
): Promise<(isOver: () => boolean) => Promise<void>> {
  let send: (() => Promise<string>) | undefined = await open()
  return async isOver => {
    while (!isOver()) {
      const pause = sleep(everyMs)
      const asked = performance.now()
      try {
        send ??= await open()
        note(await send(), asked)
      } catch (error) {
        send = undefined
        note(`lost: ${error instanceof Error ? error.name : error}`, asked)
      }
      await pause
    }
  }
}

async function smtpSender(port: number, login: string, from: string): Promise<() => Promise<string>> {
  const sender = await openSender(port, login, PASSWORD)
  const envelope = `MAIL FROM:<${from}>\r\nRCPT TO:<carol@example.net>\r\nDATA\r\n`
  return () => sender.send(envelope, `From: ${from}\r\nSubject: Hello\r\n\r\nHello\r\n.\r\n`)
}

async function httpSender(port: number, token: string, from: string): Promise<() => Promise<string>> {
  return async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from, to: 'carol@example.net', subject: 'Hello', text: 'Hello' }),
    })
    const { detail } = (await response.json()) as { detail?: string }
    return `${response.status} ${detail ?? ''}`
  }
}

/** When a message was sent, and when its answer came: it was accepted in between. */
interface Span {
  asked: number
  answered: number
}

/** Most of these that lie within any `ms`. */
function mostWithin(spans: readonly Span[], ms: number): number {
  const within = (from: number) => spans.filter(({ asked, answered }) => asked >= from && answered <= from + ms).length
  return Math.max(0, ...spans.map(({ asked }) => within(asked)))
}
