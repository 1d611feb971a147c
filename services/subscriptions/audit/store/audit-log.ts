/** The audit log: who did what to which record. */
import type { Session } from '../../../platform/database/mongo.ts'
import { afterPosition } from '../../../platform/database/read-page.ts'
import { type Found, nextOf, type Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { AuditDoc } from '../../store/documents.ts'
import { CHEAP_COUNT } from '../../store/list-totals.ts'

/** Adds entries in the transaction of the changes that they describe. */
export async function insertAudit(
  collections: Collections,
  entries: readonly AuditDoc[],
  session?: Session,
): Promise<void> {
  if (entries.length > 0) await collections.audit.insertMany([...entries], session ? { session } : {})
}

/** Removes the reasons given for changes of a user's subscriptions: free text, which may name the user. */
export async function forgetReasons(
  collections: Collections,
  appKey: string,
  userId: number,
  session: Session,
): Promise<void> {
  const own = await collections.subscriptions
    .find({ app_key: appKey, user_id: userId }, { session, projection: { _id: 1 } })
    .toArray()
  const targets = { 'target.kind': 'subscription', 'target.id': { $in: own.map(({ _id }) => String(_id)) } }
  await collections.audit.updateMany({ ...targets, reason: { $exists: true } }, { $unset: { reason: '' } }, { session })
}

/** Filter of the audit log. */
export interface AuditFilter {
  /** Apps in scope; undefined for all. */
  appKeys?: readonly string[] | undefined
  targetKind?: string | undefined
  targetId?: string | undefined
  action?: string | undefined
  actor?: string | undefined
  /** Changes of this end user and of its subscriptions. */
  userId?: number | undefined
}

/** Most subscriptions of a user whose changes are listed together. */
const MAX_SUBSCRIPTIONS = 1_000

/** A user and its subscriptions as targets of changes. */
async function targetsOf(collections: Collections, appKeys: AuditFilter['appKeys'], userId: number) {
  const own = await collections.subscriptions
    .find({ ...(appKeys ? { app_key: { $in: [...appKeys] } } : {}), user_id: userId }, { projection: { _id: 1 } })
    .limit(MAX_SUBSCRIPTIONS)
    .toArray()
  return {
    $or: [
      { 'target.kind': 'user', 'target.id': String(userId) },
      { 'target.kind': 'subscription', 'target.id': { $in: own.map(({ _id }) => String(_id)) } },
    ],
  }
}

/** A page of the log, newest first: by time, because numbers of several processes are not in order. */
export async function listAudit(collections: Collections, filter: AuditFilter, page: Page): Promise<Found<AuditDoc>> {
  const query = {
    ...(filter.appKeys ? { app_key: { $in: [...filter.appKeys] } } : {}),
    ...(filter.targetKind ? { 'target.kind': filter.targetKind } : {}),
    ...(filter.targetId ? { 'target.id': filter.targetId } : {}),
    ...(filter.action ? { action: filter.action } : {}),
    ...(filter.actor ? { 'actor.name': filter.actor } : {}),
    ...(filter.userId ? { $and: [await targetsOf(collections, filter.appKeys, filter.userId)] } : {}),
  }
  const [items, total] = await Promise.all([
    collections.audit
      .find(page.after ? { ...query, ...afterPosition<AuditDoc>(page.after, 'at') } : query)
      .sort({ at: -1, _id: -1 })
      .skip(page.offset)
      .limit(page.size)
      .toArray(),
    collections.audit.countDocuments(query, { limit: CHEAP_COUNT + 1 }),
  ])
  const next = nextOf(items, page, ({ at, _id }) => ({ at, id: _id }))
  return { items, total, ...(total > CHEAP_COUNT ? { capped: true } : {}), next }
}
