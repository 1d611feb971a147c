/** Starts mongod, the SMTP process and a worker that relays to the sink, with one login and one domain that may send. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { importDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { connectMongo, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { SAFE_FLAGS } from '../../../services/platform/mongod/embedded-mongod.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { giveCredential, giveDomain, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { IMAGE_FLAGS } from '../../support/processes/image-flags.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const need = (name: string) => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is missing: the comparison sets it`)
  return value
}
const [folder, mongoPort, port] = [need('BENCH_RUN'), need('BENCH_PORT1'), need('BENCH_PORT')]
const uri = `mongodb://127.0.0.1:${mongoPort}/postwright?replicaSet=bench`
const secret = randomBytes(32).toString('hex')

const data = join(folder, 'db')
mkdirSync(data, { recursive: true })
const flags = ['--replSet', 'bench', '--port', mongoPort, '--bind_ip', '127.0.0.1', '--dbpath', data]
const children = [
  spawn(join(need('BENCH_ENGINES'), 'mongod', 'mongod'), [...flags, '--wiredTigerCacheSizeGB', '1', ...SAFE_FLAGS], {
    stdio: 'ignore',
  }),
]
process.on('SIGTERM', () => {
  for (const child of children) child.kill('SIGTERM')
  process.exit(0)
})

const direct = await mongoose
  .createConnection(`mongodb://127.0.0.1:${mongoPort}/admin?directConnection=true`, {
    serverSelectionTimeoutMS: 30_000,
  })
  .asPromise()
const members = [{ _id: 0, host: `127.0.0.1:${mongoPort}` }]
await direct.db?.admin().command({ replSetInitiate: { _id: 'bench', members } })
await direct.close()
const mongo = await connectMongo(uri, silentLog)
await ensureIndexes(mongo.db, deliveryCollections)
const user = await giveUser(mongo.db)
await giveCredential(mongo.db, user._id, 'bench')
const name = process.env.BENCH_DKIM_DOMAIN ?? 'sender.test'
const domain = await giveDomain(mongo.db, user._id, name, { status: 'verified', verified_by: 'admin' })
const pem = readFileSync(need('BENCH_DKIM_KEY'), 'utf8')
const key = importDkimKey(createSecrets(secret), domain._id, process.env.BENCH_DKIM_SELECTOR ?? 's1', pem, new Date())
await mongo.db.collection('domains').updateOne({ name }, { $set: { dkim: [{ ...key, state: 'active' }] } })
await mongo.stop()

const { cert, key: certKey } = await makeCertificate(['127.0.0.1'], 1, new Date())
writeFileSync(join(folder, 'tls.crt'), cert)
writeFileSync(join(folder, 'tls.key'), certKey)
const env = {
  PATH: process.env.PATH ?? '',
  MAIL_HOSTNAME: 'mail.bench.example',
  SESSION_SECRET: secret,
  MONGODB_URI: uri,
  SUBMISSION_LISTEN: `127.0.0.1:${port}:starttls`,
  SUBMISSION_TLS_CERT: join(folder, 'tls.crt'),
  SUBMISSION_TLS_KEY: join(folder, 'tls.key'),
  DELIVERY_MODE: 'relay',
  RELAY_URL: `smtp://${need('BENCH_SINK_HOST')}:${need('BENCH_SINK_PORT')}`,
  METRICS_PORT: '0',
  LOG_LEVEL: 'info',
}
for (const service of ['worker', 'smtp']) {
  const args = [...IMAGE_FLAGS, join(root, 'services', `${service}.ts`)]
  children.push(spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] }))
}
