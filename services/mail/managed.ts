/** Records that a Kubernetes resource manages are read-only for people: the resource would undo what they change. */
import { ProblemError } from '../platform/problems.ts'
import type { ManagedBy } from './store/documents.ts'

/** On whose behalf a use case runs. */
export interface ActingResource {
  /** The resource that the operator reconciles: it owns what it makes, and only it changes that. Absent for people. */
  resource?: ManagedBy
}

/** Throws 409 `managed_by_resource`, naming the resource, when another than the acting one manages the record. */
export function refuseManaged({ managed_by: owner }: { managed_by?: ManagedBy }, { resource }: ActingResource): void {
  if (owner && owner.uid !== resource?.uid && !isSuccessor(owner, resource))
    throw new ProblemError(
      'managed_by_resource',
      `${owner.kind} ${owner.namespace}/${owner.name} manages this record; change it there.`,
    )
}

/** A resource that was made anew under its name, in a restored cluster for instance, goes on with its record. */
function isSuccessor(owner: ManagedBy, resource: ManagedBy | undefined): boolean {
  return owner.kind === resource?.kind && owner.namespace === resource.namespace && owner.name === resource.name
}
