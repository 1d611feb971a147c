/** Holds and actions on waiting mail, as owners and admins request them. */

import type { Clock } from '../../../platform/clock.ts'
import { collectionOf, type Mongo } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import { ProblemError, refuseFields } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { cellsOf } from '../../store/cells.ts'
import { MESSAGES } from '../../store/messages.ts'
import { countSelected, firstCursor } from './queue-worker.ts'
import type { SelectionScope } from './rules/selection.ts'
import { countHolds, type HoldDoc, insertHold, MOST_HOLDS, releaseHold } from './store/holds.ts'
import { countOpenActions, insertAction, MOST_ACTIONS, type QueueActionDoc } from './store/queue-actions.ts'

/** What the use cases need. */
export interface QueueDeps {
  mongo: Mongo
  clock: Clock
  /** RETENTION_LOG_DAYS. */
  logDays: number
  /** A domain of the account by id or name; of any account without one. */
  findDomain(userId: string | undefined, domain: string): Promise<{ id: string; name: string } | undefined>
  /** The name of an account. */
  findAccount(id: string): Promise<{ id: string; name: string } | undefined>
  /** The site or domain of a destination as people write it. */
  destinationOf(written: string): string | undefined
  /** How long {@link countWaiting} reads the queue, in milliseconds, for tests. */
  countMs?: number
}

/** Who requests it: an owner for own mail, or an admin for any. */
export interface Requester {
  id: string
  name: string
  admin: boolean
}

/** Which mail. */
export interface MailWish {
  /** Of admins: only mail of this account. */
  user_id?: string | undefined
  scope: SelectionScope
  value: string
}

/** Holds that an account may have of its own. */
const HOLDS_OF_ACCOUNT = 50

/** Holds mail, also what is accepted later, until it is released. Throws `not_found`, `validation_failed`, `conflict`. */
export async function hold(
  deps: QueueDeps,
  by: Requester,
  wish: MailWish & { reason: string; until?: string | null | undefined },
): Promise<HoldDoc> {
  const { mongo, clock } = deps
  const now = clock.now()
  const until = wish.until ? new Date(wish.until) : undefined
  if (until && until <= now) throw refuseFields([{ pointer: '/until', reason: sentence('field.hold_until') }])
  const selected = await select(deps, by, wish)
  const most = by.admin ? MOST_HOLDS : HOLDS_OF_ACCOUNT
  if ((await countHolds(mongo.db, by.admin ? undefined : by.id)) >= most)
    throw new ProblemError('conflict', sentence('detail.holds_most', { count: most }))
  const doc: HoldDoc = {
    _id: newId('hold', now.getTime()),
    ...selected,
    reason: wish.reason,
    by: { user_id: by.id, name: by.name, admin: by.admin },
    ...(until && { until }),
    created_at: now,
  }
  await insertHold(mongo.db, doc)
  return doc
}

/** Ends a hold; its mail is given back in batches. An owner ends own holds only. Throws `not_found`. */
export async function release(
  { mongo, clock }: Pick<QueueDeps, 'mongo' | 'clock'>,
  by: Requester,
  known: HoldDoc | undefined,
): Promise<HoldDoc> {
  const isTheirs = known && (by.admin || (known.user_id === by.id && !known.by.admin))
  const released = isTheirs ? await releaseHold(mongo.db, known._id, clock.now()) : undefined
  if (!released) throw new ProblemError('not_found', sentence('detail.no_hold'))
  return released
}

/** Requests that waiting mail is canceled, or tried now; a worker does it. Throws as {@link hold}. */
export async function requestAction(
  deps: QueueDeps,
  by: Requester,
  wish: MailWish & { action: QueueActionDoc['action'] },
): Promise<QueueActionDoc> {
  const { mongo, clock, logDays } = deps
  const now = clock.now()
  const selected = await select(deps, by, wish)
  if ((await countOpenActions(mongo.db)) >= MOST_ACTIONS)
    throw new ProblemError('conflict', sentence('detail.actions_most', { count: MOST_ACTIONS }))
  const doc: QueueActionDoc = {
    _id: newId('act', now.getTime()),
    action: wish.action,
    ...selected,
    by: { user_id: by.id, name: by.name, admin: by.admin },
    cursor: firstCursor(selected),
    ...{ scanned: 0, done: 0, created_at: now },
    exp: new Date(now.getTime() + logDays * DAY_MS),
  }
  await insertAction(mongo.db, doc)
  return doc
}

/** How many messages wait that an action on this mail would be about, and the name of what is selected. Throws as {@link hold}. */
export async function countWaiting(
  deps: QueueDeps,
  by: Requester,
  wish: MailWish,
): Promise<{ name: string; count: number; more: boolean }> {
  const selected = await select(deps, by, wish)
  const counted = await countSelected(deps.mongo, { ...selected, created_at: deps.clock.now() }, deps.countMs)
  return { name: selected.name, ...counted }
}

/** What is selected, after a check that the requester may. */
async function select(
  deps: QueueDeps,
  by: Requester,
  { user_id, scope, value }: MailWish,
): Promise<Pick<HoldDoc, 'user_id' | 'scope' | 'value' | 'name'>> {
  const userId = by.admin ? user_id : by.id
  if (userId !== undefined && by.admin && !(await deps.findAccount(userId)))
    throw new ProblemError('not_found', sentence('detail.queue_nothing_selected'))
  const subject = await subjectOf(deps, by, scope, userId, value)
  if (!subject) throw new ProblemError('not_found', sentence('detail.queue_nothing_selected'))
  return { ...(userId !== undefined && { user_id: userId }), scope, value: subject.id, name: subject.name }
}

async function subjectOf(
  { mongo, findDomain, findAccount, destinationOf }: QueueDeps,
  by: Requester,
  scope: SelectionScope,
  userId: string | undefined,
  value: string,
): Promise<{ id: string; name: string } | undefined> {
  switch (scope) {
    case 'account':
      return findAccount(by.admin ? value : by.id)
    case 'domain':
      return findDomain(userId, value)
    case 'message': {
      const owner = userId === undefined ? {} : { user_id: userId }
      const found = await collectionOf(mongo.db, MESSAGES).findOne(
        { _id: value, ...cellsOf(mongo.db).of([value]), ...owner },
        { projection: { subject: 1 } },
      )
      return found ? { id: value, name: found.subject || value } : undefined
    }
    case 'destination': {
      const site = destinationOf(value)
      if (site === undefined) throw refuseFields([{ pointer: '/value', reason: sentence('field.queue_destination') }])
      return { id: site, name: site }
    }
  }
}
