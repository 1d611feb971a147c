/** Records of UPDATE messages (RFC 2136 2.4 and 2.5): prerequisites, additions and deletions. */
import { CLASS, decodeData, encodeData, type ResourceRecord, TYPE } from '../../dns-message.ts'
import type { StoredRecord, WantedRecord } from '../../records/record.ts'
import type { Change } from '../provider.ts'

/** A record with its data as the server returned it: prerequisites must repeat it byte for byte. */
export interface RawRecord extends StoredRecord {
  raw: ResourceRecord
}

/** The records of an answer that belong to the name. */
export function recordsAt(answers: readonly ResourceRecord[], name: string): RawRecord[] {
  return answers.filter(record => record.name === name).map(toRecord)
}

/** Records of one set share their TTL (RFC 2181 5.2): adding one with another TTL would change the others. */
export function toRaw({ name, type, value, ttl }: WantedRecord, setTtl: number | undefined): ResourceRecord {
  return { name, type: TYPE[type], class: CLASS.IN, ttl: setTtl ?? ttl, data: encodeData(type, value) }
}

/** The id of a record holds its type and octets. */
export function toRecord(raw: ResourceRecord): RawRecord {
  const type = Object.entries(TYPE).find(([, number]) => number === raw.type)?.[0] ?? `TYPE${raw.type}`
  const value = decodeData(raw.type, raw.data)
  return { id: `${type} ${raw.data.toString('base64')}`, name: raw.name, type, value, ttl: raw.ttl, raw }
}

export function withoutRaw({ raw: _, ...record }: RawRecord): StoredRecord {
  return record
}

/** The inverse of {@link toRecord} and {@link withoutRaw}. */
function rawOf(record: StoredRecord): RawRecord {
  const { id, name, type, ttl } = record
  const data = Buffer.from(id.slice(type.length + 1), 'base64')
  return { ...record, raw: { name, type: TYPE[type as keyof typeof TYPE], class: CLASS.IN, ttl, data } }
}

/** Prerequisite "the set is exactly this" (RFC 2136 2.4.2), or "there is no such set" (2.4.3). */
export function setIs(
  { name, type }: Pick<StoredRecord, 'name' | 'type'>,
  set: readonly RawRecord[],
): ResourceRecord[] {
  if (set.length === 0) return [absent(name, TYPE[type as keyof typeof TYPE])]
  return set.map(({ raw }) => ({ ...raw, ttl: 0 }))
}

/** Prerequisite "there is no set of this type" (RFC 2136 2.4.3). */
export function absent(name: string, type: number): ResourceRecord {
  return { name, type, class: CLASS.NONE, ttl: 0, data: Buffer.alloc(0) }
}

/** Prerequisite "the name is not in use" (RFC 2136 2.4.5). */
function notInUse(name: string): ResourceRecord {
  return { name, type: TYPE.ANY, class: CLASS.NONE, ttl: 0, data: Buffer.alloc(0) }
}

/** "Delete this one record" (RFC 2136 2.5.4). */
export function deletion(raw: ResourceRecord): ResourceRecord {
  return { ...raw, class: CLASS.NONE, ttl: 0 }
}

/** Content of one UPDATE message, with the records after it in the order of the changes. */
export interface Update {
  prerequisites: ResourceRecord[]
  updates: ResourceRecord[]
  stored: (StoredRecord | undefined)[]
}

/**
 * Every touched set must be exactly as it was seen. Deletions come first: a server ignores an alias beside other records,
 * and other records beside an alias (RFC 2136 3.4.2.2).
 */
export function toUpdate(changes: readonly Change[], seen: readonly StoredRecord[]): Update {
  const prerequisites = new Map<string, ResourceRecord[]>()
  const removals: ResourceRecord[] = []
  const updates: ResourceRecord[] = []
  const requireUnchanged = (name: string, type: string) => {
    const set = seen.filter(record => record.name === name && record.type === type).map(rawOf)
    prerequisites.set(`${name} ${type}`, setIs({ name, type }, set))
    return set
  }
  // An alias is the only record of its name (RFC 1034 3.6.2); what was seen there is deleted in the same message.
  const requireRoom = (name: string) => {
    const types = new Set(seen.filter(record => record.name === name).map(({ type }) => type))
    if (types.size === 0) prerequisites.set(`${name} CNAME`, [notInUse(name)])
    for (const type of types) requireUnchanged(name, type)
  }
  const stored = changes.map(change => {
    const { name, type } = change.action === 'delete' ? change.before : change.record
    const set = requireUnchanged(name, type)
    if (change.action === 'update') updates.push(deletion(rawOf(change.before).raw))
    if (change.action === 'delete') {
      removals.push(deletion(rawOf(change.before).raw))
      return undefined
    }
    if (type === 'CNAME') requireRoom(name)
    else requireUnchanged(name, 'CNAME')
    const ttl = change.action === 'create' ? set[0]?.ttl : set.length > 1 ? change.before.ttl : undefined
    const added = toRaw(change.record, ttl)
    updates.push(added)
    return withoutRaw(toRecord(added))
  })
  return { prerequisites: [...prerequisites.values()].flat(), updates: [...removals, ...updates], stored }
}
