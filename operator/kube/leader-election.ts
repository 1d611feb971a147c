/**
 * Leader election on a Lease (coordination.k8s.io), as client-go does it: another holder's lease is evaluated by when
 * *we* saw it change, never by its clock, and a leader stops acting before anybody else may start.
 */
import { abortableDelay } from '../../services/platform/concurrency/abortable-delay.ts'
import type { Log } from '../../services/platform/observability/log.ts'
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'
import { type KubeClient, KubeError } from './client.ts'

/** Times of the election in milliseconds. */
export interface LeaseTimes {
  /** A lease that was not renewed for this time may be acquired. */
  durationMs: number
  /** A leader that could not renew for this time stops leading. */
  renewDeadlineMs: number
  retryMs: number
}

/** The times of controller-runtime. */
export const LEASE_TIMES: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 }

/** Attempts of one renewal while another client writes to the lease as well. */
const MAX_TRIES = 3

/** Dependencies of an elector. */
export interface ElectorOptions {
  client: KubeClient
  namespace: string
  name: string
  /** Unique per process, such as the pod's name and a random part. */
  identity: string
  log: Log
  metrics: OperatorMetrics
  times?: LeaseTimes
  /** Wall clock for the times that people read in the Lease. */
  now?: () => Date
  /** Called once when leadership is lost, not at a wanted stop. */
  onLost: () => void
}

/** Thrown by {@link Elector.assertLeader} when this process must not write any more. */
export class NotLeaderError extends Error {
  constructor() {
    super('this process is not the leader any more')
    this.name = 'NotLeaderError'
  }
}

/** The running election. */
export interface Elector {
  /** Resolves when this process leads. */
  elected: Promise<void>
  isLeader(): boolean
  /** The fence before each write to the outside: throws unless the lease was renewed recently enough. */
  assertLeader(): void
  /** Milliseconds since the loop last ran; for the liveness probe. */
  idleMs(): number
  /** Ends the election and releases the lease. */
  stop(): Promise<void>
}

interface LeaseSpec {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

interface Lease {
  metadata: { name: string; namespace: string; resourceVersion?: string }
  spec: LeaseSpec
}

/** Takes part in the election until it is stopped or loses. */
export function startElector(options: ElectorOptions): Elector {
  const { log, metrics, times = LEASE_TIMES } = options
  const leases = leaseAccess(options)
  const stopping = new AbortController()
  const elected = Promise.withResolvers<void>()
  let leader = false
  /** The lease has our name: a stop that comes during the first write finds no leader, and has to release it all the same. */
  let isHolder = false
  /** Monotonic time at which the last successful renewal was *sent*. */
  let renewed = Number.NEGATIVE_INFINITY
  let looped = performance.now()
  let seen: { revision: string | undefined; at: number } = { revision: undefined, at: performance.now() }
  const master = (value: 0 | 1) => metrics.leader.set({ name: options.name }, value)
  master(0)

  const isFree = (lease: Lease) => {
    if (lease.metadata.resourceVersion !== seen.revision)
      seen = { revision: lease.metadata.resourceVersion, at: performance.now() }
    const { holderIdentity } = lease.spec
    if (!holderIdentity || holderIdentity === options.identity) return true
    return performance.now() - seen.at > times.durationMs
  }
  /** True: held. False: held by another process. Undefined: it keeps changing, and its holder is unknown. */
  const attempt = async (): Promise<boolean | undefined> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const sent = performance.now()
      const lease = await leases.read()
      if (lease && !isFree(lease)) return false
      if (await leases.hold(lease)) {
        renewed = sent
        return true
      }
      // Any other write to the lease causes the same conflict as a rival: the holder is read again.
      if (!leader) return false
    }
    return undefined
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      looped = performance.now()
      const held = await attempt().catch((error: unknown) => {
        log.warn({ err: error }, leader ? 'the lease could not be renewed' : 'the lease could not be read')
        return undefined
      })
      if (held === true) isHolder = true
      if (held === true && !leader && !stopping.signal.aborted) {
        leader = true
        master(1)
        log.info({ identity: options.identity }, 'elected')
        elected.resolve()
      }
      // Another process holds it (false), or its holder was unknown for too long (undefined).
      if (leader && (held === false || performance.now() - renewed > times.renewDeadlineMs)) {
        leader = false
        isHolder = false
        master(0)
        log.error({ identity: options.identity }, 'leadership lost')
        options.onLost()
        return
      }
      await abortableDelay(times.retryMs * (1 + Math.random() * 0.2), stopping.signal)
    }
  }
  const running = loop()
  const isLeader = () => leader && performance.now() - renewed < times.renewDeadlineMs
  return {
    elected: elected.promise,
    isLeader,
    assertLeader() {
      if (!isLeader()) throw new NotLeaderError()
    },
    idleMs: () => performance.now() - looped,
    async stop() {
      stopping.abort()
      await running
      if (!isHolder) return
      leader = false
      master(0)
      await leases.release().catch((error: unknown) => log.warn({ err: error }, 'the lease could not be given back'))
    },
  }
}

/** Reads and writes the Lease; of several writers at one revision the API server accepts one. */
function leaseAccess({
  client,
  namespace,
  name,
  identity,
  times = LEASE_TIMES,
  now = () => new Date(),
}: ElectorOptions) {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const timeoutMs = times.renewDeadlineMs / 2
  const write = async (lease: Lease): Promise<boolean> => {
    const create = lease.metadata.resourceVersion === undefined
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease }
    try {
      if (create) await client.request({ method: 'POST', path, body, timeoutMs })
      else await client.request({ method: 'PUT', path: `${path}/${name}`, body, timeoutMs })
      return true
    } catch (error) {
      if (error instanceof KubeError && error.status === 409) return false
      throw error
    }
  }
  const read = async (): Promise<Lease | undefined> => {
    try {
      return await client.request<Lease>({ method: 'GET', path: `${path}/${name}`, timeoutMs })
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined
      throw error
    }
  }
  return {
    read,
    hold(lease: Lease | undefined): Promise<boolean> {
      const time = microTime(now())
      const mine = lease?.spec.holderIdentity === identity
      return write({
        metadata: lease?.metadata ?? { name, namespace },
        spec: {
          holderIdentity: identity,
          leaseDurationSeconds: Math.max(1, Math.round(times.durationMs / 1000)),
          acquireTime: mine ? (lease.spec.acquireTime ?? time) : time,
          renewTime: time,
          leaseTransitions: (lease?.spec.leaseTransitions ?? 0) + (mine || !lease ? 0 : 1),
        },
      })
    },
    async release(): Promise<void> {
      const lease = await read()
      if (lease?.spec.holderIdentity !== identity) return
      await write({ ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 } })
    },
  }
}

/** A time with six digits of a second: the API server refuses three. */
export function microTime(at: Date): string {
  return at.toISOString().replace('Z', '000Z')
}
