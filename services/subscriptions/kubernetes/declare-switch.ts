/** Feature switches declared by custom resources. */
import { listManagedBy } from '../../platform/managed/managed-records.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { assertUnmanaged } from '../catalogue/manage-plans.ts'
import { findSwitch } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import { createSwitch, deleteSwitch, mergeSwitch, putSwitch } from '../flags/manage-flags.ts'
import { effective, NEW_SWITCH, type SwitchFields } from '../flags/rules/flag-spec.ts'
import { secondsOf } from '../rules/time-zone.ts'
import type { SwitchDoc } from '../store/models.ts'
import {
  ADOPT_ANNOTATION,
  haveEqualFields,
  type Outcome,
  operatorActor,
  requireApp,
  type Takeover,
  type Withdrawal,
  wasReleasedBy,
} from './declared-record.ts'

/**
 * Creates or updates the switch with this name to match its resource; omitted fields keep their value, or have the
 * default of a new switch. 409 `conflict` for a switch that no resource manages, unless a resource of this namespace
 * released it or `adopt` is true.
 */
export async function declareSwitch(
  context: Subscriptions,
  by: ManagedBy,
  { appKey, name }: { appKey: string; name: string },
  fields: SwitchFields,
  { adopt }: Takeover,
): Promise<{ stored: SwitchDoc; outcome: Outcome }> {
  await requireApp(context, appKey)
  const before = await findSwitch(context.collections, appKey, name)
  // A schedule that is due has been, or will be, merged into the record: the same state is declared.
  const now = secondsOf(context.clock.now())
  if (!before) {
    const spec = effective(mergeSwitch(NEW_SWITCH, fields), now)
    return { stored: await createSwitch(context, operatorActor(by), { appKey, name }, spec, by), outcome: 'created' }
  }
  assertUnmanaged(before, by)
  if (!before.managed_by && !adopt && !wasReleasedBy(before, by))
    throw new ProblemError('conflict', sentence('detail.switch_unmanaged', { name, annotation: ADOPT_ANNOTATION }))
  const { released_by: _, ...known } = before
  const changed: SwitchDoc = { ...known, ...effective(mergeSwitch(known, fields), now), managed_by: by }
  if (haveEqualFields(effective(before, now), changed)) return { stored: changed, outcome: 'unchanged' }
  return { stored: await putSwitch(context, operatorActor(by), before, changed, 'switch.update'), outcome: 'updated' }
}

/** Withdraws the switches of a resource, which are found like its plans. */
export async function withdrawSwitches(context: Subscriptions, by: ManagedBy, how: Withdrawal): Promise<void> {
  for (const stored of await listManagedBy(context.collections.switches, by.uid))
    if (how === 'Retain') await retainSwitch(context, by, stored)
    else await deleteSwitch(context, operatorActor(by), { appKey: stored.app_key, name: stored.name }, by)
}

export async function retainSwitch(context: Subscriptions, by: ManagedBy, stored: SwitchDoc): Promise<void> {
  const { managed_by: _, ...rest } = stored
  await putSwitch(context, operatorActor(by), stored, { ...rest, released_by: by }, 'switch.update')
}
