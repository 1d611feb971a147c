/** What a process reports when its settings or its database do not permit a start. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { connectMongo } from '../../../services/platform/database/mongo.ts'
import { SAFE_FLAGS } from '../../../services/platform/mongod/embedded-mongod.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { sharedMongoUri } from '../../support/database/test-database.ts'
import { freePort, mongodBinary } from '../../support/database/test-mongod.ts'
import { until } from '../../support/time/until.ts'

/** Settings that start every main, except for the database. */
const GOOD = {
  MAIL_HOSTNAME: 'mail.example.com',
  SESSION_SECRET: 'a-secret-for-tests-of-at-least-32-bytes',
  METRICS_PORT: '0',
  APP_PORT: '0',
  SUBMISSION_LISTEN: '0:starttls',
}

type Environment = Record<string, string | undefined>

interface Started {
  child: ChildProcess
  output(): string
  /** Exit code and signal, once all of its output has been read. */
  ended: Promise<unknown[]>
}

function start(main: string, env: Environment): Started {
  const child = spawn(process.execPath, [main], { env: { PATH: process.env.PATH ?? '', ...GOOD, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output += chunk
    })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, output: () => output, ended: once(child, 'close') }
}

/** The values of the file that users copy. */
const template = Object.fromEntries(
  (await readFile('.env.example', 'utf8')).split('\n').flatMap(line => {
    const [, name, value] = /^([A-Z_]+)=(.*change-me.*)$/.exec(line) ?? []
    return name && value ? [[name, value]] : []
  }),
)

/** The replica set of the test run, with a database for this file. */
const SHARED_DATABASE = 'the database of this run'
const ownUri = () => sharedMongoUri().replace(/\/(\?|$)/, `/bad-start-${process.pid}$1`)
afterAll(async () => {
  const mongo = await connectMongo(ownUri(), silentLog)
  await mongo.db.dropDatabase()
  await mongo.stop()
})

test.each([
  ['no secret', { SESSION_SECRET: undefined }, ['SESSION_SECRET: is required']],
  ['a short secret', { SESSION_SECRET: 'short' }, ['SESSION_SECRET: must have at least 32 bytes']],
  ['a short token', { API_TOKEN: 'x'.repeat(31) }, ['API_TOKEN: must have at least 32 characters']],
  ['no host name', { MAIL_HOSTNAME: undefined }, ['MAIL_HOSTNAME: is required']],
  [
    'the values of the template',
    template,
    Object.keys(template).map(name => `${name}: still has the value of the template`),
  ],
  ['a word for a number', { SLOTS: 'many' }, ['SLOTS: must be a number']],
  ['an unknown mode', { DELIVERY_MODE: 'pigeon' }, ['DELIVERY_MODE: must be one of: direct, relay, capture']],
  ['a relay without its address', { DELIVERY_MODE: 'relay' }, ['RELAY_URL: is required with DELIVERY_MODE=relay']],
  [
    'invalid networks',
    { SUBMISSION_PROXY_FROM: 'the balancer', TRUSTED_PROXIES: '10.0.0.0/99' },
    ['SUBMISSION_PROXY_FROM: must be networks', 'TRUSTED_PROXIES: must be networks'],
  ],
  [
    'invalid SPF mechanisms',
    { DEFAULT_SPF_MECHANISMS: 'include:_spf.example.net include:_spf,-all' },
    [
      'DEFAULT_SPF_MECHANISMS: "include:_spf" is not an SPF mechanism',
      'DEFAULT_SPF_MECHANISMS: "-all" is not an SPF mechanism',
    ],
  ],
  [
    'half a certificate',
    { SUBMISSION_TLS_CERT: '/tls/tls.crt' },
    ['SUBMISSION_TLS_KEY: is required with SUBMISSION_TLS_CERT'],
  ],
  ['an invalid listener', { SUBMISSION_LISTEN: '2525:ssl' }, ['SUBMISSION_LISTEN: "2525:ssl" is not']],
])('%s: exits with 78 and names each error, and repeats no secret', async (_, env: Environment, messages) => {
  expect(messages.length).toBeGreaterThan(0)
  const { output, ended } = start('services/panel.ts', { MONGODB_URI: ownUri(), ...env })
  expect(await ended).toEqual([78, null])
  for (const message of messages) expect(output()).toContain(message)
  for (const secret of [env.SESSION_SECRET, env.API_TOKEN]) if (secret) expect(output()).not.toContain(secret)
})

test.each([
  ['no database', 'services/panel.ts', {}, /MONGODB_URI is missing/],
  ['an invalid address', 'services/panel.ts', { MONGODB_URI: 'postgres://db/x' }, /Invalid scheme/],
  [
    'no certificate for SMTP',
    'services/smtp.ts',
    { MONGODB_URI: SHARED_DATABASE },
    /SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY are missing: without a certificate no client can log in/,
  ],
  [
    'a missing certificate file',
    'services/smtp.ts',
    { MONGODB_URI: SHARED_DATABASE, SUBMISSION_TLS_CERT: '/nowhere/tls.crt', SUBMISSION_TLS_KEY: '/nowhere/tls.key' },
    /cannot read SUBMISSION_TLS_(CERT|KEY): ENOENT: .*\/nowhere\//,
  ],
])('%s: exits with 1 and a message', async (_, main, env: Environment, message) => {
  const own = env.MONGODB_URI === SHARED_DATABASE ? { MONGODB_URI: ownUri() } : {}
  const { output, ended } = start(main, { ...env, ...own })
  expect(await ended).toEqual([1, null])
  expect(output()).toMatch(message)
})

test('a standalone mongod: exits with 1 and names the remedy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pw-standalone-'))
  const port = await freePort()
  const args = ['--port', String(port), '--bind_ip', '127.0.0.1', '--dbpath', folder, '--wiredTigerCacheSizeGB', '0.25']
  const mongod = spawn(await mongodBinary(), [...args, ...SAFE_FLAGS], { stdio: 'ignore' })
  onTestFinished(async () => {
    mongod.kill('SIGKILL')
    await once(mongod, 'exit')
    await rm(folder, { recursive: true })
  })
  const { output, ended } = start('services/panel.ts', { MONGODB_URI: `mongodb://127.0.0.1:${port}/postwright` })
  expect(await ended).toEqual([1, null])
  expect(output()).toMatch(/leads to a standalone mongod; .*start mongod with --replSet and run rs\.initiate\(\)/)
})

test('a database that does not answer: keeps running, is not ready and reports the reason', async () => {
  const [port, probes] = [await freePort(), await freePort()]
  const { child, output } = start('services/panel.ts', {
    MONGODB_URI: `mongodb://127.0.0.1:${port}/postwright?replicaSet=test`,
    METRICS_PORT: String(probes),
  })
  await until(
    () => output().includes('the database of MONGODB_URI does not answer or has no primary; trying again'),
    60_000,
  )
  const probe = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${probes}${path}`)
    return [answer.status, await answer.text()]
  }
  expect(await probe('/healthz')).toEqual([200, 'ok\n'])
  expect(await probe('/readyz')).toEqual([503, 'not connected to the database yet\n'])
  expect(child.exitCode).toBeNull()
})
