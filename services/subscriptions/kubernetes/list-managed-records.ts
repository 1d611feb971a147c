/** The records of this half that Kubernetes resources own, with where each resource stands. */
import type { Subscriptions } from '../context.ts'
import type { ManagedBy, ResourceState } from '../rules/managed-by.ts'

/** A record and the resource that owns it. */
export interface ManagedRecord {
  resource: ManagedBy
  id: number
  appKey: string
  name: string
  state: ResourceState | undefined
}

/** Most records of a kind that are shown; who has more uses kubectl. */
const LIMIT = 1_000

/** Those of the apps (undefined: of all), by namespace and name. */
export async function managedRecords(
  { c }: Pick<Subscriptions, 'c'>,
  appKeys: readonly string[] | undefined,
): Promise<ManagedRecord[]> {
  const filter = {
    managed_by: { $exists: true },
    deleted_at: { $exists: false },
    ...(appKeys ? { app_key: { $in: [...appKeys] } } : {}),
  }
  const fields = { projection: { app_key: 1, app_name: 1, name: 1, managed_by: 1, k8s: 1 } }
  const [apps, plans, switches] = await Promise.all([
    c.apps.find(filter, fields).limit(LIMIT).toArray(),
    c.plans.find(filter, fields).limit(LIMIT).toArray(),
    c.switches.find(filter, fields).limit(LIMIT).toArray(),
  ])
  return [...apps.map(app => ({ ...app, name: app.app_name })), ...plans, ...switches]
    .flatMap(({ _id: id, app_key: appKey, name, managed_by: resource, k8s: state }): ManagedRecord[] =>
      resource ? [{ resource, id, appKey, name, state }] : [],
    )
    .toSorted((a, b) => order(a.resource).localeCompare(order(b.resource)))
}

function order({ namespace, name, kind }: ManagedBy): string {
  return `${namespace}/${name}/${kind}`
}
