/** Opens a session to one of a route's hosts: order, addresses, TLS mode, fallback, and hosts that are down. */

import { inEnglish, type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { PROBE_MS, RELAY_PROBE_MS } from '../rules/site-control.ts'
import { ownReply } from '../rules/smtp-reply.ts'
import { type FailedTls, failureOfCode, NOT_IN_POLICY, type TlsFailure } from '../rules/tls-results.ts'
import type { Mx } from './mx.ts'
import { DEADLINES, type Deadlines, Refusal, Session, type SessionOptions } from './session.ts'
import { WireError } from './smtp-wire.ts'
import type { TlsPolicy } from './tls-policy.ts'
import type { RecipientOutcome, Relay, Route } from './transport.ts'

/** Dependencies of {@link Connector}. */
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
  unreachable?: { reason: Sentence; until?: number; ofDomain?: boolean } | undefined
}

/** Times for which an address that failed is passed over: after an error, and after a timeout. */
const DOWN_MS = 2 * 60_000
const TIMEOUT_DOWN_MS = 15 * 60_000
/** Where all addresses failed lately, one is asked again after this time: a little sooner than its site's next probe. */
const AGAIN_MS = PROBE_MS - 5_000
const RELAY_AGAIN_MS = RELAY_PROBE_MS - 500

/** One pass over the hosts of a route. */
interface Search {
  route: Route
  /** Addresses that failed some time ago are asked again. */
  again: boolean
  onTlsFailure(failure: FailedTls): void
}

type TlsSetting = 'implicit' | 'require' | 'offered' | 'off'

/** Connects to hosts of routes; remembers which addresses are down. */
export class Connector {
  readonly #options: ConnectorOptions
  readonly #down: DownAddresses

  constructor(options: ConnectorOptions) {
    this.#options = options
    this.#down = new DownAddresses(options)
  }

  /**
   * Tries the hosts in order. Where all addresses failed lately, those that failed some time ago are asked again.
   * `onTlsFailure` is called for each session that failed because of TLS.
   */
  async connect(route: Route, onTlsFailure: (failure: FailedTls) => void = () => {}): Promise<Connected> {
    const first = await this.#tryHosts({ route, onTlsFailure, again: false })
    if ('session' in first || first.unreachable?.until === undefined) return first
    return this.#tryHosts({ route, onTlsFailure, again: true })
  }

  async #tryHosts(search: Search): Promise<Connected> {
    const { route } = search
    const notes: string[] = []
    const marked: number[] = []
    const noHost = new WireError('network', sentence('delivery.no_host'))
    let found: Failed = { outcome: { kind: 'error', error: noHost }, notes }
    for (const host of route.hosts) {
      const result = await this.#tryHost(host, search)
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
    const reason = sentence('delivery.no_host_reached', { hosts: route.hosts.slice(0, 3) })
    return { outcome: { kind: 'withheld' }, notes: [], unreachable: { reason, until: Math.min(...marked) } }
  }

  async #tryHost(host: string, search: Search): Promise<Connected | Marked> {
    const tls = this.#tlsSettingOf(host, search.route)
    if (!tls) {
      search.onTlsFailure({ ...NOT_IN_POLICY, mx: host })
      return failed(new WireError('tls', sentence('delivery.not_in_policy', { host })), host, true)
    }
    const answer = await this.#options.mx.addressesOf(host)
    if (answer.kind === 'permanent') {
      const reply = ownReply(550, '5.4.4', answer.reason)
      return { outcome: { kind: 'unsupported', reply }, notes: [`-- ${reply.text}`] }
    }
    if (answer.kind === 'temporary') return failed(new WireError('network', answer.reason), host)
    let last: Connected | undefined
    for (const ip of answer.ips) {
      if (!this.#down.mayTry(ip, search.again)) continue
      last = await this.#tryAddress(host, ip, tls, search)
      if ('session' in last) return last
    }
    return last ?? { marked: answer.ips.map(ip => this.#down.againAt(ip)) }
  }

  async #tryAddress(host: string, ip: string, tls: TlsSetting, search: Search): Promise<Connected> {
    let from: string | undefined
    try {
      return { session: await this.#open(host, ip, tls, address => (from = address)) }
    } catch (error) {
      const failure = tlsFailureOf(error)
      if (failure) search.onTlsFailure({ ...failure, mx: host, ip, from })
      if (error instanceof Refusal) return refused(error, ip)
      if (!(error instanceof WireError)) throw error
      if (error.kind !== 'tls') this.#down.add(ip, error.kind === 'timeout')
      if (error.kind !== 'tls' || tls !== 'offered') return failed(error, ip)
      this.#options.tlsPolicy.rememberClear(host, failure)
    }
    return this.#tryAddress(host, ip, 'off', search)
  }

  #open(host: string, ip: string, tls: TlsSetting, onConnect: SessionOptions['onConnect']): Promise<Session> {
    const { relay, port, helo, deadlines = DEADLINES, ca } = this.#options
    const options = { host, ip, tls, port: relay?.port ?? port, helo, deadlines, ca, login: relay?.login }
    return Session.open({ ...options, slow: this.#down.has(ip), ...(onConnect && { onConnect }) })
  }

  #tlsSettingOf(host: string, route: Route): TlsSetting | undefined {
    const { relay, tlsPolicy } = this.#options
    if (relay?.implicitTls) return 'implicit'
    // A relay that asks for a password gets it only over a connection whose certificate is good.
    if (relay?.login) return 'require'
    const mode = tlsPolicy.modeOf(host, route.policy)
    return mode && ({ 'require-verified': 'require', opportunistic: 'offered', off: 'off' } as const)[mode]
  }
}

/** Addresses that failed, in milliseconds of the process's clock. */
class DownAddresses {
  readonly #failures = new Map<string, { failedAt: number; until: number }>()
  readonly #isRelay: boolean
  readonly #againMs: number
  readonly #now: () => number

  constructor({ relay, now }: Pick<ConnectorOptions, 'relay' | 'now'>) {
    this.#isRelay = relay !== undefined
    this.#againMs = relay ? RELAY_AGAIN_MS : AGAIN_MS
    this.#now = now
  }

  has(ip: string): boolean {
    return this.#failures.has(ip)
  }

  add(ip: string, byTimeout: boolean): void {
    if (this.#failures.size > 10_000) this.#failures.clear()
    const usual = byTimeout ? TIMEOUT_DOWN_MS : DOWN_MS
    const failedAt = this.#now()
    this.#failures.set(ip, { failedAt, until: failedAt + (this.#isRelay ? this.#againMs : usual) })
  }

  /** Addresses that failed lately are passed over; `again`: those that failed some time ago are not. */
  mayTry(ip: string, again: boolean): boolean {
    const failure = this.#failures.get(ip)
    return !failure || (again ? failure.failedAt + this.#againMs : failure.until) <= this.#now()
  }

  /** When an address may be asked again. */
  againAt(ip: string): number {
    return (this.#failures.get(ip)?.failedAt ?? this.#now()) + this.#againMs
  }
}

/** All addresses of a host failed lately; when each may be asked again. */
interface Marked {
  marked: number[]
}

/** What an error of an opening session says about TLS; undefined: nothing. */
function tlsFailureOf(error: unknown): TlsFailure | undefined {
  if (error instanceof Refusal && error.stage === 'starttls')
    return { type: 'starttls-not-supported', reason: String(error.reply.code) }
  return error instanceof WireError && error.kind === 'tls' ? failureOfCode(error.code) : undefined
}

function refused({ stage, reply }: Refusal, ip: string): Failed {
  const reason = sentence('delivery.host_refused', { host: ip, reply: `${reply.code} ${reply.text}` })
  return {
    outcome: { kind: 'reply', stage, reply },
    notes: [`S: ${reply.code} ${reply.text} (${ip})`],
    unreachable: { reason },
  }
}

function failed(error: WireError, where: string, ofDomain = false): Failed {
  const reason = sentence('delivery.at_host', { host: where, reason: error.sentence })
  const unreachable = { reason, ...(ofDomain && { ofDomain }) }
  return { outcome: { kind: 'error', error }, notes: [`-- ${inEnglish(reason)}`], unreachable }
}
