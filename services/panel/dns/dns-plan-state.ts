/** State of a DNS plan from the preview to propagation. */
import type { Output } from '../api/client.ts'
import type { Tone } from '../ui/feedback/status-badge.tsx'

export type PlanItem = Output<'planDnsOperation'>['items'][number]
export type PlanResult = Output<'applyDnsOperation'>
/** DNS check after the plan was applied. */
type Check = Pick<Output<'verifyDomainOperation'>, 'outcome' | 'records'>

/**
 * `plan`: preview, nothing is written. `writing`: the plan is being applied. `waiting`: written, DNS is checked repeatedly.
 * `seen`: all records are visible. `later`: the page stopped checking. `stopped`: the provider returned an error.
 */
export type PlanStage = 'plan' | 'writing' | 'waiting' | 'seen' | 'later' | 'stopped'

/** Status of a row after the plan was applied; the key of its translation. */
export interface RowState {
  tone: Tone
  key: PlanResult['items'][number]['status'] | 'writing' | 'seen'
}

const RESULTS: Record<PlanResult['items'][number]['status'], Tone> = {
  done: 'ok',
  kept: 'quiet',
  pending: 'warn',
  failed: 'bad',
  conflict: 'bad',
  skipped: 'quiet',
  not_done: 'warn',
}

/** `exhausted`: the maximum number of DNS checks was made. */
export function stageOf(at: {
  writing: boolean
  result: PlanResult | undefined
  check: Check | undefined
  exhausted: boolean
}): PlanStage {
  const { writing, result, check, exhausted } = at
  if (writing) return 'writing'
  if (!result) return 'plan'
  if (result.stopped) return 'stopped'
  if (check && isPropagated(result, check)) return 'seen'
  return exhausted ? 'later' : 'waiting'
}

/** True if the domain is verified and DNS returns every record that was written. */
export function isPropagated({ items }: PlanResult, check: Check): boolean {
  return check.outcome === 'verified' && items.every(item => !isWritten(item) || isSeen(item.record, check))
}

export function rowState(
  item: PlanItem | PlanResult['items'][number],
  stage: PlanStage,
  check: Check | undefined,
): RowState | undefined {
  if ('status' in item) {
    if (isWritten(item) && check && isSeen(item.record, check)) return { tone: 'ok', key: 'seen' }
    return { tone: RESULTS[item.status], key: item.status }
  }
  const writes = item.action === 'create' || item.action === 'update' || item.action === 'delete'
  return stage === 'writing' && writes ? { tone: 'info', key: 'writing' } : undefined
}

/** Number of rows for each action, in the order of the plan. */
export function countByAction(items: readonly PlanItem[]): [PlanItem['action'], number][] {
  const counts = new Map<PlanItem['action'], number>()
  for (const { action } of items) counts.set(action, (counts.get(action) ?? 0) + 1)
  return [...counts]
}

function isWritten({ status, action }: PlanResult['items'][number]): boolean {
  return (status === 'done' || status === 'pending') && action !== 'delete'
}

function isSeen(record: string, check: Check): boolean {
  return check.records.some(({ id, status }) => id === record && status === 'verified')
}
