/** Plans, switches and their former states in the database. */
import type { Model, QueryFilter, Session } from '../../../platform/database/models.ts'
import { findPage } from '../../../platform/database/read-page.ts'
import { prefixPattern } from '../../rules/end-user.ts'
import type { Found, Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { RevisionDoc } from '../../store/documents.ts'
import type { PlanDoc, SwitchDoc } from '../../store/models.ts'

const LIVE = { deleted_at: { $exists: false } }
/** Matches any part of a name, ignoring case: an app has at most some hundred. */
const anywhere = (search: string) => new RegExp(prefixPattern(search).source.slice(1), 'i')

/** A page of plans by sort_order. */
export async function listPlans(
  collections: Collections,
  appKey: string,
  filter: { search?: string | undefined; status?: PlanDoc['status'] | undefined },
  page: Page,
): Promise<Found<PlanDoc>> {
  const query: QueryFilter<PlanDoc> = {
    app_key: appKey,
    ...LIVE,
    ...(filter.status ? { status: filter.status } : {}),
    ...(filter.search ? { name: anywhere(filter.search) } : {}),
  }
  return findPage(collections.plans, query, { sort_order: 1, _id: 1 }, page)
}

/** The plan with this id in this app. */
export async function findPlan(collections: Collections, appKey: string, id: number): Promise<PlanDoc | undefined> {
  return (await collections.plans.findOne({ _id: id, app_key: appKey, ...LIVE }).lean()) ?? undefined
}

/** The plan with this name in this app, including deleted ones, which keep their name. */
export async function findPlanByName(
  collections: Collections,
  appKey: string,
  name: string,
): Promise<PlanDoc | undefined> {
  return (await collections.plans.findOne({ app_key: appKey, name }).lean()) ?? undefined
}

/** Plans or switches of an app that resources of the namespace manage. */
export async function recordsOfNamespace<T extends object>(
  model: Model<T>,
  appKey: string,
  namespace: string,
): Promise<T[]> {
  const filter: object = { app_key: appKey, 'managed_by.namespace': namespace }
  return model.find(filter).sort({ _id: 1 }).lean<T[]>()
}

/** Names of plans by id, for overviews. */
export async function planNames(collections: Collections, ids: readonly number[]): Promise<Map<number, string>> {
  const plans = await collections.plans.find({ _id: { $in: [...ids] } }, { name: 1 }).lean()
  return new Map(plans.map(plan => [plan._id, plan.name]))
}

/** A page of switches, last changed first. */
export async function listSwitches(
  collections: Collections,
  appKey: string,
  filter: { search?: string | undefined; type?: SwitchDoc['type'] | undefined },
  page: Page,
): Promise<Found<SwitchDoc>> {
  const query: QueryFilter<SwitchDoc> = {
    app_key: appKey,
    ...(filter.type ? { type: filter.type } : {}),
    ...(filter.search ? { $or: [{ name: anywhere(filter.search) }, { description: anywhere(filter.search) }] } : {}),
  }
  return findPage(collections.switches, query, { updated_at: -1, _id: -1 }, page)
}

/** All switches of an app: at most some hundred. */
export async function allSwitches(collections: Collections, appKey: string): Promise<SwitchDoc[]> {
  return collections.switches.find({ app_key: appKey }).sort({ name: 1 }).lean()
}

/** Number of switches of apps, optionally only enabled or disabled ones. */
export async function countSwitches(
  collections: Collections,
  appKeys: readonly string[],
  enabled?: SwitchDoc['enabled'],
): Promise<number> {
  return collections.switches.countDocuments({ app_key: { $in: [...appKeys] }, ...(enabled ? { enabled } : {}) })
}

/** The switch with this name in this app. */
export async function findSwitch(
  collections: Collections,
  appKey: string,
  name: string,
): Promise<SwitchDoc | undefined> {
  return (await collections.switches.findOne({ app_key: appKey, name }).lean()) ?? undefined
}

/** Switches with a schedule that is due. */
export async function dueSwitches(collections: Collections, nowSeconds: number): Promise<SwitchDoc[]> {
  return collections.switches.find({ 'schedules.at': { $lte: nowSeconds } }).lean()
}

/** Removes a switch in the state that was read; false when it has changed since. */
export async function removeSwitch(
  collections: Collections,
  { _id, version }: SwitchDoc,
  session: Session,
): Promise<boolean> {
  return (await collections.switches.deleteOne({ _id, version }, { session })).deletedCount === 1
}

/** Stores a former state. */
export async function insertRevision(collections: Collections, revision: RevisionDoc, session: Session): Promise<void> {
  await collections.revisions.insertOne(revision, { session })
}

/** Former states of a record, newest first, at most 100. */
export function listRevisions(
  collections: Collections,
  appKey: string,
  kind: RevisionDoc['kind'],
  name: string,
): Promise<RevisionDoc[]> {
  return collections.revisions.find({ app_key: appKey, kind, name }).sort({ at: -1, revision: -1 }).limit(100).toArray()
}

/** One former state; of several records that had the name, that of the newest. */
export async function findRevision(
  collections: Collections,
  appKey: string,
  kind: RevisionDoc['kind'],
  name: string,
  revision: number,
): Promise<RevisionDoc | undefined> {
  return (
    (await collections.revisions.findOne({ app_key: appKey, kind, name, revision }, { sort: { at: -1 } })) ?? undefined
  )
}

/** The highest revision of a switch. */
export async function lastRevision(
  collections: Collections,
  { app_key, name, record_id }: RevisionDoc,
): Promise<number> {
  const query = { app_key, kind: 'switch' as const, name, record_id }
  return (await collections.revisions.findOne(query, { sort: { revision: -1 } }))?.revision ?? 0
}

/**
 * Removes the history of switches deleted before a time. A switch that was restored, or deleted again since, keeps it.
 */
export async function dropDeletedRevisions(collections: Collections, before: Date): Promise<number> {
  const removal = { kind: 'switch', deleted: true } as const
  const removed = await collections.revisions.distinct('record_id', { ...removal, at: { $lt: before } })
  const [back, again] = await Promise.all([
    collections.switches.distinct('_id', { _id: { $in: removed } }),
    collections.revisions.distinct('record_id', { ...removal, at: { $gte: before }, record_id: { $in: removed } }),
  ])
  const kept = new Set([...back, ...again])
  const gone = removed.filter(id => !kept.has(id))
  return (await collections.revisions.deleteMany({ kind: 'switch', record_id: { $in: gone } })).deletedCount
}
