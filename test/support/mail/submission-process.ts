/** The SMTP main as a separate process with a separate mongod, both of which may be killed. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectMongo, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { giveCredential, giveDomain, giveUser } from '../accounts/accounts-and-domains.ts'
import { freePort, startTestMongod, type TestMongod } from '../database/test-mongod.ts'
import { type ServiceProcess, type StartOptions, startService } from '../processes/service-process.ts'

/** The user name of the only login; its password is PASSWORD of accounts/accounts-and-domains.ts. */
export const LOGIN_NAME = 'load'

/** A mongod, and a process of the SMTP main that uses it. */
export interface SubmissionProcess {
  mongod: TestMongod
  mongo: Mongo
  /** Port with implicit TLS; unchanged after a restart. */
  port: number
  /** The current process. */
  readonly service: ServiceProcess
  /** Starts the main again after the previous process has ended. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts both, with an account that may send as `@example.org`. */
export async function startSubmissionProcess(
  env: Record<string, string> = {},
  options: StartOptions = {},
): Promise<SubmissionProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'pw-smtp-'))
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
  const user = await giveUser(mongo.db)
  await giveDomain(mongo.db, user._id, 'example.org', { status: 'verified', verified_by: 'admin' })
  await giveCredential(mongo.db, user._id, LOGIN_NAME)
  const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  await writeFile(files.cert, cert)
  await writeFile(files.key, key)
  const port = await freePort()
  const settings = {
    MAIL_HOSTNAME: 'mail.example.com',
    SESSION_SECRET: randomBytes(32).toString('hex'),
    MONGODB_URI: mongod.uri,
    SUBMISSION_LISTEN: `${port}:tls`,
    SUBMISSION_TLS_CERT: files.cert,
    SUBMISSION_TLS_KEY: files.key,
    METRICS_PORT: '0',
    ...env,
  }
  let service = startService('smtp', settings, options)
  await service.line('ready')
  return {
    mongod,
    mongo,
    port,
    get service() {
      return service
    },
    async restart() {
      await service.exited
      service = startService('smtp', settings, options)
      await service.line('ready')
    },
    async stop() {
      service.kill('SIGKILL')
      await service.exited
      await mongo.stop()
      await mongod.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
