/**
 * A provider whose records are the endpoints of one DNSEndpoint object, which external-dns publishes (ADR 119). It never calls a
 * DNS service. external-dns writes whole record sets, and only those that it owns: a set that public DNS has with values of
 * others is shown as locked.
 */

import type { OwnedRecord } from '../../plan/plan-item.ts'
import { isWithin } from '../../records/names.ts'
import { canonicalValue, parseTxt, quoteTxt } from '../../records/record.ts'
import type { DnsProvider, Zone } from '../provider.ts'
import {
  keyOf,
  PRESENTATION,
  type RecordSet,
  recordId,
  type SetChange,
  type ValueCodec,
} from '../record-sets/record-set.ts'
import { createSetProvider } from '../record-sets/set-provider.ts'

/** One endpoint of a DNSEndpoint, as its CRD defines it. */
export interface Endpoint {
  dnsName: string
  recordType: string
  recordTTL?: number
  targets: string[]
}

/** The endpoints of an object, with what its writer needs to know of it. */
export interface StoredEndpoints {
  endpoints: readonly Endpoint[]
  /** Replaced only while the object is still at this revision. */
  revision: string
  /** The object differs in more than its endpoints from what its writer would write. */
  isOutdated: boolean
}

/** Reads and writes the object. Both throw DnsProviderError; `changed` when another program was faster. */
export interface EndpointStore {
  read(): Promise<StoredEndpoints | undefined>
  write(endpoints: readonly Endpoint[], known: StoredEndpoints | undefined): Promise<void>
}

/** How TXT values are written: some providers of external-dns take them in quotes, others store the quotes. */
export type TxtFormat = 'quoted' | 'plain'

/** Dependencies of {@link createDnsEndpointProvider}. */
export interface DnsEndpointContext {
  /** The domain whose names are written. */
  domain: string
  store: EndpointStore
  txtFormat: TxtFormat
  /** The ledger: values of the object that it does not have were put there by others. */
  owned(): Promise<readonly OwnedRecord[]>
  /** Sets of the name in public DNS, in presentation format; asked only for names that the object lacks. */
  published(name: string): Promise<readonly RecordSet[]>
}

/** Bytes of a joined TXT value: of several answers in one UDP packet, the longest key record is 1 KiB. */
const MAX_TXT = 4_000

/** A provider over the object. */
export function createDnsEndpointProvider(context: DnsEndpointContext): DnsProvider {
  const { domain, store, owned, published } = context
  const codec = codecOf(context.txtFormat)
  const zone: Zone = { id: 'dnsendpoint', name: domain, minTtl: 0, maxTxt: MAX_TXT, nameServers: [], warnings: [] }
  let stored: Promise<StoredEndpoints | undefined> | undefined
  const read = () => {
    stored ??= store.read()
    return stored
  }
  const lookups = new Map<string, Promise<readonly RecordSet[]>>()
  const publicSets = (name: string) => {
    const found = lookups.get(name) ?? published(name)
    lookups.set(name, found)
    return found
  }
  const ownSets = async () => setsOf(await read(), await owned(), codec)
  return createSetProvider({
    type: 'dnsendpoint',
    codec,
    writes: 'guarded',
    test: async () => [zone],
    findZone: async name => (isWithin(name, domain) ? zone : undefined),
    async at(_, name) {
      const own = (await ownSets()).filter(set => set.name === name)
      return own.length > 0 ? own : foreignSets(await publicSets(name), await owned(), codec)
    },
    below: async () => undefined,
    async write(_, changes) {
      const known = await read()
      const next = applied(await ownSets(), changes)
      stored = undefined
      await store.write(toEndpoints(next), known)
    },
  })
}

/** The endpoints that the object has to have by the ledger, in the order of a canonical list. */
export function endpointsByLedger(
  known: StoredEndpoints | undefined,
  owned: readonly OwnedRecord[],
  txtFormat: TxtFormat,
): Endpoint[] {
  const codec = codecOf(txtFormat)
  return toEndpoints(setsOf(known, owned, codec))
}

/** Sets of the object whose values are in the ledger, written as they would be written today. */
function setsOf(known: StoredEndpoints | undefined, owned: readonly OwnedRecord[], codec: ValueCodec): RecordSet[] {
  const ours = ledgerKeys(owned)
  const sets = new Map<string, RecordSet & { values: string[] }>()
  for (const { dnsName: name, recordType: type, recordTTL: ttl = 0, targets } of known?.endpoints ?? [])
    for (const target of targets ?? []) {
      const value = codec.decode(type, target)
      if (!ours.has(ledgerKey({ name, type, value }))) continue
      const set = sets.get(keyOf({ name, type })) ?? { name, type, ttl, values: [] }
      const raw = codec.encode(type, value)
      if (!set.values.includes(raw)) set.values.push(raw)
      sets.set(keyOf(set), set)
    }
  return [...sets.values()]
}

/** Public sets without the values that the ledger has: of a set that is all ours, only the object was lost. */
function foreignSets(published: readonly RecordSet[], owned: readonly OwnedRecord[], codec: ValueCodec): RecordSet[] {
  const ours = ledgerKeys(owned)
  return published.flatMap(set => {
    const { name, type } = set
    const decoded = set.values.map(raw => PRESENTATION.decode(type, raw))
    const values = decoded.filter(value => !ours.has(ledgerKey({ name, type, value })))
    return values.length === 0
      ? []
      : [{ ...set, values: values.map(value => codec.encode(type, value)), foreign: true as const }]
  })
}

type LedgerValue = Pick<OwnedRecord, 'name' | 'value'> & { type: string }

function ledgerKey({ name, type, value }: LedgerValue): string {
  return `${name} ${recordId(type, canonicalValue(type, value))}`
}

function ledgerKeys(owned: readonly OwnedRecord[]): ReadonlySet<string> {
  return new Set(owned.map(ledgerKey))
}

function applied(sets: readonly RecordSet[], changes: readonly SetChange[]): RecordSet[] {
  const next = new Map(sets.map(set => [keyOf(set), set]))
  for (const { before, after } of changes) {
    if (before) next.delete(keyOf(before))
    if (after) next.set(keyOf(after), after)
  }
  return [...next.values()]
}

function toEndpoints(sets: readonly RecordSet[]): Endpoint[] {
  return sets
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map(({ name, type, ttl, values }) => ({
      dnsName: name,
      recordType: type,
      ...(ttl > 0 ? { recordTTL: ttl } : {}),
      targets: [...values].toSorted(),
    }))
}

/** external-dns refuses targets that end in a dot. */
function codecOf(format: TxtFormat): ValueCodec {
  return {
    decode: (type, raw) => (type === 'TXT' ? parseTxt(raw) : PRESENTATION.decode(type, raw)),
    encode(type, value) {
      if (type === 'TXT') return format === 'quoted' ? quoteTxt(value) : value
      return PRESENTATION.encode(type, value).replace(/\.$/, '')
    },
  }
}
