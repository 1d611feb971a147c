/**
 * Brings events to webhooks. Each webhook takes turns of bounded time, one at a time in a process, and those that are slow
 * or fail share half of the places: a receiver that does not answer delays no other.
 */
import { abortableDelay } from '../concurrency/abortable-delay.ts'
import { withTimeout } from '../concurrency/timeout.ts'
import type { Running } from '../running.ts'
import {
  dueWebhooks,
  findWebhooks,
  type WaitingWebhook,
  type WebhookEndpoint,
  type WebhookEvent,
} from './event-queue.ts'
import { dropOldest, type Sending, type Turn, takeTurn } from './webhook-turn.ts'

export type { Sending } from './webhook-turn.ts'

/** Turns at once in a process, and how many of them slow webhooks may have. */
const PLACES = 40
const SLOW_PLACES = 20
/** Webhooks that are read together when places are free. */
const CANDIDATES = 200
/** How often a queue that does not empty is measured. */
const MEASURE_MS = 60_000
/** Pause of a sender that has nothing to do, and the shortest between two looks at the queues. */
const IDLE_MS = 500
const BUSY_MS = 50
/** How long a stop waits for requests under way. */
const DRAIN_MS = 20_000

/** The turns of one process. */
class Turns<W extends WebhookEndpoint, E extends WebhookEvent> {
  events = 0
  readonly #sending: Sending<W, E>
  readonly #signal: AbortSignal
  readonly #running = new Map<string, { ended: Promise<void>; isSlow: boolean }>()
  /** Webhooks whose last turn here was slow. */
  readonly #slow = new Set<string>()
  /** Number of the last turn of each webhook that still waits: who waited longest is next. */
  readonly #last = new Map<string, number>()
  readonly #measured = new Map<string, number>()
  #count = 0

  constructor(sending: Sending<W, E>, signal: AbortSignal) {
    this.#sending = sending
    this.#signal = signal
  }

  get isIdle(): boolean {
    return this.#running.size === 0
  }

  /** Begins the turns that there is a place for; resolves to how many. */
  async begin(): Promise<number> {
    if (this.#signal.aborted || this.#running.size >= PLACES) return 0
    const due = await dueWebhooks(this.#sending.store, this.#sending.clock.now())
    this.#forgetOthers(due)
    const order = due
      .filter(({ id }) => !this.#running.has(id))
      .toSorted((a, b) => this.#lastOf(a) - this.#lastOf(b) || a.due.getTime() - b.due.getTime())
    let begun = 0
    for (let at = 0; at < order.length && this.#running.size < PLACES && !this.#signal.aborted; at += CANDIDATES)
      begun += await this.#beginSome(order.slice(at, at + CANDIDATES))
    return begun
  }

  /** Resolves when a turn ends; at once when there is none. */
  async oneEnded(): Promise<void> {
    await Promise.race([...this.#running.values()].map(({ ended }) => ended))
  }

  async allEnded(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  async #beginSome(candidates: readonly WaitingWebhook[]): Promise<number> {
    const { store, clock } = this.#sending
    const ids = candidates.map(({ id }) => id)
    const known = new Map((await findWebhooks(store, ids)).map(webhook => [webhook._id, webhook]))
    const now = clock.now()
    let begun = 0
    for (const id of ids) {
      const webhook = known.get(id)
      const { failing } = webhook ?? {}
      const isSlow = failing !== undefined || this.#slow.has(id)
      const isPaused = webhook?.enabled && failing && failing.paused_until > now
      if (this.#running.size >= PLACES || this.#running.has(id)) continue
      if (isPaused || (isSlow && this.#slowCount() >= SLOW_PLACES)) continue
      this.#begin(id, webhook, isSlow)
      begun++
    }
    return begun
  }

  #begin(id: string, webhook: W | undefined, isSlow: boolean): void {
    this.#last.set(id, ++this.#count)
    const ended = this.#take(id, webhook).finally(() => this.#running.delete(id))
    this.#running.set(id, { ended, isSlow })
  }

  /** Never rejects: claimed events of a turn that fails become due again. */
  async #take(id: string, webhook: W | undefined): Promise<void> {
    try {
      const turn = await takeTurn(this.#sending, id, webhook, this.#signal)
      this.#note(id, turn)
      await this.#measure(id)
    } catch (error) {
      this.#slow.add(id)
      this.#sending.log.warn({ err: error, webhook: id }, 'events of a webhook were not sent; they are repeated')
      await abortableDelay(IDLE_MS, this.#signal)
    }
  }

  #note(id: string, { events, isSlow }: Turn): void {
    this.events += events
    if (isSlow) this.#slow.add(id)
    else this.#slow.delete(id)
  }

  /** A queue that is not empty after a turn may be growing. */
  async #measure(id: string): Promise<void> {
    const now = performance.now()
    const last = this.#measured.get(id)
    if (last === undefined) this.#measured.set(id, now)
    if (last === undefined || now - last < MEASURE_MS) return
    this.#measured.set(id, now)
    const dropped = await dropOldest(this.#sending, id)
    if (dropped > 0) this.#sending.log.warn({ webhook: id, events: dropped }, 'events of a webhook were dropped')
  }

  #forgetOthers(due: readonly WaitingWebhook[]): void {
    const waiting = new Set(due.map(({ id }) => id))
    for (const map of [this.#last, this.#slow, this.#measured])
      for (const id of map.keys()) if (!waiting.has(id) && !this.#running.has(id)) map.delete(id)
  }

  #lastOf({ id }: WaitingWebhook): number {
    return this.#last.get(id) ?? 0
  }

  #slowCount(): number {
    return [...this.#running.values()].filter(({ isSlow }) => isSlow).length
  }
}

/** Sends all due events; resolves to the number of those that were attempted or ended. */
export async function sendEvents<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  signal: AbortSignal,
): Promise<number> {
  const turns = new Turns(sending, signal)
  while ((await turns.begin()) > 0 || !turns.isIdle) await turns.oneEnded()
  return turns.events
}

/** Sends events as they become due, until it is stopped. Many processes may do so at once. */
export function startSending<W extends WebhookEndpoint, E extends WebhookEvent>(sending: Sending<W, E>): Running {
  const stopping = new AbortController()
  const { signal } = stopping
  const turns = new Turns(sending, signal)
  const loop = async () => {
    while (!signal.aborted) {
      await turns.begin().catch((error: unknown) => sending.log.warn({ err: error }, 'webhooks are not read'))
      await abortableDelay(BUSY_MS, signal)
      const idle = abortableDelay(IDLE_MS, signal)
      await (turns.isIdle ? idle : Promise.race([turns.oneEnded(), idle]))
    }
    await turns.allEnded()
  }
  const running = loop()
  return {
    async stop() {
      stopping.abort()
      await withTimeout(DRAIN_MS, running).catch((error: unknown) =>
        sending.log.warn({ err: error }, 'requests to webhooks did not end in time; their events are repeated'),
      )
    },
  }
}
