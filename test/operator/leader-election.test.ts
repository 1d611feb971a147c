/** Leader election between several electors on a real API server. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { KubeClient, KubeRequest } from '../../operator/kube/client.ts'
import { type Elector, type LeaseTimes, NotLeaderError, startElector } from '../../operator/kube/leader-election.ts'
import { silentLog } from '../../services/platform/observability/log.ts'
import { createMetrics } from '../../services/platform/observability/metrics.ts'
import { type KubeProxy, startKubeProxy } from '../support/kubernetes/apiserver-proxy.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, newNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { until } from '../support/time/until.ts'

const TIMES: LeaseTimes = { durationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 100 }
/** Where no lease is to end by itself, however busy the machine is. */
const LONG: LeaseTimes = { durationMs: 60_000, renewDeadlineMs: 45_000, retryMs: 100 }

onApiServer('leader election', () => {
  let admin: KubeClient
  let namespace: string
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(() => admin.close())

  const start = (
    name: string,
    identity: string,
    client: KubeClient,
    { times = LONG, now = () => new Date() }: { times?: LeaseTimes; now?: () => Date } = {},
  ) => {
    const lost: string[] = []
    const elector = startElector({
      client,
      namespace,
      name,
      identity,
      log: silentLog,
      metrics: createMetrics('test').operator,
      times,
      now,
      onLost: () => lost.push(identity),
    })
    onTestFinished(() => elector.stop())
    return { elector, lost }
  }
  const throughProxy = async (): Promise<{ proxy: KubeProxy; client: KubeClient }> => {
    const proxy = await startKubeProxy(sharedApiServer())
    const client = proxy.client(sharedApiServer().admin)
    onTestFinished(async () => {
      await client.close()
      await proxy.stop()
    })
    return { proxy, client }
  }
  const leaders = (electors: Elector[]) => electors.filter(elector => elector.isLeader()).length
  const read = (name: string) =>
    admin.request<{ spec: Record<string, unknown> }>({
      method: 'GET',
      path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`,
    })

  test('elects one of five electors that start together', async () => {
    const electors = Array.from({ length: 5 }, (_, i) => start('five', `e${i}`, admin).elector)
    await Promise.race(electors.map(({ elected }) => elected))
    expect(leaders(electors)).toBe(1)
  })

  test('a leader that stops releases the lease, and the next one takes it before it expires', async () => {
    const first = start('handover', 'first', admin)
    await first.elector.elected
    const second = start('handover', 'second', admin)
    const stopped = performance.now()
    await first.elector.stop()
    await second.elector.elected
    expect(performance.now() - stopped).toBeLessThan(LONG.durationMs)
    expect(first.lost).toEqual([])
    expect((await read('handover')).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
  })

  test('an elector that is stopped during its first write releases the lease', async () => {
    const [written, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const client: KubeClient = {
      ...admin,
      async request<T>(request: KubeRequest): Promise<T> {
        const answer = await admin.request<T>(request)
        if (request.method === 'POST') {
          written.resolve()
          await answered.promise
        }
        return answer
      },
    }
    const first = start('early', 'first', client)
    await written.promise
    const stopped = first.elector.stop()
    answered.resolve()
    await stopped
    expect(first.elector.isLeader()).toBe(false)
    expect((await read('early')).spec.holderIdentity).toBe('')
  })

  test('a leader that cannot reach the API server stops acting before the next one starts', async () => {
    const { proxy, client } = await throughProxy()
    const first = start('cut', 'first', client, { times: TIMES })
    await first.elector.elected
    const second = start('cut', 'second', admin, { times: TIMES })
    proxy.failure = () => ({ status: 503, reason: 'ServiceUnavailable' })
    let both = 0
    const deadline = performance.now() + 60_000
    while (!second.elector.isLeader()) {
      if (performance.now() > deadline) expect.fail('the second elector was not elected')
      if (first.elector.isLeader() && second.elector.isLeader()) both++
      await new Promise(resolve => setTimeout(resolve, 5))
    }
    expect(both).toBe(0)
    expect(() => first.elector.assertLeader()).toThrow(NotLeaderError)
    await until(() => first.lost.length === 1)
  })

  test('a leader whose connection hangs loses the lease by the renewal deadline', async () => {
    const { proxy, client } = await throughProxy()
    const { elector, lost } = start('hang', 'first', client, { times: TIMES })
    await elector.elected
    proxy.silent = true
    await until(() => !elector.isLeader(), TIMES.renewDeadlineMs * 2)
    await until(() => lost.length === 1)
  })

  test.each([
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
  ])('a rival whose clock is %s does not take a lease that is being renewed', async (_what, skew) => {
    const name = `skew-${skew > 0 ? 'ahead' : 'behind'}`
    // A pause of this process beyond the lease would be a reason to take it.
    const times = { durationMs: 8_000, renewDeadlineMs: 6_000, retryMs: 100 }
    const first = start(name, 'first', admin, { times })
    await first.elector.elected
    const rival = start(name, 'rival', admin, { times, now: () => new Date(Date.now() + skew) })
    const deadline = performance.now() + times.durationMs * 1.2
    await until(() => performance.now() > deadline, times.durationMs * 2)
    expect([first.elector.isLeader(), rival.elector.isLeader()]).toEqual([true, false])
    await first.elector.stop()
    await rival.elector.elected
  })

  const onRenewal = (proxy: KubeProxy, refuse: (nth: number) => boolean) => {
    let renewals = 0
    proxy.failure = ({ method }) =>
      method === 'PUT' && refuse(++renewals) ? { status: 409, reason: 'Conflict' } : undefined
    return () => renewals
  }

  test('a leader keeps the lease when conflicting writes disturb its renewals', async () => {
    const { proxy, client } = await throughProxy()
    const { elector, lost } = start('touched', 'first', client)
    await elector.elected
    // Every second renewal conflicts, and around every tenth three in a row: the number of attempts that one renewal
    // has.
    const renewals = onRenewal(proxy, nth => nth % 2 === 1 || nth % 10 === 0)
    await until(() => renewals() > 12 || lost.length > 0)
    expect([lost, elector.isLeader()]).toEqual([[], true])
    expect((await read('touched')).spec).toMatchObject({ holderIdentity: 'first', leaseTransitions: 0 })
  })

  test('a leader whose renewals all conflict stays leader until its renewal deadline only', async () => {
    const { proxy, client } = await throughProxy()
    const { elector, lost } = start('busy', 'first', client, { times: TIMES })
    await elector.elected
    const renewals = onRenewal(proxy, () => true)
    await until(() => lost.length === 1)
    expect(renewals()).toBeGreaterThan(1)
    expect(() => elector.assertLeader()).toThrow(NotLeaderError)
  })

  test('a leader that reads another holder after a conflict stops immediately', async () => {
    const { proxy, client } = await throughProxy()
    const { elector, lost } = start('taken', 'first', client)
    await elector.elected
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/taken`
    const body = { spec: { holderIdentity: 'thief' } }
    // The renewal is in flight when the thief writes.
    let thief: Promise<unknown> | undefined
    onRenewal(proxy, () => {
      thief ??= admin.request({ method: 'PATCH', path, body, patch: 'merge' })
      return true
    })
    await until(() => lost.length === 1)
    await thief
    expect((await read('taken')).spec.holderIdentity).toBe('thief')
  })

  test('a lease that another program holds is never overwritten', async () => {
    const { elector } = start('stolen', 'first', admin)
    await elector.elected
    // Without a revision: the elector renews the lease all the time.
    await admin.request({
      method: 'PATCH',
      path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/stolen`,
      body: { spec: { holderIdentity: 'thief' } },
      patch: 'merge',
    })
    await until(() => !elector.isLeader())
    expect((await read('stolen')).spec.holderIdentity).toBe('thief')
  })
})
