/** Where a plan stands on its way from a diff to what DNS gives. */
import type { Output } from '../api/client.ts'
import type { Tone } from '../ui/feedback/status-badge.tsx'

/** A row of a plan. */
export type PlanItem = Output<'planDnsOperation'>['items'][number]
/** What writing came to. */
export type PlanResult = Output<'applyDnsOperation'>
/** A look at DNS afterwards. */
type Check = Pick<Output<'verifyDomainOperation'>, 'outcome' | 'records'>

/**
 * `plan`: nothing is written. `writing`. `waiting`: written, DNS is asked again and again. `seen`: DNS gives it.
 * `later`: the page does not wait longer. `stopped`: the provider refused.
 */
export type PlanStage = 'plan' | 'writing' | 'waiting' | 'seen' | 'later' | 'stopped'

/** What a row says once the button was pressed; undefined before. */
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

/** The stage. `given`: DNS was asked often enough. */
export function stageOf(at: {
  writing: boolean
  result: PlanResult | undefined
  check: Check | undefined
  given: boolean
}): PlanStage {
  const { writing, result, check, given } = at
  if (writing) return 'writing'
  if (!result) return 'plan'
  if (result.stopped) return 'stopped'
  if (check && isPropagated(result, check)) return 'seen'
  return given ? 'later' : 'waiting'
}

/** True when the domain is verified and DNS gives every record that was written. */
export function isPropagated({ items }: PlanResult, check: Check): boolean {
  return check.outcome === 'verified' && items.every(item => !isWritten(item) || isSeen(item.record, check))
}

/** The state of one row. */
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

/** How many rows there are of each action, in the order of a plan. */
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
