/**
 * The effect of one account or a stranger on the others: nine attacks, each with what the others noticed.
 * `node test/bench/attacks.ts [attack…]`, by default all, in some five minutes. BENCH_TREE names the folder of another checkout
 * (with its node_modules) whose services are attacked. All traffic goes to 127.0.0.1 and ends by itself.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { SCOPES } from '../../services/mail/http/shared/access.ts'
import { connectMongo } from '../../services/platform/database/mongo.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { giveCredential, giveDomain, giveToken, giveUser, PASSWORD } from '../support/accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../support/database/test-mongod.ts'
import { startDnsStub } from '../support/dns/empty-name-server.ts'
import { type Conversation, type ConverseOptions, converse } from '../support/mail/smtp-conversation.ts'
import { LOGIN_NAME, startSubmissionProcess } from '../support/mail/submission-process.ts'
import { residentMiB, type ServiceProcess, startService } from '../support/processes/service-process.ts'

const tree = process.env.BENCH_TREE
const MIB = 1024 * 1024
/** Heap of the processes that are attacked by size, in MiB. */
const SMALL_HEAP = ['--max-old-space-size=512']
/** Longest wait for anything, and how long the stalled senders are watched (milliseconds). */
const LIMIT_MS = 120_000
const WATCH_MS = 90_000

const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 9_950 ? 2 : 0)} s`

/** Repeats a request while `work` runs, and once more afterwards; returns the longest wait (milliseconds). */
async function longest(ask: () => Promise<unknown>, work: Promise<unknown>, pauseMs = 20): Promise<number> {
  let over = false
  const end = Promise.allSettled([work]).then(() => {
    over = true
  })
  let worst = 0
  for (let last = false; !last; ) {
    last = over
    const started = performance.now()
    await ask().catch(() => undefined)
    worst = Math.max(worst, performance.now() - started)
    await Promise.race([end, sleep(pauseMs)])
  }
  return worst
}

function fate(service: ServiceProcess): Promise<string> {
  return Promise.race([service.exited.then(code => `process ended (${code})`), sleep(200, 'process alive')])
}

type Answer = { status: number; text: string; cookie: string }
const show = (answer?: Answer) =>
  answer ? `answer ${answer.status}, ${(answer.text.length / 1000).toFixed(1)} kB` : 'no answer'

/** An HTTP main with its own database. */
async function startHttp(name: 'panel' | 'send', env: Record<string, string> = {}, flags: string[] = []) {
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
  const port = await freePort()
  const fixed = {
    MAIL_HOSTNAME: 'mail.example.com',
    SESSION_SECRET: randomBytes(32).toString('hex'),
    METRICS_PORT: '0',
  }
  const settings = { ...env, ...fixed, MONGODB_URI: mongod.uri, APP_PORT: String(port) }
  const service = startService(name, settings, { flags, tree })
  await service.line('ready')
  const call = async (
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(LIMIT_MS),
      ...(body !== undefined && { body }),
    })
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    return { status: response.status, text: await response.text(), cookie }
  }
  return {
    db: mongo.db,
    service,
    call,
    ready: () => call('GET', '/readyz'),
    logIn: (username: string) => call('POST', '/api/v1/session', JSON.stringify({ username, password: PASSWORD })),
    async stop() {
      service.kill('SIGKILL')
      await service.exited
      await mongo.stop()
      await mongod.stop()
    },
  }
}

/** About this many bytes of JSON with unknown fields. */
function unknownFields(bytes: number): string {
  const fields = Array.from({ length: Math.floor(bytes / 10) }, (_, n) => `"${n.toString(36).padStart(5, 'a')}":0`)
  return `{${fields.join(',')}}`
}

async function gzip(): Promise<string> {
  const http = await startHttp('send', {}, SMALL_HEAP)
  try {
    const user = await giveUser(http.db)
    const { value } = await giveToken(http.db, user._id)
    const body = new Uint8Array(gzipSync(unknownFields(34 * MIB)))
    const headers = { authorization: `Bearer ${value}`, 'content-encoding': 'gzip' }
    const sent = http.call('POST', '/api/send', body, headers).catch(() => undefined)
    const wait = await longest(http.ready, sent)
    return `${await fate(http.service)}; ${show(await sent)}; /readyz waited ${seconds(wait)}`
  } finally {
    await http.stop()
  }
}

async function keys(): Promise<string> {
  const http = await startHttp('panel')
  try {
    const body = unknownFields(248_000)
    const sent = Promise.all(Array.from({ length: 40 }, () => http.call('POST', '/api/v1/session', body)))
    const wait = await longest(http.ready, sent)
    return `${show((await sent)[0])}; /readyz waited ${seconds(wait)}`
  } finally {
    await http.stop()
  }
}

/** The SMTP main, and a login `other` of another account besides {@link LOGIN_NAME}. */
async function startSmtp(flags: string[] = []) {
  const submission = await startSubmissionProcess({}, { flags, tree })
  const user = await giveUser(submission.mongo.db)
  await giveDomain(submission.mongo.db, user._id, 'other.example', { status: 'verified', verified_by: 'admin' })
  await giveCredential(submission.mongo.db, user._id, 'other')
  return {
    submission,
    async open(login: string, options: ConverseOptions = {}, password = PASSWORD) {
      const client = await converse(submission.port, { tls: true, ...options })
      await client.reply()
      return { client, code: (await client.logIn(login, password)).code }
    },
  }
}

const message = (from: string, body: string) => `From: ${from}\r\nTo: b@example.net\r\n\r\n${body}\r\n`
const lines = (bytes: number) => `${'x'.repeat(76)}\r\n`.repeat(Math.ceil(bytes / 78))
const submitOther = (client: Conversation, bytes = 100) =>
  client.submit('a@other.example', ['b@example.net'], message('a@other.example', lines(bytes)))

async function mailboxes(): Promise<string> {
  const { submission, open } = await startSmtp()
  try {
    const from = Array.from({ length: 5_000 }, (_, n) => `a@d${n}.example.org`).join(',\r\n ')
    const { client } = await open('other')
    await submitOther(client)
    const sessions = await Promise.all(Array.from({ length: 6 }, () => open(LOGIN_NAME)))
    const attack = sessions.map(one => one.client.submit('a@example.org', ['b@example.net'], message(from, 'bench')))
    const wait = await longest(() => submitOther(client), Promise.allSettled(attack))
    return `reply ${(await attack[0])?.code}; another account's message took ${seconds(wait)}`
  } finally {
    await submission.stop()
  }
}

async function dots(): Promise<string> {
  const { submission, open } = await startSmtp(SMALL_HEAP)
  const { pid } = submission.service
  let peak = 0
  const watch = setInterval(() => {
    if (existsSync(`/proc/${pid}/statm`)) peak = Math.max(peak, residentMiB(pid) || 0)
  }, 50)
  try {
    const body = Buffer.from(message('a@example.org', '..\r\n'.repeat((24 * MIB) / 4)))
    const { client } = await open('other')
    const sessions = await Promise.all(Array.from({ length: 4 }, () => open(LOGIN_NAME)))
    const sent = sessions.map(one => one.client.submit('a@example.org', ['b@example.net'], body))
    const wait = await longest(() => submitOther(client), Promise.race([Promise.allSettled(sent), sleep(LIMIT_MS)]))
    return `${await fate(submission.service)}; peak ${peak.toFixed(0)} MiB; another account's message took ${seconds(wait)}`
  } finally {
    clearInterval(watch)
    await submission.stop()
  }
}

async function stall(): Promise<string> {
  const { submission, open } = await startSmtp()
  try {
    const began = performance.now()
    const cuts: number[] = []
    const stallAfter = async (bytes: number, n: number) => {
      const { client } = await open(LOGIN_NAME, { from: `127.0.0.${20 + n}` })
      void client.closed.then(() => cuts.push(performance.now() - began))
      for (const line of ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>', 'DATA']) await client.command(line)
      client.write(message('a@example.org', lines(bytes)))
      const trickle = setInterval(() => client.write('x\r\n'), 5_000)
      void client.closed.then(() => clearInterval(trickle))
      return client
    }
    // 240 MiB, then the rest of the 256 MiB in small pieces, so that 4 MiB are not available.
    const large = await Promise.all(Array.from({ length: 10 }, (_, n) => stallAfter(24 * MIB, n)))
    await sleep(10_000)
    const small = await Promise.all(Array.from({ length: 16 }, (_, n) => stallAfter(2 * MIB, 10 + n)))
    await sleep(5_000)
    const from = performance.now()
    let refusedMs = 0
    while (performance.now() - began < WATCH_MS) {
      const { client } = await open('other', { from: '127.0.0.9' })
      const { code } = await submitOther(client, 4 * MIB)
      client.destroy()
      if (code === 451) refusedMs = performance.now() - from
      await sleep(5_000)
    }
    const cut = `${cuts.length} of 26 cut${cuts.length > 0 ? `, the first after ${seconds(Math.min(...cuts))}` : ''}`
    for (const client of [...large, ...small]) client.destroy()
    return `another account had 451 for ${seconds(refusedMs)} of ${seconds(performance.now() - from)}; ${cut}`
  } finally {
    await submission.stop()
  }
}

async function guesses(): Promise<string> {
  const { submission, open } = await startSmtp()
  try {
    const right = async () => {
      const { client, code } = await open('other', { from: '127.0.0.9' })
      client.destroy()
      return code
    }
    const before = await right()
    submission.service.kill('SIGKILL') // and with it what the process remembers of right passwords
    await submission.restart()
    const guess = async (from: string) => {
      for (let tries = 0; tries < 10; tries++) (await open('other', { from }, 'wrong')).client.destroy()
    }
    await Promise.allSettled(Array.from({ length: 12 }, (_, n) => guess(`127.0.0.${20 + n}`)))
    return `right password: ${before} before, ${await right()} after 120 failures from 12 other addresses`
  } finally {
    await submission.stop()
  }
}

/** The panel with the session of one account, and the name of another one. */
async function startPanel(env: Record<string, string> = {}) {
  const http = await startHttp('panel', env)
  const [user, other] = [await giveUser(http.db), await giveUser(http.db)]
  const { cookie } = await http.logIn(user.username)
  const post = (path: string, body: unknown) => http.call('POST', path, JSON.stringify(body), { cookie, 'x-csrf': '1' })
  return { ...http, user, other, post }
}

const statuses = (answers: readonly Answer[]) =>
  [...Map.groupBy(answers, ({ status }) => status)].map(([status, { length }]) => `${length} × ${status}`).join(', ')

async function reads(): Promise<string> {
  const { db, user, call, stop } = await startPanel()
  try {
    const { value } = await giveToken(db, user._id, { scopes: [...SCOPES] })
    const read = () => call('GET', '/api/v1/domains', undefined, { authorization: `Bearer ${value}` })
    return statuses(await Promise.all(Array.from({ length: 250 }, read)))
  } finally {
    await stop()
  }
}

async function claims(): Promise<string> {
  const { other, logIn, post, stop } = await startPanel()
  try {
    const before = await longest(() => logIn(other.username), sleep(1_000), 200)
    const register = (_: unknown, n: number) => post('/api/v1/domains', { name: `d${n}.example.com` })
    const claimed = Promise.all(Array.from({ length: 120 }, register))
    const wait = await longest(() => logIn(other.username), claimed, 200)
    return `another account's login took ${seconds(wait)} (${seconds(before)} before); ${statuses(await claimed)}`
  } finally {
    await stop()
  }
}

async function checks(): Promise<string> {
  const dns = await startDnsStub(5)
  const { db, user, post, stop } = await startPanel(dns.env)
  try {
    const { _id } = await giveDomain(db, user._id, 'checked.example.com')
    const answers = await Promise.all(Array.from({ length: 150 }, () => post(`/api/v1/domains/${_id}/verify`, {})))
    return `${dns.queries.length} DNS queries; ${statuses(answers)}`
  } finally {
    await stop()
    await dns.stop()
  }
}

const ATTACKS = { gzip, keys, mailboxes, dots, stall, reads, claims, checks, guesses }
const wanted = process.argv.slice(2)
for (const [name, attack] of Object.entries(ATTACKS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const result = await attack().catch((error: unknown) => `failed: ${error}`)
  process.stdout.write(`${name.padEnd(10)} ${result}\n`)
}
process.exit()
