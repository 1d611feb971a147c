/** Entry point of the chart's create-once Job: creates the Secrets that an installation needs and never changes one. */

import { createMetrics } from '../services/platform/observability/metrics.ts'
import { makeCertificate } from '../services/platform/security/self-signed-certificate.ts'
import { createSecretOnce } from './bootstrap/create-secret.ts'
import { neededSecrets } from './bootstrap/secret-values.ts'
import { createKubeClient, defaultLogin } from './kube/client.ts'

const { NAMESPACE = '', SECRET_NAME = '', TLS_SECRET_NAME = '', TLS_HOSTS = '', MONGODB_HOST = '' } = process.env
if (!NAMESPACE) {
  process.stderr.write('NAMESPACE is missing\n')
  process.exit(78)
}
const CERTIFICATE_DAYS = 825

const client = createKubeClient(defaultLogin, createMetrics('bootstrap').operator)
try {
  if (SECRET_NAME) await once(SECRET_NAME, 'Opaque', neededSecrets(MONGODB_HOST))
  if (TLS_SECRET_NAME) {
    const { cert, key } = await makeCertificate(TLS_HOSTS.split(',').filter(Boolean), CERTIFICATE_DAYS, new Date())
    await once(TLS_SECRET_NAME, 'kubernetes.io/tls', { 'tls.crt': cert, 'tls.key': key })
  }
} finally {
  await client.close()
}

async function once(name: string, type: string, data: Record<string, string>): Promise<void> {
  const { created, missing } = await createSecretOnce(client, { namespace: NAMESPACE, name }, type, data)
  process.stdout.write(`Secret ${name} ${created ? 'created' : 'is there and stays as it is'}\n`)
  if (missing.length === 0) return
  process.stderr.write(
    `Secret ${name} lacks ${missing.join(', ')}: add what is missing; it is not changed from here, because it may hold keys that stored data needs\n`,
  )
  process.exitCode = 1
}
