/** The last observed state of a Kubernetes resource, as it appears in answers. */
import type { z } from 'zod'
import { resourceStateFields } from '../../../platform/managed/http/resource-state-fields.ts'
import type { ResourceState } from '../../store/documents.ts'
import type { resourceState } from './records.ts'

/** The state of a resource as answers show it. */
export function showState(state: ResourceState | undefined): z.input<typeof resourceState> | null {
  if (!state) return null
  return { ...resourceStateFields(state), observed_at: state.observed_at.toISOString() }
}
