/**
 * Many MailDomains applied at once against Knot: time until all are written and all are Ready, requests and calls per
 * domain, CPU and memory; then what they cost at rest, and what a new operator costs that finds them all.
 * `node test/bench/operator.ts [domains] [observed]`; needs knotd and a mongod. Operator and worker are separate processes,
 * as in a cluster. `observed`: domains that are already verified in the database and whose records are only observed, which
 * omits keys and DNS: ten thousand at the start of an operator in minutes instead of an hour.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCache, type KubeObject } from '../../operator/kube/object-cache.ts'
import { listPath } from '../../operator/kube/object-paths.ts'
import { startReflector } from '../../operator/kube/reflector.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { ensureNamespaceAccount } from '../../services/accounts/namespace-account.ts'
import { guidance } from '../../services/mail/dns/records/guidance.ts'
import { createDkimKey } from '../../services/mail/domains/dkim-keys.ts'
import type { DomainDoc } from '../../services/mail/domains/store/domain-model.ts'
import { domains } from '../../services/mail/domains/store/domain-model.ts'
import { systemClock } from '../../services/platform/clock.ts'
import { collectionOf, connectMongo, ensureIndexes } from '../../services/platform/database/mongo.ts'
import { newId } from '../../services/platform/ids.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { createSecrets } from '../../services/platform/security/secrets.ts'
import { freePort, startTestMongod } from '../support/database/test-mongod.ts'
import { startDnsServer } from '../support/dns/authoritative-servers.ts'
import { startRecursor } from '../support/dns/recursor.ts'
import { type ApiServer, startApiServer } from '../support/kubernetes/apiserver.ts'
import { adminClient, ensureNamespace, installCrds, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import type { Seen } from '../support/kubernetes/operator-under-test.ts'
import { cpuMs, residentMiB, type ServiceProcess, startProgram } from '../support/processes/service-process.ts'
import { until } from '../support/time/until.ts'

const COUNT = Number(process.argv[2] ?? 200)
const MASTER = 'a master secret of more than thirty-two bytes'
const OBSERVED = process.argv[3] === 'observed'
const LIMIT_MS = 60 * 60_000
const IDLE_MS = 20_000
/** Concurrent creations, as by a GitOps tool. */
const PARALLEL = 20

const folder = await mkdtemp(join(tmpdir(), 'pw-bench-'))
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
  const env = await environment(server)
  const worker = startProgram('services/worker.ts', { ...env, METRICS_PORT: String(await freePort()) })
  parts.push(ending(worker))
  await worker.line('ready')
  // A running operator reconciles them as they are created; otherwise it finds them all at its start.
  let operator = OBSERVED ? undefined : await startOperator(env)

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
  const seen = watchDomains(namespace)
  parts.push(seen)
  const before = (await operator?.statistics()) ?? { cpu: 0, requests: 0, calls: 0, runs: 0 }
  const workerCpu = cpuMs(worker.pid)
  let started = performance.now()
  const dns = OBSERVED ? { managementPolicy: 'Observe' } : { managementPolicy: 'Manage', providerRef: { name: 'knot' } }
  let next = 0
  const applier = async () => {
    for (let i = next++; i < COUNT; i = next++)
      await post(
        listPath('maildomains', namespace),
        resource('MailDomain', `d${i}`, { domainName: `d${i}.many.test`, dns }),
      )
  }
  await Promise.all(Array.from({ length: PARALLEL }, applier))
  const applied = seconds(started)
  if (!operator) {
    await seedRecords(namespace)
    started = performance.now()
    operator = await startOperator(env)
  }
  await until(() => seen.count('DNSSynced') === COUNT, LIMIT_MS)
  const written = seconds(started)
  const calls = (await operator.statistics()).calls - before.calls
  await until(() => seen.count('Ready') === COUNT, LIMIT_MS)
  const ready = seconds(started)
  const after = await operator.statistics()
  console.log(OBSERVED ? 'found at the start' : 'applied at once', {
    domains: COUNT,
    secondsUntilApplied: applied,
    secondsUntilAllWritten: written,
    secondsUntilAllReady: ready,
    operatorCpuMsPerDomain: round((after.cpu - before.cpu) / COUNT),
    workerCpuMsPerDomain: round((cpuMs(worker.pid) - workerCpu) / COUNT),
    apiRequestsPerDomain: round((after.requests - before.requests) / COUNT),
    providerCallsPerDomain: round(calls / COUNT),
    reconciliationsPerDomain: round((after.runs - before.runs) / COUNT),
    residentMiB: after.mib,
  })
  console.log('at rest', await atRest(operator))
  await operator.stop()

  const begun = performance.now()
  const fresh = await startOperator(env)
  const synced = seconds(begun)
  await until(async () => {
    await sleep(200)
    const { runs, waiting } = await fresh.statistics()
    return runs >= COUNT && waiting === 0
  }, LIMIT_MS)
  const found = await fresh.statistics()
  console.log('a new operator that finds them', {
    secondsUntilReadyz: synced,
    secondsUntilAllLookedAt: seconds(begun),
    cpuMsPerDomain: round(found.cpu / COUNT),
    apiRequests: found.requests,
    providerCalls: found.calls,
    residentMiB: found.mib,
  })
  console.log('at rest', await atRest(fresh))
  await fresh.stop()
} finally {
  for (const part of parts.toReversed()) await part.stop()
  await admin.close()
  await rm(folder, { recursive: true, force: true })
}

/** Records of the domains as a worker leaves them when they are healthy; all share one unused key. */
async function seedRecords(namespace: string): Promise<void> {
  const mongo = await connectMongo(mongod.uri, silentLog, { dbName: 'postwright' })
  const now = new Date()
  const account = await ensureNamespaceAccount({ mongo, clock: systemClock }, `k8s-${namespace}`, namespace)
  const key = await createDkimKey(createSecrets(MASTER), 'bench', 'pw202611a', 'rsa-sha256', now)
  const path = listPath('maildomains', namespace)
  const { items } = await admin.request<{ items: Seen[] }>({ method: 'GET', path })
  const documents = items.map(({ metadata: { name, uid }, spec }, index): DomainDoc => {
    const domain: DomainDoc = {
      _id: newId('dom', now.getTime() + index),
      user_id: account._id,
      name: String(spec.domainName),
      status: 'verified',
      verified_at: now,
      verified_by: 'dns',
      verification_token: 'token',
      dkim: [{ ...key, state: 'active' }],
      managed_by: { kind: 'MailDomain', namespace, name, uid },
      next_check_at: new Date(now.getTime() + 3_600_000),
      created_at: now,
      updated_at: now,
    }
    const rows = guidance(domain, { hostname: 'mail.sender.test', addresses: ['192.0.2.25'], spfMechanisms: [] })
    const records = rows.map(({ id: row, value }) => ({
      row,
      status: 'verified' as const,
      observed: [value],
      errors: [],
      warnings: [],
      instructions: [],
    }))
    return { ...domain, check: { at: now, attempts: 0, failures: 0, records, errors: [] } }
  })
  await ensureIndexes(mongo.db, [domains])
  await collectionOf(mongo.db, domains).insertMany(documents)
  await mongo.stop()
}

async function environment(api: ApiServer): Promise<Record<string, string>> {
  return {
    KUBECONFIG: await writeKubeconfig(folder, api, api.admin),
    OPERATOR_NAMESPACE: 'postwright',
    MONGODB_URI: mongod.uri,
    MAIL_HOSTNAME: 'mail.sender.test',
    SENDING_IP: '192.0.2.25',
    SESSION_SECRET: MASTER,
    DNS_SERVERS: recursor.address,
    DNS_PORT: String(knot.port),
    DNS_ALLOW_PRIVATE: 'true',
    LOG_LEVEL: 'info',
  }
}

function ending(child: ServiceProcess) {
  return {
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

async function startOperator(env: Record<string, string>) {
  const port = await freePort()
  const child = startProgram('operator/main.ts', { ...env, METRICS_PORT: String(port) })
  const part = ending(child)
  parts.push(part)
  await until(async () => {
    await sleep(20)
    return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok ?? false
  }, 60_000)
  return {
    stop: part.stop,
    async statistics() {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const sum = (name: string, label = '') =>
        text
          .split('\n')
          .filter(line => line.startsWith(`${name}{`) && line.includes(label))
          .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
      return {
        cpu: cpuMs(child.pid),
        mib: Math.round(residentMiB(child.pid)),
        requests: sum('rest_client_requests_total'),
        calls: sum('postwright_dns_provider_calls_total'),
        runs: sum('controller_runtime_reconcile_total', 'controller="maildomain"'),
        waiting: sum('workqueue_depth') + sum('controller_runtime_active_workers'),
      }
    },
  }
}

async function atRest(operator: Awaited<ReturnType<typeof startOperator>>) {
  const before = (await operator?.statistics()) ?? { cpu: 0, requests: 0, calls: 0, runs: 0 }
  await sleep(IDLE_MS)
  const after = await operator.statistics()
  return {
    cpuPercent: round((after.cpu - before.cpu) / (IDLE_MS / 100), 100),
    apiRequestsPerMinute: Math.round(((after.requests - before.requests) * 60_000) / IDLE_MS),
    providerCallsPerMinute: Math.round(((after.calls - before.calls) * 60_000) / IDLE_MS),
    residentMiB: after.mib,
  }
}

/** Counts conditions by a watch, which costs the API server almost nothing. */
function watchDomains(namespace: string) {
  const cache = createCache(error => console.error(error))
  const reached = new Map<string, Set<string>>()
  cache.onChange(({ key, after }) => {
    for (const { type, status } of (after as (KubeObject & Seen) | undefined)?.status?.conditions ?? []) {
      const keys = reached.get(type) ?? new Set()
      reached.set(type, keys)
      if (status === 'True') keys.add(key)
      else keys.delete(key)
    }
  })
  const reflector = startReflector({
    client: admin,
    path: listPath('maildomains', namespace),
    cache,
    scope: namespace,
    name: 'MailDomain',
    log: silentLog,
    metrics: createMetrics('bench').operator,
  })
  return { count: (type: string) => reached.get(type)?.size ?? 0, stop: () => reflector.stop() }
}

function seconds(since: number): number {
  return round((performance.now() - since) / 1000)
}

function round(value: number, parts = 10): number {
  return Math.round(value * parts) / parts
}
