/** Kubernetes resources of the mail and subscriptions modules in one form, and their filters. */
import type { Output } from '../api/client.ts'
import type { ResourceState } from '../kubernetes/resource-conditions.tsx'
import type { SubOutput } from '../subscriptions/shared/subscriptions-api.ts'
import type { ResourceSearch } from './resource-search.ts'

/** A resource and the record that it manages. */
export interface Resource {
  kind: string
  namespace: string
  name: string
  /** Name of the record. */
  record: string
  state: ResourceState | null
}

/** Converts a resource of the mail API. */
export function fromMail({ resource, record, state }: Output<'listResources'>['data'][number]): Resource {
  return { ...resource, record: record.name, state }
}

/** Converts a resource of the Subscription Administration API. */
export function fromSubscriptions(one: SubOutput<'listResourcesOperation'>['resources'][number]): Resource {
  const { kind, namespace, name, app_key, record_name, state } = one
  const record = kind === 'App' ? app_key : `${app_key} / ${record_name}`
  if (!state) return { kind, namespace, name, record, state }
  const observed_at = new Date(Number(state.observed_at) * 1000).toISOString()
  return { kind, namespace, name, record, state: { ...state, observed_at } }
}

/** `unseen`: the operator has not reported a status yet. */
export function readiness({ state }: Resource): 'ready' | 'not_ready' | 'unseen' {
  if (!state) return 'unseen'
  return state.ready ? 'ready' : 'not_ready'
}

/** Filters resources and sorts those that are not ready first. */
export function matchingResources(all: readonly Resource[], { q, namespace, state }: ResourceSearch): Resource[] {
  const query = q?.toLowerCase() ?? ''
  return all
    .filter(one => namespace === undefined || one.namespace === namespace)
    .filter(one => state === undefined || readiness(one) === state)
    .filter(one => `${one.kind} ${one.namespace}/${one.name} ${one.record}`.toLowerCase().includes(query))
    .toSorted((a, b) => RANK[readiness(a)] - RANK[readiness(b)])
}

const RANK = { not_ready: 0, unseen: 1, ready: 2 }

export function namespacesOf(all: readonly Resource[]): string[] {
  return [...new Set(all.map(({ namespace }) => namespace))].toSorted()
}
