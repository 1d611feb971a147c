/**
 * Limits of accounts at destinations. What may be tried is leased before it is claimed, so that mail above a limit stays
 * in its flow, costs no attempt and no write, and takes no turn from other flows.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Quota } from '../../limits/quota.ts'
import type { Rate } from '../../limits/rules/allowance.ts'
import {
  type DefaultLimits,
  holderAtDestination,
  rateAtDestination,
  type SendingLimit,
} from '../../limits/rules/sending-limit.ts'
import type { Flow } from '../../store/rules/flow.ts'
import type { WakeUps } from './wake-ups.ts'

/** Dependencies of {@link DestinationLimits}. */
export interface DestinationLimitsOptions {
  /** All limits of destinations, by account; undefined when they are as they were at the last call. */
  readLimits(): Promise<ReadonlyMap<string, readonly SendingLimit[]> | undefined>
  defaultLimits: Pick<DefaultLimits, 'destinationPerMinute'>
  quota: Quota
  /** Receives the flows that waited for their limit. */
  wakeUps: Pick<WakeUps, 'newMail'>
  clock: Clock
  log: Log
}

/** What limits the flows of one account at one destination. */
interface Gate {
  rate: Rate
  /** Leased and not taken. */
  leased: { left: number; at: number; putBack(part?: number): void } | undefined
  isLeasing: boolean
  /** Flows that had no part left at their turn. */
  waiting: Set<string>
}

/** What was leased and not needed is given back after this time. */
const REST_MS = 1_000
/** After a lease that failed. */
const RETRY_MS = 1_000
/** Gates that nothing waits at are forgotten above this number. */
const GATES_MOST = 20_000

/** The limits as one worker applies them. */
export class DestinationLimits {
  readonly #options: DestinationLimitsOptions
  readonly #gates = new Map<string, Gate>()
  #limits: ReadonlyMap<string, readonly SendingLimit[]> = new Map()

  constructor(options: DestinationLimitsOptions) {
    this.#options = options
  }

  /** Reads changed limits. Rejects without a database; the limits stay as they are then. */
  async refresh(): Promise<void> {
    const limits = await this.#options.readLimits()
    if (!limits) return
    this.#limits = limits
    const flows = [...this.#gates.values()].flatMap(gate => [...gate.waiting])
    for (const { leased } of this.#gates.values()) leased?.putBack(leased.left)
    this.#gates.clear()
    this.#options.wakeUps.newMail(flows)
  }

  /** Takes the right to claim one delivery of a flow; false: the flow is woken when there is one again. */
  take(flow: Flow): boolean {
    const gate = this.#gateOf(flow)
    if (!gate) return true
    if (gate.leased && gate.leased.left > 0) {
      gate.leased.left--
      return true
    }
    gate.waiting.add(flow.name)
    if (!gate.isLeasing) void this.#lease(flow, gate)
    return false
  }

  /** Gives back rights that found no delivery. */
  putBack(flow: Flow, count: number): void {
    const gate = this.#gateOf(flow)
    if (!gate?.leased || count <= 0) return
    gate.leased.left += count
    this.#restLater(gate)
  }

  /** True for a flow that is woken when its limit allows more. */
  isWaiting(flow: Flow): boolean {
    return this.#gates.get(nameOf(flow))?.waiting.has(flow.name) ?? false
  }

  #gateOf(flow: Flow): Gate | undefined {
    const limits = this.#limits.get(flow.user_id)
    if (!limits && this.#options.defaultLimits.destinationPerMinute === 0) return undefined
    if (flow.lane === 'system') return undefined
    const known = this.#gates.get(nameOf(flow))
    if (known) return known
    const rate = rateAtDestination(limits ?? [], this.#options.defaultLimits, flow.site)
    if (!rate) return undefined
    if (this.#gates.size >= GATES_MOST) this.#forgetIdle()
    const gate: Gate = { rate, leased: undefined, isLeasing: false, waiting: new Set() }
    this.#gates.set(nameOf(flow), gate)
    return gate
  }

  /** Leases as soon as the limit allows, and wakes the flows that wait. */
  async #lease(flow: Flow, gate: Gate): Promise<void> {
    const { quota, clock, log, wakeUps } = this.#options
    gate.isLeasing = true
    const later = (ms: number) => void setTimeout(() => void this.#lease(flow, gate), ms).unref()
    const holder = holderAtDestination(flow.user_id, flow.site)
    const amount = Math.ceil(gate.rate.burst / 2)
    try {
      let taken = await quota.take(holder, gate.rate, amount)
      let count = amount
      if (taken.kind === 'used_up' && taken.left > 0) {
        count = Math.min(amount, Math.floor(taken.left))
        taken = await quota.take(holder, gate.rate, count)
      }
      if (taken.kind === 'used_up') return later(Math.max(1, taken.endsAt.getTime() - clock.now().getTime()))
      const { putBack } = taken
      gate.leased = { left: count, at: performance.now(), putBack }
    } catch (error) {
      log.warn({ err: error, account: flow.user_id, site: flow.site }, 'limit of a destination not read; mail waits')
      return later(RETRY_MS)
    }
    gate.isLeasing = false
    this.#restLater(gate)
    const names = [...gate.waiting]
    gate.waiting.clear()
    wakeUps.newMail(names)
  }

  #restLater(gate: Gate): void {
    const { leased } = gate
    if (!leased) return
    setTimeout(() => {
      const rest = leased.left
      leased.left = 0
      if (rest > 0) leased.putBack(rest)
    }, REST_MS).unref()
  }

  #forgetIdle(): void {
    for (const [name, gate] of this.#gates)
      if (!gate.isLeasing && gate.waiting.size === 0 && !gate.leased?.left) this.#gates.delete(name)
  }
}

function nameOf({ user_id, site }: Flow): string {
  return holderAtDestination(user_id, site)
}
