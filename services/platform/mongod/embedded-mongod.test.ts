import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { leakedNames, repliesToForgedMessages } from '../../../test/support/database/compressed-message-leak.ts'
import { mongodBinary } from '../../../test/support/database/test-mongod.ts'
import { until } from '../../../test/support/time/until.ts'
import { connectMongo } from '../database/mongo.ts'
import { silentLog } from '../observability/log.ts'
import { type EmbeddedMongod, embeddedFolder, startEmbeddedMongod } from './embedded-mongod.ts'
import { releaseIn, releaseOfData, showRelease } from './mongodb-release.ts'

// Each start may take a minute.
vi.setConfig({ testTimeout: 240_000 })

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pw-embedded-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

const binary = mongodBinary

async function start(dataDir: string): Promise<EmbeddedMongod> {
  const mongod = await startEmbeddedMongod(await binary(), dataDir, silentLog)
  onTestFinished(() => mongod.stop())
  return mongod
}

async function write(uri: string, _id: string): Promise<void> {
  const mongo = await connectMongo(uri, silentLog)
  await mongo.db.collection<{ _id: string }>('things').insertOne({ _id })
  await mongo.stop()
}

async function read(uri: string): Promise<string[]> {
  const mongo = await connectMongo(uri, silentLog)
  const documents = await mongo.db.collection<{ _id: string }>('things').find().sort({ _id: 1 }).toArray()
  await mongo.stop()
  return documents.map(thing => thing._id)
}

test('data is there again after a stop and a start', async () => {
  const dataDir = await folder()
  const first = await startEmbeddedMongod(await binary(), dataDir, silentLog)
  await write(first.uri, 'a')
  await first.stop()
  const second = await start(dataDir)
  expect(await read(second.uri)).toEqual(['a'])
})

test('refuses clients without the password', async () => {
  const mongod = await start(await folder())
  const anonymous = mongod.uri.replace(/\/\/[^@]+@/, '//')
  const mongo = await connectMongo(anonymous, silentLog)
  await expect(mongo.db.collection('things').insertOne({})).rejects.toThrow(/requires authentication/)
  await mongo.stop()
})

test('does not disclose memory to compressed messages with a wrong length (CVE-2025-14847)', async () => {
  const mongod = await start(await folder())
  const sizes = Array.from({ length: 100 }, (_, index) => 20 + index * 80)
  const answers = await repliesToForgedMessages(Number(new URL(mongod.uri).port), sizes)
  expect(leakedNames(answers)).toEqual([])
  expect(await read(mongod.uri)).toEqual([])
})

test('the release that the data needs is noted, and found where an earlier release of Postwright did not', async () => {
  const dataDir = await folder()
  expect(await releaseOfData(embeddedFolder(dataDir))).toBeUndefined()
  const mongod = await startEmbeddedMongod(await binary(), dataDir, silentLog)
  await mongod.stop()
  const { stdout } = await promisify(execFile)(await binary(), ['--version'])
  const release = releaseIn(stdout.replace(/^.*db version v/, ''))
  expect(await releaseOfData(embeddedFolder(dataDir))).toEqual(release)
  const path = join(dataDir, 'mongo/postwright.json')
  const { dataRelease, ...state } = JSON.parse(await readFile(path, 'utf8'))
  expect(dataRelease).toBe(release && showRelease(release))
  await writeFile(path, JSON.stringify(state))
  expect(await releaseOfData(embeddedFolder(dataDir))).toEqual(release)
})

test('the password and the data are readable by their owner only', async () => {
  const dataDir = await folder()
  await start(dataDir)
  const modes = await Promise.all(
    ['mongo', 'mongo/postwright.json', 'mongo/keyfile'].map(
      async name => (await stat(join(dataDir, name))).mode & 0o077,
    ),
  )
  expect(modes).toEqual([0, 0, 0])
})

test.each([
  ['cut off', '{"port":27'],
  ['empty', ''],
  ['something else', '[]'],
])('a state file that is %s is named and left alone: it held the only password of the data', async (_, text) => {
  const dataDir = await folder()
  await mkdir(join(dataDir, 'mongo'))
  const path = join(dataDir, 'mongo/postwright.json')
  await writeFile(path, text)
  await expect(startEmbeddedMongod(await binary(), dataDir, silentLog)).rejects.toThrow(`${path} cannot be read`)
  expect(await readFile(path, 'utf8')).toBe(text)
})

test('a crash while the state is written leaves the one before', async () => {
  const dataDir = await folder()
  const first = await startEmbeddedMongod(await binary(), dataDir, silentLog)
  await write(first.uri, 'a')
  await first.stop()
  await writeFile(join(dataDir, 'mongo/postwright.json.new'), '{"port":27')
  expect(await read((await start(dataDir)).uri)).toEqual(['a'])
})

test('a killed mongod is started again, with what was acknowledged', async () => {
  const mongod = await start(await folder())
  await write(mongod.uri, 'a')
  const before = mongod.pid()
  process.kill(before, 'SIGKILL')
  await until(() => mongod.pid() !== before, 120_000)
  expect(await read(mongod.uri)).toEqual(['a'])
})

test('the orphan of a killed Postwright is stopped and its data taken over', async () => {
  const dataDir = await folder()
  const script = `const { startEmbeddedMongod } = await import(${JSON.stringify(import.meta.resolve('./embedded-mongod.ts'))})
    const { silentLog } = await import(${JSON.stringify(import.meta.resolve('../observability/log.ts'))})
    process.stdout.write((await startEmbeddedMongod(${JSON.stringify(await binary())}, ${JSON.stringify(dataDir)}, silentLog)).uri)`
  const postwright = spawn(process.execPath, ['--input-type=module', '-e', script])
  const [uri] = await once(postwright.stdout, 'data')
  await write(String(uri), 'a')
  postwright.kill('SIGKILL')
  await once(postwright, 'exit')
  const orphan = JSON.parse(await readFile(join(dataDir, 'mongo/postwright.json'), 'utf8')).pid
  const next = await start(dataDir)
  // A zombie process has no command line.
  expect(await readFile(`/proc/${orphan}/cmdline`, 'utf8').catch(() => '')).toBe('')
  expect(await read(next.uri)).toEqual(['a'])
})

test('when the port of the last run is taken it moves to another one, with its data', async () => {
  const dataDir = await folder()
  const first = await startEmbeddedMongod(await binary(), dataDir, silentLog)
  await write(first.uri, 'a')
  await first.stop()
  const squatter = createServer().listen(Number(new URL(first.uri).port), '127.0.0.1')
  await once(squatter, 'listening')
  onTestFinished(() => void squatter.close())
  const next = await start(dataDir)
  expect(new URL(next.uri).port).not.toBe(new URL(first.uri).port)
  expect(await read(next.uri)).toEqual(['a'])
})

test.each([
  [
    'a script that fails like a full disk',
    'echo \'{"s":"E","msg":"WiredTiger error","attr":{"error":"No space left on device"}}\'; exit 100',
    /disk that holds .* is full/,
  ],
  [
    'a script that lacks a library',
    'echo "mongod: error while loading shared libraries: libssl.so.3: cannot open" >&2; exit 127',
    /libssl\.so\.3 is missing/,
  ],
  [
    'a script that finds newer data',
    'echo \'{"s":"F","msg":"UPGRADE PROBLEM"}\'; exit 62',
    /another version of MongoDB/,
  ],
])('the start reports the reason: %s', async (_, script, expected) => {
  const dataDir = await folder()
  const fake = join(dataDir, 'mongod')
  await writeFile(fake, `#!/bin/sh\n${script}\n`)
  await chmod(fake, 0o755)
  await expect(startEmbeddedMongod(fake, dataDir, silentLog)).rejects.toThrow(expected)
})

test('the found program is a real mongod', async () => {
  expect((await promisify(execFile)(await binary(), ['--version'])).stdout).toContain('db version v')
})
