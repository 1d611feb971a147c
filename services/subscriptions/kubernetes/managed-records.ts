/** The records of this half that Kubernetes resources own, with the state of each resource. */
import { listManaged, managedIn, mirrorState } from '../../platform/managed/managed-records.ts'
import type { ResourceState } from '../../platform/managed/rules/managed-by.ts'
import type { Subscriptions } from '../context.ts'

/** Kinds of this half whose records carry a state. */
export type MirroredKind = 'App' | 'SubscriptionPlan' | 'FeatureSwitch'

interface Named {
  _id: number
  app_key: string
  name: string
}

/** Those of the apps (undefined: of all), by namespace and name. */
export function managedRecords({ c }: Pick<Subscriptions, 'c'>, appKeys: readonly string[] | undefined) {
  const filter = { deleted_at: { $exists: false }, ...(appKeys ? { app_key: { $in: [...appKeys] } } : {}) }
  const show = ({ _id: id, app_key: appKey, name }: Named) => ({ id, appKey, name })
  return listManaged([
    managedIn(c.apps, filter, ['app_key', 'app_name'], app => show({ ...app, name: app.app_name })),
    managedIn(c.plans, filter, ['app_key', 'name'], show),
    managedIn(c.switches, filter, ['app_key', 'name'], show),
  ])
}

/** Writes the state onto the record of the resource, for the administrators. */
export function mirrorSubscriptionState(
  { c }: Pick<Subscriptions, 'c'>,
  kind: MirroredKind,
  uid: string,
  id: number,
  state: ResourceState,
): Promise<void> {
  if (kind === 'App') return mirrorState(c.apps, { id, uid }, state)
  return kind === 'SubscriptionPlan'
    ? mirrorState(c.plans, { id, uid }, state)
    : mirrorState(c.switches, { id, uid }, state)
}
