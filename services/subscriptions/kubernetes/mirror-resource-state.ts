/** Writes where a resource stands onto the record that it manages, for the administrators. */
import type { Subscriptions } from '../context.ts'
import type { ResourceState } from '../rules/managed-by.ts'

/** Kinds of this half whose records carry a state. */
export type MirroredKind = 'App' | 'SubscriptionPlan' | 'FeatureSwitch'

/** Writes the state onto the record of the resource; a record of another one is left alone. */
export async function mirrorSubscriptionState(
  { c }: Pick<Subscriptions, 'c'>,
  kind: MirroredKind,
  uid: string,
  id: number,
  state: ResourceState,
): Promise<void> {
  const filter = { _id: id, 'managed_by.uid': uid }
  const change = { $set: { k8s: state } }
  if (kind === 'App') await c.apps.updateOne(filter, change)
  else if (kind === 'SubscriptionPlan') await c.plans.updateOne(filter, change)
  else await c.switches.updateOne(filter, change)
}
