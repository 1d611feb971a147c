/** Records of this module that Kubernetes resources own, with the state of each resource. */
import { collectionOf } from '../../platform/database/mongo.ts'
import { listManaged, type ManagedFields, managedIn, mirrorState } from '../../platform/managed/managed-records.ts'
import type { ResourceState } from '../../platform/managed/rules/managed-by.ts'
import type { Subscriptions } from '../context.ts'
import { apps, plans, switches, webhooks } from '../store/models.ts'

/** Kinds of this module whose records store the state of the resource. */
export type MirroredKind = 'App' | 'SubscriptionPlan' | 'FeatureSwitch' | 'WebhookEndpoint'

interface Named {
  _id: number
  app_key: string
  name: string
}

/** A record, as lists show it. */
interface Shown {
  id: number | string
  appKey: string
  name: string
}

/** Managed records of the apps (undefined: of all), by namespace and name. */
export function managedRecords(
  { mongo: { db } }: Pick<Subscriptions, 'mongo'>,
  appKeys: readonly string[] | undefined,
) {
  const filter = { deleted_at: { $exists: false }, ...(appKeys ? { app_key: { $in: [...appKeys] } } : {}) }
  const show = ({ _id: id, app_key: appKey, name }: Named): Shown => ({ id, appKey, name })
  return listManaged([
    managedIn(collectionOf(db, apps), filter, ['app_key', 'app_name'], app => show({ ...app, name: app.app_name })),
    managedIn(collectionOf(db, plans), filter, ['app_key', 'name'], show),
    managedIn(collectionOf(db, switches), filter, ['app_key', 'name'], show),
    // An address may contain a token, which not everybody who sees this list may see.
    managedIn(collectionOf(db, webhooks), filter, ['app_key'], ({ _id: id, app_key: appKey }) => ({
      ...{ id, appKey, name: id },
    })),
  ])
}

/** Stores the state of the resource on its record, for administrators. */
export function mirrorSubscriptionState(
  { mongo: { db } }: Pick<Subscriptions, 'mongo'>,
  kind: MirroredKind,
  uid: string,
  id: number | string,
  state: ResourceState,
): Promise<void> {
  const { name } = { App: apps, SubscriptionPlan: plans, FeatureSwitch: switches, WebhookEndpoint: webhooks }[kind]
  return mirrorState(db.collection<ManagedFields & { _id: number | string }>(name), { id, uid }, state)
}
