/** The outcome of applying a DNS plan: a status for each item, and why the rest was not tried. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { PlanItem } from '../../dns/plan/plan-item.ts'
import type { DnsProviderError, ProviderErrorKind, Zone } from '../../dns/providers/provider.ts'
import { sameRecord } from '../../dns/records/record.ts'
import type { WrittenRecords } from './zone-state.ts'

/** An item with its result. `pending`: the provider accepted it but does not list it yet. */
export interface AppliedItem extends PlanItem {
  status: 'done' | 'kept' | 'pending' | 'failed' | 'conflict' | 'skipped' | 'not_done'
  message?: Sentence
}

/** The outcome of an application. */
export interface Applied {
  items: AppliedItem[]
  /** The zones that hold the names, as they were last read. */
  zones: readonly Zone[]
  /** Why the remaining items were not tried. `retryAfter` in seconds. */
  stopped?: { kind: ProviderErrorKind | 'unsettled'; message: Sentence; retryAfter?: number; permission?: string }
}

/** What happened so far. Results are stored by {@link attemptKey}, items by {@link itemKey}. */
export interface Progress {
  readonly items: Map<string, PlanItem>
  readonly results: Map<string, Pick<AppliedItem, 'status' | 'message'>>
  /** Attempts that the last DNS plan still contains. */
  wanted: ReadonlySet<string>
  readonly written: WrittenRecords
}

export function isChange({ action }: PlanItem): boolean {
  return action === 'create' || action === 'update' || action === 'delete'
}

/** Identifies an item over all rounds. */
export function itemKey({ row, name, type }: PlanItem): string {
  return `${row} ${name} ${type}`
}

/** Identifies one attempt: the same item with another value or another record before it is a new attempt. */
export function attemptKey(item: PlanItem): string {
  return `${itemKey(item)} ${item.action} ${item.value} ${item.before?.id ?? ''}`
}

/** Every item of every round with its result. */
export function appliedItems(progress: Progress): AppliedItem[] {
  return [...progress.items.values()].map(item => ({ ...item, ...resultOf(progress, item) }))
}

function resultOf({ results, wanted, written }: Progress, item: PlanItem): Pick<AppliedItem, 'status' | 'message'> {
  const result = results.get(attemptKey(item)) ?? { status: statusWithoutAttempt(item) }
  const hidden = [...written.values()].some(own => own.hidden && sameRecord(own.record, item))
  if (result.status !== 'done' || !(hidden || wanted.has(attemptKey(item)))) return result
  return { status: 'pending', message: sentence('dns_plan.not_listed') }
}

function statusWithoutAttempt({ action }: PlanItem): AppliedItem['status'] {
  if (action === 'keep') return 'kept'
  if (action === 'conflict') return 'conflict'
  return action === 'skip' ? 'skipped' : 'not_done'
}

/** The provider error that ended an application, as part of its outcome. */
export function stoppedBy({
  kind,
  sentence: message,
  retryAfter,
  permission,
}: DnsProviderError): NonNullable<Applied['stopped']> {
  return {
    kind,
    message,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(permission === undefined ? {} : { permission }),
  }
}
