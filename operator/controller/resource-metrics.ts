/** Counts the resources in the caches by their state, in every process: also in those that do not lead. */
import type { OperatorMetrics } from '../../services/platform/observability/operator-metrics.ts'
import type { KubeObject, ObjectCache } from '../kube/object-cache.ts'
import type { Condition } from '../resources/kind.ts'

type Reading = 'True' | 'False' | 'Unknown'

/** Keeps the gauges at the content of the caches. Call it before the first list. */
export function countResources(
  caches: ReadonlyMap<string, ObjectCache>,
  { resources, stalledResources }: Pick<OperatorMetrics, 'resources' | 'stalledResources'>,
): void {
  for (const [kind, cache] of caches) {
    for (const ready of ['True', 'False', 'Unknown'] as const) resources.set({ kind, ready }, 0)
    stalledResources.set({ kind }, 0)
    cache.onChange(({ before, after }) => {
      if (before) resources.dec({ kind, ready: readyOf(before) })
      if (after) resources.inc({ kind, ready: readyOf(after) })
      const change = Number(after !== undefined && isStalled(after)) - Number(before !== undefined && isStalled(before))
      if (change !== 0) stalledResources.inc({ kind }, change)
    })
  }
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  const { status } = object as KubeObject & { status?: { conditions?: unknown } }
  // The status may have been written by others.
  return Array.isArray(status?.conditions) ? (status.conditions as Condition[]) : []
}

/** Unknown also before the operator saw the resource. */
function readyOf(object: KubeObject): Reading {
  const status = conditionsOf(object).find(({ type }) => type === 'Ready')?.status
  return status === 'True' || status === 'False' ? status : 'Unknown'
}

/** A resource that a user paused or suspended is stalled on purpose. */
function isStalled(object: KubeObject): boolean {
  const stalled = conditionsOf(object).find(({ type }) => type === 'Stalled')
  return stalled?.status === 'True' && stalled.reason !== 'Paused' && stalled.reason !== 'Suspended'
}
