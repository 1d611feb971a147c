/** Switches: created, changed, removed, restored, and moved on by their schedules. */
import type { Session } from '../../platform/database/mongo.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { record } from '../audit/record-change.ts'
import { assertUnmanaged, orNameTaken } from '../catalogue/manage-plans.ts'
import {
  countSwitches,
  dueSwitches,
  findRevision,
  findSwitch,
  insertRevision,
  insertSwitch,
  lastRevision,
  removeSwitch,
  replaceSwitch,
} from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { fault } from '../rules/field-errors.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { RevisionDoc, SwitchDoc } from '../store/documents.ts'
import { effective, MAX_SWITCHES, misfits, NEW_SWITCH, type SwitchFields, type SwitchSpec } from './rules/flag-spec.ts'

/** Where a switch is. */
export interface SwitchName {
  appKey: string
  name: string
}

/** Fields of a request laid over a specification; absent ones stay. Throws `validation_failed` for misfitting values. */
export function mergeSwitch(base: SwitchSpec, given: SwitchFields): SwitchSpec {
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const merged: SwitchSpec = { ...base, ...(defined as Partial<SwitchSpec>) }
  const wrong = misfits(merged)
  if (given.type !== undefined && given.type !== base.type && given.value === undefined && base !== NEW_SWITCH)
    wrong.push('value')
  if (wrong.length > 0)
    throw new ProblemError('validation_failed', undefined, {
      faults: [...new Set(wrong)].map(field => fault(field, 'switch_value')),
    })
  return merged
}

/** Creates a switch. Throws `name_taken`, `validation_failed`, and `transition_refused` when the app has too many. */
export async function createSwitch(
  s: Subscriptions,
  actor: Actor,
  { appKey, name }: SwitchName,
  spec: SwitchSpec,
  managedBy?: ManagedBy,
): Promise<SwitchDoc> {
  if ((await countSwitches(s.c, [appKey])) >= MAX_SWITCHES)
    throw new ProblemError('transition_refused', `An app has at most ${MAX_SWITCHES} switches.`)
  const now = s.clock.now()
  const stored: SwitchDoc = {
    _id: await s.ids.next('switch'),
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
  await insertNew(s, actor, stored, 'switch.create')
  return stored
}

/** Changes a switch. Throws `switch_not_found`, `managed_by_resource`, `version_conflict`, `validation_failed`. */
export async function updateSwitch(
  s: Subscriptions,
  actor: Actor,
  target: SwitchName,
  fields: SwitchFields,
  version?: number,
): Promise<SwitchDoc> {
  const before = await findSwitch(s.c, target.appKey, target.name)
  if (!before) throw new ProblemError('switch_not_found')
  assertUnmanaged(before)
  if (version !== undefined && version !== before.version) throw new ProblemError('version_conflict')
  return putSwitch(s, actor, before, { ...before, ...mergeSwitch(before, fields) }, 'switch.update')
}

/** Removes a switch; its history stays 30 days. Throws `switch_not_found`, `managed_by_resource`, `version_conflict`. */
export async function deleteSwitch(s: Subscriptions, actor: Actor, target: SwitchName, by?: ManagedBy): Promise<void> {
  const before = await findSwitch(s.c, target.appKey, target.name)
  if (!before) throw new ProblemError('switch_not_found')
  assertUnmanaged(before, by)
  await record(s, actor, async session => {
    if (!(await removeSwitch(s.c, before, session))) throw new ProblemError('version_conflict')
    await keepRevision(s, actor, before, true, session)
    return { result: undefined, deed: deedOf('switch.delete', before, undefined) }
  })
}

/** Puts a switch, also a removed one, back into a former state. Throws `record_not_found` for an unknown revision. */
export async function restoreSwitch(
  s: Subscriptions,
  actor: Actor,
  { appKey, name }: SwitchName,
  revision: number,
): Promise<SwitchDoc> {
  const kept = await findRevision(s.c, appKey, 'switch', name, revision)
  if (!kept) throw new ProblemError('record_not_found')
  // Who managed it then does not come back with it.
  const { managed_by: _, k8s: __, ...document } = kept.document as SwitchDoc
  const current = await findSwitch(s.c, appKey, name)
  if (current) {
    assertUnmanaged(current)
    const { _id, created_at, created_by, version } = current
    return putSwitch(s, actor, current, { ...document, _id, created_at, created_by, version }, 'switch.restore')
  }
  const now = s.clock.now()
  // The id stays: it salts the rollout, and the same users get the same side again. The numbers go on behind the last.
  const version = (await lastRevision(s.c, kept)) + 1
  const stored: SwitchDoc = { ...document, version, updated_at: now, updated_by: actor.name }
  await insertNew(s, actor, stored, 'switch.restore')
  return stored
}

/** Stores a switch's new state, with its old one in the history. */
export async function putSwitch(
  s: Subscriptions,
  actor: Actor,
  before: SwitchDoc,
  changed: SwitchDoc,
  action: string,
): Promise<SwitchDoc> {
  const after: SwitchDoc = {
    ...changed,
    version: before.version + 1,
    updated_at: s.clock.now(),
    updated_by: actor.name,
  }
  return record(s, actor, async session => {
    if (!(await replaceSwitch(s.c, after, session))) throw new ProblemError('version_conflict')
    await keepRevision(s, actor, before, false, session)
    return { result: after, deed: deedOf(action, before, after) }
  })
}

/** Writes schedules that have come due into their switches; evaluation honours them by time anyway. Gives their number. */
export async function applySchedules(s: Subscriptions, actor: Actor): Promise<number> {
  const nowSeconds = secondsOf(s.clock.now())
  const due = await dueSwitches(s.c, nowSeconds)
  for (const stored of due)
    await putSwitch(s, actor, stored, effective(stored, nowSeconds), 'switch.schedule').catch((error: unknown) => {
      if (!(error instanceof ProblemError && error.code === 'version_conflict')) throw error // another worker was faster
    })
  return due.length
}

async function insertNew(s: Subscriptions, actor: Actor, stored: SwitchDoc, action: string): Promise<void> {
  await orNameTaken(
    record(s, actor, async session => {
      await insertSwitch(s.c, stored, session)
      return { result: undefined, deed: deedOf(action, undefined, stored) }
    }),
  )
}

async function keepRevision(
  s: Subscriptions,
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
    at: s.clock.now(),
  }
  await insertRevision(s.c, revision, session)
}

function deedOf(action: string, before: SwitchDoc | undefined, after: SwitchDoc | undefined) {
  const known = after ?? before
  return { action, appKey: known?.app_key ?? '', target: { kind: 'switch', id: known?.name ?? '' }, before, after }
}
