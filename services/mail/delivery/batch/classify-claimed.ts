/** Sorts a claimed batch: what needs no attempt, with what becomes of it, and what is to be sent. Changes nothing. */
import { split } from '../../../platform/partition.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import { recipientIndex } from '../../store/delivery.ts'
import type { EventDoc } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { RELAY_SITE } from '../../store/rules/flow.ts'
import type { ClaimedBatch } from '../claiming/claim-deliveries.ts'
import type { Sites } from '../sites/sites.ts'
import { expiredResult, type Result, type ResultContext, recordedResult, unrecordedResult } from './attempt-result.ts'

/** Dependencies of {@link createClassify}. */
export interface ClassifyOptions {
  findEvents(ids: readonly string[]): Promise<ReadonlyMap<string, EventDoc>>
  /** At most 5 s old. */
  isSuspended(userId: string): Promise<boolean>
  sites: Pick<Sites, 'isPaused'>
  /** DELIVERY_MODE=relay. */
  relay: boolean
  context(): ResultContext
}

/** A delivery with its message. */
export interface Sendable {
  delivery: ClaimedDelivery
  outgoing: Outgoing
}

/** The batch, each delivery in one place. */
export interface ClassifiedBatch {
  /** Ended, or attempted, without an attempt of this worker. */
  results: Result[]
  /** Given back, to be tried at `due`. */
  postponed: { deliveries: ClaimedDelivery[]; due: Date }[]
  /** To be removed without a result: canceled by a process that died before the removal, or without a message. */
  obsolete: { deliveries: ClaimedDelivery[]; reason: string }[]
  /** By message. */
  sendable: ReadonlyMap<Outgoing, readonly ClaimedDelivery[]>
}

/**
 * Acceptance writes a message with its deliveries; one without (a manually changed database) waits, then is removed.
 */
const ORPHAN_AGE_MS = 10 * 60_000
const ORPHAN_WAIT_MS = 60_000
const SUSPENDED_WAIT_MS = 30_000

/** Makes the function that sorts a batch. It rejects when the database is away. */
export function createClassify(options: ClassifyOptions): (batch: ClaimedBatch) => Promise<ClassifiedBatch> {
  const { context, sites, relay } = options

  const isSiteDown = ({ delivery }: Sendable) => sites.isPaused(relay ? RELAY_SITE : delivery.site)

  return async ({ deliveries, messages }) => {
    const all = deliveries.flatMap(delivery => {
      const outgoing = messages.get(delivery.messageId)
      return outgoing ? [{ delivery, outgoing }] : []
    })
    const orphans = deliveries.filter(({ messageId }) => !messages.has(messageId))
    const suspended = await findSuspended(all, options)
    const [waiting, active] = split(all, one => isOfUser(one) && suspended.has(one.delivery.userId))
    const [marked, unmarked] = split(active, ({ delivery }) => delivery.isMarked)
    const events = marked.length === 0 ? undefined : await options.findEvents(marked.map(attemptIdOf))
    const [canceled, wanted] = split(unmarked, isCanceled)
    const now = context()
    const [expired, fresh] = split(wanted, one => one.delivery.expiresAt <= now.now && isSiteDown(one))
    const [oldOrphans, youngOrphans] = split(
      orphans,
      one => now.now.getTime() - one.createdAt.getTime() > ORPHAN_AGE_MS,
    )
    return {
      results: [
        ...expired.map(({ delivery, outgoing }) => expiredResult(delivery, outgoing.message, now)),
        ...marked.map(one => resultOfMarked(one, events?.get(attemptIdOf(one)), now)),
      ],
      postponed: [
        { deliveries: waiting.map(({ delivery }) => delivery), due: after(now.now, SUSPENDED_WAIT_MS) },
        { deliveries: youngOrphans, due: after(now.now, ORPHAN_WAIT_MS) },
      ],
      obsolete: [
        { deliveries: canceled.map(({ delivery }) => delivery), reason: 'canceled' },
        { deliveries: oldOrphans, reason: 'without a message' },
      ],
      sendable: byMessage(fresh),
    }
  }
}

/** Of an attempt whose worker is gone: what it recorded counts; without a record the outcome is unknown. */
function resultOfMarked(
  { delivery, outgoing: { message } }: Sendable,
  event: EventDoc | undefined,
  context: ResultContext,
): Result {
  return event ? recordedResult(delivery, message, event, context) : unrecordedResult(delivery, message, context)
}

async function findSuspended(all: readonly Sendable[], { isSuspended }: ClassifyOptions): Promise<ReadonlySet<string>> {
  const users = new Set(all.filter(isOfUser).map(({ delivery }) => delivery.userId))
  const suspended = new Set<string>()
  for (const user of users) if (await isSuspended(user)) suspended.add(user)
  return suspended
}

/** The id of the event that the next attempt of a delivery writes. */
function attemptIdOf({ delivery: { id, attempts } }: Sendable): string {
  return eventId(id, attempts + 1)
}

/** Reports of the system are never held back with the account they concern. */
function isOfUser({ outgoing }: Sendable): boolean {
  return outgoing.message.via.channel !== 'system'
}

function isCanceled({ delivery, outgoing }: Sendable): boolean {
  return outgoing.message.rcpts[recipientIndex(delivery.id)]?.status === 'canceled'
}

function byMessage(all: readonly Sendable[]): ReadonlyMap<Outgoing, readonly ClaimedDelivery[]> {
  const groups = new Map<Outgoing, ClaimedDelivery[]>()
  for (const { delivery, outgoing } of all) {
    const group = groups.get(outgoing)
    if (group) group.push(delivery)
    else groups.set(outgoing, [delivery])
  }
  return groups
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms)
}
