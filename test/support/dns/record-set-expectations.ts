/** What every provider with record sets has to refuse, and what others do to a set meanwhile. */
import { expect } from 'vitest'
import type { DnsProvider } from '../../../services/mail/dns/providers/provider.ts'
import type { FakeStore } from './fake-provider-zones.ts'

type Zone = Parameters<DnsProvider['create']>[0]
type Wanted = Parameters<DnsProvider['create']>[1]
type Stored = Parameters<DnsProvider['remove']>[1]

/** Expects each way to write beside or over a locked record to be refused. */
export async function expectLocked(provider: DnsProvider, zone: Zone, stored: Stored, wanted: Wanted): Promise<void> {
  for (const write of [
    provider.create(zone, wanted, ''),
    provider.update(zone, stored, wanted),
    provider.remove(zone, stored),
  ])
    await expect(write).rejects.toMatchObject({ kind: 'locked' })
}

/** Changes of another program to the first set of `zone.test`, between a list and a write. */
export const FOREIGN_EDITS: readonly [string, (store: FakeStore) => void][] = [
  ['a new value', store => void store.put('zone.test', { name: 'x.zone.test', type: 'TXT', value: 'theirs' })],
  ['another TTL', store => void Object.assign(store.zone('zone.test').records[0] ?? {}, { ttl: 900 })],
  ['a deletion', store => void store.zone('zone.test').records.splice(0)],
]
