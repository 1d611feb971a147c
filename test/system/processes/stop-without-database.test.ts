/** Every main exits within the time that the chart grants its pod, even if the database fails while it works. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import {
  giveCredential,
  giveDomain,
  giveToken,
  giveUser,
  PASSWORD,
} from '../../support/accounts/accounts-and-domains.ts'
import { freePort, startTestMongod } from '../../support/database/test-mongod.ts'
import { startScriptedServer } from '../../support/mail/scripted-server.ts'
import { converse } from '../../support/mail/smtp-conversation.ts'
import { startService } from '../../support/processes/service-process.ts'
import { until } from '../../support/time/until.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const MAINS = ['worker', 'smtp', 'send', 'panel', 'admin'] as const
type Main = (typeof MAINS)[number]

/**
 * The worker has the default 30 s of a pod and a margin for a slow machine; the others have the chart's 60 s minus the
 * pause before the signal.
 */
const PROMISED_MS: Record<Main, number> = { worker: 40_000, smtp: 55_000, send: 55_000, panel: 55_000, admin: 55_000 }

test.each([
  ['was killed', 'SIGKILL'],
  ['hangs', 'SIGSTOP'],
] as const)(
  'all processes exit in time when the database %s while mail and requests are in flight',
  async (_, signal) => {
    const folder = await mkdtemp(join(tmpdir(), 'pw-stop-'))
    const mongod = await startTestMongod()
    // Accepts a message and never replies to the dot.
    const relay = await startScriptedServer({ dot: '' })
    const uri = mongod.uri.replace('/?', '/stop?')
    const ports = {
      submission: await freePort(),
      send: await freePort(),
      panel: await freePort(),
      admin: await freePort(),
    }
    const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
    const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
    await writeFile(files.cert, cert)
    await writeFile(files.key, key)
    const env = {
      MAIL_HOSTNAME: 'mail.example.com',
      SESSION_SECRET: SECRET,
      MONGODB_URI: uri,
      METRICS_PORT: '0',
      DELIVERY_MODE: 'relay',
      RELAY_URL: `smtp://127.0.0.1:${relay.port}`,
      SUBMISSION_LISTEN: `${ports.submission}:tls`,
      SUBMISSION_TLS_CERT: files.cert,
      SUBMISSION_TLS_KEY: files.key,
      ADMIN_API_PORT: String(ports.admin),
    }
    const services = MAINS.map(main => {
      const port = main === 'send' || main === 'panel' ? ports[main] : 0
      return { main, process: startService(main, { ...env, APP_PORT: String(port) }) }
    })
    onTestFinished(async () => {
      for (const { process } of services) process.kill('SIGKILL')
      await relay.stop()
      await mongod.stop()
      await rm(folder, { recursive: true })
    })
    for (const { process } of services) await process.line('ready')

    const mongo = await connectMongo(uri, silentLog)
    const user = await giveUser(mongo.db)
    const domain = await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
    const dkim = await createDkimKey(createSecrets(SECRET), domain._id, 's1', 'ed25519-sha256', new Date())
    await mongo.db
      .collection('domains')
      .updateOne({ name: 'example.org' }, { $set: { dkim: [{ ...dkim, state: 'active' }] } })
    await giveCredential(mongo.db, user._id, 'app')
    const { value: token } = await giveToken(mongo.db, user._id)
    await mongo.stop()

    const send = () =>
      fetch(`http://127.0.0.1:${ports.send}/api/v1/emails`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: 'a@example.org', to: ['b@example.net'], subject: 'x', text: 'x' }),
      })
    expect((await send()).status).toBe(202)
    await until(() => relay.contents.length > 0, 60_000)
    const client = await converse(ports.submission, { tls: true })
    await client.reply()
    expect((await client.logIn('app', PASSWORD)).code).toBe(235)
    for (const line of ['MAIL FROM:<a@example.org>', 'RCPT TO:<b@example.net>', 'DATA']) await client.command(line)

    process.kill(mongod.pid, signal)
    client.write('From: a@example.org\r\nSubject: x\r\n\r\nx\r\n.\r\n')
    const logIn = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'a', password: PASSWORD }),
    }
    // The responses to these requests do not matter.
    for (const request of [
      send(),
      fetch(`http://127.0.0.1:${ports.panel}/api/v1/session`, logIn),
      fetch(`http://127.0.0.1:${ports.admin}/token`, logIn),
    ])
      request.catch(() => undefined)
    // A process that answers a later request has read the earlier ones.
    for (const port of [ports.send, ports.panel, ports.admin]) await fetch(`http://127.0.0.1:${port}/readyz`)
    await (await converse(ports.submission, { tls: true })).reply()

    const ends = await Promise.all(
      services.map(async ({ main, process }) => {
        const asked = performance.now()
        process.kill('SIGTERM')
        const code = await process.exited
        return { main, code, inTime: performance.now() - asked < PROMISED_MS[main] }
      }),
    )
    expect(ends).toEqual(MAINS.map(main => ({ main, code: 0, inTime: true })))
  },
  200_000,
)
