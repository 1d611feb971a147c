/** Switches: created, changed, removed, restored, and changed by their schedules. */
import { replaceVersion } from '../../platform/database/models.ts'
import type { Session } from '../../platform/database/mongo.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import { assertUnmanaged, orNameTaken } from '../catalogue/manage-plans.ts'
import {
  countSwitches,
  dueSwitches,
  findRevision,
  findSwitch,
  insertRevision,
  lastRevision,
  removeSwitch,
} from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { type FieldRule, fieldError } from '../rules/field-errors.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { RevisionDoc } from '../store/documents.ts'
import type { SwitchDoc } from '../store/models.ts'
import { effective, MAX_SWITCHES, misfits, NEW_SWITCH, type SwitchFields, type SwitchSpec } from './rules/flag-spec.ts'

/** Identifies a switch. */
export interface SwitchName {
  appKey: string
  name: string
}

/**
 * Merges the fields of a request into a specification; absent ones keep their value. Throws `validation_failed` for
 * values that do not fit the type.
 */
export function mergeSwitch(base: SwitchSpec, given: SwitchFields): SwitchSpec {
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const merged: SwitchSpec = { ...base, ...(defined as Partial<SwitchSpec>) }
  const lacksValue =
    given.type !== undefined && given.type !== base.type && given.value === undefined && base !== NEW_SWITCH
  const errors = [
    ...(lacksValue ? [fieldError('value', 'switch_value')] : []),
    ...misfits(merged)
      .filter(field => !lacksValue || field !== 'value')
      .map(field => fieldError(field, VALUES[merged.type])),
  ]
  if (errors.length > 0) throw new ProblemError('validation_failed', undefined, { errors })
  return merged
}

/** What values of each type have to be. */
const VALUES = {
  boolean: 'switch_boolean',
  number: 'switch_number',
  string: 'switch_string',
  json: 'switch_json',
  changelog: 'switch_changelog',
} as const satisfies Record<SwitchSpec['type'], FieldRule>

/** Creates a switch. Throws `name_taken`, `validation_failed`, and `transition_refused` when the app has too many. */
export async function createSwitch(
  context: Subscriptions,
  actor: Actor,
  { appKey, name }: SwitchName,
  spec: SwitchSpec,
  managedBy?: ManagedBy,
): Promise<SwitchDoc> {
  if ((await countSwitches(context.collections, [appKey])) >= MAX_SWITCHES)
    throw new ProblemError('transition_refused', sentence('detail.switches', { count: MAX_SWITCHES }))
  const now = context.clock.now()
  const stored: SwitchDoc = {
    _id: await context.ids.next('switch'),
    app_key: appKey,
    name,
    ...spec,
    version: 1,
    ...(managedBy ? { managed_by: managedBy } : {}),
    created_by: actor.name,
    updated_by: actor.name,
    created_at: now,
    updated_at: now,
  }
  await insertNew(context, actor, stored, 'switch.create')
  return stored
}

/** Changes a switch. Throws `switch_not_found`, `managed_by_resource`, `version_conflict`, `validation_failed`. */
export async function updateSwitch(
  context: Subscriptions,
  actor: Actor,
  target: SwitchName,
  fields: SwitchFields,
  version?: number,
): Promise<SwitchDoc> {
  const before = await findSwitch(context.collections, target.appKey, target.name)
  if (!before) throw new ProblemError('switch_not_found')
  assertUnmanaged(before)
  if (version !== undefined && version !== before.version) throw new ProblemError('version_conflict')
  return putSwitch(context, actor, before, { ...before, ...mergeSwitch(before, fields) }, 'switch.update')
}

/**
 * Removes a switch; its history is kept for 30 days. Throws `switch_not_found`, `managed_by_resource`,
 * `version_conflict`.
 */
export async function deleteSwitch(
  context: Subscriptions,
  actor: Actor,
  target: SwitchName,
  by?: ManagedBy,
): Promise<void> {
  const before = await findSwitch(context.collections, target.appKey, target.name)
  if (!before) throw new ProblemError('switch_not_found')
  assertUnmanaged(before, by)
  await record(context, actor, async session => {
    if (!(await removeSwitch(context.collections, before, session))) throw new ProblemError('version_conflict')
    await keepRevision(context, actor, before, true, session)
    return { result: undefined, event: auditEventOf('switch.delete', before, undefined) }
  })
}

/** Restores a former state of a switch, including a removed one. Throws `record_not_found` for an unknown revision. */
export async function restoreSwitch(
  context: Subscriptions,
  actor: Actor,
  { appKey, name }: SwitchName,
  revision: number,
): Promise<SwitchDoc> {
  const kept = await findRevision(context.collections, appKey, 'switch', name, revision)
  if (!kept) throw new ProblemError('record_not_found')
  // The former owner resource is not restored.
  const { managed_by: _, k8s: __, ...document } = kept.document as SwitchDoc
  const current = await findSwitch(context.collections, appKey, name)
  if (current) {
    assertUnmanaged(current)
    const { _id, created_at, created_by, version } = current
    return putSwitch(context, actor, current, { ...document, _id, created_at, created_by, version }, 'switch.restore')
  }
  const now = context.clock.now()
  // The id stays: it salts the rollout, so the same users get the same side. The version continues after the last one.
  const version = (await lastRevision(context.collections, kept)) + 1
  const stored: SwitchDoc = { ...document, version, updated_at: now, updated_by: actor.name }
  await insertNew(context, actor, stored, 'switch.restore')
  return stored
}

/** Stores the new state of a switch and its old one in the history. */
export async function putSwitch(
  context: Subscriptions,
  actor: Actor,
  before: SwitchDoc,
  changed: SwitchDoc,
  action: string,
): Promise<SwitchDoc> {
  const after: SwitchDoc = {
    ...changed,
    version: before.version + 1,
    updated_at: context.clock.now(),
    updated_by: actor.name,
  }
  return record(context, actor, async session => {
    if (!(await replaceVersion(context.collections.switches, after, 'version', session)))
      throw new ProblemError('version_conflict')
    await keepRevision(context, actor, before, false, session)
    return { result: after, event: auditEventOf(action, before, after) }
  })
}

/** Writes due schedules into their switches and returns how many; evaluation applies them by time in any case. */
export async function applySchedules(context: Subscriptions, actor: Actor): Promise<number> {
  const nowSeconds = secondsOf(context.clock.now())
  const due = await dueSwitches(context.collections, nowSeconds)
  for (const stored of due)
    await putSwitch(context, actor, stored, effective(stored, nowSeconds), 'switch.schedule').catch(
      (error: unknown) => {
        if (!(error instanceof ProblemError && error.code === 'version_conflict')) throw error // another worker was faster
      },
    )
  return due.length
}

async function insertNew(context: Subscriptions, actor: Actor, stored: SwitchDoc, action: string): Promise<void> {
  await orNameTaken(
    record(context, actor, async session => {
      await context.collections.switches.insertOne(stored, { session })
      return { result: undefined, event: auditEventOf(action, undefined, stored) }
    }),
  )
}

async function keepRevision(
  context: Subscriptions,
  actor: Actor,
  stored: SwitchDoc,
  deleted: boolean,
  session: Session,
): Promise<void> {
  const revision: RevisionDoc = {
    _id: `switch/${stored._id}/${stored.version}`,
    kind: 'switch',
    app_key: stored.app_key,
    record_id: stored._id,
    name: stored.name,
    revision: stored.version,
    deleted,
    document: stored,
    by: actor.name,
    at: context.clock.now(),
  }
  await insertRevision(context.collections, revision, session)
}

function auditEventOf(action: string, before: SwitchDoc | undefined, after: SwitchDoc | undefined) {
  const known = after ?? before
  return { action, appKey: known?.app_key ?? '', target: { kind: 'switch', id: known?.name ?? '' }, before, after }
}
