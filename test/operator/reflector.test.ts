/** The reflector with a real API server behind a proxy that injects failures. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { KubeClient } from '../../operator/kube/client.ts'
import { createCache, type KubeObject } from '../../operator/kube/object-cache.ts'
import { listPath } from '../../operator/kube/object-paths.ts'
import { type Reflector, type ReflectorOptions, startReflector } from '../../operator/kube/reflector.ts'
import { API_VERSION } from '../../operator/resources/kind.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { type KubeProxy, startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { until } from '../support/time/until.ts'

onApiServer('reflector', () => {
  let admin: KubeClient
  beforeAll(() => {
    admin = adminClient(sharedApiServer())
  })
  afterAll(() => admin.close())

  const path = (namespace: string) => listPath('apps', namespace)
  const create = (namespace: string, name: string) =>
    admin.request<KubeObject>({
      method: 'POST',
      path: path(namespace),
      body: {
        apiVersion: API_VERSION,
        kind: 'App',
        metadata: { name, labels: { part: name.slice(0, 1) } },
        spec: { appKey: name, appName: name },
      },
    })
  const remove = (namespace: string, name: string) =>
    admin.request({ method: 'DELETE', path: `${path(namespace)}/${name}` })

  /** A reflector through a proxy, with short pauses. */
  async function reflect(setUp: (proxy: KubeProxy) => void = () => {}, more: Partial<ReflectorOptions> = {}) {
    const proxy = await startKubeProxy(sharedApiServer())
    const namespace = await newNamespace(admin)
    for (const name of ['aaa', 'bbb', 'ccc']) await create(namespace, name)
    setUp(proxy)
    const client = proxy.client(sharedApiServer().admin)
    const cache = createCache(error => expect.unreachable(String(error)))
    const deleted: string[] = []
    cache.onChange(({ key, after }) => after === undefined && deleted.push(key))
    const { operator: metrics } = createMetrics('test')
    const reflector: Reflector = startReflector({
      client,
      path: path(namespace),
      cache,
      name: 'App',
      log: silentLog,
      metrics,
      pauseMs: 20,
      ...more,
    })
    onTestFinished(async () => {
      await reflector.stop()
      await client.close()
      await proxy.stop()
    })
    const names = () => [...cache.keys()].map(key => key.split('/')[1]).sort()
    const restarts = async (reason: string) =>
      (await metrics.watchRestarts.get()).values.find(({ labels }) => labels.reason === reason)?.value ?? 0
    return { proxy, namespace, reflector, cache, names, deleted, restarts }
  }
  const lists = ({ seen }: KubeProxy) =>
    seen.filter(({ query }) => !query.get('watch') || query.get('sendInitialEvents')).length

  test('receives the list and all changes through one request', async () => {
    const { proxy, namespace, reflector, names, deleted } = await reflect()
    await reflector.synced
    expect(names()).toEqual(['aaa', 'bbb', 'ccc'])
    await create(namespace, 'ddd')
    await remove(namespace, 'aaa')
    await until(() => names().join() === 'bbb,ccc,ddd')
    expect(deleted).toEqual([`${namespace}/aaa`])
    expect(proxy.seen).toHaveLength(1)
  })

  test('falls back to one paged list for a server without streaming lists', async () => {
    const { proxy, namespace, reflector, names } = await reflect(made => {
      made.failure = ({ query }) => (query.get('sendInitialEvents') ? { status: 422, reason: 'Invalid' } : undefined)
    })
    await reflector.synced
    expect(names()).toEqual(['aaa', 'bbb', 'ccc'])
    await create(namespace, 'ddd')
    await until(() => names().length === 4)
    proxy.cutWatchesAfterMs = 0
    expect(proxy.seen.filter(({ query }) => query.get('sendInitialEvents'))).toHaveLength(1)
    expect(proxy.seen.filter(({ query }) => query.get('limit') === '500')).toHaveLength(1)
  })

  test('returns only the objects that match a label selector', async () => {
    const { reflector, names } = await reflect(() => {}, { labelSelector: 'part=b' })
    await reflector.synced
    expect(names()).toEqual(['bbb'])
  })

  test('a watch that is cut repeatedly loses no change and does not list again', async () => {
    const { proxy, namespace, reflector, names, restarts } = await reflect(made => {
      // Long enough for the list: another one would be right if the first were cut.
      made.cutWatchesAfterMs = 3_000
    })
    await reflector.synced
    proxy.cutWatchesAfterMs = 150
    await until(async () => (await restarts('failed')) > 0, 30_000)
    for (let i = 0; i < 12; i++) {
      await create(namespace, `n${String(i).padStart(2, '0')}`)
      await remove(namespace, `n${String(i).padStart(2, '0')}`)
      await create(namespace, `k${String(i).padStart(2, '0')}`)
      await until(() => names().includes(`k${String(i).padStart(2, '0')}`), 60_000)
    }
    await until(() => names().length === 15, 60_000)
    await until(async () => (await restarts('failed')) > 2, 60_000)
    expect(lists(proxy)).toBe(1)
  })

  test.each([500, 503, 403])('receives every object although every second request gets %i', async status => {
    let count = 0
    const { namespace, reflector, names, restarts } = await reflect(made => {
      made.cutWatchesAfterMs = 400
      made.failure = () => (count++ % 2 === 0 ? { status, reason: 'InternalError' } : undefined)
    })
    await reflector.synced
    await until(async () => (await restarts('failed')) > 0, 30_000)
    await create(namespace, 'ddd')
    // The pauses have grown by the time that the list and the write took.
    await until(() => names().includes('ddd'), 60_000)
  })

  test('lists again after 410 and reports the objects that were deleted in between', async () => {
    const { proxy, namespace, reflector, names, deleted, restarts } = await reflect(made => {
      made.cutWatchesAfterMs = 3_000
    })
    await reflector.synced
    let isAway = true
    let gone = 0
    proxy.failure = ({ query }) => {
      if (isAway) return { status: 503, reason: 'ServiceUnavailable' }
      return query.get('resourceVersion') && gone++ < 5 ? { status: 410, reason: 'Expired' } : undefined
    }
    const before = await restarts('failed')
    await until(async () => (await restarts('failed')) > before, 30_000)
    await remove(namespace, 'ccc')
    await create(namespace, 'ddd')
    expect(names()).toEqual(['aaa', 'bbb', 'ccc'])
    isAway = false
    // Long enough for a list.
    proxy.cutWatchesAfterMs = 500
    await until(() => names().join() === 'aaa,bbb,ddd', 60_000)
    await until(async () => (await restarts('expired')) >= 5, 60_000)
    expect(deleted).toEqual([`${namespace}/ccc`])
  })

  test('waits as long as Retry-After demands after 429', async () => {
    let refused = 0
    const { proxy, reflector } = await reflect(made => {
      made.failure = () => (refused++ === 0 ? { status: 429, reason: 'TooManyRequests', retryAfter: 1 } : undefined)
    })
    const started = performance.now()
    await reflector.synced
    expect(performance.now() - started).toBeGreaterThanOrEqual(900)
    expect(proxy.seen.map(({ status }) => status)).toEqual([429, 200])
  })

  test('reconnects when the connection is silent', async () => {
    const { proxy, namespace, reflector, names, restarts } = await reflect(
      made => {
        made.silent = true
      },
      { silenceMs: 2_000 },
    )
    await until(async () => (await restarts('silent')) >= 1, 30_000)
    proxy.silent = false
    await reflector.synced
    await create(namespace, 'ddd')
    await until(() => names().length === 4)
  })

  test('stop() opens no further request', async () => {
    const { proxy, reflector } = await reflect()
    await reflector.synced
    const before = proxy.seen.length
    await reflector.stop()
    expect(proxy.seen.length).toBe(before)
  })

  test('sends 300 requests over a few kept-alive connections', async () => {
    const proxy = await startKubeProxy(sharedApiServer())
    const client = proxy.client(sharedApiServer().admin)
    onTestFinished(async () => {
      await client.close()
      await proxy.stop()
    })
    const get = () => client.request({ method: 'GET', path: '/api/v1/namespaces/default' })
    for (let i = 0; i < 100; i++) await get()
    expect(proxy.connections()).toBeLessThanOrEqual(2)
    await Promise.all(Array.from({ length: 200 }, get))
    expect(proxy.connections()).toBeLessThanOrEqual(8)
  })
})
