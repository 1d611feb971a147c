/**
 * Plan → re-list → write → re-list, until nothing is left to do. Interrupted at any call and started again it comes to
 * the same end: intentions stand in the ledger before the write, and every round plans from what is really there.
 */
import { createHash } from 'node:crypto'
import { type DnsProvider, DnsProviderError, type ProviderFault, type Zone } from './dns/provider.ts'
import type { OwnedRecord, PlanItem } from './rules/dns-plan-item.ts'
import { type StoredRecord, sameRecord } from './rules/dns-record.ts'

/** Remembers what we wrote. Entries are told apart by row, name, type and value. */
export interface Ledger {
  read(): Promise<OwnedRecord[]>
  write(entry: OwnedRecord): Promise<void>
  forget(entry: OwnedRecord): Promise<void>
}

/** The zones and records that a plan is made from. */
export interface ZoneState {
  zoneOf: (name: string) => Zone | undefined
  current: (name: string) => readonly StoredRecord[]
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
  stopped?: { fault: ProviderFault | 'unsettled'; message: string; retryAfter?: number; permission?: string }
}

/** How to apply. */
export interface ApplyOptions {
  /** Names that the planner may look at, beside those of the ledger. */
  names: readonly string[]
  /** A comment for people at the provider. */
  note: string
  /** A foreign record that is replaced: remember its value and put it back at the end, or treat it as ours. */
  replaced: 'restore' | 'own'
}

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

/** Reads the zones and records behind some names; each name is listed once. */
export async function readState(
  provider: DnsProvider,
  names: readonly string[],
  made: Overlay = new Map(),
): Promise<ZoneState> {
  const zones = new Map<string, Zone>()
  const records = new Map<string, StoredRecord[]>()
  for (const name of new Set(names)) {
    const zone = await provider.findZone(name)
    if (!zone) continue
    zones.set(name, zone)
    records.set(name, overlaid(await provider.list(zone, name), name, made))
  }
  return { zoneOf: name => zones.get(name), current: name => records.get(name) ?? [] }
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
    made: new Map(),
    results: new Map(),
    items: new Map(),
    wanted: new Set(),
  }
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const owned = await ledger.read()
      const state = await readState(provider, [...options.names, ...owned.map(({ name }) => name)], run.made)
      const plan = planner(state, owned)
      for (const item of plan) if (!run.items.has(keyOf(item)) || isChange(item)) run.items.set(keyOf(item), item)
      run.wanted = new Set(plan.filter(isChange).map(tried))
      await adoptIds(ledger, owned, plan)
      const changes = plan.filter(item => isChange(item) && !run.results.has(tried(item)))
      if (changes.length === 0) return { items: report(run) }
      await applyChanges(run, state, changes)
    }
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return { items: report(run), stopped: stopOf(error) }
  }
  return {
    items: report(run),
    stopped: {
      fault: 'unsettled',
      message: 'The zone changes all the time; another program seems to write the same records.',
    },
  }
}

/** Records written in this run by id. `hidden`: the provider's last list did not show it. */
type Overlay = Map<string, { record: StoredRecord; before?: string; hidden?: boolean }>

interface Run {
  provider: DnsProvider
  ledger: Ledger
  options: ApplyOptions
  /** Written in this run: a provider's list may lag behind its answers. */
  made: Overlay
  /** By item as tried. */
  results: Map<string, { status: AppliedItem['status']; message?: string }>
  items: Map<string, PlanItem>
  /** Changes that the last plan still wants. */
  wanted: Set<string>
}

/** Writes item by item, deletions last; stops at the first name that somebody else changed, to plan again. */
async function applyChanges(run: Run, state: ZoneState, changes: readonly PlanItem[]): Promise<void> {
  const ordered = changes.toSorted((a, b) => Number(a.action === 'delete') - Number(b.action === 'delete'))
  for (const item of ordered) {
    const zone = state.zoneOf(item.name)
    if (!zone) continue
    const fresh = overlaid(await run.provider.list(zone, item.name), item.name, run.made)
    // Items before this one may have written at the same name; the next round plans the rest.
    if (fingerprint(fresh) !== fingerprint(state.current(item.name))) return
    await applyItem(run, zone, item)
  }
}

async function applyItem(run: Run, zone: Zone, item: PlanItem): Promise<void> {
  const owned = await run.ledger.read()
  const entry = entryOf(item, owned, run.options)
  if (keeps(item)) await run.ledger.write(entry)
  for (let attempt = 1; ; attempt++) {
    try {
      const stored = await write(run, zone, item)
      await settle(run, item, entry, stored, owned)
      return
    } catch (error) {
      if (!(error instanceof DnsProviderError)) throw error
      const next = await afterFault(run, zone, item, error, attempt)
      if (next === 'again') continue
      if (next === 'done') await settle(run, item, entry, undefined, owned)
      return
    }
  }
}

async function write({ provider, options }: Run, zone: Zone, item: PlanItem): Promise<StoredRecord | undefined> {
  const { name, type, value, before } = item
  if (item.action === 'create') return provider.create(zone, { name, type, value, ttl: item.ttl }, options.note)
  if (!before) return undefined
  if (item.action === 'delete') {
    await provider.remove(zone, before)
    return undefined
  }
  // The owner chose the TTL of a record that stands; only its value is our business.
  return provider.update(zone, before, { name, type, value, ttl: before.ttl })
}

/** What to do after a failed write: nothing more, the same again, or take it as done. Throws what stops the run. */
async function afterFault(
  run: Run,
  zone: Zone,
  item: PlanItem,
  error: DnsProviderError,
  attempt: number,
): Promise<'done' | 'again' | 'stop'> {
  if (error.fault === 'duplicate') return 'done'
  if (error.fault === 'changed' || error.fault === 'not_found') return 'stop' // the next round sees what is there now
  if (error.fault === 'unknown_outcome') {
    if (await hasHappened(run, zone, item)) return 'done'
    if (attempt < MAX_TRIES) return 'again'
    run.results.set(tried(item), { status: 'failed', message: error.message })
    return 'stop'
  }
  if (FATAL.includes(error.fault)) throw error
  run.results.set(tried(item), { status: 'failed', message: error.message })
  return 'stop'
}

async function hasHappened({ provider }: Run, zone: Zone, item: PlanItem): Promise<boolean> {
  const here = await provider.list(zone, item.name)
  if (item.action === 'delete')
    return !here.some(({ id, value }) => id === item.before?.id && value === item.before?.value)
  return here.some(record => sameRecord(record, item))
}

/** Notes a finished write in the ledger and for the rest of the run. */
async function settle(
  run: Run,
  item: PlanItem,
  entry: OwnedRecord,
  stored: StoredRecord | undefined,
  owned: readonly OwnedRecord[],
): Promise<void> {
  run.results.set(tried(item), { status: 'done' })
  if (stored) run.made.set(stored.id, { record: stored, ...(item.before ? { before: item.before.value } : {}) })
  if (item.action === 'delete' && item.before) run.made.delete(item.before.id)
  if (keeps(item) && stored) await run.ledger.write({ ...entry, record_id: stored.id })
  const gone = owned.filter(other => replaces(item, other))
  for (const other of gone) await run.ledger.forget(other)
}

/** Entries of the ledger that speak of the record as it was before this item. */
function replaces({ row, name, type, before, action, value, restores }: PlanItem, entry: OwnedRecord): boolean {
  if (restores) return entry.row === row && entry.name === name && entry.type === type
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
  const known = owned.find(other => other.row === row && other.name === name && other.type === type)
  const foreign = known ? known.before : row === 'spf' || replaced === 'restore' ? before.value : undefined
  return { ...entry, record_id: before.id, ...(foreign === undefined ? {} : { before: foreign }) }
}

/** Fills in the ids of records whose write was interrupted before we learned them. */
async function adoptIds(ledger: Ledger, owned: readonly OwnedRecord[], plan: readonly PlanItem[]): Promise<void> {
  for (const { before, action } of plan) {
    if (action !== 'keep' || !before) continue
    const entry = owned.find(candidate => candidate.record_id === undefined && sameRecord(before, candidate))
    if (entry) await ledger.write({ ...entry, record_id: before.id })
  }
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

function fingerprint(records: readonly StoredRecord[]): string {
  return JSON.stringify(records.map(({ id, type, value, locked }) => [id, type, value, locked ?? false]).toSorted())
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

function stopOf({ fault, message, retryAfter, permission }: DnsProviderError): NonNullable<Applied['stopped']> {
  return {
    fault,
    message,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(permission === undefined ? {} : { permission }),
  }
}
