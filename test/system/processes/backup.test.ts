/** The backup of docs/install.md on one machine: lock writes, copy the files, and start from the copy. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { expect, onTestFinished, test } from 'vitest'
import { runningEmbeddedUri } from '../../../services/platform/mongod/embedded-mongod.ts'
import { type Postwright, startPostwright, trialSettings } from '../../support/processes/postwright-process.ts'
import { until } from '../../support/time/until.ts'

test('a copy of the files of a running database starts elsewhere with everything that was accepted before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pw-backup-'))
  const [original, copy] = [join(folder, 'original'), join(folder, 'copy')]
  const running: Postwright[] = []
  onTestFinished(async () => {
    for (const { process, end } of running) if (process.exitCode === null) await end('SIGTERM')
    await rm(folder, { recursive: true })
  })
  const start = async (dataDir: string) => {
    const postwright = startPostwright(await trialSettings(dataDir))
    running.push(postwright)
    await postwright.printed('"msg":"ready"')
    return postwright
  }
  const first = await start(original)
  const password = /admin {3}admin \/ (\S+)/.exec(first.output())?.[1] ?? ''
  const admin = await logIn(first, password)
  const sender = (await admin('GET', '/domains')).data[0] as { name: string }
  const made = await admin('POST', '/smtp-credentials', { username: 'kept', password: 'a password to be kept' })
  await sendAs(admin, `hello@${sender.name}`, 'before the backup')

  const connection = await mongoose.createConnection((await runningEmbeddedUri(original)) ?? '').asPromise()
  await connection.db?.admin().command({ fsync: 1, lock: true })
  await cp(original, copy, { recursive: true })
  await connection.db?.admin().command({ fsyncUnlock: 1 })
  await connection.close()
  await sendAs(admin, `hello@${sender.name}`, 'after the backup')
  expect(await first.end('SIGTERM')).toBe(0)
  await rm(original, { recursive: true })

  const restored = await logIn(await start(copy), password)
  const subjects = async () => (await restored('GET', '/inbox')).data.map(({ subject }) => subject)
  // What was accepted but not delivered at the time of the copy is delivered now.
  await until(async () => (await subjects()).includes('before the backup'), 60_000)
  expect(await subjects()).not.toContain('after the backup')
  // Can be decrypted only with the same SESSION_SECRET, which the folder contains as well.
  expect(await restored('GET', `/smtp-credentials/${made.id}/password`)).toMatchObject({
    password: 'a password to be kept',
  })
}, 400_000)

interface Body extends Record<string, unknown> {
  data: Record<string, unknown>[]
}
type Api = (method: string, path: string, body?: object) => Promise<Body>

/** Calls the mail API with the admin's session. */
async function logIn({ env }: Postwright, password: string): Promise<Api> {
  let cookie = ''
  const call: Api = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${env.APP_PORT}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-csrf': '1', cookie },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    expect([answer.status, method, path]).toEqual([answer.ok ? answer.status : 'a good answer', method, path])
    cookie ||= (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    return (await answer.json()) as Body
  }
  await call('POST', '/session', { username: 'admin', password })
  return call
}

function sendAs(api: Api, from: string, subject: string): Promise<Body> {
  return api('POST', '/emails', { from, to: ['you@example.net'], subject, text: subject })
}
