/** What a person requests of the delivery log of a webhook, with the refusals of each API. */
import { type ProblemCode, ProblemError } from '../problems.ts'
import { sentence } from '../sentences/sentence.ts'
import { findEvent, type WebhookEndpoint, type WebhookEvent, type WebhookStore } from './event-queue.ts'
import { type Replayed, type ReplayRange, replayEvent, replayRange } from './replay-events.ts'
import type { Sending } from './webhook-turn.ts'

/** Codes of an API for a delivery that does not exist, and for one or a webhook in another state. */
export interface DeliveryRefusals {
  unknown: ProblemCode
  conflict: ProblemCode
}

/** One delivery with its attempts. Throws `unknown`. */
export async function requireDelivery<W extends WebhookEndpoint, E extends WebhookEvent>(
  store: Pick<WebhookStore<W, E>, 'events'>,
  webhookId: string,
  id: string,
  { unknown }: DeliveryRefusals,
): Promise<E> {
  const event = await findEvent(store, webhookId, id)
  if (!event) throw new ProblemError(unknown, sentence('detail.delivery_unknown'))
  return event
}

/** Sends a delivery again and waits for the answer. Throws `conflict` while it waits, or when the webhook is off. */
export async function replayDelivery<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  webhook: W,
  id: string,
  refusals: DeliveryRefusals,
): Promise<E> {
  requireEnabled(webhook, refusals)
  await requireDelivery(sending.store, webhook._id, id, refusals)
  const event = await replayEvent(sending, webhook, id)
  if (!event) throw new ProblemError(refusals.conflict, sentence('detail.delivery_waits'))
  return event
}

/** Queues the deliveries of a time again. Throws `conflict` when the webhook is off. */
export async function replayDeliveries<W extends WebhookEndpoint, E extends WebhookEvent>(
  { store, clock }: Pick<Sending<W, E>, 'store' | 'clock'>,
  webhook: W,
  { since, until, failedOnly }: Omit<ReplayRange, 'until'> & { until?: Date | undefined },
  refusals: DeliveryRefusals,
): Promise<Replayed> {
  requireEnabled(webhook, refusals)
  const now = clock.now()
  return replayRange(store, webhook._id, { since, until: until ?? now, failedOnly }, now)
}

/** The events of a webhook that is off would end at once. */
function requireEnabled({ enabled }: WebhookEndpoint, { conflict }: DeliveryRefusals): void {
  if (!enabled) throw new ProblemError(conflict, sentence('detail.webhook_off'))
}
