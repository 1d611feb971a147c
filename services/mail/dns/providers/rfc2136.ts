/**
 * Dynamic update (RFC 2136) with TSIG over TCP: BIND, Knot, PowerDNS and their like. The only provider with
 * compare-and-set: every change names the record set that it saw, so nobody's edit in between is lost.
 */
import { randomInt } from 'node:crypto'
import {
  CLASS,
  type Decoded,
  decodeData,
  decodeMessage,
  encodeData,
  encodeMessage,
  RCODES,
  type ResourceRecord,
  TYPE,
  WireError,
} from '../dns-message.ts'
import { exchangeTcp, type ServerAddress, TransportError } from '../dns-transport.ts'
import { isWithin } from '../records/names.ts'
import type { StoredRecord, WantedRecord } from '../records/record.ts'
import { signMessage, TsigError, type TsigKey, verifyAnswer } from '../tsig.ts'
import {
  type CallBudget,
  type Change,
  type DnsProvider,
  DnsProviderError,
  type NameState,
  type Question,
  type Zone,
} from './provider.ts'
import type { CredentialsOf } from './rules/dns-credentials.ts'

/** What the adapter needs from outside. */
export interface UpdateContext {
  budget: CallBudget
  now: () => Date
  counted: (operation: string, outcome: string) => void
  /** Resolves `host[:port]` to an address that may be asked; throws {@link DnsProviderError}. */
  serverAddress: (server: string) => Promise<ServerAddress>
  timeoutMs?: number
}

const TIMEOUT_MS = 5_000
/** TXT data may be as long as a message; this leaves room for signature and prerequisites. */
const MAX_TXT = 4_000
const QUERIED = ['TXT', 'A', 'AAAA', 'MX'] as const
const OPCODE_UPDATE = 5 << 11
/** FORMERR, SERVFAIL, NOTIMP: the server cannot tell now. Taken for "not our zone", records would be left behind. */
const FAILURES: ReadonlySet<number> = new Set([1, 2, 4])

/** A record with the data as the server gave it: prerequisites must repeat it byte for byte. */
interface RawRecord extends StoredRecord {
  raw: ResourceRecord
}

/** A zone on an authoritative server that takes signed updates. */
export function createRfc2136(credentials: CredentialsOf<'rfc2136'>, context: UpdateContext): DnsProvider {
  const key: TsigKey = {
    name: credentials.key_name,
    algorithm: credentials.key_algorithm,
    secret: Buffer.from(credentials.key_secret, 'base64'),
  }
  const send = (operation: string, message: Omit<SignedMessage, 'key'>) =>
    exchange(context, credentials.server, operation, { ...message, key })

  async function query(name: string, type: number): Promise<Decoded> {
    const answer = await send('query', {
      flags: 0,
      questions: [{ name, type, class: CLASS.IN }],
      answers: [],
      authorities: [],
      write: false,
    })
    if (FAILURES.has(answer.rcode)) throw failure(answer.rcode)
    return answer
  }

  /** Zones that were found by asking for a SOA; a provider lives for a minute only. */
  const zones = new Map<string, Promise<Zone | undefined>>()
  const findZone = (name: string): Promise<Zone | undefined> => {
    const known = zones.get(name) ?? searchZone(name)
    zones.set(name, known)
    known.catch(() => zones.delete(name))
    return known
  }

  /** The zone that this server really serves the name from; an update sent to its parent would never be seen. */
  async function searchZone(name: string): Promise<Zone | undefined> {
    if (isOutside(name)) return undefined
    const answer = await query(name, TYPE.SOA).catch(nothingWhenRefused)
    return answer && (isAlias(answer, name) ? findZone(parentOf(name)) : zoneIn(answer, name))
  }

  const isOutside = (name: string) => credentials.zone !== undefined && !isWithin(name, credentials.zone)

  /** One question a type; where nothing stands, its answer names the zone, too. */
  async function look({ name, types }: Question): Promise<NameState> {
    const [first = 'TXT', ...more] = types.includes('CNAME') ? QUERIED : types.filter(type => type !== 'CNAME')
    const isKnownOutside = isOutside(name) || (zones.has(name) && !(await findZone(name)))
    const answer = isKnownOutside ? undefined : await query(name, TYPE[first]).catch(nothingWhenRefused)
    const zone = answer && (await zoneBehind(answer, name))
    if (!zone) {
      zones.set(name, Promise.resolve(undefined))
      return { name, records: [] }
    }
    const others = answer.rcode === 3 ? [] : await Promise.all(more.map(type => query(name, TYPE[type])))
    const found = [answer, ...others].flatMap(({ answers }) => recordsAt(answers, name))
    return { name, zone, records: [...new Map(found.map(record => [record.id, withoutRaw(record)])).values()] }
  }

  /** The zone that an answer comes from; a server that only knows of a name refers elsewhere. */
  async function zoneBehind(answer: Decoded, name: string): Promise<Zone | undefined> {
    if (!answer.aa || (answer.rcode !== 0 && answer.rcode !== 3)) return undefined
    return (answer.answers.length === 0 ? zoneIn(answer, name) : undefined) ?? findZone(name)
  }

  async function listRaw(zone: Zone, name: string): Promise<RawRecord[]> {
    const records = new Map<string, RawRecord>()
    for (const type of QUERIED) {
      const answer = await query(name, TYPE[type])
      if (answer.rcode !== 0 && answer.rcode !== 3) throw refusal(answer.rcode, zone.name)
      if (!answer.aa)
        throw new DnsProviderError(
          'rfc2136',
          'zone_not_found',
          `${name} is delegated away from ${zone.name} on this server.`,
        )
      for (const record of recordsAt(answer.answers, name)) records.set(record.id, record)
      if (answer.rcode === 3) break
    }
    return [...records.values()]
  }

  async function update(zone: Zone, prerequisites: ResourceRecord[], updates: ResourceRecord[]): Promise<void> {
    const answer = await send('update', {
      flags: OPCODE_UPDATE,
      questions: [{ name: zone.name, type: TYPE.SOA, class: CLASS.IN }],
      answers: prerequisites,
      authorities: updates,
      write: true,
    }).catch(asMissingRight)
    if (answer.rcode !== 0) throw refusal(answer.rcode, zone.name)
  }

  return {
    type: 'rfc2136',
    async test() {
      const zone = credentials.zone
      if (zone === undefined) {
        await query('', TYPE.SOA).catch(nothingWhenRefused) // a wrong key is told before the name is looked at
        return []
      }
      const found = await findZone(zone)
      if (!found)
        throw new DnsProviderError('rfc2136', 'zone_not_found', `The server is not authoritative for ${zone}.`)
      await update(found, [], []) // an empty update changes nothing and passes the same checks
      return [found]
    },
    findZone,
    list: async (zone, name) => (await listRaw(zone, name)).map(withoutRaw),
    async read([first, ...rest]) {
      if (!first) return []
      // Alone at first: a server that is down is asked once, not once a name.
      return [await look(first), ...(await Promise.all(rest.map(look)))]
    },
    batch: {
      guarded: true,
      async write(zone, changes, seen) {
        const { prerequisites, updates, made } = toUpdate(changes, seen)
        await update(zone, prerequisites, updates)
        return made
      },
    },
    async create(zone, record) {
      const here = await listRaw(zone, record.name)
      const [cname] = here.filter(({ type }) => type === 'CNAME')
      if (cname || (record.type === 'CNAME' && here.length > 0))
        throw new DnsProviderError(
          'rfc2136',
          'conflict',
          `${record.name} has records that nothing can stand beside (CNAME).`,
        )
      const set = here.filter(({ type }) => type === record.type)
      if (set.some(({ value }) => value === record.value))
        throw new DnsProviderError('rfc2136', 'duplicate', 'The record exists.')
      const added = toRaw(record, set[0]?.ttl)
      await update(zone, [...setIs(record, set), absent(record.name, TYPE.CNAME)], [added])
      return withoutRaw(toRecord(added))
    },
    async update(zone, before, record) {
      const set = (await listRaw(zone, before.name)).filter(({ type }) => type === before.type)
      const old = set.find(({ id }) => id === before.id)
      if (!old) throw new DnsProviderError('rfc2136', 'changed', 'The record changed in the meantime.')
      const added = toRaw(record, set.length > 1 ? old.ttl : undefined)
      await update(zone, setIs(before, set), [deletion(old.raw), added])
      return withoutRaw(toRecord(added))
    },
    async remove(zone, record) {
      const set = (await listRaw(zone, record.name)).filter(({ type }) => type === record.type)
      const old = set.find(({ id }) => id === record.id)
      if (old) await update(zone, setIs(record, set), [deletion(old.raw)])
    },
  }
}

/** One UPDATE message: every touched set is exactly as it was seen, then the changes in their order. */
function toUpdate(changes: readonly Change[], seen: readonly StoredRecord[]) {
  const prerequisites = new Map<string, ResourceRecord[]>()
  const updates: ResourceRecord[] = []
  const require = (name: string, type: string) => {
    const set = seen.filter(record => record.name === name && record.type === type).map(rawOf)
    prerequisites.set(`${name} ${type}`, setIs({ name, type }, set))
    return set
  }
  const made = changes.map(change => {
    const { name, type } = change.action === 'delete' ? change.before : change.record
    const set = require(name, type)
    if (change.action !== 'create') updates.push(deletion(rawOf(change.before).raw))
    if (change.action === 'delete') return undefined
    if (type === 'CNAME') {
      // An alias stands alone: nothing at all may be at the name.
      if (set.length === 0) prerequisites.set(`${name} ${type}`, [notInUse(name)])
    } else require(name, 'CNAME')
    const ttl = change.action === 'create' ? set[0]?.ttl : set.length > 1 ? change.before.ttl : undefined
    const added = toRaw(change.record, ttl)
    updates.push(added)
    return withoutRaw(toRecord(added))
  })
  return { prerequisites: [...prerequisites.values()].flat(), updates, made }
}

/** The data of a record as the server gave it: its id holds the octets. */
function rawOf(record: StoredRecord): RawRecord {
  const { id, name, type, ttl } = record
  const data = Buffer.from(id.slice(type.length + 1), 'base64')
  return { ...record, raw: { name, type: TYPE[type as keyof typeof TYPE], class: CLASS.IN, ttl, data } }
}

function recordsAt(answers: readonly ResourceRecord[], name: string): RawRecord[] {
  return answers.filter(record => record.name === name).map(toRecord)
}

/** At an alias the answer speaks of the target; the zone of the alias is the zone of what stands above it. */
function isAlias({ answers }: Decoded, name: string): boolean {
  return answers.some(record => record.type === TYPE.CNAME && record.name === name)
}

/** The zone by the SOA that an authoritative answer carries. */
function zoneIn({ aa, answers, authorities }: Decoded, name: string): Zone | undefined {
  const soa = [...answers, ...authorities].find(record => record.type === TYPE.SOA && isWithin(name, record.name))
  if (!aa || !soa) return undefined
  return { id: soa.name, name: soa.name, minTtl: 0, maxTxt: MAX_TXT, nameServers: [], warnings: [] }
}

function parentOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

/** Servers refuse questions about names that they do not serve. */
function nothingWhenRefused(error: unknown): undefined {
  if (error instanceof DnsProviderError && error.kind === 'permission') return undefined
  throw error
}

/** Knot says BADKEY when it knows the key, as the questions before have shown, but takes no updates from it. */
function asMissingRight(error: unknown): never {
  if (error instanceof DnsProviderError && error.code === 'BADKEY') throw refusal(5, 'the zone')
  throw error
}

/** Records of one set share their TTL (RFC 2181 5.2): adding with another one would change the others. */
function toRaw({ name, type, value, ttl }: WantedRecord, setTtl: number | undefined): ResourceRecord {
  return { name, type: TYPE[type], class: CLASS.IN, ttl: setTtl ?? ttl, data: encodeData(type, value) }
}

function toRecord(raw: ResourceRecord): RawRecord {
  const type = Object.entries(TYPE).find(([, number]) => number === raw.type)?.[0] ?? `TYPE${raw.type}`
  const value = decodeData(raw.type, raw.data)
  return { id: `${type} ${raw.data.toString('base64')}`, name: raw.name, type, value, ttl: raw.ttl, raw }
}

function withoutRaw({ raw: _, ...record }: RawRecord): StoredRecord {
  return record
}

/** Prerequisite "the set is exactly this" (RFC 2136 2.4.2), or "there is no such set" (2.4.3). */
function setIs({ name, type }: Pick<StoredRecord, 'name' | 'type'>, set: readonly RawRecord[]): ResourceRecord[] {
  if (set.length === 0) return [absent(name, TYPE[type as keyof typeof TYPE])]
  return set.map(({ raw }) => ({ ...raw, ttl: 0 }))
}

function absent(name: string, type: number): ResourceRecord {
  return { name, type, class: CLASS.NONE, ttl: 0, data: Buffer.alloc(0) }
}

/** Prerequisite "nothing stands at this name" (RFC 2136 2.4.5). */
function notInUse(name: string): ResourceRecord {
  return { name, type: TYPE.ANY, class: CLASS.NONE, ttl: 0, data: Buffer.alloc(0) }
}

/** "Delete this one record" (RFC 2136 2.5.4). */
function deletion(raw: ResourceRecord): ResourceRecord {
  return { ...raw, class: CLASS.NONE, ttl: 0 }
}

interface SignedMessage {
  flags: number
  questions: { name: string; type: number; class: number }[]
  answers: ResourceRecord[]
  authorities: ResourceRecord[]
  write: boolean
  key: TsigKey
}

async function exchange(
  context: UpdateContext,
  server: string,
  operation: string,
  message: SignedMessage,
): Promise<Decoded> {
  await context.budget.take()
  try {
    const address = await context.serverAddress(server)
    const answer = await signedExchange(context, address, message)
    context.counted(operation, 'ok')
    return answer
  } catch (error) {
    const known = toProviderError(error, message.write)
    context.counted(operation, known.kind)
    throw known
  }
}

async function signedExchange(
  context: UpdateContext,
  address: ServerAddress,
  message: SignedMessage,
): Promise<Decoded> {
  const { key, write: _, ...sections } = message
  const plain = encodeMessage({ id: randomInt(0x10000), ...sections, additionals: [] })
  const { bytes, mac } = signMessage(plain, key, context.now())
  const received = await exchangeTcp(address, bytes, context.timeoutMs ?? TIMEOUT_MS)
  const answer = decodeMessage(received)
  if (answer.id !== plain.readUInt16BE(0)) throw new TransportError('the answer has another id')
  if (answer.additionals.at(-1)?.type !== TYPE.TSIG) {
    if (answer.rcode === 5 || answer.rcode === 9) throw refusal(answer.rcode, 'the zone')
    if (FAILURES.has(answer.rcode)) throw message.write ? refusal(answer.rcode, 'the zone') : failure(answer.rcode)
  }
  verifyAnswer(received, answer, key, mac, context.now())
  return answer
}

function toProviderError(error: unknown, write: boolean): DnsProviderError {
  if (error instanceof DnsProviderError) return error
  if (error instanceof TsigError)
    return new DnsProviderError(
      'rfc2136',
      error.code === undefined && write ? 'unknown_outcome' : 'auth',
      `TSIG: ${error.message}.`,
      error.code === 17 ? { code: 'BADKEY' } : {},
    )
  if (error instanceof TransportError || error instanceof WireError) {
    const certain = !write || error.message === 'connection refused'
    return new DnsProviderError(
      'rfc2136',
      certain ? 'unavailable' : 'unknown_outcome',
      `The DNS server does not answer: ${error.message}.`,
    )
  }
  throw error
}

function failure(rcode: number): DnsProviderError {
  const code = RCODES[rcode] ?? `RCODE${rcode}`
  return new DnsProviderError('rfc2136', 'unavailable', `The DNS server answered ${code}.`, { code })
}

function refusal(rcode: number, zone: string): DnsProviderError {
  const code = RCODES[rcode] ?? `RCODE${rcode}`
  if (rcode === 7 || rcode === 8 || rcode === 6)
    return new DnsProviderError('rfc2136', 'changed', 'The record set changed in the meantime.', { code })
  if (rcode === 5)
    return new DnsProviderError(
      'rfc2136',
      'permission',
      `The server refuses updates of ${zone} with this key (update policy).`,
      { code, permission: 'update' },
    )
  if (rcode === 9 || rcode === 10)
    return new DnsProviderError('rfc2136', 'zone_not_found', `The server is not authoritative for ${zone}.`, { code })
  return new DnsProviderError(
    'rfc2136',
    rcode === 2 ? 'unknown_outcome' : 'invalid',
    `The DNS server answered ${code}.`,
    { code },
  )
}
