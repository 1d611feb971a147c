/** Evaluates the condition DNSSynced: what a write at the provider, or public DNS, says about the wanted records. */
import type { DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import type { Published } from '../../../services/mail/domains/publish-records.ts'
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
  const unfinished = items.filter(item => item.status === 'conflict' || item.status === 'failed')
  if (unfinished.length > 0) return syncOfUnfinished(unfinished)
  const homeless = items.find(item => item.status === 'skipped' && item.zone === undefined && !isAddress(item))
  if (homeless) {
    const hint = 'Add the zone at the provider, name another DNSProvider, or set spec.dns.managementPolicy to Observe.'
    return { condition: bad('DNSSynced', 'ZoneNotFound', `${homeless.reason} ${hint}`), retry: {} }
  }
  const note = warnings.length > 0 ? ` ${warnings.join(' ')}` : ''
  return { condition: good('DNSSynced', 'InSync', `All records are written.${note}`) }
}

function syncOfUnfinished(items: Published['items']): DnsSync {
  const message = items.map(item => `${item.name} ${item.type}: ${item.message ?? item.reason}`).join(' ')
  // Neither an error of the provider nor a conflict: whether a record would weaken a policy is unknown now.
  if (items.every(({ code }) => code === 'policy_unknown'))
    return { condition: unknown('DNSSynced', 'LookupFailed', message), retry: { longestMs: LOOKUP_RETRY_MS } }
  // A failed write may succeed soon; a conflict waits for a decision.
  if (items.some(item => item.status === 'failed'))
    return { condition: bad('DNSSynced', 'ProviderError', message), retry: {} }
  const ways = items.some(({ acceptable }) => acceptable)
    ? ', or set spec.dns.conflictPolicy to Adopt or Overwrite'
    : ''
  const hint = `Clear what stands in the way at the DNS provider${ways}; it is looked at again every 15 minutes.`
  return { condition: bad('DNSSynced', 'Conflict', `${message} ${hint}`), retry: { retryAfter: CONFLICT_RETRY } }
}

/** Addresses of the sending host may be in a zone of another account. */
function isAddress({ row }: { row: string }): boolean {
  return row.startsWith('address:')
}

/** With managementPolicy Observe: the required records in public DNS, from the last check. */
export function observedCondition({ check }: Pick<DomainDoc, 'check'>): ConditionState {
  if (!check) return unknown('DNSSynced', 'Progressing', 'Public DNS was not looked up yet.')
  const missing = check.records.filter(
    ({ status }) => status === 'failed' || status === 'conflict' || status === 'pending',
  )
  if (missing.length === 0) return good('DNSSynced', 'InSync', 'Public DNS shows all records.')
  const list = missing.map(({ row }) => row).join(', ')
  return bad(
    'DNSSynced',
    'Guidance',
    `Add these records at your DNS provider; status.records has their values: ${list}.`,
  )
}
