/**
 * Read → plan → write → read, until nothing is left to do. What a provider can change in one step goes out in one step;
 * where it also proves that nobody was faster, the last look is left out. Interrupted at any call and started again it
 * comes to the same end: intentions stand in the ledger before the write, and every round plans from what is there.
 */
import { createHash } from 'node:crypto'
import type { OwnedRecord, PlanItem } from '../dns/plan/plan-item.ts'
import { ownersPart } from '../dns/plan/plan-spf.ts'
import {
  type Batch,
  type Change,
  type DnsProvider,
  DnsProviderError,
  type ProviderFault,
  type Question,
  type Zone,
} from '../dns/providers/provider.ts'
import { type RecordType, type StoredRecord, sameRecord } from '../dns/records/record.ts'

/** Remembers what we wrote. Entries are told apart by row, name, type and value. */
export interface Ledger {
  read(): Promise<OwnedRecord[]>
  /** Adds or replaces the entries, all at once. */
  write(entries: readonly OwnedRecord[]): Promise<void>
  forget(entries: readonly OwnedRecord[]): Promise<void>
}

/** The zones and records that a plan is made from. */
export interface ZoneState {
  zoneOf: (name: string) => Zone | undefined
  current: (name: string) => readonly StoredRecord[]
  zones: readonly Zone[]
}

/** Makes a plan from what is there. */
export type Planner = (state: ZoneState, owned: readonly OwnedRecord[]) => PlanItem[]

/** What became of an item. `pending`: the provider took it but does not list it yet. */
export interface AppliedItem extends PlanItem {
  status: 'done' | 'kept' | 'pending' | 'failed' | 'conflict' | 'skipped' | 'not_done'
  message?: string
}

/** The outcome of an application. `stopped` says why the rest was not tried. */
export interface Applied {
  items: AppliedItem[]
  /** The zones that hold the names, as they were last read. */
  zones: readonly Zone[]
  stopped?: { fault: ProviderFault | 'unsettled'; message: string; retryAfter?: number; permission?: string }
}

/** How to apply. */
export interface ApplyOptions {
  /** Names that the planner may look at, beside those of the ledger. */
  questions: readonly Question[]
  /** A comment for people at the provider. */
  note: string
  /** Write only this plan; when another one comes out before anything is written, stop with `changed`. */
  expect?: string | undefined
  /** A foreign record that is replaced: remember its value and put it back at the end, or treat it as ours. */
  replaced: 'restore' | 'own'
  /** Entries of the ledger that speak of nothing any more. */
  vanished?: (state: ZoneState, owned: readonly OwnedRecord[]) => OwnedRecord[]
}

const PLAN_CHANGED = 'The zone changed since this plan was made; look at the new plan.'
/** Rounds of planning: the first does the work, later ones see what others changed meanwhile. */
const MAX_ROUNDS = 4
/** Tries of one write whose outcome is unknown and which did not happen. */
const MAX_TRIES = 2
/** Faults that meet every further call as well. */
const FATAL: readonly ProviderFault[] = [
  'auth',
  'permission',
  'rate_limited',
  'unavailable',
  'zone_not_found',
  'zone_ambiguous',
]

/** Reads the zones and records behind some names and those of the ledger; each name once. */
export async function readState(
  provider: DnsProvider,
  questions: readonly Question[],
  owned: readonly OwnedRecord[] = [],
  made: Overlay = new Map(),
): Promise<ZoneState> {
  const asked = new Map<string, Set<RecordType>>()
  const all = [...questions, ...owned.map(({ name, type }) => ({ name, types: [type] }))]
  for (const { name, types } of all) asked.set(name, new Set([...(asked.get(name) ?? []), ...types]))
  const states = await provider.read([...asked].map(([name, types]) => ({ name, types: [...types] })))
  const zones = new Map(states.flatMap(({ name, zone }) => (zone ? [[name, zone] as const] : [])))
  const records = new Map(
    states.flatMap(({ name, zone, records: here }) => (zone ? [[name, overlaid(here, name, made)] as const] : [])),
  )
  return {
    zoneOf: name => zones.get(name),
    current: name => records.get(name) ?? [],
    zones: [...new Map([...zones.values()].map(zone => [zone.id, zone])).values()],
  }
}

/** A short identity of a plan: equal plans over equal records have equal ids. */
export function planId(items: readonly PlanItem[]): string {
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

/** Brings about what the planner wants. Faults of the provider become part of the outcome. */
export async function applyPlan(
  provider: DnsProvider,
  planner: Planner,
  ledger: Ledger,
  options: ApplyOptions,
): Promise<Applied> {
  const run: Run = {
    provider,
    ledger,
    options,
    owned: await ledger.read(),
    made: new Map(),
    results: new Map(),
    items: new Map(),
    wanted: new Set(),
    zones: [],
  }
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const state = await readState(provider, options.questions, run.owned, run.made)
      run.zones = state.zones
      const plan = planner(state, run.owned)
      refuseOther(run, plan)
      for (const item of plan) if (!run.items.has(keyOf(item)) || isChange(item)) run.items.set(keyOf(item), item)
      run.wanted = new Set(plan.filter(isChange).map(tried))
      await adoptIds(run, plan)
      await forget(run, options.vanished?.(state, run.owned) ?? [])
      const changes = plan.filter(item => isChange(item) && !run.results.has(tried(item)))
      if (changes.length === 0 || (await applyChanges(run, state, changes)))
        return { items: report(run), zones: run.zones }
    }
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return { items: report(run), zones: run.zones, stopped: stopOf(error) }
  }
  return {
    items: report(run),
    zones: run.zones,
    stopped: {
      fault: 'unsettled',
      message: 'The zone changes all the time; another program seems to write the same records.',
    },
  }
}

/** Before anything is written, the plan has to be the one that its owner saw. */
function refuseOther({ provider, options: { expect }, results }: Run, plan: readonly PlanItem[]): void {
  if (expect !== undefined && results.size === 0 && planId(plan) !== expect)
    throw new DnsProviderError(provider.type, 'changed', PLAN_CHANGED)
}

/** Records written in this run by id. `hidden`: the provider's last list did not show it. */
type Overlay = Map<string, { record: StoredRecord; before?: string; hidden?: boolean }>

interface Run {
  provider: DnsProvider
  ledger: Ledger
  options: ApplyOptions
  /** The ledger as it stands now. */
  owned: readonly OwnedRecord[]
  /** Written in this run: a provider's list may lag behind its answers. */
  made: Overlay
  /** By item as tried. */
  results: Map<string, { status: AppliedItem['status']; message?: string }>
  items: Map<string, PlanItem>
  /** Changes that the last plan still wants. */
  wanted: Set<string>
  zones: readonly Zone[]
}

/** Zone by zone, in one step where the provider has such a thing. True when nothing is left to look at. */
async function applyChanges(run: Run, state: ZoneState, changes: readonly PlanItem[]): Promise<boolean> {
  const { batch } = run.provider
  const proven: boolean[] = []
  for (const zone of state.zones) {
    const items = changes.filter(({ name }) => state.zoneOf(name)?.id === zone.id)
    if (items.length === 0) continue
    const outcome = batch ? await applyTogether(run, zone, items, state, batch) : 'refused'
    if (outcome === 'refused') await applyOneByOne(run, zone, items)
    proven.push(outcome === 'done' && batch?.guarded === true && !items.some(({ frees }) => frees))
  }
  const settled = proven.every(Boolean)
  if (settled) run.wanted.clear()
  return settled
}

/** `refused`: the provider does not take them together, which says nothing about each alone. */
type Together = 'done' | 'again' | 'refused'

async function applyTogether(
  run: Run,
  zone: Zone,
  items: readonly PlanItem[],
  state: ZoneState,
  batch: Batch,
): Promise<Together> {
  const steps = items.map(item => ({ item, entry: entryOf(item, run.owned, run.options) }))
  const seen = [...new Set(items.map(({ name }) => name))].flatMap(name => state.current(name))
  await keep(
    run,
    steps.filter(({ item }) => keeps(item)).map(({ entry }) => entry),
  )
  for (let attempt = 1; ; attempt++) {
    try {
      const stored = await batch.write(zone, items.map(toChange), seen, run.options.note)
      await settle(
        run,
        steps.map((step, index) => ({ ...step, stored: stored[index] })),
      )
      return 'done'
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error
      const next = await afterBatchFault(run, steps, error, attempt)
      if (next !== 'repeat') return next
    }
  }
}

/** What to do after a failed batch. Throws what stops the run. */
async function afterBatchFault(
  run: Run,
  steps: readonly Omit<Written, 'stored'>[],
  error: DnsProviderError,
  attempt: number,
): Promise<Together | 'repeat'> {
  const { fault, message } = error
  if (fault === 'changed' || fault === 'not_found') return 'again' // the next round sees what is there now
  // A right may be missing for one record only; it shows when each is written alone.
  if (fault !== 'unknown_outcome' && (fault === 'permission' || !FATAL.includes(fault))) return 'refused'
  if (fault !== 'unknown_outcome') throw error
  const happened = await haveHappened(
    run,
    steps.map(({ item }) => item),
  )
  const done = steps.filter(({ item }) => happened.includes(item))
  await settle(
    run,
    done.map(step => ({ ...step, stored: undefined })),
  )
  if (done.length === 0 && attempt < MAX_TRIES) return 'repeat'
  for (const { item } of steps)
    if (!happened.includes(item)) run.results.set(tried(item), { status: 'failed', message })
  return 'again'
}

/** Updates first, while what was read is fresh, deletions last; stops at a name that somebody else changed. */
async function applyOneByOne(run: Run, zone: Zone, items: readonly PlanItem[]): Promise<void> {
  const order = ['update', 'create', 'delete']
  const ordered = items.toSorted((a, b) => order.indexOf(a.action) - order.indexOf(b.action))
  for (const [index, item] of ordered.entries()) {
    // A create changes nothing that stands there. Behind the first call, what an update replaces is looked at again.
    if (index > 0 && item.action !== 'create') {
      const fresh = overlaid(await run.provider.list(zone, item.name), item.name, run.made)
      // Items before this one may have written at the same name; the next round plans the rest.
      const stands = fresh.some(record => record.id === item.before?.id && record.value === item.before.value)
      if (!stands) return
    }
    await applyItem(run, zone, item)
  }
}

async function applyItem(run: Run, zone: Zone, item: PlanItem): Promise<void> {
  const entry = entryOf(item, run.owned, run.options)
  if (keeps(item)) await keep(run, [entry])
  for (let attempt = 1; ; attempt++) {
    try {
      const stored = await write(run, zone, item)
      await settle(run, [{ item, entry, stored }])
      return
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error
      const next = await afterFault(run, item, error, attempt)
      if (next === 'again') continue
      if (next === 'done') await settle(run, [{ item, entry, stored: undefined }])
      return
    }
  }
}

function toChange({ name, type, value, ttl, action, before }: PlanItem): Change {
  const record = { name, type, value, ttl }
  if (!before) return { action: 'create', record }
  // The owner chose the TTL of a record that stands; only its value is our business.
  return action === 'delete' ? { action, before } : { action: 'update', before, record: { ...record, ttl: before.ttl } }
}

async function write({ provider, options }: Run, zone: Zone, item: PlanItem): Promise<StoredRecord | undefined> {
  const change = toChange(item)
  if (change.action === 'create') return provider.create(zone, change.record, options.note)
  if (change.action === 'update') return provider.update(zone, change.before, change.record)
  await provider.remove(zone, change.before)
  return undefined
}

/** What to do after a failed write: nothing more, the same again, or take it as done. Throws what stops the run. */
async function afterFault(
  run: Run,
  item: PlanItem,
  error: DnsProviderError,
  attempt: number,
): Promise<'done' | 'again' | 'stop'> {
  if (error.fault === 'duplicate') return 'done'
  if (error.fault === 'changed' || error.fault === 'not_found') return 'stop' // the next round sees what is there now
  if (error.fault === 'unknown_outcome') {
    if ((await haveHappened(run, [item])).length > 0) return 'done'
    if (attempt < MAX_TRIES) return 'again'
    run.results.set(tried(item), { status: 'failed', message: error.message })
    return 'stop'
  }
  if (FATAL.includes(error.fault)) throw error
  run.results.set(tried(item), { status: 'failed', message: error.message })
  return 'stop'
}

/** The items whose effect is there. */
async function haveHappened({ provider }: Run, items: readonly PlanItem[]): Promise<PlanItem[]> {
  const { current } = await readState(
    provider,
    items.map(({ name, type }) => ({ name, types: [type] })),
  )
  return items.filter(item => {
    const here = current(item.name)
    if (item.action !== 'delete') return here.some(record => sameRecord(record, item))
    return !here.some(({ id, value }) => id === item.before?.id && value === item.before?.value)
  })
}

interface Written {
  item: PlanItem
  entry: OwnedRecord
  stored: StoredRecord | undefined
}

/** Notes finished writes in the ledger and for the rest of the run. */
async function settle(run: Run, written: readonly Written[]): Promise<void> {
  for (const { item, stored } of written) {
    run.results.set(tried(item), { status: 'done' })
    if (stored) run.made.set(stored.id, { record: stored, ...(item.before ? { before: item.before.value } : {}) })
    if (item.action === 'delete' && item.before) run.made.delete(item.before.id)
  }
  const gone = run.owned.filter(entry => written.some(({ item }) => replaces(item, entry)))
  await keep(
    run,
    written.flatMap(({ item, entry, stored }) => (keeps(item) && stored ? [{ ...entry, record_id: stored.id }] : [])),
  )
  await forget(run, gone)
}

/** Takes entries out of the ledger and out of our view of it. */
async function forget(run: Run, gone: readonly OwnedRecord[]): Promise<void> {
  if (gone.length === 0) return
  await run.ledger.forget(gone)
  run.owned = run.owned.filter(entry => !gone.some(other => sameEntry(entry, other)))
}

/** Writes entries into the ledger and into our view of it. */
async function keep(run: Run, entries: readonly OwnedRecord[]): Promise<void> {
  if (entries.length === 0) return
  await run.ledger.write(entries)
  run.owned = [...run.owned.filter(entry => !entries.some(other => sameEntry(entry, other))), ...entries]
}

function sameEntry(a: OwnedRecord, b: OwnedRecord): boolean {
  return a.row === b.row && a.name === b.name && a.type === b.type && a.value === b.value
}

/** Entries of the ledger that speak of the record as it was before this item. */
function replaces({ row, name, type, before, action, value, restores }: PlanItem, entry: OwnedRecord): boolean {
  const sameRow = entry.row === row && entry.name === name && entry.type === type
  if (restores) return sameRow
  // A domain has one SPF record, whatever its owner made of it since an entry was written.
  if (row === 'spf' && action === 'update' && sameRow) return entry.value !== value
  if (!before || !sameRecord(before, entry)) return false
  return action === 'delete' || entry.value !== value
}

/** The ledger's entry for an item. A foreign value is remembered, so that it can be put back. */
function entryOf(
  { row, name, type, value, before, action }: PlanItem,
  owned: readonly OwnedRecord[],
  { replaced }: ApplyOptions,
): OwnedRecord {
  const entry: OwnedRecord = { row, name, type, value }
  if (action !== 'update' || !before) return entry
  const known = owned.filter(other => other.row === row && other.name === name && other.type === type)
  const [first] = known
  const kept = first ? first.before : replaced === 'restore' ? before.value : undefined
  const foreign = row === 'spf' ? ownersPart(before, known) : kept
  return { ...entry, record_id: before.id, ...(foreign === undefined ? {} : { before: foreign }) }
}

/** Fills in the ids of records whose write was interrupted before we learned them. */
async function adoptIds(run: Run, plan: readonly PlanItem[]): Promise<void> {
  await keep(
    run,
    plan.flatMap(({ before, action }) => {
      const entry =
        action === 'keep' && before
          ? run.owned.find(candidate => candidate.record_id === undefined && sameRecord(before, candidate))
          : undefined
      return before && entry ? [{ ...entry, record_id: before.id }] : []
    }),
  )
}

/** A list with what this run wrote and the provider does not show yet. */
function overlaid(listed: readonly StoredRecord[], name: string, made: Overlay): StoredRecord[] {
  const shown = listed.map(record => {
    const mine = made.get(record.id)
    if (mine) mine.hidden = false
    return mine && record.value === mine.before ? mine.record : record
  })
  const ids = new Set(listed.map(({ id }) => id))
  const hidden = [...made.values()].filter(
    ({ record, before }) => record.name === name && before === undefined && !ids.has(record.id),
  )
  for (const mine of hidden) mine.hidden = true
  return [...shown, ...hidden.map(({ record }) => record)]
}

/** True when the record is in our care after the item. */
function keeps({ action, restores }: PlanItem): boolean {
  return action !== 'delete' && !restores
}

function isChange({ action }: PlanItem): boolean {
  return action === 'create' || action === 'update' || action === 'delete'
}

function keyOf({ row, name, type }: PlanItem): string {
  return `${row} ${name} ${type}`
}

function tried(item: PlanItem): string {
  return `${keyOf(item)} ${item.action} ${item.value} ${item.before?.id ?? ''}`
}

function report(run: Run): AppliedItem[] {
  return [...run.items.values()].map(item => ({ ...item, ...resultOf(run, item) }))
}

function resultOf({ results, wanted, made }: Run, item: PlanItem): Pick<AppliedItem, 'status' | 'message'> {
  const result = results.get(tried(item)) ?? { status: untried(item) }
  const hidden = [...made.values()].some(mine => mine.hidden && sameRecord(mine.record, item))
  if (result.status !== 'done' || !(hidden || wanted.has(tried(item)))) return result
  return { status: 'pending', message: 'The provider took the record but does not list it yet.' }
}

function untried({ action }: PlanItem): AppliedItem['status'] {
  if (action === 'keep') return 'kept'
  if (action === 'conflict') return 'conflict'
  return action === 'skip' ? 'skipped' : 'not_done'
}

/** A fault as the outcome of an application. */
export function stopOf({ fault, message, retryAfter, permission }: DnsProviderError): NonNullable<Applied['stopped']> {
  return {
    fault,
    message,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(permission === undefined ? {} : { permission }),
  }
}
