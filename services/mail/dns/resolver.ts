/**
 * Looks DNS up from two sides: resolvers as receivers use them, and the authoritative servers of a zone. One session
 * serves one check: it remembers answers, counts queries and ends at a deadline.
 */
import { getServers } from 'node:dns'
import { isPublicAddress } from '../../platform/network/public-address.ts'
import { type Decoded, decodeData, isName, negativeTtl, RCODES, TYPE, WireError } from './dns-message.ts'
import { ask, type ServerAddress, TransportError } from './dns-transport.ts'
import type { ServerAnswer, Views } from './records/evaluate-record.ts'
import type { Answer, Lookup, LookupType } from './records/lookup.ts'
import { suffixesOf } from './records/names.ts'
import { canonicalValue } from './records/record.ts'

/** What a resolver is made of. */
export interface ResolverOptions {
  /** Recursors as `ip[:port]`; empty: those of the system. */
  servers: readonly string[]
  /** Port of authoritative servers. */
  port: number
  /** Ask authoritative servers on private addresses, too. Names of strangers must not lead into our network. */
  allowPrivate: boolean
  /** Milliseconds for one try; default 3 s. */
  timeoutMs?: number
  /** Milliseconds for a whole session; default 20 s. */
  deadlineMs?: number
}

/** Opens sessions. */
export interface Resolver {
  session(): DnsSession
}

/** One check's view of DNS. Nothing rejects: failures are answers of kind `temporary`. */
export interface DnsSession {
  /** The first definite answer of the recursors. */
  lookup: Lookup
  /** What every authoritative server and every recursor says. */
  views(name: string, type: LookupType): Promise<Views>
  /** How long "no such name" may be remembered in the zone of the name, in seconds (RFC 2308); undefined: unknown. */
  negativeTtl(name: string): Promise<number | undefined>
  /** Name servers of the zone that holds the name, as the public DNS delegates it. */
  nameServers(name: string): Promise<string[]>
  queries(): number
}

const TIMEOUT_MS = 3_000
const DEADLINE_MS = 20_000
const TRIES = 2
/** More servers or resolvers than these add load, not certainty. */
const MAX_SERVERS = 8
const MAX_RECURSORS = 3
/** Longest alias chain that is followed. */
const MAX_ALIASES = 8

/** A resolver over the configured or the system's recursors. */
export function createResolver(options: ResolverOptions): Resolver {
  const configured = options.servers.length > 0 ? options.servers : getServers()
  const recursors = configured.slice(0, MAX_RECURSORS).map(parseServer)
  return { session: () => openSession(options, recursors) }
}

interface NamedServer extends ServerAddress {
  name: string
}

function openSession(options: ResolverOptions, recursors: readonly ServerAddress[]): DnsSession {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const end = performance.now() + (options.deadlineMs ?? DEADLINE_MS)
  const answers = new Map<string, Promise<Answer>>()
  const zones = new Map<string, Promise<NamedServer[] | Answer>>()
  let queries = 0

  async function query(
    server: ServerAddress,
    name: string,
    type: LookupType,
    recursion: boolean,
  ): Promise<Decoded | Answer> {
    const left = end - performance.now()
    if (left <= 0) return temporary('the check ran out of time')
    // Names come from records of strangers, too: an SPF term may name anything.
    if (!isName(name)) return { kind: 'missing', reason: 'nxdomain' }
    queries++
    try {
      return await ask(server, name, TYPE[type], { recursion, timeoutMs: Math.min(timeoutMs, left), tries: TRIES })
    } catch (error) {
      if (error instanceof TransportError) return temporary(error.message)
      throw error
    }
  }

  const recurse = async (server: ServerAddress, name: string, type: LookupType) =>
    toAnswer(await query(server, name, type, true), name, type)

  async function askRecursors(name: string, type: LookupType): Promise<Answer> {
    let answer: Answer = temporary('no resolver is configured')
    for (const server of recursors) {
      answer = await recurse(server, name, type)
      if (answer.kind !== 'temporary') break
    }
    return answer
  }

  const lookup: Lookup = (name, type) => remember(answers, `${type} ${name}`, () => askRecursors(name, type))

  async function authoritative(server: NamedServer, name: string, type: LookupType): Promise<Answer> {
    const reply = await query(server, name, type, false)
    if ('kind' in reply) return reply
    if (!reply.aa && (reply.rcode === 0 || reply.rcode === 3)) return temporary('it is not authoritative for the zone')
    const alias = aliasEnd(reply, name)
    const answer = toAnswer(reply, name, type)
    // A server answers only for its own zones: an alias into another one is followed like any receiver would.
    return answer.kind === 'missing' && alias !== name && type !== 'CNAME' ? lookup(alias, type) : answer
  }

  async function delegation(name: string): Promise<{ zone: string; servers: string[] } | Answer> {
    for (const zone of suffixesOf(name)) {
      const answer = await lookup(zone, 'NS')
      if (answer.kind === 'temporary') return answer
      if (answer.kind === 'found') return { zone, servers: answer.values }
    }
    return temporary('no delegation was found')
  }

  async function serversOf(name: string): Promise<NamedServer[] | Answer> {
    const found = await delegation(name)
    if ('kind' in found) return found
    const addressed = await Promise.all(found.servers.slice(0, MAX_SERVERS).map(addressesOf))
    const servers = addressed.flat().slice(0, MAX_SERVERS)
    return servers.length > 0 ? servers : temporary(`the name servers of ${found.zone} have no usable address`)
  }

  async function addressesOf(server: string): Promise<NamedServer[]> {
    const found = await Promise.all([lookup(server, 'A'), lookup(server, 'AAAA')])
    const [v4, v6] = found.map(answer => (answer.kind === 'found' ? answer.values : []))
    // One address a server: the second family reaches the same data.
    const ips = [...(v4 ?? []), ...(v6 ?? [])].filter(ip => options.allowPrivate || isPublicAddress(ip))
    return ips.slice(0, 1).map(ip => ({ name: server, ip, port: options.port }))
  }

  const serversFor = (name: string) => remember(zones, name, () => serversOf(name))

  return {
    lookup,
    async views(name, type) {
      const servers = await serversFor(name)
      const authorities = Array.isArray(servers)
        ? servers.map(async server => ({ server: server.name, answer: await authoritative(server, name, type) }))
        : [{ server: 'name servers', answer: servers }]
      const resolvers = recursors.map(
        async (server): Promise<ServerAnswer> => ({
          server: `resolver ${server.ip}`,
          answer: await recurse(server, name, type),
        }),
      )
      return { authoritative: await Promise.all(authorities), recursive: await Promise.all(resolvers) }
    },
    async negativeTtl(name) {
      const servers = await serversFor(name)
      const [server] = Array.isArray(servers) ? servers : []
      if (!server) return undefined
      const reply = await query(server, name, 'SOA', false)
      return 'kind' in reply ? undefined : negativeTtl([...reply.authorities, ...reply.answers])
    },
    async nameServers(name) {
      const found = await delegation(name)
      return 'kind' in found ? [] : found.servers
    },
    queries: () => queries,
  }
}

/** Calls `make` once a key; a failed attempt is not repeated within a session. */
function remember<V>(known: Map<string, Promise<V>>, key: string, make: () => Promise<V>): Promise<V> {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}

/** What a reply says about a name, aliases followed as far as the reply goes. */
function toAnswer(reply: Decoded | Answer, name: string, type: LookupType): Answer {
  if ('kind' in reply) return reply
  if (reply.rcode !== 0 && reply.rcode !== 3) return temporary(RCODES[reply.rcode] ?? `RCODE ${reply.rcode}`)
  const owner = type === 'CNAME' ? name : aliasEnd(reply, name)
  const records = reply.answers.filter(record => record.name === owner && record.type === TYPE[type])
  const values = valuesOf(records, type)
  if (!values) return temporary('the answer cannot be read')
  if (values.length > 0) return { kind: 'found', values, ttl: Math.min(...records.map(({ ttl }) => ttl)) }
  const ttl = negativeTtl(reply.authorities)
  return { kind: 'missing', reason: reply.rcode === 3 ? 'nxdomain' : 'nodata', ...(ttl === undefined ? {} : { ttl }) }
}

/** Their canonical values; undefined when one does not fit its type. */
function valuesOf(records: Decoded['answers'], type: LookupType): string[] | undefined {
  try {
    return records.map(record => canonicalValue(type, decodeData(record.type, record.data)))
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

function aliasEnd(reply: Decoded, name: string): string {
  let owner = name
  for (let i = 0; i < MAX_ALIASES; i++) {
    const alias = reply.answers.find(record => record.name === owner && record.type === TYPE.CNAME)
    if (!alias) break
    owner = decodeData(TYPE.CNAME, alias.data)
  }
  return owner
}

function temporary(reason: string): Answer {
  return { kind: 'temporary', reason }
}

/** Parses `ip`, `ip:port` or `[ipv6]:port`. */
function parseServer(text: string): ServerAddress {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<ip>[^:]+|[0-9a-f:]+(?:%.*)?))(?::(?<port>\d+))?$/i.exec(text)
  const colons = text.split(':').length - 1
  if (colons > 1 && !text.startsWith('[')) return { ip: text, port: 53 }
  return { ip: match?.groups?.v6 ?? match?.groups?.ip ?? text, port: Number(match?.groups?.port ?? 53) }
}
