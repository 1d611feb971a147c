/** What follows a failed write: stop the run, try again, write one by one, or take it as done. */
import type { PlanItem } from '../../dns/plan/plan-item.ts'
import type { DnsProviderError, ProviderErrorKind } from '../../dns/providers/provider.ts'
import { sameRecord } from '../../dns/records/record.ts'
import { attemptKey } from './plan-outcome.ts'
import { type FinishedWrite, finishWrites, type Run } from './plan-run.ts'
import { readState } from './zone-state.ts'

/** Attempts of one write whose outcome is unknown and which had no effect. */
const MAX_ATTEMPTS = 2
/** Errors that every further call would meet as well. */
const FATAL: readonly ProviderErrorKind[] = [
  'auth',
  'permission',
  'rate_limited',
  'unavailable',
  'zone_not_found',
  'zone_ambiguous',
]

/** `refused`: the provider does not accept the changes together; each alone may succeed. */
export type BatchOutcome = 'done' | 'plan_again' | 'refused'

/** What follows a failed batch; `attempt` starts at 1. Throws the errors that end the run. */
export async function afterFailedBatch(
  run: Run,
  writes: readonly Omit<FinishedWrite, 'stored'>[],
  error: DnsProviderError,
  attempt: number,
): Promise<BatchOutcome | 'repeat'> {
  const { kind, sentence: message } = error
  if (kind === 'changed' || kind === 'not_found') return 'plan_again'
  // A permission may be missing for one record only; that shows when each is written alone.
  if (kind !== 'unknown_outcome' && (kind === 'permission' || !FATAL.includes(kind))) return 'refused'
  if (kind !== 'unknown_outcome') throw error
  const effective = await itemsInEffect(
    run,
    writes.map(({ item }) => item),
  )
  const done = writes.filter(({ item }) => effective.includes(item))
  await finishWrites(
    run,
    done.map(write => ({ ...write, stored: undefined })),
  )
  if (done.length === 0 && attempt < MAX_ATTEMPTS) return 'repeat'
  for (const { item } of writes)
    if (!effective.includes(item)) run.results.set(attemptKey(item), { status: 'failed', message })
  return 'plan_again'
}

/** What follows the failed write of one record; `attempt` starts at 1. Throws the errors that end the run. */
export async function afterFailedWrite(
  run: Run,
  item: PlanItem,
  error: DnsProviderError,
  attempt: number,
): Promise<'done' | 'repeat' | 'stop'> {
  const { kind, sentence: message } = error
  if (kind === 'duplicate') return 'done'
  if (kind === 'changed' || kind === 'not_found') return 'stop' // the next round plans from the current records
  if (kind === 'unknown_outcome') {
    if ((await itemsInEffect(run, [item])).length > 0) return 'done'
    if (attempt < MAX_ATTEMPTS) return 'repeat'
  } else if (FATAL.includes(kind)) throw error
  run.results.set(attemptKey(item), { status: 'failed', message })
  return 'stop'
}

/** The items whose effect is at the provider. */
async function itemsInEffect({ provider }: Run, items: readonly PlanItem[]): Promise<PlanItem[]> {
  const { current } = await readState(
    provider,
    items.map(({ name, type }) => ({ name, types: [type] })),
  )
  return items.filter(item => {
    const records = current(item.name)
    if (item.action !== 'delete') return records.some(record => sameRecord(record, item))
    return !records.some(({ id, value }) => id === item.before?.id && value === item.before?.value)
  })
}
