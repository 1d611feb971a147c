/** A complete operator on the shared API server: rights of rbac.ts only, its own database. */
import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { type OperatorOptions, startOperator } from '../../../operator/controller/start-operator.ts'
import { type KubeClient, KubeError } from '../../../operator/kube/client.ts'
import type { KubeObject } from '../../../operator/kube/object-cache.ts'
import { listPath, secretsPath } from '../../../operator/kube/object-paths.ts'
import type { SecretObject } from '../../../operator/kube/object-writer.ts'
import { rbacObjects } from '../../../operator/rbac.ts'
import { API_VERSION, type Condition } from '../../../operator/resources/kind.ts'
import { kinds } from '../../../operator/resources/kinds.ts'
import { connectMongo, type Mongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { createMetrics } from '../../../services/platform/observability/metrics.ts'
import { type Config, readConfig } from '../../../services/platform/process/config.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'
import type { Running } from '../../../services/platform/running.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { runningClock, type TestClock } from '../time/test-clock.ts'
import { until } from '../time/until.ts'
import type { ApiServerAccess } from './apiserver.ts'
import { adminClient, applyRbac, clientFor, ensureNamespace, newNamespace } from './clients-and-crds.ts'

/** A resource, as tests read it. */
export interface Seen extends KubeObject {
  spec: Record<string, unknown>
  status?: Record<string, unknown> & { conditions?: Condition[]; observedGeneration?: number }
}

/** A running operator and the actions of an administrator. */
export interface OperatorUnderTest {
  namespace: string
  admin: KubeClient
  mongo: Mongo
  foundation: Foundation
  clock: TestClock
  running: Running
  /** Creates or changes a resource, as `kubectl apply` does. */
  apply(kind: string, name: string, spec: object, metadata?: object, namespace?: string): Promise<Seen>
  get(kind: string, name: string, namespace?: string): Promise<Seen | undefined>
  remove(kind: string, name: string, namespace?: string): Promise<void>
  /** Deletes a resource and waits until its finalizers are removed. */
  removeAndWait(kind: string, name: string, namespace?: string): Promise<void>
  /** Lists on the namespace which accounts and keys its resources may name; null removes the list. */
  allowOwners(owners: string | null, namespace?: string): Promise<void>
  /** Writes a healthy status, as a user with all rights on a namespace's resources can. */
  forgeStatus(kind: string, name: string, status: object, namespace?: string): Promise<void>
  /** Waits until the condition has this status for the current generation, and returns the resource. */
  condition(kind: string, name: string, type: string, status: string, namespace?: string): Promise<Seen>
  secret(name: string, namespace?: string): Promise<Record<string, string> | undefined>
  /** Reasons of the events about a resource. */
  events(name: string, namespace?: string): Promise<string[]>
  /** Starts another operator with the same database and namespaces. */
  another(options?: Partial<OperatorOptions>, change?: Partial<Foundation>): Promise<Running>
}

/** Differences from the default operator. */
export interface UnderTestOptions {
  server: ApiServerAccess
  mongoUri: string
  config?: Record<string, string>
  /** Watch all namespaces with a ClusterRole instead of one with a Role. Throws on the shared API server. */
  allNamespaces?: boolean
  /** Further namespaces, created by the test. */
  namespaces?: readonly string[]
  /** Client of the operator; by default its service account's. */
  client?: (token: string) => KubeClient
  /** Rights on DNSEndpoint objects. */
  dnsEndpoints?: boolean
  options?: Partial<OperatorOptions>
}

const SECRET = 'a master secret of more than thirty-two bytes'
const USER = 'system:serviceaccount:postwright:operator'
/** Long: an operator that a busy machine delays must not lose its lease, after which it does nothing more. */
const TIMES = { durationMs: 60_000, renewDeadlineMs: 45_000, retryMs: 100 }

/** Starts an operator for the current test; everything is stopped with the test. */
export async function operatorUnderTest(given: UnderTestOptions): Promise<OperatorUnderTest> {
  const { server } = given
  // On the shared one it would also write the status of resources of other tests.
  if (given.allNamespaces && !('stop' in server))
    throw new Error('an operator of all namespaces needs an API server that the test started')
  const admin = adminClient(server)
  const namespace = await newNamespace(admin)
  const own = `${namespace}-operator`
  await ensureNamespace(admin, own)
  const mongo = await connectMongo(given.mongoUri, silentLog, { dbName: `o_${randomBytes(8).toString('hex')}` })
  const watched = [namespace, ...(given.namespaces ?? [])]
  const target = { namespace: 'postwright', serviceAccount: 'operator', name: `op-${namespace}` }
  const { dnsEndpoints = false } = given
  const roles = rbacObjects({ ...target, dnsEndpoints, watchNamespaces: given.allNamespaces ? [] : watched })
  const withdrawRights = await applyRbac(
    admin,
    roles.map(role => inNamespace(role, 'postwright', own)),
  )
  // It advances: a retry whose timer has fired must also find that its time has come.
  const clock = runningClock()
  const foundation: Foundation = {
    config: testConfig(given.config),
    log: silentLog,
    metrics: createMetrics('operator'),
    mongo,
    secrets: createSecrets(SECRET),
    clock,
  }
  const started: Running[] = []
  const another: OperatorUnderTest['another'] = async (options = {}, change = {}) => {
    const token = server.tokens[USER] ?? ''
    const part = await startOperator(
      { ...foundation, ...change },
      {
        client: given.client?.(token) ?? clientFor(server, token),
        namespace: own,
        identity: randomBytes(4).toString('hex'),
        watchNamespaces: given.allNamespaces ? [] : watched,
        onLost: () => undefined,
        leaseTimes: TIMES,
        ...given.options,
        ...options,
      },
    )
    started.push(part)
    return part
  }
  onTestFinished(async () => {
    for (const part of started) await part.stop()
    await withdrawRights()
    await mongo.db.dropDatabase()
    await mongo.stop()
    await admin.close()
  })
  const running = await another()
  return { namespace, admin, mongo, foundation, clock, running, another, ...administratorActions(admin, namespace) }
}

/** Waits until new resources are younger: the API server stores seconds. */
export function untilYounger({ metadata }: Seen): Promise<void> {
  return until(() => Date.now() >= Date.parse(metadata.creationTimestamp) + 1_000)
}

/** The leader's role is in the operator's own namespace, which differs in each test. */
function inNamespace(role: object, from: string, to: string): object {
  const text = JSON.stringify(role)
  const { metadata } = role as { metadata: { namespace?: string } }
  if (metadata.namespace !== from) return role
  return { ...(JSON.parse(text) as object), metadata: { ...metadata, namespace: to } }
}

/** A configuration for tests. */
function testConfig(more: Record<string, string> = {}): Config {
  return readConfig({
    MAIL_HOSTNAME: 'mail.postwright.test',
    SENDING_IP: '192.0.2.25',
    SESSION_SECRET: SECRET,
    SUBMISSION_CLUSTER_HOST: 'postwright-smtp.postwright.svc',
    SEND_CLUSTER_URL: 'http://postwright-send.postwright.svc',
    APP_BASE_URL: 'https://mail.postwright.test',
    ...more,
  })
}

function placeOf(kind: string, namespace: string): { namespace?: string } {
  return kinds.find(candidate => candidate.kind === kind)?.scope === 'Cluster' ? {} : { namespace }
}

/** What an administrator does with kubectl. */
function administratorActions(admin: KubeClient, home: string) {
  const path = (kind: string, namespace = home, name = '') => {
    const found = kinds.find(candidate => candidate.kind === kind)
    const place = found?.scope === 'Cluster' ? undefined : namespace
    return `${listPath(found?.plural ?? `unknown kind ${kind}`, place)}${name ? `/${name}` : ''}`
  }
  const maybe = <T>(promise: Promise<T>): Promise<T | undefined> =>
    promise.catch((error: unknown) => {
      if (error instanceof KubeError && error.status === 404) return undefined
      throw error
    })
  const get = (kind: string, name: string, namespace = home) =>
    maybe(admin.request<Seen>({ method: 'GET', path: path(kind, namespace, name) }))
  const remove = async (kind: string, name: string, namespace = home) => {
    await admin.request({ method: 'DELETE', path: path(kind, namespace, name) })
  }
  return {
    apply: (kind: string, name: string, spec: object, metadata: object = {}, namespace = home) =>
      admin.request<Seen>({
        method: 'PATCH',
        path: path(kind, namespace, name),
        query: { fieldManager: 'kubectl', force: true },
        body: { apiVersion: API_VERSION, kind, metadata: { name, ...placeOf(kind, namespace), ...metadata }, spec },
        patch: 'apply',
      }),
    get,
    remove,
    removeAndWait: async (kind: string, name: string, namespace = home) => {
      await remove(kind, name, namespace)
      await until(async () => (await get(kind, name, namespace)) === undefined)
    },
    allowOwners: async (owners: string | null, namespace = home) => {
      const body = { metadata: { annotations: { 'postwright.dev/owners': owners } } }
      await admin.request({ method: 'PATCH', path: `/api/v1/namespaces/${namespace}`, body, patch: 'merge' })
    },
    forgeStatus: async (kind: string, name: string, status: object, namespace = home) => {
      const { metadata } = (await get(kind, name, namespace)) as Seen
      const good = { status: 'True', reason: 'Forged', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
      const conditions = ['Ready', 'Accepted'].map(type => ({ type, ...good, observedGeneration: metadata.generation }))
      await admin.request({
        method: 'PATCH',
        path: `${path(kind, namespace, name)}/status`,
        body: { status: { ...status, conditions } },
        patch: 'merge',
      })
    },
    async condition(kind: string, name: string, type: string, status: string, namespace = home): Promise<Seen> {
      let last: Seen | undefined
      const holds = async () => {
        last = await get(kind, name, namespace)
        return (
          last?.status?.observedGeneration === last?.metadata.generation &&
          (last?.status?.conditions?.some(entry => entry.type === type && entry.status === status) ?? false)
        )
      }
      await until(holds, 60_000).catch(() => {
        throw new Error(`${kind} ${name} is not ${type}=${status}: ${JSON.stringify(last?.status, null, 1)}`)
      })
      if (!last) throw new Error(`${kind} ${name} is gone`)
      return last
    },
    async secret(name: string, namespace = home): Promise<Record<string, string> | undefined> {
      const found = await maybe(
        admin.request<SecretObject>({ method: 'GET', path: `${secretsPath(namespace)}/${name}` }),
      )
      return (
        found &&
        Object.fromEntries(
          Object.entries(found.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
        )
      )
    },
    async events(name: string, namespace = home): Promise<string[]> {
      const { items } = await admin.request<{ items: { reason: string; regarding: { name: string } }[] }>({
        method: 'GET',
        path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      })
      return items.filter(({ regarding }) => regarding.name === name).map(({ reason }) => reason)
    },
  }
}
