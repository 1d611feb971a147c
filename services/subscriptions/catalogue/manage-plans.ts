/** Plans: created, changed, restored; by administrators, or by the custom resource that manages them. */

import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { type ManagedBy, managedText, otherOwner } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { PlanDoc, RevisionDoc } from '../store/documents.ts'
import { changesOffer, mergePlan, type PlanFields, type PlanSpec } from './rules/plan.ts'
import { findPlan, findRevision, insertPlan, insertRevision, replacePlan } from './store/plans-and-flags.ts'

/** Refuses changes of what a resource manages, naming it; the resource itself and its successor pass. */
export function assertUnmanaged(record: { managed_by?: ManagedBy }, by?: ManagedBy): void {
  const owner = otherOwner(record, by)
  if (!owner) return
  const faults = [{ pointer: '/managed_by', code: 'managed', message: managedText(owner) }]
  throw new ProblemError('managed_by_resource', undefined, { faults })
}

/** Turns the duplicate-key error into `name_taken`. */
export async function orNameTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isDuplicateKey(error)) throw new ProblemError('name_taken', undefined, { cause: error })
    throw error
  }
}

/** Creates a plan. Throws `name_taken`. */
export async function createPlan(
  s: Subscriptions,
  actor: Actor,
  appKey: string,
  spec: PlanSpec,
  managedBy?: ManagedBy,
): Promise<PlanDoc> {
  const now = s.clock.now()
  const plan: PlanDoc = {
    _id: await s.ids.next('plan'),
    app_key: appKey,
    ...spec,
    version: 1,
    edits: 1,
    ...(managedBy ? { managed_by: managedBy } : {}),
    created_at: now,
    updated_at: now,
  }
  await orNameTaken(
    record(s, actor, async session => {
      await insertPlan(s.c, plan, session)
      return { result: undefined, deed: deedOf('plan.create', undefined, plan) }
    }),
  )
  return plan
}

/** A change of a plan by form. */
export interface PlanUpdate {
  fields: PlanFields
  /** The version that the form was filled from. */
  version?: number | undefined
}

/** Changes a plan. Throws `plan_not_found`, `managed_by_resource`, `version_conflict`, `name_taken`. */
export async function updatePlan(
  s: Subscriptions,
  actor: Actor,
  target: { appKey: string; id: number },
  { fields, version }: PlanUpdate,
): Promise<PlanDoc> {
  const before = await findPlan(s.c, target.appKey, target.id)
  if (!before) throw new ProblemError('plan_not_found')
  assertUnmanaged(before)
  if (version !== undefined && version !== before.version) throw new ProblemError('version_conflict')
  return putPlan(s, actor, before, { ...before, ...mergePlan(before, fields) }, 'plan.update')
}

/** Puts a plan back into a former state. Throws `record_not_found` for an unknown revision. */
export async function restorePlan(
  s: Subscriptions,
  actor: Actor,
  target: { appKey: string; id: number },
  revision: number,
): Promise<PlanDoc> {
  const before = await findPlan(s.c, target.appKey, target.id)
  if (!before) throw new ProblemError('plan_not_found')
  assertUnmanaged(before)
  const kept = await findRevision(s.c, target.appKey, 'plan', planKey(target.id), revision)
  if (!kept) throw new ProblemError('record_not_found')
  return putPlan(s, actor, before, { ...before, ...(kept.document as PlanSpec) }, 'plan.restore')
}

/** Stores a plan's new state, with its old one in the history; a changed offer gets a new version. */
export async function putPlan(
  s: Subscriptions,
  actor: Actor,
  before: PlanDoc,
  changed: PlanDoc,
  action: string,
): Promise<PlanDoc> {
  const now = s.clock.now()
  const version = before.version + (changesOffer(before, changed) ? 1 : 0)
  const after: PlanDoc = { ...changed, version, edits: before.edits + 1, updated_at: now }
  return orNameTaken(
    record(s, actor, async session => {
      if (!(await replacePlan(s.c, after, session))) throw new ProblemError('version_conflict')
      await keepRevision(s, actor, before, session)
      return { result: after, deed: deedOf(action, before, after) }
    }),
  )
}

/** Under which name the history of a plan is kept: its id, for names change. */
export const planKey = (id: number): string => String(id)

async function keepRevision(s: Subscriptions, actor: Actor, plan: PlanDoc, session: Session): Promise<void> {
  const revision: RevisionDoc = {
    _id: `plan/${plan._id}/${plan.edits}`,
    kind: 'plan',
    app_key: plan.app_key,
    record_id: plan._id,
    name: planKey(plan._id),
    revision: plan.edits,
    deleted: false,
    document: specOf(plan),
    by: actor.name,
    at: s.clock.now(),
  }
  await insertRevision(s.c, revision, session)
}

function specOf(plan: PlanDoc): PlanSpec {
  return mergePlan(plan, {})
}

function deedOf(action: string, before: PlanDoc | undefined, after: PlanDoc) {
  return { action, appKey: after.app_key, target: { kind: 'plan', id: String(after._id) }, before, after }
}
