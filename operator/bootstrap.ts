/** Entry point of the chart's Job: creates the Secrets that an installation needs; changes only its self-signed certificate. */

import { createMetrics } from '../services/platform/observability/metrics.ts'
import { createSecretOnce } from './bootstrap/create-secret.ts'
import { keepCertificate } from './bootstrap/keep-certificate.ts'
import { neededSecrets } from './bootstrap/secret-values.ts'
import { createKubeClient, defaultLogin } from './kube/client.ts'

const { NAMESPACE = '', SECRET_NAME = '', TLS_SECRET_NAME = '', TLS_HOSTS = '', MONGODB_HOST = '' } = process.env
if (!NAMESPACE) {
  process.stderr.write('NAMESPACE is missing\n')
  process.exit(78)
}

const client = createKubeClient(defaultLogin, createMetrics('bootstrap').operator)
try {
  if (SECRET_NAME) await once(SECRET_NAME, 'Opaque', neededSecrets(MONGODB_HOST))
  if (TLS_SECRET_NAME) await certificate(TLS_SECRET_NAME, TLS_HOSTS.split(',').filter(Boolean))
} finally {
  await client.close()
}

async function certificate(name: string, hosts: readonly string[]): Promise<void> {
  const kept = await keepCertificate(client, { namespace: NAMESPACE, name }, hosts, new Date())
  switch (kept.state) {
    case 'created':
    case 'kept':
      return report(name, kept.state === 'created')
    case 'renewed':
      process.stdout.write(
        `Secret ${name} has a new certificate: the old one ${kept.reason === 'hosts' ? `did not cover ${hosts.join(', ')}` : 'was about to expire'}\n`,
      )
      return
    case 'foreign':
      process.stderr.write(
        `Secret ${name} holds a certificate that was not made here and does not cover ${kept.uncovered.join(', ')}: clients that check it by these names refuse it; replace it, or delete the Secret\n`,
      )
  }
}

async function once(name: string, type: string, data: Record<string, string>): Promise<void> {
  const { created, missing } = await createSecretOnce(client, { namespace: NAMESPACE, name }, type, data)
  report(name, created)
  if (missing.length === 0) return
  process.stderr.write(
    `Secret ${name} lacks ${missing.join(', ')}: add what is missing; it is not changed from here, because it may hold keys that stored data needs\n`,
  )
  process.exitCode = 1
}

function report(name: string, created: boolean): void {
  process.stdout.write(`Secret ${name} ${created ? 'created' : 'is there and stays as it is'}\n`)
}
