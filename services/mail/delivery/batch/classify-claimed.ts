/** Sorts a claimed batch: what needs no attempt, with what becomes of it, and what is to be sent. Changes nothing. */
import { split } from '../../../platform/partition.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import { recipientIndex } from '../../store/delivery.ts'
import type { EventDoc } from '../../store/documents.ts'
import { eventId } from '../../store/events.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { RELAY_SITE } from '../../store/rules/flow.ts'
import { streamName } from '../../store/rules/stream.ts'
import type { FindSuppressed } from '../../suppressions/find-suppressed.ts'
import { explainSuppression } from '../../suppressions/rules/suppression.ts'
import type { ClaimedBatch } from '../claiming/claim-deliveries.ts'
import type { HeldMail } from '../control/held-mail.ts'
import type { Sites } from '../sites/sites.ts'
import {
  expiredResult,
  type Result,
  type ResultContext,
  recordedResult,
  suppressedResult,
  unrecordedResult,
} from './attempt-result.ts'

/** Dependencies of {@link createClassify}. */
export interface ClassifyOptions {
  findEvents(ids: readonly string[]): Promise<ReadonlyMap<string, EventDoc>>
  /** At most 5 s old. */
  isSuspended(userId: string): Promise<boolean>
  /** The recipients that accounts send nothing to, of all messages of a batch with one query. */
  findSuppressed: FindSuppressed
  sites: Pick<Sites, 'isPaused'>
  heldMail: Pick<HeldMail, 'find'>
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
  /** Given back, to wait for the end of a hold. */
  held: { deliveries: ClaimedDelivery[]; holdId: string }[]
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

  const holdOf = (one: Sendable) =>
    isOfUser(one) ? options.heldMail.find(one.delivery, one.outgoing.message) : undefined
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
    const held = Map.groupBy(wanted, holdOf)
    const [expired, fresh] = split(
      wanted,
      one => one.delivery.expiresAt <= now.now && (isSiteDown(one) || holdOf(one) !== undefined),
    )
    const [oldOrphans, youngOrphans] = split(
      orphans,
      one => now.now.getTime() - one.createdAt.getTime() > ORPHAN_AGE_MS,
    )
    const { allowed, results: withdrawn } = await withdrawSuppressed(
      byMessage(fresh.filter(one => holdOf(one) === undefined)),
      options,
      now,
    )
    return {
      results: [
        ...withdrawn,
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
      held: [...held].flatMap(([holdId, of]) =>
        holdId === undefined
          ? []
          : [{ holdId, deliveries: of.map(({ delivery }) => delivery).filter(({ expiresAt }) => expiresAt > now.now) }],
      ),
      sendable: allowed,
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

/** Suppressed since they were accepted: these recipients end here. Mail of the system itself goes to everyone. */
async function withdrawSuppressed(
  messages: ReadonlyMap<Outgoing, readonly ClaimedDelivery[]>,
  { findSuppressed }: ClassifyOptions,
  now: ResultContext,
): Promise<{ allowed: ReadonlyMap<Outgoing, readonly ClaimedDelivery[]>; results: Result[] }> {
  const asked = [...messages].filter(([{ message }]) => message.via.channel !== 'system')
  const answers = await findSuppressed(
    asked.map(([{ message }, deliveries]) => ({
      userId: message.user_id,
      stream: streamName(message),
      emails: deliveries.map(({ recipient }) => recipient),
    })),
  )
  if (answers.every(({ size }) => size === 0)) return { allowed: messages, results: [] }
  const allowed = new Map(messages)
  const results: Result[] = []
  for (const [index, [outgoing, deliveries]] of asked.entries()) {
    const suppressed = answers[index]
    if (!suppressed?.size) continue
    const [listed, others] = split(deliveries, ({ recipient }) => suppressed.has(recipient))
    if (others.length === 0) allowed.delete(outgoing)
    else allowed.set(outgoing, others)
    for (const delivery of listed) {
      const entry = suppressed.get(delivery.recipient)
      if (entry) results.push(suppressedResult(delivery, outgoing.message, explainSuppression(entry), now))
    }
  }
  return { allowed, results }
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
