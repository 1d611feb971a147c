/** Plans: created, changed, restored; by administrators, or by the custom resource that manages them. */

import { replaceVersion } from '../../platform/database/models.ts'
import { isDuplicateKey, type Session } from '../../platform/database/mongo.ts'
import { type ManagedBy, managedText, otherOwner } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import type { RevisionDoc } from '../store/documents.ts'
import type { PlanDoc } from '../store/models.ts'
import { changesOffer, mergePlan, type PlanFields, type PlanSpec } from './rules/plan.ts'
import { findPlan, findRevision, insertRevision } from './store/plans-and-flags.ts'

/**
 * Throws `managed_by_resource`, naming the resource, when another resource manages the record. A recreated resource
 * with the same namespace and name passes.
 */
export function assertUnmanaged(record: { managed_by?: ManagedBy }, by?: ManagedBy): void {
  const owner = otherOwner(record, by)
  if (!owner) return
  const errors = [{ pointer: '/managed_by', reason: sentence('field.managed', { resource: managedText(owner) }) }]
  throw new ProblemError('managed_by_resource', undefined, { errors })
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
  context: Subscriptions,
  actor: Actor,
  appKey: string,
  spec: PlanSpec,
  managedBy?: ManagedBy,
): Promise<PlanDoc> {
  const now = context.clock.now()
  const plan: PlanDoc = {
    _id: await context.ids.next('plan'),
    app_key: appKey,
    ...spec,
    version: 1,
    edits: 1,
    ...(managedBy ? { managed_by: managedBy } : {}),
    created_at: now,
    updated_at: now,
  }
  await orNameTaken(
    record(context, actor, async session => {
      await context.collections.plans.insertOne(plan, { session })
      return { result: undefined, event: auditEventOf('plan.create', undefined, plan) }
    }),
  )
  return plan
}

/** A change of a plan by form. */
export interface PlanUpdate {
  fields: PlanFields
  /** The version that the form was loaded from. */
  version?: number | undefined
}

/** Changes a plan. Throws `plan_not_found`, `managed_by_resource`, `version_conflict`, `name_taken`. */
export async function updatePlan(
  context: Subscriptions,
  actor: Actor,
  target: { appKey: string; id: number },
  { fields, version }: PlanUpdate,
): Promise<PlanDoc> {
  const before = await findPlan(context.collections, target.appKey, target.id)
  if (!before) throw new ProblemError('plan_not_found')
  assertUnmanaged(before)
  if (version !== undefined && version !== before.version) throw new ProblemError('version_conflict')
  return putPlan(context, actor, before, { ...before, ...mergePlan(before, fields) }, 'plan.update')
}

/** Restores a former state of a plan. Throws `record_not_found` for an unknown revision. */
export async function restorePlan(
  context: Subscriptions,
  actor: Actor,
  target: { appKey: string; id: number },
  revision: number,
): Promise<PlanDoc> {
  const before = await findPlan(context.collections, target.appKey, target.id)
  if (!before) throw new ProblemError('plan_not_found')
  assertUnmanaged(before)
  const kept = await findRevision(context.collections, target.appKey, 'plan', planKey(target.id), revision)
  if (!kept) throw new ProblemError('record_not_found')
  return putPlan(context, actor, before, { ...before, ...(kept.document as PlanSpec) }, 'plan.restore')
}

/** Stores the new state of a plan and its old one in the history; a changed offer raises the version. */
export async function putPlan(
  context: Subscriptions,
  actor: Actor,
  before: PlanDoc,
  changed: PlanDoc,
  action: string,
): Promise<PlanDoc> {
  const now = context.clock.now()
  const version = before.version + (changesOffer(before, changed) ? 1 : 0)
  const after: PlanDoc = { ...changed, version, edits: before.edits + 1, updated_at: now }
  return orNameTaken(
    record(context, actor, async session => {
      if (!(await replaceVersion(context.collections.plans, after, 'edits', session)))
        throw new ProblemError('version_conflict')
      await keepRevision(context, actor, before, session)
      return { result: after, event: auditEventOf(action, before, after) }
    }),
  )
}

/** Key of a plan's history: its id, because names change. */
export const planKey = (id: number): string => String(id)

async function keepRevision(context: Subscriptions, actor: Actor, plan: PlanDoc, session: Session): Promise<void> {
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
    at: context.clock.now(),
  }
  await insertRevision(context.collections, revision, session)
}

function specOf(plan: PlanDoc): PlanSpec {
  return mergePlan(plan, {})
}

function auditEventOf(action: string, before: PlanDoc | undefined, after: PlanDoc) {
  return { action, appKey: after.app_key, target: { kind: 'plan', id: String(after._id) }, before, after }
}
