/** Records that something else than their resource changed. */
import type { EventInput } from '../../kube/event-recorder.ts'
import type { Metadata } from '../../resources/kind.ts'
import type { OperatorContext } from './operator-context.ts'

/** Events of an update although the spec did not change: something else changed the record. */
export function driftOf(
  context: Pick<OperatorContext, 'metrics'>,
  resource: { kind: string; metadata: Metadata; status: { observedGeneration?: number | undefined } | undefined },
  outcome: 'created' | 'updated' | 'unchanged',
  known: boolean,
): EventInput[] {
  const settled = known && resource.status?.observedGeneration === resource.metadata.generation
  if (!settled || outcome === 'unchanged') return []
  context.metrics.operator.driftReverted.inc({ kind: resource.kind, place: 'database' })
  const note = `The record was ${outcome === 'created' ? 'removed' : 'changed'} outside of this resource; it is as declared again.`
  return [{ type: 'Warning', reason: 'DriftReverted', action: 'Apply', note }]
}
