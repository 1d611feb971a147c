/** Plans, switches and their former states in the database. */
import type { mongo } from 'mongoose'
import type { Session } from '../../../platform/database/mongo.ts'
import { prefixPattern } from '../../rules/end-user.ts'
import type { Found, Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { PlanDoc, RevisionDoc, SwitchDoc } from '../../store/documents.ts'

const LIVE = { deleted_at: { $exists: false } }
/** Names are found by any part of them, whatever the case: an app has at most some hundred. */
const anywhere = (search: string) => new RegExp(prefixPattern(search).source.slice(1), 'i')

/** A page of plans by their place in the shop. */
export async function listPlans(
  c: Collections,
  appKey: string,
  filter: { search?: string | undefined; status?: PlanDoc['status'] | undefined },
  page: Page,
): Promise<Found<PlanDoc>> {
  const query: mongo.Filter<PlanDoc> = {
    app_key: appKey,
    ...LIVE,
    ...(filter.status ? { status: filter.status } : {}),
    ...(filter.search ? { name: anywhere(filter.search) } : {}),
  }
  const [items, total] = await Promise.all([
    c.plans.find(query).sort({ sort_order: 1, _id: 1 }).skip(page.offset).limit(page.size).toArray(),
    c.plans.countDocuments(query),
  ])
  return { items, total }
}

/** The plan with this id in this app. */
export async function findPlan(c: Collections, appKey: string, id: number): Promise<PlanDoc | undefined> {
  return (await c.plans.findOne({ _id: id, app_key: appKey, ...LIVE })) ?? undefined
}

/** The plan with this name in this app, deleted ones included: they keep their name. */
export async function findPlanByName(c: Collections, appKey: string, name: string): Promise<PlanDoc | undefined> {
  return (await c.plans.findOne({ app_key: appKey, name })) ?? undefined
}

/** Plans that a custom resource manages, by its uid. */
export function plansOfResource(c: Collections, uid: string): Promise<PlanDoc[]> {
  return c.plans.find({ 'managed_by.uid': uid }).sort({ _id: 1 }).toArray()
}

/** Plans of an app that resources of the namespace manage. */
export function plansOfNamespace(c: Collections, appKey: string, namespace: string): Promise<PlanDoc[]> {
  return c.plans.find({ app_key: appKey, 'managed_by.namespace': namespace }).sort({ _id: 1 }).toArray()
}

/** Switches of an app that resources of the namespace manage. */
export function switchesOfNamespace(c: Collections, appKey: string, namespace: string): Promise<SwitchDoc[]> {
  return c.switches.find({ app_key: appKey, 'managed_by.namespace': namespace }).sort({ _id: 1 }).toArray()
}

/** Switches that a custom resource manages, by its uid. */
export function switchesOfResource(c: Collections, uid: string): Promise<SwitchDoc[]> {
  return c.switches.find({ 'managed_by.uid': uid }).sort({ _id: 1 }).toArray()
}

/** Names of plans by id, for overviews. */
export async function planNames(c: Collections, ids: readonly number[]): Promise<Map<number, string>> {
  const plans = await c.plans.find({ _id: { $in: [...ids] } }, { projection: { name: 1 } }).toArray()
  return new Map(plans.map(plan => [plan._id, plan.name]))
}

/** Stores a plan. Throws the duplicate-key error when the name is taken. */
export async function insertPlan(c: Collections, plan: PlanDoc, session: Session): Promise<void> {
  await c.plans.insertOne(plan, { session })
}

/** Puts `after` in the place of the edit before it; false when somebody else changed it meanwhile. */
export async function replacePlan(c: Collections, after: PlanDoc, session: Session): Promise<boolean> {
  const result = await c.plans.replaceOne({ _id: after._id, edits: after.edits - 1 }, after, { session })
  return result.matchedCount === 1
}

/** A page of switches, last changed first. */
export async function listSwitches(
  c: Collections,
  appKey: string,
  filter: { search?: string | undefined; type?: SwitchDoc['type'] | undefined },
  page: Page,
): Promise<Found<SwitchDoc>> {
  const query: mongo.Filter<SwitchDoc> = {
    app_key: appKey,
    ...(filter.type ? { type: filter.type } : {}),
    ...(filter.search ? { $or: [{ name: anywhere(filter.search) }, { description: anywhere(filter.search) }] } : {}),
  }
  const [items, total] = await Promise.all([
    c.switches.find(query).sort({ updated_at: -1, _id: -1 }).skip(page.offset).limit(page.size).toArray(),
    c.switches.countDocuments(query),
  ])
  return { items, total }
}

/** Every switch of an app: at most some hundred. */
export function allSwitches(c: Collections, appKey: string): Promise<SwitchDoc[]> {
  return c.switches.find({ app_key: appKey }).sort({ name: 1 }).toArray()
}

/** Number of switches of apps: all, or those that are killed or not. */
export function countSwitches(
  c: Collections,
  appKeys: readonly string[],
  enabled?: SwitchDoc['enabled'],
): Promise<number> {
  return c.switches.countDocuments({ app_key: { $in: [...appKeys] }, ...(enabled ? { enabled } : {}) })
}

/** The switch with this name in this app. */
export async function findSwitch(c: Collections, appKey: string, name: string): Promise<SwitchDoc | undefined> {
  return (await c.switches.findOne({ app_key: appKey, name })) ?? undefined
}

/** Switches with a schedule that is due. */
export function dueSwitches(c: Collections, nowSeconds: number): Promise<SwitchDoc[]> {
  return c.switches.find({ 'schedules.at': { $lte: nowSeconds } }).toArray()
}

/** Stores a switch. Throws the duplicate-key error when the name is taken. */
export async function insertSwitch(c: Collections, stored: SwitchDoc, session: Session): Promise<void> {
  await c.switches.insertOne(stored, { session })
}

/** Puts `after` in the place of the version before it; false when somebody else changed it meanwhile. */
export async function replaceSwitch(c: Collections, after: SwitchDoc, session: Session): Promise<boolean> {
  const result = await c.switches.replaceOne({ _id: after._id, version: after.version - 1 }, after, { session })
  return result.matchedCount === 1
}

/** Removes a switch in the state that was read; false when somebody else changed it meanwhile. */
export async function removeSwitch(c: Collections, { _id, version }: SwitchDoc, session: Session): Promise<boolean> {
  return (await c.switches.deleteOne({ _id, version }, { session })).deletedCount === 1
}

/** Keeps a former state. */
export async function insertRevision(c: Collections, revision: RevisionDoc, session: Session): Promise<void> {
  await c.revisions.insertOne(revision, { session })
}

/** Former states of a record, newest first, at most 100. */
export function listRevisions(
  c: Collections,
  appKey: string,
  kind: RevisionDoc['kind'],
  name: string,
): Promise<RevisionDoc[]> {
  return c.revisions.find({ app_key: appKey, kind, name }).sort({ at: -1, revision: -1 }).limit(100).toArray()
}

/** One former state; of several records that had the name, the newest. */
export async function findRevision(
  c: Collections,
  appKey: string,
  kind: RevisionDoc['kind'],
  name: string,
  revision: number,
): Promise<RevisionDoc | undefined> {
  return (await c.revisions.findOne({ app_key: appKey, kind, name, revision }, { sort: { at: -1 } })) ?? undefined
}

/** The highest number among the former states of a switch. */
export async function lastRevision(c: Collections, { app_key, name, record_id }: RevisionDoc): Promise<number> {
  const query = { app_key, kind: 'switch' as const, name, record_id }
  return (await c.revisions.findOne(query, { sort: { revision: -1 } }))?.revision ?? 0
}

/** Forgets the history of switches that were removed before a time. One that came back, or went again since, keeps it. */
export async function dropDeletedRevisions(c: Collections, before: Date): Promise<number> {
  const removal = { kind: 'switch', deleted: true } as const
  const removed = await c.revisions.distinct('record_id', { ...removal, at: { $lt: before } })
  const [back, again] = await Promise.all([
    c.switches.distinct('_id', { _id: { $in: removed } }),
    c.revisions.distinct('record_id', { ...removal, at: { $gte: before }, record_id: { $in: removed } }),
  ])
  const kept = new Set([...back, ...again])
  const gone = removed.filter(id => !kept.has(id))
  return (await c.revisions.deleteMany({ kind: 'switch', record_id: { $in: gone } })).deletedCount
}
