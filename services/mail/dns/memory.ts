/** A provider in memory with the semantics of a real one: the reference that the conformance suite measures the others by. */
import { isWithin, longestZone } from '../rules/dns-names.ts'
import { type StoredRecord, sameRecord } from '../rules/dns-record.ts'
import { type DnsProvider, DnsProviderError, type Zone } from './provider.ts'

/** Zones with their records; the caller may look at and change the records. */
export interface MemoryZone {
  name: string
  records: StoredRecord[]
}

/** A provider over the given zones. */
export function createMemoryProvider(zones: readonly MemoryZone[]): DnsProvider {
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
    if (!found) throw new DnsProviderError('memory', 'zone_not_found', `There is no zone ${zone.id}.`)
    return found.records
  }
  const at = (zone: Zone, id: string) => recordsOf(zone).findIndex(record => record.id === id)
  return {
    type: 'memory',
    test: async () => zones.map(toZone),
    async findZone(name) {
      const zone = longestZone(zones, name)
      return zone && toZone(zone)
    },
    list: async (zone, name) =>
      recordsOf(zone)
        .filter(record => record.name === name)
        .map(record => ({ ...record })),
    async create(zone, record) {
      if (!isWithin(record.name, zone.name))
        throw new DnsProviderError('memory', 'invalid', `${record.name} is not in ${zone.name}.`)
      const here = recordsOf(zone).filter(({ name }) => name === record.name)
      if (here.some(stored => sameRecord(stored, record)))
        throw new DnsProviderError('memory', 'duplicate', 'The record exists.')
      if (here.some(({ type }) => type === 'CNAME') || (record.type === 'CNAME' && here.length > 0))
        throw new DnsProviderError('memory', 'conflict', 'A CNAME stands alone.')
      const made = { ...record, id: `m${++serial}` }
      recordsOf(zone).push(made)
      return { ...made }
    },
    async update(zone, before, record) {
      const index = at(zone, before.id)
      if (index < 0) throw new DnsProviderError('memory', 'changed', 'The record is gone.')
      const changed = { ...record, id: before.id }
      recordsOf(zone)[index] = changed
      return { ...changed }
    },
    async remove(zone, record) {
      const index = at(zone, record.id)
      if (index >= 0) recordsOf(zone).splice(index, 1)
    },
  }
}
