/**
 * What all records declared by custom resources share. Changes flow one way, from Kubernetes to the database;
 * declaring the same record again changes nothing, and a record that another resource manages is refused with
 * `managed_by_resource`.
 */
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { findApp } from '../catalogue/store/apps.ts'
import type { Actor, Subscriptions } from '../context.ts'

/** Annotation on a resource: take over the record that exists already. */
export const ADOPT_ANNOTATION = 'postwright.dev/adopt'

/** Effect on the record. */
export type Outcome = 'created' | 'updated' | 'unchanged'

/** Deleting the resource deletes the record, or returns it to the administrators. */
export type Withdrawal = 'Delete' | 'Retain'

/** How a resource may treat a record that exists and that no resource manages. */
export interface Takeover {
  /** The resource has the annotation that lets it adopt such a record. */
  adopt: boolean
}

/** True for a record that a resource of the same namespace released: it is taken over without adopting it. */
export function wasReleasedBy({ released_by }: { released_by?: ManagedBy }, { namespace }: ManagedBy): boolean {
  return released_by?.namespace === namespace
}

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
