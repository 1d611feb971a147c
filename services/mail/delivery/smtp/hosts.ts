/** Opens a session to one of a route's hosts: order, addresses, TLS mode, fallback, and hosts that are down. */

import { PROBE_MS, RELAY_PROBE_MS } from '../rules/site-control.ts'
import type { Mx } from './mx.ts'
import { WireError } from './smtp-wire.ts'
import type { TlsPolicy } from './tls-policy.ts'
import { DEADLINES, type Deadlines, type RecipientOutcome, Refusal, Session } from './transaction.ts'
import type { Relay, Route } from './transport.ts'

/** What connecting needs. */
export interface ConnectorOptions {
  mx: Mx
  tlsPolicy: TlsPolicy
  /** Our name in EHLO. */
  helo: string
  port: number
  relay?: Relay | undefined
  /** Certificate authority of the receivers, besides the system's. */
  ca?: string | undefined
  deadlines?: Deadlines | undefined
  /** Milliseconds. */
  now: () => number
}

/**
 * A session, or why there is none; `notes` are lines for the conversation. `unreachable`: the hosts do not let a session
 * begin, whatever the message; `until`: none was asked, because all failed lately; `ofDomain`: for this domain only.
 */
export type Connected = { session: Session } | Failed

interface Failed {
  outcome: RecipientOutcome
  notes: string[]
  unreachable?: { reason: string; until?: number; ofDomain?: boolean } | undefined
}

/** An address that did not answer is passed over for so long; one that let us wait, longer. */
const DOWN_MS = 2 * 60_000
const TIMEOUT_DOWN_MS = 15 * 60_000
/** Where all addresses failed lately, one is asked again so soon: a little sooner than its site's next probe. */
const AGAIN_MS = PROBE_MS - 5_000
const RELAY_AGAIN_MS = RELAY_PROBE_MS - 500

type TlsSetting = 'implicit' | 'require' | 'offered' | 'off'

/** Makes the function that connects; it remembers which addresses are down. */
export function createConnector(options: ConnectorOptions): (route: Route) => Promise<Connected> {
  const { relay, tlsPolicy, mx, now } = options
  const down = new Map<string, { failedAt: number; until: number }>()
  const againMs = relay ? RELAY_AGAIN_MS : AGAIN_MS

  const open = (host: string, ip: string, tls: TlsSetting) =>
    Session.open({
      host,
      ip,
      tls,
      port: relay?.port ?? options.port,
      helo: options.helo,
      deadlines: options.deadlines ?? DEADLINES,
      ca: options.ca,
      login: relay?.login,
      slow: down.has(ip),
    })

  const settingOf = (host: string, route: Route): TlsSetting | undefined => {
    if (relay?.implicitTls) return 'implicit'
    // A relay that asks for a password gets it only over a connection whose certificate is good.
    if (relay?.login) return 'require'
    const mode = tlsPolicy.modeOf(host, route.policy)
    return mode && ({ 'require-verified': 'require', opportunistic: 'offered', off: 'off' } as const)[mode]
  }

  const markDown = (ip: string, error: WireError) => {
    if (error.kind === 'tls') return
    if (down.size > 10_000) down.clear()
    const usual = error.kind === 'timeout' ? TIMEOUT_DOWN_MS : DOWN_MS
    down.set(ip, { failedAt: now(), until: now() + (relay ? againMs : usual) })
  }

  const tryAddress = async (host: string, ip: string, tls: TlsSetting): Promise<Connected> => {
    try {
      return { session: await open(host, ip, tls) }
    } catch (error) {
      if (error instanceof Refusal) return refused(error, ip)
      if (!(error instanceof WireError)) throw error
      markDown(ip, error)
      if (error.kind !== 'tls' || tls !== 'offered') return failed(error, ip)
    }
    tlsPolicy.rememberClear(host)
    return tryAddress(host, ip, 'off')
  }

  /** Addresses that failed lately are passed over; `again`: those that failed some time ago are not. */
  const mayTry = (ip: string, again: boolean) => {
    const mark = down.get(ip)
    return !mark || (again ? mark.failedAt + againMs : mark.until) <= now()
  }

  const tryHost = async (host: string, route: Route, again: boolean): Promise<Connected | Marked> => {
    const tls = settingOf(host, route)
    if (!tls) return failed(new WireError('tls', `the MTA-STS policy does not list ${host}`), host, true)
    const answer = await mx.addressesOf(host)
    if (answer.kind === 'permanent') {
      const reply = { code: 550, enhanced: '5.4.4', text: answer.text }
      return { outcome: { kind: 'unsupported', reply }, notes: [`-- ${answer.text}`] }
    }
    if (answer.kind === 'temporary') return failed(new WireError('network', answer.text), host)
    let last: Connected | undefined
    for (const ip of answer.ips) {
      if (!mayTry(ip, again)) continue
      last = await tryAddress(host, ip, tls)
      if ('session' in last) return last
    }
    return last ?? { marked: answer.ips.map(ip => (down.get(ip)?.failedAt ?? now()) + againMs) }
  }

  const tryHosts = async (route: Route, again: boolean): Promise<Connected> => {
    const notes: string[] = []
    const marked: number[] = []
    let found: Failed = { outcome: { kind: 'error', error: new WireError('network', 'no host to try') }, notes }
    for (const host of route.hosts) {
      const result = await tryHost(host, route, again)
      if ('session' in result) return result
      if ('marked' in result) {
        marked.push(...result.marked)
        continue
      }
      // One host without an address does not speak for the others: a failure that may pass counts more.
      if (result.outcome.kind !== 'unsupported' || notes.length === 0) found = result
      notes.push(...result.notes)
    }
    if (notes.length > 0 || marked.length === 0) return { ...found, notes }
    const reason = `no host of ${route.hosts.slice(0, 3).join(', ')} could be reached`
    return { outcome: { kind: 'withheld' }, notes: [], unreachable: { reason, until: Math.min(...marked) } }
  }

  return async route => {
    const first = await tryHosts(route, false)
    return 'session' in first || first.unreachable?.until === undefined ? first : tryHosts(route, true)
  }
}

/** All addresses of a host failed lately; when each may be asked again. */
interface Marked {
  marked: number[]
}

function refused({ stage, reply }: Refusal, ip: string): Failed {
  const reason = `${ip} answered ${reply.code} ${reply.text}`
  return {
    outcome: { kind: 'reply', stage, reply },
    notes: [`S: ${reply.code} ${reply.text} (${ip})`],
    unreachable: { reason },
  }
}

function failed(error: WireError, where: string, ofDomain = false): Failed {
  const notes = [`-- ${where}: ${error.message}`]
  const unreachable = { reason: `${where}: ${error.message}`, ...(ofDomain && { ofDomain }) }
  return { outcome: { kind: 'error', error }, notes, unreachable }
}
