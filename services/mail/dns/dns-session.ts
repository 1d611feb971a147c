/**
 * One check's view of DNS, from the recursors and from the authoritative servers of a zone. A session remembers answers,
 * counts queries and ends at its deadline.
 */
import { isPublicAddress } from '../../platform/network/public-address.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { aliasTarget, temporary, toAnswer } from './dns-answer.ts'
import { type Decoded, isName, negativeTtl, TYPE, zoneOfReply } from './dns-message.ts'
import { ask, type ServerAddress, TransportError } from './dns-transport.ts'
import type { ServerAnswer, Views } from './records/evaluate-record.ts'
import type { Answer, Lookup, LookupType } from './records/lookup.ts'
import { isWithin, suffixesOf } from './records/names.ts'

/** Nothing rejects: failures are answers of kind `temporary`. */
export interface DnsSession {
  /** The first definite answer of the recursors. */
  lookup: Lookup
  /** The answers of every authoritative server and every recursor. */
  views(name: string, type: LookupType): Promise<Views>
  /**
   * The first definite answer of an authoritative server of the zone. Servers that another session of the resolver found are
   * asked without looking for them again.
   */
  authoritative(zone: string, name: string, type: LookupType): Promise<Answer>
  /**
   * The answers of all authoritative servers of the zone, eight at most, which are asked at once; found as those of
   * {@link authoritative}.
   */
  everyAuthoritative(zone: string, name: string, type: LookupType): Promise<Answer[]>
  /** Seconds that "no such name" may be cached in the zone of the name (RFC 2308); undefined: unknown. */
  negativeTtl(name: string): Promise<number | undefined>
  /** Name servers of the zone that contains the name, as public DNS delegates it. */
  nameServers(name: string): Promise<string[]>
  /** Apex of the zone that holds the name, by its SOA record; undefined while no recursor gives it. */
  zoneOf(name: string): Promise<string | undefined>
  /** Queries sent so far. */
  queries(): number
}

/** Options of {@link openSession}; times in milliseconds. */
export interface SessionOptions {
  recursors: readonly ServerAddress[]
  /** Port of authoritative servers. */
  port: number
  allowPrivate: boolean
  /** For one attempt. */
  timeoutMs: number
  /** For the whole session. */
  deadlineMs: number
  /** Servers of zones that earlier sessions found; sessions add to it. */
  knownServers: KnownServers
}

/** Authoritative servers by zone. */
export interface KnownServers {
  get(zone: string): NamedServer[] | undefined
  set(zone: string, servers: NamedServer[]): unknown
  delete(zone: string): unknown
}

/** An authoritative server with its host name. */
export interface NamedServer extends ServerAddress {
  name: string
}

/** Attempts over UDP. */
const ATTEMPTS = 2
/** More authoritative servers add load, not certainty. */
const MAX_SERVERS = 8

/** Opens a session; its deadline starts now. */
export function openSession(options: SessionOptions): DnsSession {
  const session = new Session(options)
  return {
    lookup: (name, type) => session.lookup(name, type),
    views: (name, type) => session.views(name, type),
    authoritative: (zone, name, type) => session.authoritative(zone, name, type),
    everyAuthoritative: (zone, name, type) => session.everyAuthoritative(zone, name, type),
    negativeTtl: name => session.negativeTtl(name),
    nameServers: name => session.nameServers(name),
    zoneOf: name => session.zoneOf(name),
    queries: () => session.queryCount,
  }
}

class Session {
  readonly #options: SessionOptions
  readonly #end: number
  readonly #answers = new Map<string, Promise<Answer>>()
  readonly #serversByName = new Map<string, Promise<NamedServer[] | Answer>>()
  queryCount = 0

  constructor(options: SessionOptions) {
    this.#options = options
    this.#end = performance.now() + options.deadlineMs
  }

  lookup(name: string, type: LookupType): Promise<Answer> {
    return remember(this.#answers, `${type} ${name}`, () => this.#firstDefinite(name, type))
  }

  async views(name: string, type: LookupType): Promise<Views> {
    const servers = await this.#serversOf(name)
    const authoritative = Array.isArray(servers)
      ? servers.map(async server => ({
          server: server.name,
          answer: await this.#authoritativeAnswer(server, name, type),
        }))
      : [{ server: sentence('dns.name_servers'), answer: servers }]
    const recursive = this.#options.recursors.map(
      async (server): Promise<ServerAnswer> => ({
        server: sentence('dns.resolver', { ip: server.ip }),
        answer: await this.#recursiveAnswer(server, name, type),
      }),
    )
    return { authoritative: await Promise.all(authoritative), recursive: await Promise.all(recursive) }
  }

  async authoritative(zone: string, name: string, type: LookupType): Promise<Answer> {
    const { knownServers } = this.#options
    const servers = knownServers.get(zone) ?? (await this.#serversOf(zone))
    if (!Array.isArray(servers)) return servers
    let answer: Answer = temporary(sentence('dns.no_server_address', { zone }))
    for (const server of servers) {
      answer = await this.#authoritativeAnswer(server, name, type)
      if (answer.kind !== 'temporary') return answer
    }
    // They may have moved: the next session looks for them again.
    knownServers.delete(zone)
    return answer
  }

  async everyAuthoritative(zone: string, name: string, type: LookupType): Promise<Answer[]> {
    const { knownServers } = this.#options
    const servers = knownServers.get(zone) ?? (await this.#serversOf(zone))
    if (!Array.isArray(servers)) return [servers]
    const answers = await Promise.all(servers.map(server => this.#authoritativeAnswer(server, name, type)))
    if (answers.every(({ kind }) => kind === 'temporary')) knownServers.delete(zone)
    return answers
  }

  async negativeTtl(name: string): Promise<number | undefined> {
    const servers = await this.#serversOf(name)
    const [server] = Array.isArray(servers) ? servers : []
    if (!server) return undefined
    const reply = await this.#query(server, name, 'SOA', false)
    return 'kind' in reply ? undefined : negativeTtl([...reply.authorities, ...reply.answers])
  }

  async nameServers(name: string): Promise<string[]> {
    const found = await this.#delegationOf(name)
    return 'kind' in found ? [] : found.servers
  }

  async zoneOf(name: string): Promise<string | undefined> {
    for (const server of this.#options.recursors) {
      const reply = await this.#query(server, name, 'SOA', true)
      const zone = 'kind' in reply ? undefined : zoneOfReply(reply)
      if (zone === undefined) continue
      if (zone === '') return undefined
      // An alias answers with the zone of its target. Its own name is then held by a zone above it.
      if (isWithin(name, zone)) return zone
      const [, parent] = suffixesOf(name)
      return parent === undefined ? undefined : this.zoneOf(parent)
    }
    return undefined
  }

  async #firstDefinite(name: string, type: LookupType): Promise<Answer> {
    let answer: Answer = temporary(sentence('dns.no_resolver'))
    for (const server of this.#options.recursors) {
      answer = await this.#recursiveAnswer(server, name, type)
      if (answer.kind !== 'temporary') break
    }
    return answer
  }

  async #recursiveAnswer(server: ServerAddress, name: string, type: LookupType): Promise<Answer> {
    return toAnswer(await this.#query(server, name, type, true), name, type)
  }

  async #authoritativeAnswer(server: NamedServer, name: string, type: LookupType): Promise<Answer> {
    const reply = await this.#query(server, name, type, false)
    if ('kind' in reply) return reply
    if (!reply.aa && (reply.rcode === 0 || reply.rcode === 3)) return temporary(sentence('dns.not_authoritative'))
    const target = aliasTarget(reply, name)
    const answer = toAnswer(reply, name, type)
    // A server answers only for its own zones: an alias into another one is followed like any receiver would.
    const leavesServer = answer.kind === 'missing' && target !== name && type !== 'CNAME'
    return leavesServer ? this.lookup(target, type) : answer
  }

  async #query(server: ServerAddress, name: string, type: LookupType, recursion: boolean): Promise<Decoded | Answer> {
    const leftMs = this.#end - performance.now()
    if (leftMs <= 0) return temporary(sentence('dns.out_of_time'))
    // Names may come from other people's records: an SPF term can contain any text.
    if (!isName(name)) return { kind: 'missing', reason: 'nxdomain' }
    this.queryCount++
    const timeoutMs = Math.min(this.#options.timeoutMs, leftMs)
    try {
      return await ask(server, name, TYPE[type], { recursion, timeoutMs, tries: ATTEMPTS })
    } catch (error) {
      if (error instanceof TransportError) return temporary(error.sentence)
      throw error
    }
  }

  /** Addresses of the authoritative servers, or why there are none. */
  #serversOf(name: string): Promise<NamedServer[] | Answer> {
    return remember(this.#serversByName, name, async () => {
      const found = await this.#delegationOf(name)
      if ('kind' in found) return found
      const addressed = await Promise.all(found.servers.slice(0, MAX_SERVERS).map(server => this.#addressesOf(server)))
      const servers = addressed.flat().slice(0, MAX_SERVERS)
      if (servers.length > 0) this.#options.knownServers.set(found.zone, servers)
      return servers.length > 0 ? servers : temporary(sentence('dns.no_server_address', { zone: found.zone }))
    })
  }

  async #delegationOf(name: string): Promise<{ zone: string; servers: string[] } | Answer> {
    for (const zone of suffixesOf(name)) {
      const answer = await this.lookup(zone, 'NS')
      if (answer.kind === 'temporary') return answer
      if (answer.kind === 'found') return { zone, servers: answer.values }
    }
    return temporary(sentence('dns.no_delegation'))
  }

  async #addressesOf(server: string): Promise<NamedServer[]> {
    const { allowPrivate, port } = this.#options
    const found = await Promise.all([this.lookup(server, 'A'), this.lookup(server, 'AAAA')])
    const [v4, v6] = found.map(answer => (answer.kind === 'found' ? answer.values : []))
    // One address for each server: the other family reaches the same data.
    const ips = [...(v4 ?? []), ...(v6 ?? [])].filter(ip => allowPrivate || isPublicAddress(ip))
    return ips.slice(0, 1).map(ip => ({ name: server, ip, port }))
  }
}

/** Calls `make` once for each key; a failed attempt is not repeated within a session. */
function remember<V>(known: Map<string, Promise<V>>, key: string, make: () => Promise<V>): Promise<V> {
  const value = known.get(key) ?? make()
  known.set(key, value)
  return value
}
