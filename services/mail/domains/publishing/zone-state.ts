/** Reads the zones and records that a DNS plan is made from, with the writes that the provider does not list yet. */
import type { OwnedRecord } from '../../dns/plan/plan-item.ts'
import type { DnsProvider, Question, Zone } from '../../dns/providers/provider.ts'
import type { RecordType, StoredRecord } from '../../dns/records/record.ts'

/** The zones and records that a DNS plan is made from. */
export interface ZoneState {
  zoneOf: (name: string) => Zone | undefined
  current: (name: string) => readonly StoredRecord[]
  zones: readonly Zone[]
}

/** Records written in this run, by id. `before`: the replaced value. `hidden`: the provider's last list lacked it. */
export type WrittenRecords = Map<string, { record: StoredRecord; before?: string; hidden?: boolean }>

/** Reads the zones and records of the asked names and of the ledger's names; each name once. */
export async function readState(
  provider: DnsProvider,
  questions: readonly Question[],
  owned: readonly OwnedRecord[] = [],
  written: WrittenRecords = new Map(),
): Promise<ZoneState> {
  const typesByName = new Map<string, Set<RecordType>>()
  const all = [...questions, ...owned.map(({ name, type }) => ({ name, types: [type] }))]
  for (const { name, types } of all) typesByName.set(name, new Set([...(typesByName.get(name) ?? []), ...types]))
  const states = await provider.read([...typesByName].map(([name, types]) => ({ name, types: [...types] })))
  const zones = new Map(states.flatMap(({ name, zone }) => (zone ? [[name, zone] as const] : [])))
  const records = new Map(
    states.flatMap(({ name, zone, records: listed }) =>
      zone ? [[name, withWritten(listed, name, written)] as const] : [],
    ),
  )
  return {
    zoneOf: name => zones.get(name),
    current: name => records.get(name) ?? [],
    zones: [...new Map([...zones.values()].map(zone => [zone.id, zone])).values()],
  }
}

/** A provider's list with this run's writes applied to it: the list may lag behind the answers to the writes. */
export function withWritten(listed: readonly StoredRecord[], name: string, written: WrittenRecords): StoredRecord[] {
  const shown = listed.map(record => {
    const own = written.get(record.id)
    if (own) own.hidden = false
    return own && record.value === own.before ? own.record : record
  })
  const ids = new Set(listed.map(({ id }) => id))
  const hidden = [...written.values()].filter(
    ({ record, before }) => record.name === name && before === undefined && !ids.has(record.id),
  )
  for (const own of hidden) own.hidden = true
  return [...shown, ...hidden.map(({ record }) => record)]
}
