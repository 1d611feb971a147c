/** A turn of one webhook: some of its due events, for a bounded time, so that others get their turn. */
import { sentence } from '../sentences/sentence.ts'
import { type Attempting, attemptDelivery, TIMEOUT_MS } from './attempt-delivery.ts'
import {
  claimEvent,
  dropExcess,
  endEvents,
  settleEvent,
  TEST_EVENT,
  type WebhookEndpoint,
  type WebhookEvent,
} from './event-queue.ts'
import { waitAfter } from './rules/standard-webhooks.ts'
import { type HealthDeps, noteTurn, type TurnFindings } from './webhook-health.ts'

/** Dependencies of everything that sends events. */
export interface Sending<W extends WebhookEndpoint, E extends WebhookEvent> extends Attempting<W, E>, HealthDeps<W, E> {
  /** A number in [0, 1). */
  random(): number
}

/** An event whose worker stopped becomes due again after this time. */
export const CLAIM_MS = 4 * TIMEOUT_MS
/** Parallel requests to a webhook that works; to one that fails there is one. */
const AT_ONCE = 4
/** No event is begun later in a turn. */
const TURN_MS = 2_000
/** Waiting events of a webhook; beyond, the oldest are dropped. */
const MOST_WAITING = 100_000

/** What a turn came to. */
export interface Turn {
  /** Events that were attempted or ended. */
  events: number
  /** Nothing succeeded, or attempts took long: its next turns use the places for slow webhooks. */
  isSlow: boolean
}

/** An average attempt that takes longer is slow. */
const SLOW_MS = 1_000

/** Takes the turn of a webhook. `known`: the webhook, read just before; undefined when it was removed. */
export async function takeTurn<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  id: string,
  known: W | undefined,
  signal: AbortSignal,
): Promise<Turn> {
  if (!known?.enabled) {
    const ended = await endEvents(sending.store, id, sentence(known ? 'webhook.off' : 'webhook.removed'))
    return { events: ended, isSlow: false }
  }
  const findings: TurnFindings = { succeeded: 0, failed: 0, isGone: false, askedMs: 0 }
  const until = performance.now() + TURN_MS
  const spent = { events: 0, ms: 0 }
  const mayGoOn = () => !signal.aborted && performance.now() < until && findings.failed === 0
  const runner = async () => {
    while (mayGoOn()) {
      const event = await claim(sending, id)
      if (!event) return
      spent.events++
      spent.ms += await sendClaimed(sending, known, event, findings)
    }
  }
  await Promise.all(Array.from({ length: known.failing ? 1 : AT_ONCE }, runner))
  await noteTurn(sending, known, findings)
  const isSlow = findings.failed > findings.succeeded || spent.ms > SLOW_MS * spent.events
  return { events: spent.events, isSlow }
}

/** Ends what waits beyond the bound; resolves to how many events. */
export function dropOldest<W extends WebhookEndpoint, E extends WebhookEvent>(
  { store }: Sending<W, E>,
  id: string,
): Promise<number> {
  return dropExcess(store, id, MOST_WAITING)
}

/** Attempts an event that this process holds, and writes what came of it; resolves to the milliseconds of the attempt. */
export async function sendClaimed<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  webhook: W,
  event: E,
  findings: TurnFindings,
): Promise<number> {
  const { store, clock, random } = sending
  const { kind, result, reason, retryAfterMs = 0, record } = await attemptDelivery(sending, webhook, event)
  const came = { result, record, ...(reason && { reason }) }
  if (kind === 'delivered') findings.succeeded++
  else if (kind !== 'not_sent') findings.failed++
  if (kind === 'gone') findings.isGone = true
  findings.askedMs = Math.max(findings.askedMs, retryAfterMs)
  const isOver = kind === 'gone' || event.type === TEST_EVENT
  const wait = isOver ? undefined : waitAfter(event.attempts - (event.earlier ?? 0), random())
  if (kind === 'delivered') await settleEvent(store, event, { state: 'done', ...came })
  else if (wait === undefined) await settleEvent(store, event, { state: 'failed', ...came })
  else {
    const due = new Date(clock.now().getTime() + Math.max(wait, retryAfterMs))
    await settleEvent(store, event, { state: 'waiting', due, ...came })
  }
  return record.ms
}

function claim<W extends WebhookEndpoint, E extends WebhookEvent>(
  { store, clock }: Sending<W, E>,
  id: string,
): Promise<E | undefined> {
  const now = clock.now()
  return claimEvent(store, id, now, new Date(now.getTime() + CLAIM_MS))
}
