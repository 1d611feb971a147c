/** Records in several collections that Kubernetes resources manage: listed, and given the state of their resource. */
import type { Model } from '../database/models.ts'
import type { Collection } from '../database/mongo.ts'
import type { ManagedBy, ManagedFields, ResourceState } from './managed-fields.ts'

export type { ManagedFields }

/** A record and the resource that manages it. */
export interface ManagedRecord<R> {
  resource: ManagedBy
  record: R
  state: ResourceState | undefined
}

/** Reads the managed records of one collection, up to a limit. */
export type ManagedSource<R> = (limit: number) => Promise<ManagedRecord<R>[]>

type Filter<T extends object> = Parameters<Collection<T>['find']>[0]

/** The managed records of a collection that fit the filter, as `show` names them. */
export function managedIn<T extends ManagedFields, R>(
  collection: Collection<T>,
  filter: Filter<T>,
  fields: readonly (string & keyof T)[],
  show: (row: T) => R,
): ManagedSource<R> {
  const projection = Object.fromEntries([...fields, 'managed_by', 'k8s'].map(field => [field, 1]))
  return async limit => {
    const rows = await collection
      .find({ ...filter, managed_by: { $exists: true } } as Filter<T>, { projection })
      .limit(limit)
      .toArray()
    return (rows as T[]).flatMap(row =>
      row.managed_by ? [{ resource: row.managed_by, record: show(row), state: row.k8s }] : [],
    )
  }
}

/** The records of a model that the resource with this uid manages, oldest first. */
export async function listManagedBy<T extends ManagedFields>(model: Model<T>, uid: string): Promise<T[]> {
  const filter: object = { 'managed_by.uid': uid }
  return model.find(filter).sort({ _id: 1 }).lean<T[]>()
}

/** Most records of a collection that are listed; kubectl shows more. */
const LIMIT = 1_000

/** The records by namespace and name; `complete` is false when a collection has more than are listed. */
export async function listManaged<R>(
  sources: readonly ManagedSource<R>[],
  limit = LIMIT,
): Promise<{ records: ManagedRecord<R>[]; complete: boolean }> {
  const found = await Promise.all(sources.map(read => read(limit + 1)))
  return {
    records: found
      .flatMap(rows => rows.slice(0, limit))
      .toSorted((a, b) => order(a.resource).localeCompare(order(b.resource))),
    complete: found.every(rows => rows.length <= limit),
  }
}

function order({ namespace, name, kind }: ManagedBy): string {
  return `${namespace}/${name}/${kind}`
}

/**
 * Writes the state of a resource onto the record that it manages. A record of another resource is not changed, and
 * neither is one with the same state: a starting operator finds ten thousand of those.
 */
export async function mirrorState<T extends ManagedFields & { _id: string | number }>(
  collection: Collection<T>,
  { id, uid }: { id: T['_id']; uid: string },
  state: ResourceState,
): Promise<void> {
  const { ready, reason, message, conditions } = state
  const differs = Object.entries({ ready, reason, message, conditions }).map(([field, value]) => ({
    [`k8s.${field}`]: { $ne: value },
  }))
  const filter: object = { _id: id, 'managed_by.uid': uid, $or: differs }
  const change: object = { $set: { k8s: state } }
  await collection.updateOne(filter, change)
}
