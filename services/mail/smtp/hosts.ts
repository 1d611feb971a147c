/** Opens a session to one of a route's hosts: order, addresses, TLS mode, fallback, and hosts that are down. */

import type { Mx } from './mx.ts'
import type { TlsPolicy } from './tls-policy.ts'
import { DEADLINES, type Deadlines, type RecipientOutcome, Refusal, Session } from './transaction.ts'
import type { Relay, Route } from './transport.ts'
import { WireError } from './wire.ts'

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

/** A session, or why there is none; `notes` are lines for the conversation. */
export type Connected = { session: Session } | { outcome: RecipientOutcome; notes: string[] }

/** An address that did not answer is left alone for so long; one that let us wait, longer. */
const DOWN_MS = 2 * 60_000
const TIMEOUT_DOWN_MS = 15 * 60_000
/** Without its relay nothing goes out, so that one is asked again soon. */
const RELAY_DOWN_MS = 5_000

type TlsSetting = 'implicit' | 'require' | 'offered' | 'off'

/** Makes the function that connects; it remembers which addresses are down. */
export function createConnector(options: ConnectorOptions): (route: Route) => Promise<Connected> {
  const { relay, tlsPolicy, mx, now } = options
  const down = new Map<string, number>()

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
    down.set(ip, now() + (relay ? RELAY_DOWN_MS : usual))
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

  const tryHost = async (host: string, route: Route): Promise<Connected> => {
    const tls = settingOf(host, route)
    if (!tls) return failed(new WireError('tls', `the MTA-STS policy does not list ${host}`), host)
    const answer = await mx.addressesOf(host)
    if (answer.kind === 'permanent') {
      const reply = { code: 550, enhanced: '5.4.4', text: answer.text }
      return { outcome: { kind: 'unsupported', reply }, notes: [`-- ${answer.text}`] }
    }
    if (answer.kind === 'temporary') return failed(new WireError('network', answer.text), host)
    let last: Connected = failed(new WireError('network', 'marked down after a failure'), host)
    for (const ip of answer.ips) {
      if ((down.get(ip) ?? 0) > now()) continue
      last = await tryAddress(host, ip, tls)
      if ('session' in last) return last
    }
    return last
  }

  return async route => {
    const notes: string[] = []
    let outcome: RecipientOutcome = { kind: 'error', error: new WireError('network', 'no host to try') }
    for (const host of route.hosts) {
      const result = await tryHost(host, route)
      if ('session' in result) return result
      // One host without an address does not speak for the others: a failure that may pass counts more.
      if (result.outcome.kind !== 'unsupported' || notes.length === 0) outcome = result.outcome
      notes.push(...result.notes)
    }
    return { outcome, notes }
  }
}

function refused({ stage, reply }: Refusal, ip: string): Connected {
  return { outcome: { kind: 'reply', stage, reply }, notes: [`S: ${reply.code} ${reply.text} (${ip})`] }
}

function failed(error: WireError, where: string): { outcome: RecipientOutcome; notes: string[] } {
  return { outcome: { kind: 'error', error }, notes: [`-- ${where}: ${error.message}`] }
}
