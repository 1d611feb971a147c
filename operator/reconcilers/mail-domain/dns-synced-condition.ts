/** Evaluates the condition DNSSynced from a write at the provider, or from public DNS. */
import type { DomainDoc, RecordCheckDoc } from '../../../services/mail/domains/find-domains.ts'
import type { Published } from '../../../services/mail/domains/publishing/publish-records.ts'
import { joined } from '../../../services/platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { isPermanent, reasonOf } from '../mail/dns-provider-access.ts'
import { bad, type ConditionState, good, unknown } from '../shared/conditions.ts'

/** `retry`: the records are not as wanted; absent when no further write is needed. */
export interface DnsSync {
  condition: ConditionState
  retry?: {
    /** Longest pause, in milliseconds. */
    longestMs?: number
    /** Shortest pause, in seconds. */
    retryAfter?: number
  }
}

/** Seconds until a conflict is evaluated again: its owner may have resolved it at the provider. */
const CONFLICT_RETRY = 15 * 60
/** Longest pause while public DNS does not answer, in milliseconds: it usually recovers within minutes. */
export const LOOKUP_RETRY_MS = 60_000

/** The result of a write at the provider. */
export function syncOfWrite({ items, stopped, warnings }: Pick<Published, 'items' | 'stopped' | 'warnings'>): DnsSync {
  if (stopped) {
    const make = isPermanent(stopped.kind) ? bad : unknown
    const condition = make('DNSSynced', reasonOf(stopped.kind), stopped.message)
    return { condition, retry: stopped.retryAfter === undefined ? {} : { retryAfter: stopped.retryAfter } }
  }
  const [first, ...rest] = items.filter(item => item.status === 'conflict' || item.status === 'failed')
  if (first) return syncOfUnfinished([first, ...rest])
  const homeless = items.find(item => item.status === 'skipped' && item.zone === undefined && !isAddress(item))
  if (homeless) {
    const message = sentence('resource.dns_zone_missing', { reason: homeless.reason })
    return { condition: bad('DNSSynced', 'ZoneNotFound', message), retry: {} }
  }
  return { condition: good('DNSSynced', 'InSync', joined([sentence('resource.dns_written'), ...warnings])) }
}

type Item = Published['items'][number]

function syncOfUnfinished(items: readonly [Item, ...Item[]]): DnsSync {
  const [first, ...rest] = items
  const message = joined([describeItem(first), ...rest.map(describeItem)])
  // Neither an error of the provider nor a conflict: whether a record would weaken a policy is unknown now.
  if (items.every(({ code }) => code === 'policy_unknown'))
    return { condition: unknown('DNSSynced', 'LookupFailed', message), retry: { longestMs: LOOKUP_RETRY_MS } }
  // A failed write may succeed soon; a conflict waits for a decision.
  if (items.some(item => item.status === 'failed'))
    return { condition: bad('DNSSynced', 'ProviderError', message), retry: {} }
  const acceptable = items.some(item => item.acceptable)
  const conflict = sentence(acceptable ? 'resource.dns_conflict_acceptable' : 'resource.dns_conflict', {
    records: message,
  })
  return { condition: bad('DNSSynced', 'Conflict', conflict), retry: { retryAfter: CONFLICT_RETRY } }
}

function describeItem({ name, type, message, reason }: Item): Sentence {
  return sentence('resource.dns_record', { name, type, reason: message ?? reason })
}

/** Addresses of the sending host may be in a zone of another account. */
function isAddress({ row }: { row: string }): boolean {
  return row.startsWith('address:')
}

/** Reason while records that were written are gone again. */
export const DRIFTED = 'Drifted'

/** The condition of a write that succeeded, as long as the last check saw what was written. */
export function unlessLost(condition: ConditionState, lost: readonly Pick<RecordCheckDoc, 'row'>[]): ConditionState {
  if (condition.status !== 'True' || lost.length === 0) return condition
  return bad('DNSSynced', DRIFTED, sentence('resource.dns_drifted', { records: lost.map(({ row }) => row) }))
}

/** With managementPolicy Observe: the required records in public DNS, from the last check. */
export function observedCondition({ check }: Pick<DomainDoc, 'check'>): ConditionState {
  if (!check) return unknown('DNSSynced', 'Progressing', sentence('resource.not_checked'))
  const missing = check.records.filter(
    ({ status }) => status === 'failed' || status === 'conflict' || status === 'pending',
  )
  if (missing.length === 0) return good('DNSSynced', 'InSync', sentence('resource.dns_observed'))
  const records = missing.map(({ row }) => row)
  return bad('DNSSynced', 'Guidance', sentence('resource.dns_guidance', { records }))
}
