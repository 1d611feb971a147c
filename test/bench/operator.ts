/**
 * Many MailDomains at once against Knot: time until all records are written, requests and calls per domain, memory, and
 * what a settled operator costs. `KUBEBUILDER_ASSETS=… node test/bench/operator.ts [domains]`; needs knotd and a mongod.
 */
import { createKubeClient, tokenLogin } from '../../operator/kube/client.ts'
import { listPath } from '../../operator/kube/paths.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { startOperator } from '../../operator/start.ts'
import { systemClock } from '../../services/platform/clock.ts'
import { readConfig } from '../../services/platform/config.ts'
import { silentLog } from '../../services/platform/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { connectMongo } from '../../services/platform/mongo.ts'
import { createSecrets } from '../../services/platform/secrets.ts'
import { startApiServer } from '../support/apiserver.ts'
import { startRecursor } from '../support/dns-recursor.ts'
import { startDnsServer } from '../support/dns-servers.ts'
import { adminClient, ensureNamespace, installCrds, newNamespace } from '../support/kube.ts'
import { startTestMongod } from '../support/mongod.ts'
import type { Seen } from '../support/operator.ts'
import { until } from '../support/until.ts'

const COUNT = Number(process.argv[2] ?? 200)
const MASTER = 'a master secret of more than thirty-two bytes'
const LIMIT_MS = 30 * 60_000
const IDLE_MS = 10_000

const server = await startApiServer(line => console.error(line))
const mongod = await startTestMongod()
const knot = await startDnsServer('knot', [{ name: 'many.test' }])
// Names outside of the zone must not exist, rather than be refused, as in the real DNS.
const recursor = await startRecursor([{ name: 'many.test', port: knot.port }])
const admin = adminClient(server)
const parts: { stop(): Promise<void> }[] = [server, mongod, knot, recursor]
try {
  await installCrds(admin)
  const namespace = await newNamespace(admin)
  await ensureNamespace(admin, 'postwright')
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'bench' })
  const metrics = createMetrics('operator')
  const config = readConfig({
    MAIL_HOSTNAME: 'mail.sender.test',
    SENDING_IP: '192.0.2.25',
    SESSION_SECRET: MASTER,
    DNS_SERVERS: recursor.address,
    DNS_PORT: String(knot.port),
    DNS_ALLOW_PRIVATE: 'true',
  })
  const post = (path: string, body: object) => admin.request({ method: 'POST', path, body })
  const resource = (kind: string, name: string, spec: object) => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name },
    spec,
  })
  await post(`/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'dns' },
    stringData: { key_secret: knot.key.secret },
  })
  const rfc2136 = { server: `127.0.0.1:${knot.port}`, zone: 'many.test', keyName: knot.key.name }
  await post(
    listPath('dnsproviders', namespace),
    resource('DNSProvider', 'knot', { type: 'rfc2136', secretRef: { name: 'dns' }, rfc2136 }),
  )
  const dns = { managementPolicy: 'Manage', providerRef: { name: 'knot' } }
  for (let i = 0; i < COUNT; i++)
    await post(
      listPath('maildomains', namespace),
      resource('MailDomain', `d${i}`, { domainName: `d${i}.many.test`, dns }),
    )

  const cpu = process.cpuUsage()
  const started = performance.now()
  const operator = await startOperator(
    { config, log: silentLog, metrics, mongo, secrets: createSecrets(MASTER), clock: systemClock },
    {
      client: createKubeClient(() => tokenLogin(server.url, server.ca, server.admin), metrics.operator),
      namespace: 'postwright',
      identity: 'bench',
      watchNamespaces: [],
      onLost: () => console.error('leadership lost'),
    },
  )
  parts.push(operator)
  const written = async () => {
    const { items } = await admin.request<{ items: Seen[] }>({
      method: 'GET',
      path: listPath('maildomains', namespace),
    })
    return items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'DNSSynced' && is === 'True'),
    ).length
  }
  let last = 0
  await until(async () => {
    await new Promise(resolve => setTimeout(resolve, 500))
    last = await written()
    return last === COUNT
  }, LIMIT_MS)
  const seconds = (performance.now() - started) / 1000
  const used = process.cpuUsage(cpu)
  const sum = async (metric: { get(): Promise<{ values: { value: number }[] }> }) =>
    (await metric.get()).values.reduce((total, { value }) => total + value, 0)
  const requests = await sum(metrics.operator.kubeRequests)
  const calls = await sum(metrics.dnsProviderCalls)
  const idle = process.cpuUsage()
  await new Promise(resolve => setTimeout(resolve, IDLE_MS))
  const idleUsed = process.cpuUsage(idle)
  const later = await sum(metrics.operator.kubeRequests)
  console.log({
    domains: COUNT,
    secondsUntilAllWritten: Number(seconds.toFixed(1)),
    domainsPerSecond: Number((COUNT / seconds).toFixed(1)),
    cpuMillisecondsPerDomain: Math.round((used.user + used.system) / 1000 / COUNT),
    apiRequestsPerDomain: Number((requests / COUNT).toFixed(1)),
    providerCallsPerDomain: Number((calls / COUNT).toFixed(1)),
    residentMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
    heapMiB: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
    idleCpuPercent: Number(((idleUsed.user + idleUsed.system) / 10 / IDLE_MS).toFixed(2)),
    idleApiRequestsPerMinute: Math.round(((later - requests) * 60_000) / IDLE_MS),
  })
  await operator.stop()
  parts.pop()
  await mongo.stop()
} finally {
  await admin.close()
  for (const part of parts.toReversed()) await part.stop()
}
