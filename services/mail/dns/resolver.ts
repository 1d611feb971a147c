/** Opens DNS sessions over the recursors that receivers would use; each session serves one check. */
import { getServers } from 'node:dns'
import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '../../platform/durations.ts'
import { type DnsSession, type NamedServer, openSession } from './dns-session.ts'
import type { ServerAddress } from './dns-transport.ts'

/** Options of {@link createResolver}. */
export interface ResolverOptions {
  /** Recursors as `ip[:port]`; empty: those of the system. */
  servers: readonly string[]
  /** Port of authoritative servers. */
  port: number
  /** Query authoritative servers on private addresses, too: names from other people's zones must not lead into our network. */
  allowPrivate: boolean
  /** Milliseconds for one attempt; default 3 s. */
  timeoutMs?: number
  /** Milliseconds for a whole session; default 20 s. */
  deadlineMs?: number
}

/** Opens sessions. */
export interface Resolver {
  session(): DnsSession
}

const TIMEOUT_MS = 3_000
const DEADLINE_MS = 20_000
/** More recursors add load, not certainty. */
const MAX_RECURSORS = 3

/** Zones whose servers are remembered, and for how long: those of managed domains are asked every five minutes. */
const KNOWN_ZONES = 20_000
const KNOWN_MS = HOUR_MS

/** A resolver over the configured or the system's recursors. */
export function createResolver(options: ResolverOptions): Resolver {
  const { servers, port, allowPrivate, timeoutMs = TIMEOUT_MS, deadlineMs = DEADLINE_MS } = options
  const configured = servers.length > 0 ? servers : getServers()
  const recursors = configured.slice(0, MAX_RECURSORS).map(parseServer)
  const knownServers = new LRUCache<string, NamedServer[]>({
    // With `max` it would allocate memory for all of them in advance.
    ...{ maxSize: KNOWN_ZONES, sizeCalculation: () => 1, ttl: KNOWN_MS },
  })
  return { session: () => openSession({ recursors, port, allowPrivate, timeoutMs, deadlineMs, knownServers }) }
}

/** Parses `ip`, `ip:port` or `[ipv6]:port`. */
function parseServer(text: string): ServerAddress {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<ip>[^:]+|[0-9a-f:]+(?:%.*)?))(?::(?<port>\d+))?$/i.exec(text)
  const colons = text.split(':').length - 1
  if (colons > 1 && !text.startsWith('[')) return { ip: text, port: 53 }
  return { ip: match?.groups?.v6 ?? match?.groups?.ip ?? text, port: Number(match?.groups?.port ?? 53) }
}
