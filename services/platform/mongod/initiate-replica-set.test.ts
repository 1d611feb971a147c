import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort, mongodBinary } from '../../../test/support/database/test-mongod.ts'
import { connectMongo } from '../database/mongo.ts'
import { silentLog } from '../observability/log.ts'
import { SAFE_FLAGS } from './embedded-mongod.ts'
import { initiateTrialMongod, TRIAL_SET, TRIAL_USER } from './initiate-replica-set.ts'

/** How long a mongod may take on a busy machine. */
const START_MS = 90_000
vi.setConfig({ testTimeout: 240_000 })

async function bareMongod(given?: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-initiate-'))
  await writeFile(join(folder, 'keyfile'), randomBytes(48).toString('base64'), { mode: 0o400 })
  const port = given ?? (await freePort())
  const binary = await mongodBinary()
  const child = spawn(
    binary,
    [
      '--replSet',
      TRIAL_SET,
      '--keyFile',
      join(folder, 'keyfile'),
      '--dbpath',
      folder,
      '--port',
      String(port),
      '--bind_ip',
      '127.0.0.1',
      '--wiredTigerCacheSizeGB',
      '0.25',
      ...SAFE_FLAGS,
    ],
    { stdio: 'ignore' },
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  })
  return port
}

test('a bare mongod becomes a set of one with a user, and a second run changes nothing', async () => {
  const port = await bareMongod()
  await initiateTrialMongod(port, `127.0.0.1:${port}`, 'pass/word', START_MS)
  await initiateTrialMongod(port, `127.0.0.1:${port}`, 'pass/word', START_MS)
  const mongo = await connectMongo(
    `mongodb://${TRIAL_USER}:pass%2Fword@127.0.0.1:${port}/?replicaSet=${TRIAL_SET}`,
    silentLog,
  )
  expect(await mongo.db.admin().command({ hello: 1 })).toMatchObject({
    setName: TRIAL_SET,
    hosts: [`127.0.0.1:${port}`],
  })
  await mongo.stop()
})

test('a mongod that listens only after some seconds is waited for', async () => {
  const port = await freePort()
  const initiating = initiateTrialMongod(port, `127.0.0.1:${port}`, 'password', START_MS)
  initiating.catch(() => undefined)
  // Longer than one connection attempt.
  await sleep(2_500)
  await bareMongod(port)
  await initiating
})

test('a wrong password for an existing user is an error, not an endless wait', async () => {
  const port = await bareMongod()
  await initiateTrialMongod(port, `127.0.0.1:${port}`, 'right', START_MS)
  await expect(initiateTrialMongod(port, `127.0.0.1:${port}`, 'wrong', 1_000)).rejects.toThrow(
    /did not become a primary/,
  )
})
