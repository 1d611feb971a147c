/** Evaluates the parts that sending depends on, from what was observed. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** What was observed. */
export interface Observed {
  mongoUp: boolean
  workers: number
  /** When the delivery that has waited longest became due; null for an empty queue. */
  oldestDue: Date | null
  hostname: string
  sendingIps: readonly string[]
  /** `direct`, `relay` or `capture`. */
  mode: string
  trustedProxies: readonly string[]
  /** A peer that lately sent forwarding headers and is not in `trustedProxies`. */
  untrustedProxy: string | undefined
  /** How far the clock of the answering process is ahead of the database's, in milliseconds. */
  clockSkewMs: number
  now: Date
}

/** How a part does. */
export type Health = 'ok' | 'warning' | 'failing'

/** The result for one part. */
export interface Check {
  name: 'database' | 'clock' | 'workers' | 'queue' | 'hostname' | 'sending_ip' | 'proxies'
  status: Health
  detail: Sentence
}

/** From this difference on, log lines and certificates of a machine cannot be relied on. */
const SKEW_MS = 2_000
/** Mail that is due and waits longer than this is late, and far too late. */
const LATE_S = 300
const FAR_TOO_LATE_S = 1_800

/** All checks. */
export function evaluateHealth(observed: Observed): Check[] {
  const { mongoUp, workers, hostname, sendingIps, mode } = observed
  const direct = mode === 'direct'
  return [
    mongoUp
      ? { name: 'database', status: 'ok', detail: sentence('health.database_ok') }
      : { name: 'database', status: 'failing', detail: sentence('health.database_down') },
    checkClock(observed),
    workers > 0
      ? { name: 'workers', status: 'ok', detail: sentence('health.workers_ok', { count: workers }) }
      : { name: 'workers', status: 'failing', detail: sentence('health.workers_none') },
    checkQueue(observed),
    direct && !/\.(?!local|localdomain|internal|test|invalid|example)[a-z][a-z0-9-]*$/.test(hostname)
      ? {
          name: 'hostname',
          status: 'warning',
          detail: sentence('health.hostname_private', { hostname }),
        }
      : { name: 'hostname', status: 'ok', detail: sentence('health.hostname_ok', { hostname }) },
    direct && sendingIps.length === 0
      ? {
          name: 'sending_ip',
          status: 'warning',
          detail: sentence('health.sending_ip_missing'),
        }
      : {
          name: 'sending_ip',
          status: 'ok',
          detail:
            sendingIps.length > 0
              ? sentence('health.sending_ip_set', { addresses: sendingIps })
              : sentence('health.sending_ip_unused', { mode }),
        },
    checkProxies(observed),
  ]
}

function checkProxies({ trustedProxies, untrustedProxy }: Observed): Check {
  if (untrustedProxy !== undefined)
    return {
      name: 'proxies',
      status: 'warning',
      detail: sentence('health.proxy_untrusted', { peer: untrustedProxy }),
    }
  return {
    name: 'proxies',
    status: 'ok',
    detail:
      trustedProxies.length > 0
        ? sentence('health.proxies_trusted', { networks: trustedProxies })
        : sentence('health.proxies_none'),
  }
}

function checkClock({ clockSkewMs }: Observed): Check {
  if (Math.abs(clockSkewMs) <= SKEW_MS) return { name: 'clock', status: 'ok', detail: sentence('health.clock_ok') }
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  return {
    name: 'clock',
    status: 'warning',
    detail: sentence(clockSkewMs > 0 ? 'health.clock_ahead' : 'health.clock_behind', { seconds }),
  }
}

function checkQueue({ oldestDue, now }: Observed): Check {
  const late = oldestDue ? Math.floor((now.getTime() - oldestDue.getTime()) / 1000) : 0
  if (late < LATE_S)
    return {
      name: 'queue',
      status: 'ok',
      detail: late > 0 ? sentence('health.queue_waits', { seconds: late }) : sentence('health.queue_empty'),
    }
  return {
    name: 'queue',
    status: late < FAR_TOO_LATE_S ? 'warning' : 'failing',
    detail: sentence('health.queue_waits', { seconds: late }),
  }
}

/** The worst of all checks. */
export function overall(checks: readonly Check[]): Health {
  if (checks.some(({ status }) => status === 'failing')) return 'failing'
  return checks.some(({ status }) => status === 'warning') ? 'warning' : 'ok'
}
