import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../test/support/mongod.ts'
import { silentLog } from '../log.ts'
import { connectMongo } from '../mongo.ts'
import { initiateTrialMongod, TRIAL_SET, TRIAL_USER } from './initiate.ts'
import { cacheFolder, findMongod } from './source.ts'

async function bareMongod(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-initiate-'))
  await writeFile(join(folder, 'keyfile'), randomBytes(48).toString('base64'), { mode: 0o400 })
  const port = await freePort()
  const binary = await findMongod({
    binary: process.env.MONGOD_BINARY,
    path: process.env.PATH ?? '',
    cache: cacheFolder(process.env.XDG_CACHE_HOME),
    say: () => undefined,
  })
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
  await initiateTrialMongod(port, `127.0.0.1:${port}`, 'pass/word', 30_000)
  await initiateTrialMongod(port, `127.0.0.1:${port}`, 'pass/word', 30_000)
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

test('a wrong password for an existing user is an error, not an endless wait', async () => {
  const port = await bareMongod()
  await initiateTrialMongod(port, `127.0.0.1:${port}`, 'right', 30_000)
  await expect(initiateTrialMongod(port, `127.0.0.1:${port}`, 'wrong', 1_000)).rejects.toThrow(
    /did not become a primary/,
  )
})
