/** Judges the parts that mail needs, from what was observed. */

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

/** The judgement of one part. */
export interface Check {
  name: 'database' | 'clock' | 'workers' | 'queue' | 'hostname' | 'sending_ip' | 'proxies'
  status: Health
  detail: string
}

/** From this difference on, log lines and certificates of a machine cannot be relied on. */
const SKEW_MS = 2_000
/** Mail that is due and waits longer than this is late, and far too late. */
const LATE_S = 300
const FAR_TOO_LATE_S = 1_800

/** All checks. */
export function judgeHealth(observed: Observed): Check[] {
  const { mongoUp, workers, hostname, sendingIps, mode } = observed
  const direct = mode === 'direct'
  return [
    mongoUp
      ? { name: 'database', status: 'ok', detail: 'The database answers.' }
      : { name: 'database', status: 'failing', detail: 'The database does not answer.' },
    judgeClock(observed),
    workers > 0
      ? { name: 'workers', status: 'ok', detail: `Delivery workers at work: ${workers}.` }
      : { name: 'workers', status: 'failing', detail: 'No delivery worker is at work; accepted mail waits.' },
    judgeQueue(observed),
    direct && !/\.(?!local|localdomain|internal|test|invalid|example)[a-z][a-z0-9-]*$/.test(hostname)
      ? {
          name: 'hostname',
          status: 'warning',
          detail: `MAIL_HOSTNAME ${hostname} is no public name; many receivers refuse it.`,
        }
      : { name: 'hostname', status: 'ok', detail: `The host calls itself ${hostname}.` },
    direct && sendingIps.length === 0
      ? {
          name: 'sending_ip',
          status: 'warning',
          detail: 'SENDING_IP is not set; SPF and PTR cannot be checked for it.',
        }
      : { name: 'sending_ip', status: 'ok', detail: sendingIps.join(', ') || `Not needed for DELIVERY_MODE=${mode}.` },
    judgeProxies(observed),
  ]
}

function judgeProxies({ trustedProxies, untrustedProxy }: Observed): Check {
  if (untrustedProxy !== undefined)
    return {
      name: 'proxies',
      status: 'warning',
      detail: `${untrustedProxy} sends forwarding headers and is not in TRUSTED_PROXIES: all clients behind it share its address and limits. If it is your reverse proxy, add its network.`,
    }
  const trusted = trustedProxies.join(', ')
  return {
    name: 'proxies',
    status: 'ok',
    detail: trusted ? `Forwarding headers count from ${trusted}.` : 'No reverse proxy is trusted, and none was seen.',
  }
}

function judgeClock({ clockSkewMs }: Observed): Check {
  if (Math.abs(clockSkewMs) <= SKEW_MS)
    return { name: 'clock', status: 'ok', detail: "The clock of this machine agrees with the database's." }
  const seconds = Math.round(Math.abs(clockSkewMs) / 1000)
  return {
    name: 'clock',
    status: 'warning',
    detail:
      clockSkewMs > 0
        ? `The clock of this machine is ${seconds} s ahead of the database's; check its time synchronisation.`
        : `The clock of this machine is ${seconds} s behind the database's; check its time synchronisation.`,
  }
}

function judgeQueue({ oldestDue, now }: Observed): Check {
  const late = oldestDue ? Math.floor((now.getTime() - oldestDue.getTime()) / 1000) : 0
  if (late < LATE_S)
    return { name: 'queue', status: 'ok', detail: late > 0 ? `The oldest due mail waits ${late} s.` : 'Nothing waits.' }
  return {
    name: 'queue',
    status: late < FAR_TOO_LATE_S ? 'warning' : 'failing',
    detail: `The oldest due mail waits ${late} s.`,
  }
}

/** The worst of all checks. */
export function overall(checks: readonly Check[]): Health {
  if (checks.some(({ status }) => status === 'failing')) return 'failing'
  return checks.some(({ status }) => status === 'warning') ? 'warning' : 'ok'
}
