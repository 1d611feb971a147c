/** The last observed state of a Kubernetes resource, as it appears in answers. */
import type { z } from 'zod'
import type { ResourceState } from '../../store/documents.ts'
import type { resourceState } from './records.ts'

/** The state of a resource as answers show it. */
export function showState(state: ResourceState | undefined): z.input<typeof resourceState> | null {
  if (!state) return null
  const { ready, reason, message, conditions, observed_at } = state
  return {
    ...{ ready, reason, message },
    // Kubernetes gives conditions more fields than answers show.
    conditions: conditions.map(one => ({
      type: one.type,
      status: one.status,
      reason: one.reason,
      message: one.message,
    })),
    observed_at: observed_at.toISOString(),
  }
}
