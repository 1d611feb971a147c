/** `npm run dev` from start to stop: restart on a change, persistent database, panel from its sources. */
import { mkdtemp, readFile, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRunning } from '../services/platform/mongod/is-process-running.ts'
import { type Postwright, startPostwright, trialSettings } from '../test/support/processes/postwright-process.ts'
import { until } from '../test/support/time/until.ts'

const READY = '"msg":"ready"'
let dataDir: string
let dev: Postwright
let panel: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pw-dev-'))
  dev = startPostwright(await trialSettings(dataDir), 'scripts/dev.ts')
  await dev.printed(READY)
  panel = /panel {3}(\S+)/.exec(dev.output())?.[1] ?? ''
  // Longer than `printed` waits, which reports the output.
}, 200_000)
afterAll(async () => {
  if (dev?.process.exitCode === null) await dev.end('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})

const mongodPid = async () => JSON.parse(await readFile(join(dataDir, 'mongo/postwright.json'), 'utf8')).pid as number

test.each([
  ['/', 200, /\/@vite\/client/],
  ['/domains', 200, /\/@vite\/client/],
  ['/api/operations.ts', 200, /export/],
  ['/api/v1/session', 401, /"code":/],
  ['/openapi.json', 200, /"openapi":/],
  ['/docs', 200, /<title>Postwright mail API/],
])('GET %s at the panel address returns %i', async (path, status, body) => {
  const answer = await fetch(`${panel}${path}`, { headers: { accept: 'text/html,*/*' } })
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(body)])
})

test('a changed source restarts the service and keeps the database running', async () => {
  const pid = await mongodPid()
  const now = new Date()
  await utimes('services/platform/version.ts', now, now)
  await until(() => dev.output().split(READY).length > 2, 150_000)
  expect(await mongodPid()).toBe(pid)
  expect((await fetch(`${panel}/api/v1/session`)).status).toBe(401)
}, 180_000)

test('a signal stops the service and the database', async () => {
  const pid = await mongodPid()
  expect(await dev.end('SIGTERM')).toBe(0)
  expect(dev.output()).toContain('"msg":"stopped"')
  expect(await isRunning(pid)).toBe(false)
}, 120_000)
