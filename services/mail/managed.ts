/** Records that a Kubernetes resource manages are read-only for people: the resource would undo what they change. */
import { isOwner } from '../platform/owning-resource.ts'
import { ProblemError } from '../platform/problems.ts'
import type { ManagedBy } from './store/documents.ts'

/** On whose behalf a use case runs. */
export interface ActingResource {
  /** The resource that the operator reconciles: it owns what it makes, and only it changes that. Absent for people. */
  resource?: ManagedBy
}

/** Throws 409 `managed_by_resource`, naming the resource, when another than the acting one manages the record. */
export function refuseManaged({ managed_by: owner }: { managed_by?: ManagedBy }, { resource }: ActingResource): void {
  if (owner && !isOwner(owner, resource))
    throw new ProblemError(
      'managed_by_resource',
      `${owner.kind} ${owner.namespace}/${owner.name} manages this record; change it there.`,
    )
}
