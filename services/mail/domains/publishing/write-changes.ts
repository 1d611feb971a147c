/** Writes the changes of a DNS plan: per zone in one batch where the provider has batches, else record by record. */
import type { PlanItem } from '../../dns/plan/plan-item.ts'
import { type Batch, type Change, DnsProviderError, type Zone } from '../../dns/providers/provider.ts'
import type { StoredRecord } from '../../dns/records/record.ts'
import { afterFailedBatch, afterFailedWrite, type BatchOutcome } from './failed-writes.ts'
import { finishWrites, type Run, saveEntries } from './plan-run.ts'
import { entryOf, leavesEntry } from './record-ledger.ts'
import { withWritten, type ZoneState } from './zone-state.ts'

/** Writes the changes zone by zone. True when guarded batches proved that no further round is needed. */
export async function writeChanges(run: Run, state: ZoneState, changes: readonly PlanItem[]): Promise<boolean> {
  const { batch } = run.provider
  const proven: boolean[] = []
  for (const zone of state.zones) {
    const items = changes.filter(({ name }) => state.zoneOf(name)?.id === zone.id)
    if (items.length === 0) continue
    const outcome = batch ? await writeBatch(run, zone, items, state, batch) : 'refused'
    if (outcome === 'refused') await writeSequentially(run, zone, items)
    proven.push(outcome === 'done' && batch?.guarded === true && !items.some(({ frees }) => frees))
  }
  const settled = proven.every(Boolean)
  if (settled) run.wanted = new Set()
  return settled
}

async function writeBatch(
  run: Run,
  zone: Zone,
  items: readonly PlanItem[],
  state: ZoneState,
  batch: Batch,
): Promise<BatchOutcome> {
  const writes = items.map(item => ({ item, entry: entryOf(item, run.owned, run.replaced) }))
  const seen = [...new Set(items.map(({ name }) => name))].flatMap(name => state.current(name))
  await saveEntries(
    run,
    writes.filter(({ item }) => leavesEntry(item)).map(({ entry }) => entry),
  )
  for (let attempt = 1; ; attempt++) {
    try {
      const stored = await batch.write(zone, items.map(toChange), seen, run.note)
      await finishWrites(
        run,
        writes.map((write, index) => ({ ...write, stored: stored[index] })),
      )
      return 'done'
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error
      const next = await afterFailedBatch(run, writes, error, attempt)
      if (next !== 'repeat') return next
    }
  }
}

/** What makes room first, then updates, while what was read is fresh, deletions last; ends at a name that another program changed. */
async function writeSequentially(run: Run, zone: Zone, items: readonly PlanItem[]): Promise<void> {
  const order = ['update', 'create', 'delete']
  const rank = ({ action, frees }: PlanItem) => (frees ? -1 : order.indexOf(action))
  const ordered = items.toSorted((a, b) => rank(a) - rank(b))
  for (const [index, item] of ordered.entries()) {
    // A create changes no existing record. After the first call, a record that is to be replaced is read again.
    if (index > 0 && item.action !== 'create') {
      const fresh = withWritten(await run.provider.list(zone, item.name), item.name, run.written)
      // Items before this one may have written at the same name; the next round plans the rest.
      const isUnchanged = fresh.some(record => record.id === item.before?.id && record.value === item.before.value)
      if (!isUnchanged) return
    }
    await writeItem(run, zone, item)
  }
}

async function writeItem(run: Run, zone: Zone, item: PlanItem): Promise<void> {
  const entry = entryOf(item, run.owned, run.replaced)
  if (leavesEntry(item)) await saveEntries(run, [entry])
  for (let attempt = 1; ; attempt++) {
    try {
      const stored = await sendChange(run, zone, toChange(item))
      await finishWrites(run, [{ item, entry, stored }])
      return
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error
      const next = await afterFailedWrite(run, item, error, attempt)
      if (next === 'repeat') continue
      if (next === 'done') await finishWrites(run, [{ item, entry, stored: undefined }])
      return
    }
  }
}

function toChange({ name, type, value, ttl, action, before }: PlanItem): Change {
  const record = { name, type, value, ttl }
  if (!before) return { action: 'create', record }
  // The owner chose the TTL of an existing record; only its value is changed.
  return action === 'delete' ? { action, before } : { action: 'update', before, record: { ...record, ttl: before.ttl } }
}

async function sendChange({ provider, note }: Run, zone: Zone, change: Change): Promise<StoredRecord | undefined> {
  if (change.action === 'create') return provider.create(zone, change.record, note)
  if (change.action === 'update') return provider.update(zone, change.before, change.record)
  await provider.remove(zone, change.before)
  return undefined
}
