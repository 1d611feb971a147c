/** Records that a Kubernetes resource manages are read-only for people: the resource would undo what they change. */

import { type ManagedBy, otherOwner } from '../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../platform/problems.ts'
import { sentence } from '../platform/sentences/sentence.ts'

/** On whose behalf a use case runs. */
export interface ActingResource {
  /** The resource that the operator reconciles: it owns what it makes, and only it changes that. Absent for people. */
  resource?: ManagedBy
}

/** Throws 409 `managed_by_resource`, naming the resource, when another than the acting one manages the record. */
export function refuseManaged(record: { managed_by?: ManagedBy }, { resource }: ActingResource): void {
  const owner = otherOwner(record, resource)
  if (owner)
    throw new ProblemError(
      'managed_by_resource',
      sentence('detail.managed_by', { kind: owner.kind, name: `${owner.namespace}/${owner.name}` }),
    )
}
