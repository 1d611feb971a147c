/** A DNS provider in memory. The conformance suite runs it beside the real ones. */
import {
  type Batch,
  type Change,
  type DnsProvider,
  DnsProviderError,
  type Zone,
} from '../../../services/mail/dns/providers/provider.ts'
import { isWithin, longestZone } from '../../../services/mail/dns/records/names.ts'
import { type StoredRecord, sameRecord } from '../../../services/mail/dns/records/record.ts'
import { verbatim } from '../../../services/platform/sentences/compose.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'

/** Callers may read and change the records. */
export interface MemoryZone {
  name: string
  records: StoredRecord[]
}

/** `plain` batches are atomic; `guarded` ones also fail if the records changed since they were read. */
export type MemoryBatch = 'none' | 'plain' | 'guarded'

/** A provider over the given zones. */
export function createMemoryProvider(zones: readonly MemoryZone[], batch: MemoryBatch = 'none'): DnsProvider {
  let serial = 0
  const toZone = ({ name }: MemoryZone): Zone => ({
    id: name,
    name,
    minTtl: 60,
    maxTxt: 4_000,
    nameServers: [],
    warnings: [],
  })
  const recordsOf = (zone: Zone) => {
    const found = zones.find(({ name }) => name === zone.id)
    if (!found) throw new DnsProviderError('memory', 'zone_not_found', verbatim(`There is no zone ${zone.id}.`))
    return found.records
  }
  const at = (zone: Zone, id: string) => recordsOf(zone).findIndex(record => record.id === id)
  const listed = (zone: Zone, name: string) =>
    recordsOf(zone)
      .filter(record => record.name === name)
      .map(record => ({ ...record }))
  const zoneAt = (name: string) => {
    const zone = longestZone(zones, name)
    return zone && toZone(zone)
  }
  const provider: DnsProvider = {
    type: 'memory',
    test: async () => zones.map(toZone),
    findZone: async name => zoneAt(name),
    list: async (zone, name) => listed(zone, name),
    read: async questions =>
      questions.map(({ name }) => {
        const zone = zoneAt(name)
        return { name, ...(zone ? { zone } : {}), records: zone ? listed(zone, name) : [] }
      }),
    async create(zone, record) {
      if (!isWithin(record.name, zone.name))
        throw new DnsProviderError('memory', 'invalid', verbatim(`${record.name} is not in ${zone.name}.`))
      const here = recordsOf(zone).filter(({ name }) => name === record.name)
      if (here.some(stored => sameRecord(stored, record)))
        throw new DnsProviderError('memory', 'duplicate', sentence('dns_provider.record_exists'))
      if (here.some(({ type }) => type === 'CNAME') || (record.type === 'CNAME' && here.length > 0))
        throw new DnsProviderError('memory', 'conflict', sentence('dns_provider.cname_conflict', { name: record.name }))
      const made = { ...record, id: `m${++serial}` }
      recordsOf(zone).push(made)
      return { ...made }
    },
    async update(zone, before, record) {
      const index = at(zone, before.id)
      if (index < 0) throw new DnsProviderError('memory', 'changed', verbatim('The record is gone.'))
      const changed = { ...record, id: before.id }
      recordsOf(zone)[index] = changed
      return { ...changed }
    },
    async remove(zone, record) {
      const index = at(zone, record.id)
      if (index >= 0) recordsOf(zone).splice(index, 1)
    },
  }
  const write: Batch['write'] = async (zone, changes, seen, note) => {
    const records = recordsOf(zone)
    const names = new Set(changes.map(nameOf))
    const shown = (list: readonly StoredRecord[]) =>
      JSON.stringify(
        list
          .filter(({ name }) => names.has(name))
          .map(({ id, value }) => [id, value])
          .toSorted(),
      )
    if (batch === 'guarded' && shown(records) !== shown(seen))
      throw new DnsProviderError('memory', 'changed', sentence('dns_provider.records_changed'))
    const before = records.map(record => ({ ...record }))
    try {
      const made: (StoredRecord | undefined)[] = []
      for (const change of changes) made.push(await single(provider, zone, change, note))
      return made
    } catch (error) {
      records.splice(0, records.length, ...before)
      throw error
    }
  }
  return batch === 'none' ? provider : { ...provider, batch: { guarded: batch === 'guarded', write } }
}

function nameOf(change: Change): string {
  return change.action === 'delete' ? change.before.name : change.record.name
}

async function single(provider: DnsProvider, zone: Zone, change: Change, note: string) {
  if (change.action === 'create') return provider.create(zone, change.record, note)
  if (change.action === 'update') return provider.update(zone, change.before, change.record)
  await provider.remove(zone, change.before)
  return undefined
}
