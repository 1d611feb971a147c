/**
 * The background work of queue control: gives back what was held, and carries out actions on much mail. One worker at a
 * time does it, in batches; each batch may run twice, and what a killed worker leaves another one takes up.
 */

import type { Clock } from '../../../platform/clock.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { collectionOf } from '../../../platform/database/mongo.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { domainOf } from '../../message/address.ts'
import { cellsOf } from '../../store/cells.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import { toDelivery } from '../../store/delivery.ts'
import type { DeliveryDoc } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import { HELD_FLOWS, heldFlow, holdOfFlow } from '../../store/rules/flow.ts'
import { wakeOf } from '../../store/wake.ts'
import { cancelDeliveries, makeDue } from '../queue-control.ts'
import { isSelected } from './rules/selection.ts'
import { forgetHolds, holdsAfter } from './store/holds.ts'
import { lockQueueControl, noteProgress, openActions, type QueueActionDoc } from './store/queue-actions.ts'

/** Dependencies of {@link workOnQueue}. */
export interface QueueWorkOptions {
  mongo: Mongo
  clock: Clock
  log: Log
  /** Unique name of this worker. */
  owner: string
  /** RETENTION_LOG_DAYS. */
  logDays: number
}

/** A worker that does not renew the lock for this time has died. */
const LOCK_MS = 15_000
/** Until then after the end of a hold a worker may still hold mail: what is given back earlier would come again. */
const ENDED_MS = 4_000
const BATCH = 1_000
/** Batches that a count looks at. */
const COUNTED_PAGES = 20
/** Ended holds stay visible for a day. */
const KEPT_MS = 24 * HOUR_MS
/** Ids of messages have the time of a process that may be behind. */
const SKEW_MS = 60_000

/** Does everything there is to do now, unless another worker is at it. Rejects when the database is away. */
export async function workOnQueue(options: QueueWorkOptions, signal: AbortSignal): Promise<void> {
  const { mongo, clock, owner } = options
  const mayGoOn = async () => !signal.aborted && (await lockQueueControl(mongo, owner, clock.now(), LOCK_MS))
  if (!(await mayGoOn())) return
  for (const action of await openActions(mongo.db)) await carryOut(options, action, mayGoOn)
  await giveBackHeld(options, mayGoOn)
  await forgetHolds(mongo.db, new Date(clock.now().getTime() - KEPT_MS))
}

/**
 * Makes what is held due where its hold has ended, and what has expired under a hold, so that a worker ends it. A hold is
 * found by its flow, so that nothing stays behind, whatever died in between.
 */
async function giveBackHeld({ mongo, clock }: QueueWorkOptions, mayGoOn: () => Promise<boolean>): Promise<void> {
  const deliveries = collectionOf(mongo.db, DELIVERIES)
  const cells = cellsOf(mongo.db)
  const flows = await deliveries
    .aggregate<{ _id: string }>([
      { $match: { ...cells.all(), flow: { $gte: HELD_FLOWS.from, $lt: HELD_FLOWS.to } } },
      { $sort: { flow: 1, due: 1 } },
      { $group: { _id: '$flow' } },
    ])
    .toArray()
  if (flows.length === 0) return
  const ended = new Date(clock.now().getTime() - ENDED_MS)
  const [active, actions] = await Promise.all([holdsAfter(mongo.db, ended), openActions(mongo.db)])
  const applies = new Set([...active, ...actions].map(({ _id }) => _id))
  for (const { _id: flow } of flows) {
    const expired = applies.has(holdOfFlow(flow)) ? { due: { $lte: clock.now() } } : {}
    while (await mayGoOn()) {
      const found = await deliveries
        .find({ ...cells.all(), flow, ...expired })
        .sort({ due: 1 })
        .limit(BATCH)
        .project<Pick<DeliveryDoc, '_id' | 'slot'>>({ slot: 1 })
        .toArray()
      if (found.length === 0) break
      const ids = found.map(({ _id }) => _id)
      await deliveries.updateMany(
        { _id: { $in: ids }, ...cells.of(ids), flow },
        { $set: { due: clock.now() }, $unset: { flow: '' } },
      )
      wakeOf(mongo).ring(found.map(({ slot }) => slot))
    }
  }
}

/** Goes through the queue in the order of ids, which is that of acceptance, from where it was left. */
async function carryOut(
  options: QueueWorkOptions,
  action: QueueActionDoc,
  mayGoOn: () => Promise<boolean>,
): Promise<void> {
  const { mongo, clock, log } = options
  const last = new Date(action.created_at.getTime() + SKEW_MS)
  let cursor = action.cursor
  while (await mayGoOn()) {
    const page = await pageAfter(mongo, action, cursor)
    const end = page.at(-1)
    const wanted = await selectFrom(mongo, action, page)
    const done = wanted.length === 0 ? 0 : await apply(options, action, wanted)
    const isLast = page.length < BATCH || (end !== undefined && end.created_at > last)
    const progress = { ...(end && { cursor: end._id }), ...(isLast && { finished_at: clock.now() }) }
    await noteProgress(mongo.db, action._id, progress, { scanned: page.length, done })
    if (isLast) {
      log.info({ action: action._id, kind: action.action }, 'an action on the queue is finished')
      return
    }
    cursor = end?._id ?? cursor
  }
}

/** What {@link countSelected} counts: the selection of an action, as of its time. */
type Selected = Pick<QueueActionDoc, 'user_id' | 'scope' | 'value' | 'created_at'>

function pageAfter({ db }: Mongo, { scope, value }: Selected, cursor: string): Promise<DeliveryDoc[]> {
  const cells = cellsOf(db)
  return collectionOf(db, DELIVERIES)
    .find({
      ...(scope === 'message' ? cells.of([value]) : cells.all()),
      _id: { $gt: cursor, ...(scope === 'message' && { $lt: `${value}/` }) },
    })
    .sort({ _id: 1 })
    .limit(BATCH)
    .batchSize(BATCH + 1)
    .toArray()
}

/** How long {@link countSelected} reads by default, in milliseconds. */
const COUNT_MS = 1_000

/** Waiting messages of a selection. `more`: the queue is longer than what was looked at, which takes `mostMs` at most. */
export async function countSelected(
  mongo: Mongo,
  selected: Selected,
  mostMs = COUNT_MS,
): Promise<{ count: number; more: boolean }> {
  const messages = new Set<string>()
  let cursor = firstCursor(selected)
  const until = performance.now() + mostMs
  for (let pages = 0; pages < COUNTED_PAGES && performance.now() < until; pages++) {
    const page = await pageAfter(mongo, selected, cursor)
    for (const { m } of await selectFrom(mongo, selected, page)) messages.add(m)
    if (page.length < BATCH) return { count: messages.size, more: false }
    cursor = page.at(-1)?._id ?? cursor
  }
  return { count: messages.size, more: true }
}

/** Where the deliveries of a selection begin, in the order of ids. */
export function firstCursor({ scope, value }: Pick<Selected, 'scope' | 'value'>): string {
  return scope === 'message' ? `${value}.` : ''
}

async function selectFrom(mongo: Mongo, action: Selected, page: readonly DeliveryDoc[]): Promise<DeliveryDoc[]> {
  const { user_id: userId, scope, value } = action
  const early = page.filter(doc => doc.created_at <= action.created_at && (!userId || doc.user_id === userId))
  const domains = scope === 'domain' ? await domainsOf(mongo, early) : new Map<string, string>()
  return early.filter(doc =>
    isSelected(
      { userId, scope, value },
      {
        ...{ userId: doc.user_id, messageId: doc.m, site: doc.site, domainId: domains.get(doc.m) },
        recipientDomain: domainOf(doc.rcpt).toLowerCase(),
      },
    ),
  )
}

async function domainsOf(mongo: Mongo, page: readonly DeliveryDoc[]): Promise<Map<string, string>> {
  const ids = [...new Set(page.map(({ m }) => m))]
  const messages = await collectionOf(mongo.db, MESSAGES)
    .find({ _id: { $in: ids }, ...cellsOf(mongo.db).of(ids) })
    .project<{ _id: string; domain_id: string }>({ domain_id: 1 })
    .toArray()
  return new Map(messages.map(({ _id, domain_id }) => [_id, domain_id]))
}

function apply(options: QueueWorkOptions, action: QueueActionDoc, wanted: readonly DeliveryDoc[]): Promise<number> {
  if (action.action === 'cancel') return cancelDeliveries(options, wanted.map(toDelivery))
  const ids = wanted.map(({ _id }) => _id)
  return makeDue(options, { _id: { $in: ids }, ...cellsOf(options.mongo.db).of(ids) })
}

/** How many deliveries a hold has, up to `most`. */
export function countHeld({ db }: Pick<Mongo, 'db'>, holdId: string, most: number): Promise<number> {
  return collectionOf(db, DELIVERIES).countDocuments({ ...cellsOf(db).all(), flow: heldFlow(holdId) }, { limit: most })
}
