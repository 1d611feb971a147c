/**
 * The message log of 2,000,000 messages: building its search index, searches, statistics of 30 days, and acceptance with
 * 8 clients that search continuously. `node test/bench/log.ts [messages] [seconds]`; starts a mongod of its own.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { countStatistics } from '../../services/mail/log/store/count-stats.ts'
import { listMessages } from '../../services/mail/log/store/list-messages.ts'
import { indexLog, LOG_BLOCKS } from '../../services/mail/log/store/log-blocks.ts'
import type { LogFilters } from '../../services/mail/log/store/log-filters.ts'
import { statsOfDays } from '../../services/mail/log/store/stats.ts'
import type { MessageDoc } from '../../services/mail/store/documents.ts'
import { MESSAGES } from '../../services/mail/store/messages.ts'
import { collectionOf, ensureIndexes } from '../../services/platform/database/mongo.ts'
import { newId } from '../../services/platform/ids.ts'
import { giveToken, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { freePort } from '../support/database/test-mongod.ts'
import { openSender } from '../support/mail/load-sender.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../support/mail/submission-process.ts'
import { cpuMs, startService } from '../support/processes/service-process.ts'
import { createRandom, createZipf } from './direct/site-class.ts'
import { note, printTable, type Row } from './direct/table.ts'

const [count = 2_000_000, seconds = 10] = process.argv.slice(2).map(Number)
const DAYS = 30
const SEARCHERS = 8
const now = new Date()
const secret = randomBytes(32).toString('hex')
const submission = await startSubmissionProcess({ SESSION_SECRET: secret })
const { mongo, mongod } = submission
await ensureIndexes(mongo.db, [MESSAGES, LOG_BLOCKS])
const [user] = await mongo.db.collection<{ _id: string }>('users').find().toArray()
const userId = user?._id ?? ''

const random = createRandom(1)
const domains = createZipf(2_000, random)
const SUBJECTS = [
  'Your order # has shipped',
  'Invoice # for November',
  'Password reset',
  'Weekly report #',
  '订单 # 已发货',
]
const at = (n: number) => new Date(now.getTime() - (DAYS * 86_400_000 * (count - n)) / count)
const STATUSES = ['delivered', 'delivered', 'delivered', 'bounced'] as const

/** Message number n, in chronological order; every tenth belongs to another account. */
function message(n: number): MessageDoc {
  const created = at(n)
  const final = new Date(created.getTime() + 2_000)
  const email = `user${n}@d${domains()}.example`
  const status = n > count - 1_000 ? 'deferred' : (STATUSES[Math.floor(random() * 40)] ?? 'delivered')
  return {
    _id: newId('em', created.getTime()),
    user_id: n % 10 === 9 ? `usr_other${n % 7}` : userId,
    domain_id: 'dom_1',
    via: { channel: 'smtp', id: 'smtp_1' },
    mail_from: 'bounce@example.org',
    from: 'shop@example.org',
    subject: (SUBJECTS[n % SUBJECTS.length] ?? '').replace('#', `${100_000 + n}`),
    message_id: `<${n}.${Math.floor(random() * 1e9)}@mailer.example.org>`,
    size: 4_000,
    parts: 1,
    rcpts: [{ email, type: 'envelope', status, code: 250, enhanced: '2.0.0', at: final }],
    left: 0,
    lane: 'transactional',
    ambiguous: 'retry',
    created_at: created,
    expires_at: new Date(created.getTime() + 3 * 86_400_000),
    final_at: final,
    exp: new Date(final.getTime() + 40 * 86_400_000),
  }
}

note(`storing ${count} messages`)
for (let from = 0; from < count; from += 5_000) {
  const batch = Array.from({ length: Math.min(5_000, count - from) }, (_, index) => message(from + index))
  await collectionOf(mongo.db, MESSAGES).insertMany(batch, { ordered: false, writeConcern: { w: 1 } })
}

async function index(): Promise<Row> {
  note('making the index')
  const [started, mongodBefore, own] = [performance.now(), cpuMs(mongod.pid), process.cpuUsage()]
  const blocks = await indexLog(mongo.db, { now, signal: new AbortController().signal, mostMs: 1_800_000 })
  const { user: used, system } = process.cpuUsage(own)
  const stats = await mongo.db.command({ collStats: 'log_blocks' })
  const mib = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`
  return {
    messages: count,
    blocks,
    seconds: Math.round((performance.now() - started) / 1_000),
    'CPU a message': `${((used + system) / count).toFixed(1)} µs here, ${((1_000 * (cpuMs(mongod.pid) - mongodBefore)) / count).toFixed(1)} µs in mongod`,
    'index of terms': mib(Number(stats.indexSizes?.['terms_1__id_-1'])),
    documents: mib(Number(stats.storageSize)),
    'for comparison, messages': mib(Number((await mongo.db.command({ collStats: 'messages' })).storageSize)),
  }
}

const samples = await collectionOf(mongo.db, MESSAGES)
  .aggregate<MessageDoc>([{ $match: { user_id: userId } }, { $sample: { size: 100 } }])
  .toArray()

async function searches(): Promise<Row[]> {
  const kinds: Record<string, (one: MessageDoc) => LogFilters> = {
    'q: recipient': ({ rcpts }) => ({ q: rcpts[0]?.email }),
    'to: recipient': ({ rcpts }) => ({ to: rcpts[0]?.email }),
    'q: Message-ID': ({ message_id: id }) => ({ q: id }),
    'q: id': ({ _id }) => ({ q: _id }),
    'q: rare word of the subject': ({ subject }) => ({ q: /\d+/.exec(subject)?.[0] ?? 'reset password' }),
    'q: common words of the subject': ({ subject }) => ({ q: subject.replace(/\d+/, '') }),
    'q: Chinese': () => ({ q: '已发货' }),
    'q: recipient domain': ({ rcpts }) => ({ q: rcpts[0]?.email.split('@')[1] }),
    'q: domain and word': ({ rcpts }) => ({ q: `${rcpts[0]?.email.split('@')[1]} invoice` }),
    'q: nothing has it': ({ _id }) => ({ q: `none${_id.slice(-6)}` }),
    'q: two words that never meet': () => ({ q: 'invoice shipped' }),
  }
  const rows: Row[] = []
  for (const [kind, filters] of Object.entries(kinds)) {
    const times: number[] = []
    let found = 0
    let short = 0
    for (const sample of samples) {
      const started = performance.now()
      const page = await listMessages(mongo.db, userId, filters(sample), { limit: 20 })
      times.push(performance.now() - started)
      found += page.messages.length
      if (page.messages.length === 0 && page.next !== null) short++
    }
    times.sort((a, b) => a - b)
    const ms = (share: number) =>
      `${(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1)}`
    rows.push({ search: kind, 'ms p50': ms(0.5), p99: ms(0.99), most: ms(1), found, 'empty pages with more': short })
  }
  return rows
}

async function statistics(): Promise<Row> {
  const days = Array.from({ length: DAYS }, (_, day) =>
    new Date(now.getTime() - (DAYS - 1 - day) * 86_400_000).toISOString().slice(0, 10),
  )
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
  const counted = await countStatistics(mongo.db, { now: () => new Date(), logDays: 30, signal, mostMs: 600_000 })
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

const made = await index()
printTable('search index', [made])
printTable('searches, 20 a page', await searches())
printTable('statistics of 30 days', [await statistics()])
printTable('acceptance', [await beside()])
await submission.stop()
process.exit(0)
