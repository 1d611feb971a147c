/**
 * A large message log: building its search index, its size, lists, searches and statistics at 100 a second with what they
 * read, exports, retention while mail is accepted, and acceptance with 8 clients that search continuously.
 * `node test/bench/log.ts [messages, default 2,000,000] [seconds]`; starts a mongod of its own with a cache of 2 GiB.
 */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { countStatistics } from '../../services/mail/log/store/count-stats.ts'
import { idsToExport, messagesOf } from '../../services/mail/log/store/list-messages.ts'
import { indexLog, LOG_BLOCKS } from '../../services/mail/log/store/log-blocks.ts'
import { statsOfDays } from '../../services/mail/log/store/stats.ts'
import { BODIES, toBodyDocs } from '../../services/mail/store/bodies.ts'
import type { MessageDoc } from '../../services/mail/store/documents.ts'
import { firstIdAt, MESSAGES } from '../../services/mail/store/messages.ts'
import { sweepFinalBodies } from '../../services/mail/store/retention.ts'
import { collectionOf, ensureIndexes } from '../../services/platform/database/mongo.ts'
import { giveToken, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { profileCommands } from '../support/database/profile.ts'
import { freePort } from '../support/database/test-mongod.ts'
import { openSender } from '../support/mail/load-sender.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../support/mail/submission-process.ts'
import { startService } from '../support/processes/service-process.ts'
import { note, printTable, type Row } from './direct/table.ts'
import { atRate } from './load.ts'
import { acceptedAt, DAYS, type Log, SMALL_ACCOUNTS } from './log/messages.ts'
import { listQuestions, otherQuestions, type Question } from './log/questions.ts'

const [count = 2_000_000, seconds = 10] = process.argv.slice(2).map(Number)
const SEARCHERS = 8
/** Requests a second of each kind, and of an export. */
const [RATE, EXPORT_RATE] = [100, 1]
/** Collections that questions about the log read. */
const READ_BY_QUESTIONS = ['messages', 'log_blocks', 'events', 'stats_days', 'stats_hours']
/** Clients that send as fast as their messages are accepted. */
const SENDERS = 20
/** Messages whose time ends, and messages with a body that is removed, while others are accepted. */
const EXPIRED = Math.round(count / DAYS)
const now = new Date()
const secret = randomBytes(32).toString('hex')
const submission = await startSubmissionProcess({ SESSION_SECRET: secret })
const { mongo, mongod } = submission
const admin = mongo.db.admin()
await admin.command({ setParameter: 1, wiredTigerEngineRuntimeConfig: 'cache_size=2G' })
await ensureIndexes(mongo.db, [MESSAGES, LOG_BLOCKS, BODIES])
const [user] = await mongo.db.collection<{ _id: string }>('users').find().toArray()
const userId = user?._id ?? ''
const log: Log = { count, now: now.getTime(), userId }
const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`

/** Stores the messages in another process, and makes their search index as far as they are there. */
async function storeAndIndex(): Promise<Row> {
  note(`storing ${count} messages`)
  const started = performance.now()
  const own = process.cpuUsage()
  let stored = 0
  let took = 0
  const child = fork(join(import.meta.dirname, 'log', 'store-messages.ts'), [mongod.uri, JSON.stringify(log)])
  child.on('message', at => {
    stored = Number(at)
  })
  const ended = new Promise<void>((resolve, reject) =>
    child.once('exit', code => (code === 0 ? resolve() : reject(new Error(`storing ended with ${code}`)))),
  ).then(() => {
    took = performance.now() - started
  })
  const signal = new AbortController().signal
  let blocks = 0
  while (took === 0) {
    await Promise.race([ended, sleep(5_000)])
    note(`${stored} stored, ${blocks} blocks`)
    blocks += await indexLog(mongo.db, { now: acceptedAt(log, stored), signal, mostMs: 60_000 })
  }
  blocks += await indexLog(mongo.db, { now, signal, mostMs: 1_800_000 })
  const { user: used, system } = process.cpuUsage(own)
  return {
    messages: count,
    'stored in': `${Math.round(took / 1_000)} s`,
    'indexed after': `${Math.round((performance.now() - started) / 1_000)} s`,
    blocks,
    'CPU of the index, without mongod': `${((used + system) / count).toFixed(1)} µs a message`,
  }
}

/** Octets of a collection and its indexes, as stored. */
async function sizes(): Promise<Row[]> {
  const rows: Row[] = []
  for (const name of ['messages', 'log_blocks', 'stats_days', 'stats_hours']) {
    const stats = await mongo.db.command({ collStats: name })
    const indexes = Object.entries<number>(stats.indexSizes ?? {})
    rows.push({
      collection: name,
      documents: mib(Number(stats.storageSize)),
      indexes: indexes.map(([index, size]) => `${index} ${mib(size)}`).join(', '),
      'octets a message of the log': Math.round((Number(stats.storageSize) + Number(stats.totalIndexSize)) / count),
    })
  }
  return rows
}

/** Messages of an account from all over its log. */
async function someOf(account: string, size: number): Promise<MessageDoc[]> {
  const messages = collectionOf(mongo.db, MESSAGES)
  const found: MessageDoc[] = []
  for (let n = 0; n < size; n++) {
    const at = firstIdAt(acceptedAt(log, (count * (n + 0.5)) / size))
    const one = await messages.findOne({ user_id: account, _id: { $gte: at } }, { sort: { _id: 1 } })
    if (one) found.push(one)
  }
  return found
}

/** Asks each question at a rate, then once more with the profiler: what it read. */
async function ask(questions: Record<string, Question>, samples: readonly MessageDoc[], rate = RATE): Promise<Row[]> {
  const rows: Row[] = []
  const sampleOf = (n: number) => samples[n % samples.length] as MessageDoc
  for (const [question, send] of Object.entries(questions)) {
    let [found, empty] = [0, 0]
    const { p50, p99, max } = await atRate(rate, seconds, process.pid, async n => {
      const answer = await send(sampleOf(n))
      found += answer.found
      empty += Number(answer.isEmptyPage)
    })
    const each = found / (rate * seconds)
    const times = { 'p50 ms': p50.toFixed(1), p99: p99.toFixed(1), longest: max.toFixed(1) }
    rows.push({ question, ...times, found: each.toFixed(1), 'empty pages': empty, ...(await reads(send, sampleOf(1))) })
    note(`${question}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  }
  return rows
}

/** The commands of one question: how many, their plans, and the keys and documents that they read. */
async function reads(send: Question, sample: MessageDoc): Promise<Row> {
  await mongo.db.dropCollection('system.profile').catch(() => false)
  const read = await profileCommands(mongo, READ_BY_QUESTIONS)
  await send(sample)
  const all = await read()
  const sum = (field: 'keysExamined' | 'docsExamined') => all.reduce((total, one) => total + one[field], 0)
  const plans = new Set(all.flatMap(({ plan }) => plan.match(/[A-Z]+ \{[^}]*\}|[A-Z]+/g) ?? []))
  return {
    ...{ commands: all.length, keys: sum('keysExamined'), documents: sum('docsExamined') },
    plans: [...plans].join('; '),
  }
}

const days = Array.from({ length: DAYS }, (_, day) =>
  new Date(now.getTime() - (DAYS - 1 - day) * 86_400_000).toISOString().slice(0, 10),
)

async function statistics(): Promise<Row> {
  const time = async () => {
    const started = performance.now()
    await statsOfDays(mongo.db, userId, days, { now: new Date(), logDays: 30 })
    return `${Math.round(performance.now() - started)} ms`
  }
  const nothingCounted = await time()
  await mongo.db.collection('stats_days').deleteMany({})
  await mongo.db.collection('stats_hours').deleteMany({})
  const started = performance.now()
  const signal = new AbortController().signal
  const counted = await countStatistics(mongo.db, { now: () => new Date(), logDays: 30, signal, mostMs: 180_000 })
  const took = `${counted} days in ${((performance.now() - started) / 1_000).toFixed(1)} s`
  return { 'nothing counted before': nothingCounted, 'the worker counts': took, 'first report then': await time() }
}

/** Accepts messages one after another, at a rate, and returns how long each took. */
async function accepting(): Promise<string> {
  const sender = await openSender(submission.port, LOGIN_NAME, PASSWORD)
  const times: number[] = []
  const until = Date.now() + seconds * 1_000
  while (Date.now() < until) {
    const started = performance.now()
    const mail = 'From: a@example.org\r\nTo: b@example.net\r\nSubject: bench\r\n\r\nbench\r\n.\r\n'
    const reply = await sender.send('MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n', mail)
    if (!reply.startsWith('250')) throw new Error(reply)
    times.push(performance.now() - started)
    await sleep(20)
  }
  sender.close()
  times.sort((a, b) => a - b)
  return `${times[Math.floor(times.length / 2)]?.toFixed(1)}, ${times[Math.floor(times.length * 0.99)]?.toFixed(1)} ms`
}

async function beside(): Promise<Row> {
  const { value: token } = await giveToken(mongo.db, userId)
  const port = await freePort()
  const send = startService('send', {
    MONGODB_URI: mongod.uri.replace('/?', '/postwright?'),
    SESSION_SECRET: secret,
    MAIL_HOSTNAME: 'mail.example.com',
    APP_PORT: String(port),
    METRICS_PORT: '0',
    API_REQUESTS_PER_MINUTE: '0',
    LOG_LEVEL: 'info',
  })
  await send.line('ready')
  const alone = await accepting()
  let searched = 0
  let ended = false
  const search = async (n: number) => {
    for (let turn = n; !ended; turn++) {
      const sample = samples[turn % samples.length]
      const q = encodeURIComponent((turn % 2 ? sample?.rcpts[0]?.email : sample?.subject.replace(/\d+/, '')) ?? '')
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/emails?q=${q}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      if (answer.status !== 200) throw new Error(await answer.text())
      await answer.arrayBuffer()
      searched++
    }
  }
  const searchers = Array.from({ length: SEARCHERS }, (_, n) => search(n))
  const busy = await accepting()
  ended = true
  await Promise.all(searchers)
  send.kill('SIGKILL')
  await send.exited
  return {
    'accept p50, p99 alone': alone,
    [`beside ${SEARCHERS} that search`]: busy,
    'searches a second': Math.round(searched / seconds),
  }
}

/** An export of the newest 10,000 messages, as the service reads it: ids first, then the messages in order. */
async function exports(): Promise<Row> {
  const { p50, p99 } = await atRate(EXPORT_RATE, seconds, process.pid, async () => {
    const { ids } = await idsToExport(mongo.db, userId, {}, { limit: 10_000 })
    let read = 0
    for await (const { _id } of messagesOf(mongo.db, userId, ids)) read += _id.length > 0 ? 1 : 0
    if (read !== ids.length) throw new Error(`${read} of ${ids.length} messages`)
  })
  return { 'an export of 10,000 messages': `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms` }
}

/** Messages that are accepted within a time, over {@link SENDERS} connections. */
async function accepted(ms: number): Promise<number> {
  const senders = await Promise.all(
    Array.from({ length: SENDERS }, () => openSender(submission.port, LOGIN_NAME, PASSWORD)),
  )
  const body = `From: a@example.org\r\nTo: b@example.net\r\nSubject: bench\r\n\r\n${'bench\r\n'.repeat(550)}.\r\n`
  const until = performance.now() + ms
  let taken = 0
  await Promise.all(
    senders.map(async sender => {
      while (performance.now() < until) {
        const reply = await sender.send('MAIL FROM:<a@example.org>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n', body)
        if (!reply.startsWith('250')) throw new Error(reply)
        taken++
      }
      sender.close()
    }),
  )
  return taken / (ms / 1_000)
}

/** Gives the oldest messages a time of removal that comes soon, evenly over a period. */
async function expireSoon(from: number, size: number, ms: number): Promise<void> {
  const messages = collectionOf(mongo.db, MESSAGES)
  const begin = firstIdAt(acceptedAt(log, from))
  const oldest = await messages
    .find({ _id: { $gte: begin } }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(size)
    .toArray()
  const start = Date.now()
  for (let at = 0; at < oldest.length; at += 1_000)
    await messages.updateMany(
      { _id: { $in: oldest.slice(at, at + 1_000).map(({ _id }) => _id) } },
      { $set: { exp: new Date(start + (ms * at) / size) } },
    )
}

/** Bodies of messages whose last recipient became final a week and some hours ago, for the sweep to remove. */
async function giveBodies(): Promise<number> {
  const day = 7 * 86_400_000
  const range = { $gte: firstIdAt(new Date(log.now - day - 20 * 3_600_000)), $lt: firstIdAt(new Date(log.now - day)) }
  const cursor = collectionOf(mongo.db, MESSAGES).find({ _id: range }, { projection: { _id: 1 } })
  const raw = Buffer.alloc(4_000, 'bench ')
  let [made, batch]: [number, string[]] = [0, []]
  const store = async () => {
    const docs = batch.flatMap(id => toBodyDocs(id, raw, new Date(log.now + 10 * day)))
    if (docs.length > 0)
      await collectionOf(mongo.db, BODIES).insertMany(docs, { ordered: false, writeConcern: { w: 1 } })
    made += docs.length
    batch = []
  }
  for await (const { _id } of cursor) if (batch.push(String(_id)) === 2_000) await store()
  await store()
  return made
}

/** Acceptance at full speed alone, while the database removes as many messages as come, and during a sweep of bodies. */
async function retention(): Promise<Row[]> {
  const period = seconds * 1_000
  const bodies = await giveBodies()
  await admin.command({ setParameter: 1, ttlMonitorSleepSecs: 1 })
  await accepted(period) // warms up
  const rows: Row[] = []
  for (let round = 0; round < 3; round++) {
    const alone = await accepted(period)
    await expireSoon((EXPIRED * round) / 3, Math.round(alone * seconds), period)
    const before = await mongo.db.admin().serverStatus()
    await admin.command({ setParameter: 1, ttlMonitorEnabled: true })
    const beside = await accepted(period)
    await admin.command({ setParameter: 1, ttlMonitorEnabled: false })
    const { metrics } = await mongo.db.admin().serverStatus()
    rows.push({
      'accepted a second alone': Math.round(alone),
      'while messages expire': Math.round(beside),
      'removed a second': Math.round((metrics.ttl.deletedDocuments - before.metrics.ttl.deletedDocuments) / seconds),
    })
  }
  const started = performance.now()
  const sweep = sweepFinalBodies(mongo, { bodyDays: 7, logDays: 40 }, now).then(swept => ({
    swept,
    took: performance.now() - started,
  }))
  const during = await accepted(period)
  const { swept, took } = await sweep
  const after = await accepted(period)
  const rest = await collectionOf(mongo.db, BODIES).countDocuments({
    exp: { $gt: new Date(log.now + 60 * 86_400_000) },
  })
  rows.push({
    'accepted a second alone': Math.round(after),
    'while messages expire': `${Math.round(during)} in the first ${seconds} s of a sweep of bodies`,
    'removed a second': `${bodies - rest} of ${bodies} bodies of ${swept} messages in ${(took / 1_000).toFixed(1)} s`,
  })
  return rows
}

printTable('stored and indexed', [await storeAndIndex()])
printTable('sizes', await sizes())
const samples = await someOf(userId, 100)
printTable(
  `lists of the large account, 20 a page, ${RATE} a second`,
  await ask(listQuestions(mongo.db, userId), samples),
)
const small = await someOf('usr_small7', 20)
if (small.length > 0)
  printTable(
    `lists of one of ${SMALL_ACCOUNTS} small accounts`,
    await ask(listQuestions(mongo.db, 'usr_small7'), small),
  )
printTable('statistics of 30 days', [await statistics()])
const { heavy, light } = otherQuestions(mongo.db, userId, days)
printTable(`others, ${RATE} a second`, await ask(light, samples))
printTable(`others, ${RATE / 10} a second`, await ask(heavy, samples, RATE / 10))
printTable(`exports, ${EXPORT_RATE} a second`, [await exports()])
printTable('retention', await retention())
printTable('acceptance', [await beside()])
await submission.stop()
process.exit(0)
