/** Resources of both halves in one shape, and which of them a reader asked for. */
import type { Output } from '../api/client.ts'
import type { ResourceState } from '../kubernetes/resource-conditions.tsx'
import type { SubOutput } from '../subscriptions/shared/subscriptions-api.ts'
import type { ResourceSearch } from './resource-search.ts'

/** A resource that owns a record. */
export interface Resource {
  kind: string
  namespace: string
  name: string
  /** Name of the record. */
  record: string
  state: ResourceState | null
}

/** From an answer of the mail API. */
export function fromMail({ resource, record, state }: Output<'listResources'>['data'][number]): Resource {
  return { ...resource, record: record.name, state }
}

/** From an answer of the Subscription Administration API. */
export function fromSubscriptions(one: SubOutput<'listResourcesOperation'>['resources'][number]): Resource {
  const { kind, namespace, name, app_key, record_name, state } = one
  const record = kind === 'App' ? app_key : `${app_key} / ${record_name}`
  if (!state) return { kind, namespace, name, record, state }
  const observed_at = new Date(Number(state.observed_at) * 1000).toISOString()
  return { kind, namespace, name, record, state: { ...state, observed_at } }
}

/** Ready, not, or not looked at by the operator yet. */
export function readiness({ state }: Resource): 'ready' | 'not_ready' | 'unseen' {
  if (!state) return 'unseen'
  return state.ready ? 'ready' : 'not_ready'
}

/** Those that fit; what needs attention comes first. */
export function matchingResources(all: readonly Resource[], { q, namespace, state }: ResourceSearch): Resource[] {
  const word = q?.toLowerCase() ?? ''
  return all
    .filter(one => namespace === undefined || one.namespace === namespace)
    .filter(one => state === undefined || readiness(one) === state)
    .filter(one => `${one.kind} ${one.namespace}/${one.name} ${one.record}`.toLowerCase().includes(word))
    .toSorted((a, b) => RANK[readiness(a)] - RANK[readiness(b)])
}

const RANK = { not_ready: 0, unseen: 1, ready: 2 }

/** Every namespace once, in order. */
export function namespacesOf(all: readonly Resource[]): string[] {
  return [...new Set(all.map(({ namespace }) => namespace))].toSorted()
}
