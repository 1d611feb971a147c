/** Makes a provider of an API that reads and replaces whole record sets. */
import { isDeepStrictEqual } from 'node:util'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import type { StoredRecord } from '../../records/record.ts'
import { type Change, type DnsProvider, DnsProviderError, type Zone } from '../provider.ts'
import { readNames } from '../read-names.ts'
import {
  keyOf,
  PRESENTATION,
  type RecordSet,
  recordId,
  type SetChange,
  storedAfter,
  targetOf,
  toRecords,
  toSetChanges,
  type ValueCodec,
} from './record-set.ts'

/** What an API of record sets does. All methods throw {@link DnsProviderError}. */
export interface SetApi<Z extends Zone> {
  readonly type: DnsProvider['type']
  /** Default: {@link PRESENTATION}. */
  readonly codec?: ValueCodec
  /**
   * `guarded`: several sets in one transaction that fails (`changed`) unless each set is as `before` says.
   * `together`: several sets in one call. `single`: one set a call.
   */
  readonly writes: 'guarded' | 'together' | 'single'
  test(): Promise<Zone[]>
  findZone(name: string): Promise<Z | undefined>
  /** The sets at exactly this name. */
  at(zone: Z, name: string): Promise<RecordSet[]>
  /** The sets at or below a name; undefined when that takes more than `maxPages` calls. */
  below(zone: Z, name: string, maxPages: number): Promise<RecordSet[] | undefined>
  write(zone: Z, changes: readonly SetChange[], note: string): Promise<void>
}

/** A provider over an API of record sets. */
export function createSetProvider<Z extends Zone>(api: SetApi<Z>): DnsProvider {
  const { type, codec = PRESENTATION, writes, findZone } = api
  const at = async (zone: Z, name: string) => toRecords(await api.at(zone, name), codec)
  const below = async (zone: Z, name: string, maxPages: number) => {
    const sets = await api.below(zone, name, maxPages)
    return sets && toRecords(sets, codec)
  }
  /** Applies changes to the sets that are stored now; `seen` must still be there. */
  const change = async (
    zone: Zone,
    changes: readonly Change[],
    seen: readonly StoredRecord[] | undefined,
    note: string,
  ) => {
    const own = await ownZone(api, zone)
    const current = await currentSets(api, own, changes)
    if (seen && !isAsSeen(changes, current, seen, codec))
      throw new DnsProviderError(type, 'changed', sentence('dns_provider.records_changed'))
    const sets = toSetChanges(type, changes, current, codec)
    await api.write(own, sets, note)
    return changes.map(one => {
      const set = sets.find(({ after }) => after && keyOf(after) === keyOf(targetOf(one)))
      return one.action === 'delete' ? undefined : storedAfter(one, set?.after?.ttl ?? one.record.ttl)
    })
  }
  const changeOne = async (zone: Zone, one: Exclude<Change, { action: 'delete' }>, note: string) => {
    const [stored] = await change(zone, [one], undefined, note)
    return stored ?? storedAfter(one, one.record.ttl)
  }
  return {
    type,
    test: api.test,
    findZone,
    list: async (zone, name) => at(await ownZone(api, zone), name),
    read: questions => readNames({ findZone, at, below }, questions),
    ...(writes === 'single' ? {} : { batch: { guarded: writes === 'guarded', write: change } }),
    create: (zone, record, note) => changeOne(zone, { action: 'create', record }, note),
    update: (zone, before, record) => changeOne(zone, { action: 'update', before, record }, ''),
    remove: (zone, before) =>
      change(zone, [{ action: 'delete', before }], undefined, '').then(() => undefined, ignoreChanged),
  }
}

/** Callers hold zones as plain facts. */
async function ownZone<Z extends Zone>(api: SetApi<Z>, { name }: Zone): Promise<Z> {
  const zone = await api.findZone(name)
  if (zone?.name === name) return zone
  throw new DnsProviderError(api.type, 'zone_not_found', sentence('dns_provider.zone_gone', { zone: name }))
}

/** One list for several names, as when they are read. */
async function currentSets<Z extends Zone>(api: SetApi<Z>, zone: Z, changes: readonly Change[]): Promise<RecordSet[]> {
  const names = [...new Set(changes.map(one => targetOf(one).name))]
  const all = names.length > 1 ? await api.below(zone, zone.name, names.length) : undefined
  if (all) return all.filter(({ name }) => names.includes(name))
  const found: RecordSet[] = []
  for (const name of names) found.push(...(await api.at(zone, name)))
  return found
}

function isAsSeen(
  changes: readonly Change[],
  current: readonly RecordSet[],
  seen: readonly StoredRecord[],
  codec: ValueCodec,
): boolean {
  const stored = toRecords(current, codec)
  return changes.every(one => {
    const key = keyOf(targetOf(one))
    const ids = (records: readonly StoredRecord[]) =>
      records.flatMap(record => (keyOf(record) === key ? [recordId(record.type, record.value)] : [])).toSorted()
    return isDeepStrictEqual(ids(stored), ids(seen))
  })
}

/** For deletions: the record is gone already. */
function ignoreChanged(error: unknown): void {
  if (!(error instanceof DnsProviderError && error.kind === 'changed')) throw error
}
