/**
 * What happens to a claimed batch, step by step: classify, group by route, send, settle. Each step returns what the next
 * one works on; whatever is not sent is given back or settled here.
 */
import type { Log } from '../../../platform/observability/log.ts'
import type { DeliveryQueue } from '../../store/deliveries.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { isProvider } from '../../store/rules/assign-slot.ts'
import { flowOf } from '../../store/rules/flow.ts'
import type { ClaimedBatch } from '../claiming/claim-deliveries.ts'
import type { GiveBack } from '../claiming/give-back.ts'
import type { InFlight } from '../claiming/in-flight.ts'
import type { WakeUps } from '../claiming/wake-ups.ts'
import type { Sites } from '../sites/sites.ts'
import { type LocalFailure, localResult, type Result, type ResultContext } from './attempt-result.ts'
import type { ClassifiedBatch } from './classify-claimed.ts'
import { type Group, type GroupingOptions, groupByRoute, type Routed } from './group-by-route.ts'
import type { Send } from './send-group.ts'
import type { Settle } from './settle.ts'

/** Dependencies of {@link BatchDelivery}. */
export interface BatchDeliveryOptions extends GroupingOptions {
  /** Rejects when the database is away. */
  classify(batch: ClaimedBatch): Promise<ClassifiedBatch>
  send: Send
  settle: Settle
  giveBack: GiveBack
  queue: Pick<DeliveryQueue, 'remove' | 'move' | 'hold'>
  inFlight: InFlight
  sites: Pick<Sites, 'isPaused' | 'unreachable'>
  wakeUps: Pick<WakeUps, 'notify'>
  /** The slot of a delivery when it belongs to this site. */
  slotOf(site: string, messageId: string): number
  /** A delivery is ready in another flow now, perhaps of another worker. */
  onMoved(slot: number, flow: string): void
  context(): ResultContext
  log: Log
}

/** After this many results the claim loop is woken: there is room for more. */
const WAKE_EACH = 50

/** The walk of the batches of one worker. */
export class BatchDelivery {
  readonly #options: BatchDeliveryOptions

  constructor(options: BatchDeliveryOptions) {
    this.#options = options
  }

  /**
   * Resolves when every delivery is on its way; what becomes of it shows when it leaves {@link InFlight}. Rejects when the
   * database is away, with all of the batch given back.
   */
  async deliver(batch: ClaimedBatch): Promise<void> {
    const { classify, giveBack, context } = this.#options
    const { results, postponed, held, obsolete, sendable } = await classify(batch).catch((error: unknown) => {
      giveBack.postpone(batch.deliveries, context().now)
      throw error
    })
    for (const { deliveries, due } of postponed) giveBack.postpone(deliveries, due)
    for (const { deliveries, holdId } of held) void this.#hold(deliveries, holdId)
    for (const { deliveries, reason } of obsolete) void this.#remove(deliveries, reason)
    for (const result of results) void this.#settle(result)
    // DNS may take its time: other messages do not wait for it.
    for (const [outgoing, deliveries] of sendable) void this.#deliverMessage(outgoing, deliveries)
  }

  async #deliverMessage(outgoing: Outgoing, deliveries: readonly ClaimedDelivery[]): Promise<void> {
    for await (const routed of groupByRoute(this.#options, outgoing, deliveries))
      if (routed.kind === 'group') void this.#deliverGroup(routed.group)
      else await this.#endWithoutGroup(routed, outgoing)
  }

  async #deliverGroup(group: Group): Promise<void> {
    const { send, giveBack } = this.#options
    const { results, untouched, unreachable } = await send(group)
    for (const result of results) void this.#settle(result)
    if (untouched.length > 0) void giveBack.putBack(untouched, unreachable?.until)
  }

  /** A result that could not be written stays in the queue for the next claim, which finds the mark. */
  async #settle(result: Result): Promise<void> {
    const { settle, inFlight, wakeUps, log } = this.#options
    await settle(result).catch((error: unknown) =>
      log.error({ err: error, delivery: result.delivery.id }, 'a result was not written'),
    )
    inFlight.remove(result.delivery)
    if (inFlight.size % WAKE_EACH === 0) wakeUps.notify()
  }

  async #endWithoutGroup(routed: Exclude<Routed, { kind: 'group' }>, outgoing: Outgoing): Promise<void> {
    const { giveBack, context, log } = this.#options
    if (routed.kind === 'failed') this.#endWithoutRoute(routed.delivery, outgoing, routed.failure)
    else if (routed.kind === 'moved') await this.#move(routed.delivery, routed.site)
    else {
      log.warn({ err: routed.error, m: outgoing.message._id }, 'no route was found; trying again')
      giveBack.postpone(routed.deliveries, context().now)
    }
  }

  /** DNS that gives no answer concerns the site: the first delivery notes it, the others stay untouched. */
  #endWithoutRoute(delivery: ClaimedDelivery, { message }: Outgoing, failure: LocalFailure): void {
    const { sites, giveBack, context } = this.#options
    if (failure.classification.outcome === 'deferred') {
      if (sites.isPaused(delivery.site)) {
        giveBack.postpone([delivery], context().now)
        return
      }
      // A domain without a DNS answer is no evidence about the provider that it was found at before.
      if (!isProvider(delivery.site)) sites.unreachable(delivery.site, failure.text)
    }
    void this.#settle(localResult(delivery, message, failure, context()))
  }

  async #move(delivery: ClaimedDelivery, site: string): Promise<void> {
    const { queue, inFlight, slotOf, onMoved, giveBack, context, log } = this.#options
    const slot = slotOf(site, delivery.messageId)
    const { userId, lane } = delivery
    const flow = flowOf({ slot, site, user_id: userId, lane }, false)
    try {
      await queue.move([delivery], { site, slot, flow, due: context().now })
      inFlight.remove(delivery)
      onMoved(slot, flow)
    } catch (error) {
      log.warn({ err: error, delivery: delivery.id }, 'a delivery was not moved to its site; trying again')
      giveBack.postpone([delivery], context().now)
    }
  }

  async #hold(deliveries: readonly ClaimedDelivery[], holdId: string): Promise<void> {
    const { queue, inFlight, giveBack, context, log } = this.#options
    try {
      await queue.hold(deliveries, holdId)
      for (const delivery of deliveries) inFlight.remove(delivery)
    } catch (error) {
      log.warn({ err: error, hold: holdId }, 'deliveries were not held; trying again')
      giveBack.postpone(deliveries, context().now)
    }
  }

  async #remove(deliveries: readonly ClaimedDelivery[], reason: string): Promise<void> {
    const { queue, inFlight, giveBack, context, log } = this.#options
    if (deliveries.length === 0) return
    try {
      await queue.remove(deliveries)
      for (const delivery of deliveries) inFlight.remove(delivery)
      log.info({ deliveries: deliveries.length, reason }, 'removed deliveries that are not to be sent')
    } catch (error) {
      log.warn({ err: error, reason }, 'deliveries that are not to be sent were not removed')
      giveBack.postpone(deliveries, context().now)
    }
  }
}
