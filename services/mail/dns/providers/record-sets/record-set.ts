/** Record sets (RFC 2181 5), which some providers write as a whole, and the single records that planning works with. */
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { canonicalName } from '../../records/names.ts'
import { canonicalValue, parseMx, parseTxt, quoteTxt, type StoredRecord } from '../../records/record.ts'
import { type Change, type DnsProvider, DnsProviderError } from '../provider.ts'

/** All records of one name and type. `values` are in the provider's own form. */
export interface RecordSet {
  name: string
  type: string
  /** Seconds. */
  ttl: number
  values: readonly string[]
  /** Not for this program to write: a routing policy, an alias of the provider, the property of another program. */
  foreign?: true
  /** What the provider returned, for its own adapter. */
  source?: unknown
}

/** A change of one set; without `before` there is none yet, without `after` it goes. */
export interface SetChange {
  before?: RecordSet
  after?: RecordSet
}

/** How a provider writes values. */
export interface ValueCodec {
  /** The canonical value of the provider's form. */
  decode(type: string, raw: string): string
  encode(type: string, value: string): string
}

/** Presentation format (RFC 1035 5.1): TXT in quotes, absolute names. */
export const PRESENTATION: ValueCodec = {
  decode: (type, raw) => (type === 'TXT' ? parseTxt(raw) : canonicalValue(type, raw)),
  encode(type, value) {
    if (type === 'TXT') return quoteTxt(value)
    if (type === 'CNAME') return `${canonicalName(value)}.`
    if (type !== 'MX') return value
    const { preference, host } = parseMx(value)
    return `${preference} ${host}.`
  },
}

/** The records of some sets. The id of a record is its type and canonical value: providers have ids of sets only. */
export function toRecords(sets: readonly RecordSet[], { decode }: ValueCodec): StoredRecord[] {
  return sets.flatMap(({ name, type, ttl, values, foreign }) =>
    values.map(raw => {
      const value = decode(type, raw)
      return { id: recordId(type, value), name, type, value, ttl, ...(foreign ? { locked: true } : {}) }
    }),
  )
}

export function recordId(type: string, value: string): string {
  return `${type} ${canonicalValue(type, value)}`
}

/** The record that a create or update leaves in its set. */
export function storedAfter({ record }: Exclude<Change, { action: 'delete' }>, ttl: number): StoredRecord {
  return { ...record, ttl, id: recordId(record.type, record.value) }
}

/** Names a set. */
export const keyOf = ({ name, type }: Pick<RecordSet, 'name' | 'type'>): string => `${name} ${type}`

/** The name and type that a change is about. */
export function targetOf(change: Change): Pick<RecordSet, 'name' | 'type'> {
  return change.action === 'delete' ? change.before : change.record
}

/**
 * The sets before and after some changes. Other values of a set stay as the provider has them; its TTL changes only with
 * the last of its old values. Throws {@link DnsProviderError}: `changed` for a record that is not in its set,
 * `duplicate` for one that is, `locked` for a foreign set, `conflict` for an alias beside other records.
 */
export function toSetChanges(
  provider: DnsProvider['type'],
  changes: readonly Change[],
  current: readonly RecordSet[],
  codec: ValueCodec,
): SetChange[] {
  const sets = new Map(current.map(set => [keyOf(set), set]))
  const touched = new Set<string>()
  for (const change of changes) {
    const target = targetOf(change)
    if (current.some(set => set.foreign && keyOf(set) === keyOf(target)))
      throw new DnsProviderError(provider, 'locked', sentence('dns_provider.foreign_set', target))
    touched.add(keyOf(target))
    sets.set(keyOf(target), applied(provider, change, sets.get(keyOf(target)), codec))
  }
  const after = [...sets.values()].filter(({ values }) => values.length > 0)
  for (const { name } of changes.map(targetOf)) refuseAliasBesides(provider, name, after)
  return [...touched].map(key => {
    const before = current.find(set => keyOf(set) === key)
    const left = after.find(set => keyOf(set) === key)
    return { ...(before ? { before } : {}), ...(left ? { after: left } : {}) }
  })
}

function applied(
  provider: DnsProvider['type'],
  change: Change,
  set: RecordSet | undefined,
  codec: ValueCodec,
): RecordSet {
  const { name, type } = targetOf(change)
  const values = set?.values ?? []
  const indexOf = (value: string) =>
    values.findIndex(raw => recordId(type, codec.decode(type, raw)) === recordId(type, value))
  const index = change.action === 'create' ? values.length : indexOf(change.before.value)
  if (index < 0) throw new DnsProviderError(provider, 'changed', sentence('dns_provider.record_changed'))
  const others = values.toSpliced(index, 1)
  if (change.action === 'delete') return { name, type, ttl: set?.ttl ?? 0, values: others }
  const { value, ttl } = change.record
  const same = indexOf(value)
  if (same >= 0 && same !== index)
    throw new DnsProviderError(provider, 'duplicate', sentence('dns_provider.record_exists'))
  // The order of other values stays: some providers compare it.
  return {
    ...{ name, type, ttl: others.length > 0 ? (set?.ttl ?? ttl) : ttl },
    values: values.toSpliced(index, 1, codec.encode(type, value)),
  }
}

function refuseAliasBesides(provider: DnsProvider['type'], name: string, sets: readonly RecordSet[]): void {
  const here = sets.filter(set => set.name === name)
  const alias = here.find(({ type }) => type === 'CNAME')
  if (alias && (here.length > 1 || alias.values.length > 1))
    throw new DnsProviderError(provider, 'conflict', sentence('dns_provider.cname_conflict', { name }))
}

/** True when both have the same values, in any order and form. */
export function sameValues(a: readonly RecordSet[], b: readonly RecordSet[], { decode }: ValueCodec): boolean {
  const canonical = (sets: readonly RecordSet[]) =>
    sets.flatMap(({ type, values }) => values.map(raw => recordId(type, decode(type, raw)))).toSorted()
  return JSON.stringify(canonical(a)) === JSON.stringify(canonical(b))
}
