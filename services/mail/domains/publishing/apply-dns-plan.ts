/**
 * Applies a DNS plan in rounds of read, plan and write until a round finds nothing to do. Interrupted at any call and
 * started again it reaches the same end: entries are in the ledger before the write, and every round plans from the
 * current records.
 */
import { createHash } from 'node:crypto'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { OwnedRecord, PlanItem } from '../../dns/plan/plan-item.ts'
import { type DnsProvider, DnsProviderError, type Question } from '../../dns/providers/provider.ts'
import { type Applied, appliedItems, attemptKey, isChange, itemKey, stoppedBy } from './plan-outcome.ts'
import { adoptRecordIds, forgetEntries, type Run, startRun } from './plan-run.ts'
import type { Ledger } from './record-ledger.ts'
import { writeChanges } from './write-changes.ts'
import { readState, type ZoneState } from './zone-state.ts'

/** Makes a DNS plan from the current records and the ledger. */
export type DnsPlanner = (state: ZoneState, owned: readonly OwnedRecord[]) => PlanItem[]

/** How to apply. */
export interface ApplyOptions extends Pick<Run, 'note' | 'replaced'> {
  /** Names that the planner may read, beside those of the ledger. */
  questions: readonly Question[]
  /** The id of the only DNS plan to write; if another one results before the first write, the run stops with `changed`. */
  expect?: string | undefined
  /** Entries of the ledger whose record is gone and no longer wanted. */
  vanished?: (state: ZoneState, owned: readonly OwnedRecord[]) => OwnedRecord[]
}

/** Rounds of planning: the first does the work, later ones see what other programs changed in the meantime. */
const MAX_ROUNDS = 4

/** A short identity of a DNS plan: equal plans over equal records have equal ids. */
export function dnsPlanId(items: readonly PlanItem[]): string {
  const facts = items.map(({ row, action, name, type, value, before }) => [
    row,
    action,
    name,
    type,
    value,
    before?.id,
    before?.value,
  ])
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32)
}

/** Plans and writes until nothing is left to do. Errors of the provider become part of the outcome. */
export async function applyDnsPlan(
  provider: DnsProvider,
  planner: DnsPlanner,
  ledger: Ledger,
  options: ApplyOptions,
): Promise<Applied> {
  const run = await startRun(provider, ledger, options)
  try {
    for (let round = 0; round < MAX_ROUNDS; round++)
      if (await applyRound(run, planner, options)) return { items: appliedItems(run), zones: run.zones }
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return { items: appliedItems(run), zones: run.zones, stopped: stoppedBy(error) }
  }
  return {
    items: appliedItems(run),
    zones: run.zones,
    stopped: {
      kind: 'unsettled',
      message: sentence('dns_plan.unsettled'),
    },
  }
}

/** True when no further round is needed. */
async function applyRound(run: Run, planner: DnsPlanner, options: ApplyOptions): Promise<boolean> {
  const state = await readState(run.provider, options.questions, run.owned, run.written)
  run.zones = state.zones
  const plan = planner(state, run.owned)
  refuseUnexpected(run, plan, options.expect)
  for (const item of plan) if (!run.items.has(itemKey(item)) || isChange(item)) run.items.set(itemKey(item), item)
  run.wanted = new Set(plan.filter(isChange).map(attemptKey))
  await adoptRecordIds(run, plan)
  await forgetEntries(run, options.vanished?.(state, run.owned) ?? [])
  const changes = plan.filter(item => isChange(item) && !run.results.has(attemptKey(item)))
  return changes.length === 0 || writeChanges(run, state, changes)
}

/** Before the first write, the DNS plan has to be the one that its owner saw. */
function refuseUnexpected({ provider, results }: Run, plan: readonly PlanItem[], expected: string | undefined): void {
  if (expected !== undefined && results.size === 0 && dnsPlanId(plan) !== expected)
    throw new DnsProviderError(provider.type, 'changed', sentence('dns_plan.changed'))
}
