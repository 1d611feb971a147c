/** Endpoints of external-dns as record sets: the forms of TXT values, and what belongs to external-dns itself. */
import { canonicalName, isWithin } from '../../records/names.ts'
import { parseTxt, quoteTxt } from '../../records/record.ts'
import { PRESENTATION, type RecordSet, type ValueCodec } from '../record-sets/record-set.ts'
import { ownershipIn } from './ownership.ts'
import type { Endpoint } from './protocol.ts'

/** A set with the endpoint that it was read from. */
export interface EndpointSet extends RecordSet {
  source: EndpointSource
}

/** `joined`: values that were put together of several targets, which the provider may have meant as several values. */
export interface EndpointSource {
  endpoint: Endpoint
  joined: readonly string[]
}

/** Names of hosts are written without the last dot, as external-dns does; TXT values in quotes, as its own records. */
export const ENDPOINT_VALUES: ValueCodec = {
  decode: PRESENTATION.decode,
  encode: (type, value) => (type === 'TXT' ? quoteTxt(value) : PRESENTATION.encode(type, value).replace(/\.$/, '')),
}

/** Octets of a character-string (RFC 1035 3.3). */
const MAX_STRING = 255
/** UTF-16 units of a name, also of one that is written as people read it: in DNS it has at most 253 characters. */
const MAX_NAME = 512

/**
 * The sets of some endpoints at and below a zone. Foreign: those with a routing policy, and those that a running
 * external-dns owns. The ownership record of a zone's own name is beside the zone, not within it.
 */
export function toSets(endpoints: readonly Endpoint[], zone: string): EndpointSet[] {
  const parent = zone.slice(zone.indexOf('.') + 1)
  const near = endpoints.flatMap(endpoint => {
    if (endpoint.dnsName.length > MAX_NAME) return []
    const name = canonicalName(endpoint.dnsName)
    const isNear = isWithin(name, zone) || (endpoint.recordType === 'TXT' && isWithin(name, parent))
    return isNear ? [toSet(name, endpoint)] : []
  })
  const isOwned = ownershipIn(near)
  return near
    .filter(({ name }) => isWithin(name, zone))
    .map(set => (isOwned(set) ? { ...set, foreign: true as const } : set))
}

function toSet(name: string, endpoint: Endpoint): EndpointSet {
  const { recordType: type, recordTTL, targets, setIdentifier, labels } = endpoint
  const { values, joined } = type === 'TXT' ? txtValues(targets ?? []) : { values: targets ?? [], joined: [] }
  const isForeign = Boolean(setIdentifier) || Boolean(labels?.owner)
  return {
    name,
    type,
    ttl: recordTTL ?? 0,
    values,
    ...(isForeign ? { foreign: true as const } : {}),
    source: { endpoint, joined },
  }
}

/**
 * Some providers return each character-string of a long value as a target of its own. A string of exactly 255 octets that
 * is not in quotes goes on in the next target.
 */
function txtValues(targets: readonly string[]): { values: string[]; joined: string[] } {
  const values: string[] = []
  const joined: string[] = []
  for (let index = 0; index < targets.length; index++) {
    const parts = [targets[index] ?? '']
    while (isFull(parts.at(-1) ?? '') && index + 1 < targets.length) parts.push(targets[++index] ?? '')
    const [first = ''] = parts
    // A value in quotes stays as the provider wrote it: some compare it as text.
    const value = parts.length === 1 && isQuoted(first) ? first : quoteTxt(parts.map(plainTxt).join(''))
    values.push(value)
    if (parts.length > 1) joined.push(value)
  }
  return { values, joined }
}

function isFull(target: string): boolean {
  return !isQuoted(target) && Buffer.byteLength(plainTxt(target)) === MAX_STRING
}

function isQuoted(target: string): boolean {
  return /^\s*".*"\s*$/s.test(target)
}

/** The value of a target in quotes or without; without quotes, some providers escape as in a zone file. */
function plainTxt(target: string): string {
  if (isQuoted(target)) return parseTxt(target)
  return /^(?:[^"\\]|\\["\\]|\\\d{3})*$/s.test(target) ? parseTxt(`"${target}"`) : target
}
