/** Records that a Kubernetes resource manages are read-only for people: the resource would undo what they change. */
import { type ManagedBy, otherOwner } from '../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../platform/problems.ts'

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
      `${owner.kind} ${owner.namespace}/${owner.name} manages this record; change it there.`,
    )
}
