/** What an account may do with its waiting mail: cancel it, or have it tried now. */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { collectionOf, type Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { cellsOf } from '../store/cells.ts'
import { DELIVERIES, DeliveryQueue, deliveriesOfMessage, NO_FLOW } from '../store/deliveries.ts'
import { type ClaimRef, type Delivery, recipientIndex, toDelivery } from '../store/delivery.ts'
import type { EventDoc, MessageDoc } from '../store/documents.ts'
import { appendEvents, eventId } from '../store/events.ts'
import { MESSAGES } from '../store/messages.ts'
import { Outbox } from '../store/outgoing.ts'
import { slotsOf } from '../store/rules/assign-slot.ts'
import { explained } from '../store/rules/explanation.ts'
import { HELD_FLOWS } from '../store/rules/flow.ts'
import { wakeOf } from '../store/wake.ts'
import { queueAttempts } from '../webhooks/message-events.ts'
import { mailWebhooksOf } from '../webhooks/queue-mail-events.ts'

/** Dependencies of the use cases. */
export interface QueueControlOptions {
  mongo: Mongo
  clock: Clock
  /** RETENTION_LOG_DAYS. */
  logDays: number
}

/** A cancellation that does not finish (the process dies) leaves the delivery to be tried again after this time. */
const CANCEL_MS = 60_000
/** In a flow of a hold the lifetime is `due`. */
const NOT_HELD = { $not: { $gte: HELD_FLOWS.from, $lt: HELD_FLOWS.to } }
/** Tried before, not claimed. */
const TRIED_AND_WAITING = { att: { $gt: 0 }, tok: { $exists: false } }

/**
 * Cancels every recipient of a message that is not final and whose content is not on its way; answers how many. 404
 * when the account has no such message, 409 `not_cancelable` when nothing was left to cancel.
 */
export async function cancel(options: QueueControlOptions, userId: string, messageId: string): Promise<number> {
  const { mongo, clock } = options
  const message = await ownMessage(mongo, userId, messageId)
  const now = clock.now()
  const taken = await takeClaims(
    mongo,
    { ...deliveriesOfMessage(messageId), ...cellsOf(mongo.db).of([messageId]) },
    now,
  )
  if (taken.length === 0) throw new ProblemError('not_cancelable')
  await endCanceled(options, taken, () => message.rcpts.length)
  return taken.length
}

/** Cancels those of these deliveries whose content is not on its way; answers how many. Repeating it changes nothing. */
export async function cancelDeliveries(options: QueueControlOptions, found: readonly Delivery[]): Promise<number> {
  const { mongo, clock } = options
  const cells = cellsOf(mongo.db)
  const ids = found.map(({ id }) => id)
  const taken = await takeClaims(mongo, { _id: { $in: ids }, ...cells.of(ids) }, clock.now())
  if (taken.length === 0) return 0
  const messageIds = [...new Set(taken.map(({ messageId }) => messageId))]
  const messages = await collectionOf(mongo.db, MESSAGES)
    .find({ _id: { $in: messageIds }, ...cells.of(messageIds) })
    .project<{ _id: string; count: number }>({ count: { $size: '$rcpts' } })
    .toArray()
  const counts = new Map(messages.map(({ _id, count }) => [_id, count]))
  await endCanceled(options, taken, messageId => counts.get(messageId) ?? 0)
  return taken.length
}

/** Writes the result of canceled deliveries; `recipients`: how many their message has. */
async function endCanceled(
  { mongo, clock, logDays }: QueueControlOptions,
  taken: readonly (Delivery & ClaimRef)[],
  recipients: (messageId: string) => number,
): Promise<void> {
  const now = clock.now()
  const events = taken.map(
    (delivery): EventDoc => ({
      _id: eventId(delivery.id, delivery.attempts + 1),
      m: delivery.messageId,
      user_id: delivery.userId,
      rcpt: delivery.recipient,
      attempt: delivery.attempts + 1,
      type: 'canceled',
      at: now,
      ms: 0,
      ...explained(sentence('delivery.canceled')),
      exp: new Date(now.getTime() + logDays * DAY_MS),
    }),
  )
  await appendEvents(mongo, events)
  const webhooks = mailWebhooksOf({ mongo, clock })
  await queueAttempts(
    webhooks,
    events.map(event => ({ event })),
  )
  // The queue comes last: what is still there after a crash is found by a worker.
  await new Outbox(mongo, logDays).note(
    taken.map(({ id, messageId }) => ({
      messageId,
      n: recipientIndex(id),
      status: 'canceled',
      final: true,
      only: recipients(messageId) === 1,
    })),
    now,
  )
  await new DeliveryQueue(mongo).remove(taken)
}

/** Taking the claim fences a worker that holds the delivery: its mark before the final dot fails. */
async function takeClaims(mongo: Mongo, which: { _id: object }, now: Date): Promise<(Delivery & ClaimRef)[]> {
  const claimToken = `cancel:${randomBytes(9).toString('base64url')}`
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  await deliveries.updateMany(
    { ...which, ph: { $exists: false } },
    { $set: { tok: claimToken, due: new Date(now.getTime() + CANCEL_MS) }, $unset: { flow: '' } },
  )
  const found = await deliveries.find({ ...which, tok: claimToken }).toArray()
  return found.map(doc => ({ ...toDelivery(doc), claimToken }))
}

/**
 * Makes every recipient of a message that waits for another attempt due now; answers how many. One that is due already
 * keeps its place, one that a worker has in flight is left alone, and what was never tried keeps its time (it is
 * scheduled, or about to be tried). 404 when the account has no such message.
 */
export async function retryNow(options: QueueControlOptions, userId: string, messageId: string): Promise<number> {
  await ownMessage(options.mongo, userId, messageId)
  return makeDue(options, { ...deliveriesOfMessage(messageId), ...cellsOf(options.mongo.db).of([messageId]) })
}

/** Makes those of these deliveries that wait for another attempt, and are not held, due now; answers how many. */
export async function makeDue(
  { mongo, clock }: Pick<QueueControlOptions, 'mongo' | 'clock'>,
  which: { _id: object },
): Promise<number> {
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  const waiting = { ...which, ...TRIED_AND_WAITING, flow: NOT_HELD }
  const slots = await deliveries.distinct('slot', waiting)
  const { matchedCount } = await deliveries.updateMany(waiting, { $min: { due: clock.now() } })
  if (matchedCount > 0) wakeOf(mongo).ring(slots)
  return matchedCount
}

/** Whose deliveries wait for another attempt at one destination. */
interface WaitingAt {
  site: string
  /** Number of slots of a cell, and whether everything goes through one relay. */
  slots: number
  relay: boolean
}

/**
 * Makes what waits for another attempt at a destination due now, for all accounts; answers how much. What was never
 * tried keeps its time (it is scheduled), and a pause that the destination asked for goes on.
 */
export async function retrySite(
  { mongo, clock }: Pick<QueueControlOptions, 'mongo' | 'clock'>,
  { site, slots, relay }: WaitingAt,
): Promise<number> {
  const cells = cellsOf(mongo.db)
  const places = slotsOf(site, slots, relay, cells.count)
  const now = clock.now()
  const { modifiedCount } = await collectionOf(mongo.db, DELIVERIES).updateMany(
    {
      ...cells.ofSlots(places),
      flow: NO_FLOW, // the index keeps what waits for its time under it; what is in a flow is due already
      due: { $gt: now },
      slot: { $in: places },
      site,
      ...TRIED_AND_WAITING,
    },
    { $set: { due: now } },
  )
  if (modifiedCount > 0) wakeOf(mongo).ring(places)
  return modifiedCount
}

async function ownMessage(mongo: Mongo, userId: string, messageId: string): Promise<Pick<MessageDoc, 'rcpts'>> {
  const message = await collectionOf(mongo.db, MESSAGES).findOne(
    { _id: messageId, ...cellsOf(mongo.db).of([messageId]), user_id: userId },
    { projection: { rcpts: 1 } },
  )
  if (!message) throw new ProblemError('not_found', sentence('detail.no_message'))
  return message
}
