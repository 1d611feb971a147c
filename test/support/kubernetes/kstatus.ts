/**
 * The verdict of kstatus about a custom resource, by its published rules: deletion, then the generation, then the conditions
 * Reconciling and Stalled, then Ready. Flux and `helm --wait` (Helm 4) use them.
 */
import type { Seen } from './operator-under-test.ts'

/** A status of kstatus. */
export type KStatus = 'Current' | 'Failed' | 'InProgress' | 'Terminating'

/** Computes the status as `Compute` of sigs.k8s.io/cli-utils/pkg/kstatus does for kinds that it does not know. */
export function kstatusOf({ metadata, status }: Seen): KStatus {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) return 'InProgress'
  const conditions = status?.conditions ?? []
  for (const { type, status: is } of conditions) {
    if (type === 'Reconciling' && is === 'True') return 'InProgress'
    if (type === 'Stalled' && is === 'True') return 'Failed'
  }
  const ready = conditions.find(({ type }) => type === 'Ready')
  // Without any known condition a resource counts as current: hence the default of the status.
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress'
}
