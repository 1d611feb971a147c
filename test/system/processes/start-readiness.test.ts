/** The start of every main: it is ready when it listens and can work, and it waits for a primary. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { failCommands } from '../../support/database/fail-commands.ts'
import { startReplicaSet } from '../../support/database/replica-set.ts'
import { freePort, startTestMongod } from '../../support/database/test-mongod.ts'
import { type ServiceProcess, startService } from '../../support/processes/service-process.ts'
import { until } from '../../support/time/until.ts'

const MAINS = ['worker', 'smtp', 'send', 'panel', 'admin', 'compat'] as const
const WAITING = 'the database of MONGODB_URI does not answer or has no primary; trying again'

/** Longest start, failovers included. */
const READY_MS = 200_000

interface Started {
  main: (typeof MAINS)[number]
  process: ServiceProcess
  port: number
  probes: number
}

/** Starts mains with this database on free ports. */
async function startMains(uri: string, mains: readonly Started['main'][] = MAINS): Promise<Started[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-start-'))
  const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
  await writeFile(join(folder, 'tls.crt'), cert)
  await writeFile(join(folder, 'tls.key'), key)
  const started = await Promise.all(
    mains.map(async main => {
      const [port, probes] = [await freePort(), await freePort()]
      const process = startService(main, {
        MAIL_HOSTNAME: 'mail.example.com',
        SESSION_SECRET: 'a secret of at least thirty-two bytes',
        MONGODB_URI: uri,
        METRICS_PORT: String(probes),
        APP_PORT: String(port),
        ADMIN_API_PORT: String(port),
        COMPAT_PORT: String(port),
        SUBMISSION_LISTEN: `${port}:starttls`,
        SUBMISSION_TLS_CERT: join(folder, 'tls.crt'),
        SUBMISSION_TLS_KEY: join(folder, 'tls.key'),
        SLOTS: '8',
      })
      return { main, process, port, probes }
    }),
  )
  onTestFinished(async () => {
    for (const { process } of started) process.kill('SIGKILL')
    await Promise.all(started.map(({ process }) => process.exited))
    await rm(folder, { recursive: true })
  })
  return started
}

/** Polls until the process is ready; collects the reasons given before, and whether it can work then. */
async function becomeReady({ main, process, port, probes }: Started) {
  const reasons = new Set<string>()
  let over: number | string | undefined
  void process.exited.then(code => {
    over = code
  })
  const deadline = performance.now() + READY_MS
  while (performance.now() < deadline) {
    if (over !== undefined) return { main, ready: `ended with ${over}`, reasons: [...reasons] }
    const answer = await fetch(`http://127.0.0.1:${probes}/readyz`).catch(() => undefined)
    if (answer?.status === 200) {
      const works = main === 'worker' || (await connects(port))
      return { main, ready: works ? 'works' : 'does not listen', reasons: [...reasons] }
    }
    if (answer) reasons.add((await answer.text()).trim())
    await sleep(5)
  }
  return { main, ready: `not within ${READY_MS} ms`, reasons: [...reasons] }
}

function connects(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })
}

const expectedOf = (reasons: unknown, mains: readonly Started['main'][] = MAINS) =>
  mains.map(main => ({ main, ready: 'works', reasons }))

/** Stops the processes and returns their exit codes. */
async function stopAll(started: readonly Started[]): Promise<(number | string)[]> {
  for (const { process } of started) process.kill('SIGTERM')
  return Promise.all(started.map(({ process }) => process.exited))
}

test('a process is ready when it listens and can work, not before', async () => {
  const mongod = await startTestMongod()
  onTestFinished(() => mongod.stop())
  const started = await startMains(mongod.uri.replace('/?', '/start?'))
  expect(await Promise.all(started.map(becomeReady))).toEqual(expectedOf(expect.arrayContaining(['starting'])))
  expect(await stopAll(started)).toEqual(MAINS.map(() => 0))
}, 240_000)

test.each([
  ['is no primary any more', { errorCode: 10_107 }, 30, MAINS],
  ['closes its connections', { closeConnection: true }, 10, ['worker', 'panel'] as const],
])('waits for a member that %s during the start', async (_, failure, times, mains) => {
  const mongod = await startTestMongod({ enableTestCommands: 'true' })
  onTestFinished(() => mongod.stop())
  const mongo = await connectMongo(mongod.uri, silentLog)
  onTestFinished(() => mongo.stop())
  const commands = ['createIndexes', 'insert', 'update', 'findAndModify']
  await failCommands(mongo.db, { failCommands: commands, ...failure }, { times })
  const started = await startMains(mongod.uri.replace('/?', '/start?'), mains)
  expect(await Promise.all(started.map(becomeReady))).toEqual(expectedOf(expect.anything(), mains))
  const waited = started.filter(({ process }) => process.lines.some(({ msg }) => msg === WAITING))
  expect(waited.length).toBeGreaterThan(0)
  expect(await stopAll(started)).toEqual(mains.map(() => 0))
})

test('a start during failovers waits for the next primary', async () => {
  const set = await startReplicaSet(3)
  onTestFinished(() => set.stop())
  await set.stepDown()
  const started = await startMains(set.uri.replace('/?', '/start?'))
  const ready = Promise.all(started.map(becomeReady))
  // During the start of some of them, whichever is slower here.
  await until(
    () => started.some(({ process }) => process.lines.some(({ msg }) => msg === WAITING || msg === 'ready')),
    60_000,
  )
  await set.stepDown()
  expect(await ready).toEqual(expectedOf(expect.anything()))
  expect(await stopAll(started)).toEqual(MAINS.map(() => 0))
}, 240_000)
