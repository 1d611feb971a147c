/**
 * What all records declared by custom resources share. Changes flow one way, from Kubernetes to the database;
 * declaring the same record again changes nothing, and a record that another resource manages is refused with
 * `managed_by_resource`.
 */
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { findApp } from '../catalogue/store/apps.ts'
import type { Actor, Subscriptions } from '../context.ts'

/** Effect on the record. */
export type Outcome = 'created' | 'updated' | 'unchanged'

/** Deleting the resource deletes the record, or returns it to the administrators. */
export type Withdrawal = 'Delete' | 'Retain'

/** The actor of changes by a resource. */
export function operatorActor(by: ManagedBy): Actor {
  return { kind: 'operator', id: by.uid, name: `k8s:${by.namespace}/${by.name}`, requestId: '', ip: '' }
}

export async function requireApp(context: Subscriptions, appKey: string): Promise<void> {
  if (!(await findApp(context.collections, appKey))) throw new ProblemError('app_not_found')
}

export function haveEqualFields(one: object, other: object): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([x], [y]) => x.localeCompare(y)))
  return sorted(one) === sorted(other)
}
