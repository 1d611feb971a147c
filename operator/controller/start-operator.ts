/** Starts the operator: rights, caches, election, controllers; stops them in the opposite order. */

import { abortableDelay } from '../../services/platform/concurrency/abortable-delay.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { watchChanges } from '../../services/platform/database/watch-changes.ts'
import { HOUR_MS } from '../../services/platform/durations.ts'
import type { Foundation } from '../../services/platform/process/run.ts'
import type { Running } from '../../services/platform/running.ts'
import type { KubeClient } from '../kube/client.ts'
import { createRecorder } from '../kube/event-recorder.ts'
import { LEASE_TIMES, type LeaseTimes, startElector } from '../kube/leader-election.ts'
import { createCache, type ObjectCache } from '../kube/object-cache.ts'
import { dnsEndpointsPath, keyOf, listPath, NAMESPACES_PATH, secretsPath } from '../kube/object-paths.ts'
import { createWriter, SECRET_LABEL } from '../kube/object-writer.ts'
import { missingRights } from '../kube/permission-check.ts'
import { type Reflector, startReflector } from '../kube/reflector.ts'
import { CLUSTER_KIND_RULES, KIND_RULES, namespaceRules, OWN_RULES, WORKLOAD_RULES } from '../rbac.ts'
import { ENDPOINT_LABEL } from '../reconcilers/mail-domain/dns-endpoint-store.ts'
import type { OperatorContext } from '../reconcilers/shared/operator-context.ts'
import { clusterKinds, kinds, namespacedKinds } from '../resources/kinds.ts'
import { type Controller, startController } from './controller.ts'
import { releaseDeletedNamespace, releaseDeletedNamespaces } from './deleted-namespaces.ts'
import { leaderOnly } from './leader-only-writer.ts'
import { collections, reconcileFunctions, recordCollections } from './reconcilers.ts'
import { countResources } from './resource-metrics.ts'
import { type Enqueue, recordChanged, wire, wireDnsEndpoints, wireNamespaces } from './watches.ts'
import { WorkQueue } from './work-queue.ts'

/** Options of {@link startOperator}. */
export interface OperatorOptions {
  client: KubeClient
  /** Namespace of the Lease. */
  namespace: string
  /** Unique per process. */
  identity: string
  /** Namespaces to watch; empty: all. */
  watchNamespaces: readonly string[]
  /** Called when another process took over or the API server is out of reach: this one must end. */
  onLost: () => void
  leaseTimes?: LeaseTimes
}

/** Name of the Lease. */
const LEASE = 'postwright-operator'

/** Parallel runs per kind: most of a run is waiting, and one throttled account must not delay all others. */
const CONCURRENCY = 10
/** Pauses after failures: 1 s doubled up to 15 min. Conflicts of revisions are retried by the change that caused them. */
const RETRY = { baseMs: 1_000, capMs: 15 * 60_000 }
/** All resources are enqueued at this interval, in case a change was missed. */
const RESYNC_MS = 10 * HOUR_MS
const FLUSH_MS = 3_000
/** After this time without progress the election loop counts as dead. */
const STUCK_MS = 60_000

/** Starts the operator. Rejects, naming each, when rights are missing. */
export async function startOperator(foundation: Foundation, options: OperatorOptions): Promise<Running> {
  const { log, metrics, mongo } = foundation
  const { client, watchNamespaces } = options
  const scopes = watchNamespaces.length > 0 ? watchNamespaces : [undefined]
  await checkRights(client, options, scopes)
  await ensureIndexes(mongo.db, collections)

  const onError = (error: unknown) => log.error({ err: error }, 'a change could not be handled')
  const caches = new Map<string, ObjectCache>(kinds.map(({ kind }) => [kind, createCache(onError)]))
  countResources(caches, metrics.operator)
  const secretCache = createCache(onError)
  const namespaceCache = createCache(onError)
  const queues = new Map<string, WorkQueue>(
    kinds.map(({ kind }) => [kind, new WorkQueue(kind.toLowerCase(), RETRY, metrics.operator)]),
  )
  const enqueue = (kind: string, key: string, priority?: 'high' | 'low') => queues.get(kind)?.add(key, priority)
  wire(caches, secretCache, enqueue)
  wireNamespaces(namespaceCache, caches, enqueue)

  const elector = startElector({
    ...options,
    name: LEASE,
    log,
    metrics: metrics.operator,
    times: options.leaseTimes ?? LEASE_TIMES,
  })
  const assertLeader = () => elector.assertLeader()
  const recorder = createRecorder(client, options.identity, log, Date.now)
  const context: OperatorContext = {
    ...foundation,
    caches,
    secretCache,
    ownNamespace: options.namespace,
    clusterWide: watchNamespaces.length === 0,
    recorder,
    assertLeader,
    enqueue,
    writer: leaderOnly(createWriter(client), assertLeader),
  }
  const reflectors = startReflectors(foundation, client, scopes, { caches, secretCache, namespaceCache })
  // Not waited for: without the CRD of external-dns, all other resources are reconciled.
  const optional = foundation.config.DNS_ENDPOINTS ? watchDnsEndpoints(foundation, client, scopes, enqueue) : []
  const enqueueAll = () => {
    for (const [kind, cache] of caches) for (const key of cache.keys()) enqueue(kind, key, 'low')
  }
  const parts: { controllers: Controller[]; changes?: Running } = { controllers: [] }
  const stopping = new AbortController()
  const lead = async () => {
    await elector.elected
    await Promise.all(reflectors.map(({ synced }) => synced))
    if (stopping.signal.aborted) return
    namespaceCache.onChange(({ before, after }) => {
      if (before && !after) releaseDeletedNamespace(context, before.metadata.name).catch(onError)
    })
    await releaseDeletedNamespaces(
      context,
      namespace => watchNamespaces.length === 0 || watchNamespaces.includes(namespace),
      namespace => namespaceCache.get(keyOf({ namespace: '', name: namespace })) !== undefined,
    ).catch(onError)
    if (stopping.signal.aborted) return
    parts.changes = watchChanges(mongo.db, log, recordCollections, recordChanged(caches, enqueue), enqueueAll)
    const reconcile = reconcileFunctions(context)
    parts.controllers = [...queues].flatMap(([kind, queue]) => {
      const run = reconcile.get(kind)
      const name = kind.toLowerCase()
      const more = { name, queue, concurrency: CONCURRENCY, log, metrics: metrics.operator }
      return run ? [startController({ ...more, reconcile: run })] : []
    })
  }
  const leading = lead().catch(onError)
  const resyncing = every(RESYNC_MS, stopping.signal, enqueueAll)
  return {
    notReady() {
      const missing = new Set(reflectors.filter(({ isSynced }) => !isSynced()).map(({ name }) => name))
      return missing.size > 0 ? `not listed yet: ${[...missing].join(', ')}` : undefined
    },
    notAlive: () => (elector.idleMs() > STUCK_MS ? 'the election loop does not progress' : undefined),
    async stop() {
      stopping.abort()
      await parts.changes?.stop()
      await Promise.all(parts.controllers.map(controller => controller.stop()))
      for (const queue of queues.values()) queue.close()
      await recorder.flush(FLUSH_MS)
      await elector.stop()
      await Promise.all([...reflectors, ...optional].map(reflector => reflector.stop()))
      await resyncing
      // A process that never led waits for an election that does not come; it holds no lease.
      void leading
      await client.close()
    },
  }
}

async function checkRights(
  client: KubeClient,
  { namespace, watchNamespaces }: Pick<OperatorOptions, 'namespace' | 'watchNamespaces'>,
  scopes: readonly (string | undefined)[],
): Promise<void> {
  const missing = [
    ...(await missingRights(client, OWN_RULES, [namespace])),
    ...(await missingRights(client, [...KIND_RULES, ...WORKLOAD_RULES], scopes)),
    ...(await missingRights(client, namespaceRules(watchNamespaces), [undefined])),
    ...(watchNamespaces.length === 0 ? await missingRights(client, CLUSTER_KIND_RULES, [undefined]) : []),
  ]
  if (missing.length === 0) return
  throw new Error(
    `the service account lacks ${missing.length} rights; the chart grants them (operator.enabled, operator.watchNamespaces):\n${missing.map(right => `  - ${right}`).join('\n')}`,
  )
}

interface Caches {
  caches: ReadonlyMap<string, ObjectCache>
  secretCache: ObjectCache
  namespaceCache: ObjectCache
}

function startReflectors(
  { log, metrics }: Foundation,
  client: KubeClient,
  scopes: readonly (string | undefined)[],
  { caches, secretCache, namespaceCache }: Caches,
): Reflector[] {
  const shared = { client, log, metrics: metrics.operator }
  return scopes.flatMap(scope => [
    ...(scope === undefined ? [...namespacedKinds, ...clusterKinds] : namespacedKinds).flatMap(({ kind, plural }) => {
      const cache = caches.get(kind)
      return cache ? [startReflector({ ...shared, name: kind, path: listPath(plural, scope), cache, scope })] : []
    }),
    startReflector({
      ...shared,
      name: 'Secret',
      path: secretsPath(scope),
      labelSelector: SECRET_LABEL,
      cache: secretCache,
      scope,
    }),
    startReflector({
      ...shared,
      name: 'Namespace',
      path: NAMESPACES_PATH,
      ...(scope === undefined ? {} : { fieldSelector: `metadata.name=${scope}` }),
      cache: namespaceCache,
      scope,
    }),
  ])
}

const NO_DNS_ENDPOINTS =
  'the API server does not know DNSEndpoint: install the CustomResourceDefinition of external-dns, or set operator.dnsEndpoints to false'

/** Watches the DNSEndpoint objects that MailDomains own. */
function watchDnsEndpoints(
  { log, metrics }: Foundation,
  client: KubeClient,
  scopes: readonly (string | undefined)[],
  enqueue: Enqueue,
): Reflector[] {
  const cache = createCache(error => log.error({ err: error }, 'a change could not be handled'))
  wireDnsEndpoints(cache, enqueue)
  return scopes.map(scope =>
    startReflector({
      ...{ client, log, metrics: metrics.operator, cache, scope, missing: NO_DNS_ENDPOINTS },
      name: 'DNSEndpoint',
      path: dnsEndpointsPath(scope),
      labelSelector: ENDPOINT_LABEL,
    }),
  )
}

async function every(ms: number, signal: AbortSignal, work: () => void): Promise<void> {
  while (!signal.aborted) {
    await abortableDelay(ms * (0.9 + Math.random() * 0.2), signal)
    if (!signal.aborted) work()
  }
}
