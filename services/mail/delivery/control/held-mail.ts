/** What a worker knows of holds and cancellations: which of the deliveries that it claimed are not to be tried now. */
import type { Clock } from '../../../platform/clock.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { domainOf } from '../../message/address.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { OutgoingMessage } from '../../store/outgoing.ts'
import { createFinder, type Selectable, type Selection } from './rules/selection.ts'
import { holdsAfter } from './store/holds.ts'
import { openActions } from './store/queue-actions.ts'

/** A hold, or a cancellation that is under way: what it selects is not tried either, even if its worker was killed. */
interface Withholding extends Selection {
  id: string
  /** A cancellation concerns mail that was accepted before it. */
  before?: Date
}

/** The holds as one worker applies them. */
export class HeldMail {
  readonly #mongo: Mongo
  readonly #clock: Clock
  #findHold: (delivery: Selectable) => Withholding | undefined = () => undefined
  #findCancellation = this.#findHold

  constructor({ mongo, clock }: { mongo: Mongo; clock: Clock }) {
    this.#mongo = mongo
    this.#clock = clock
  }

  /** Reads what applies now. Rejects without a database; what was known stays. */
  async refresh(): Promise<void> {
    const { db } = this.#mongo
    const [held, actions] = await Promise.all([holdsAfter(db, this.#clock.now()), openActions(db)])
    const selection = ({ _id, user_id, scope, value }: (typeof held)[number] | (typeof actions)[number]) => ({
      ...{ id: _id, userId: user_id, scope, value },
    })
    this.#findHold = createFinder(held.map(selection))
    this.#findCancellation = createFinder(
      actions
        .filter(({ action }) => action === 'cancel')
        .map(action => ({ ...selection(action), before: action.created_at })),
    )
  }

  /** The id of the hold or cancellation that this delivery waits for, if any. */
  find(delivery: ClaimedDelivery, message: Pick<OutgoingMessage, 'domain_id'>): string | undefined {
    const selectable = {
      userId: delivery.userId,
      domainId: message.domain_id,
      messageId: delivery.messageId,
      site: delivery.site,
      recipientDomain: domainOf(delivery.recipient).toLowerCase(),
    }
    const cancellation = this.#findCancellation(selectable)
    if (cancellation?.before && delivery.createdAt <= cancellation.before) return cancellation.id
    return this.#findHold(selectable)?.id
  }
}
