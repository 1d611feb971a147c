/** DNS for tests: Knot as authoritative server, a recursor in front of it, and the DNS dependencies of a process with a database. */

import { createDnsDeps, type DnsDeps, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import type { DnsCredentials } from '../../../services/mail/dns/providers/rules/dns-credentials.ts'
import { dnsBudgets } from '../../../services/mail/dns/providers/store/call-budgets.ts'
import { createResolver } from '../../../services/mail/dns/resolver.ts'
import type { DnsAccountDoc } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { dnsAccounts, insertDnsAccount } from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import { newDomain } from '../../../services/mail/domains/register-domain.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { dnsChecks, domains } from '../../../services/mail/domains/store/domain-model.ts'
import { findDomainById, insertDomain, updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { ensureIndexes, type Mongo } from '../../../services/platform/database/mongo.ts'
import type { Log } from '../../../services/platform/observability/log.ts'
import { freshDatabase } from '../database/test-database.ts'
import { testFoundation } from '../processes/test-foundation.ts'
import { type TestClock, testClock } from '../time/test-clock.ts'
import { type DnsServer, type ServedZone, startDnsServer } from './authoritative-servers.ts'
import { type Recursor, startRecursor } from './recursor.ts'

/** The sending host; its zone and its reverse zone are served. */
export const HOST = { name: 'mail.sender.test', ip: '192.0.2.10' }
const HOST_ZONES: ServedZone[] = [
  { name: 'sender.test', lines: [`mail IN A ${HOST.ip}`] },
  { name: '2.0.192.in-addr.arpa', lines: ['10 IN PTR mail.sender.test.'] },
]

/** DNS servers, dependencies and stored records of a test. */
export interface DnsTestEnvironment {
  deps: DnsDeps
  server: DnsServer
  recursor: Recursor
  clock: TestClock
  /** Lines that were logged, as JSON. */
  logged: string[]
  /** The settings that a process needs to use these servers. */
  env: Record<string, string>
  /** Stores an RFC 2136 account of a user. */
  account(
    userId: string,
    more?: Partial<Extract<DnsCredentials, { provider: 'rfc2136' }>['credentials']>,
  ): Promise<DnsAccountDoc>
  /** Stores a domain of a user. */
  claim(userId: string, name: string, change?: Partial<DomainDoc>): Promise<DomainDoc>
  domain(id: string): Promise<DomainDoc>
  stop(): Promise<void>
}

/** Starts Knot with the zones and those of the sending host, a recursor and a database; `open` connects to another one. */
export async function startDnsTestEnvironment(
  zones: readonly ServedZone[],
  open: () => Promise<Mongo> = freshDatabase,
): Promise<DnsTestEnvironment> {
  const all = [...zones, ...HOST_ZONES]
  const server = await startDnsServer('knot', all)
  const recursor = await startRecursor(all.map(({ name }) => ({ name, port: server.port })))
  const mongo = await open()
  await ensureIndexes(mongo.db, [domains, dnsAccounts, dnsBudgets, dnsChecks])
  const clock = testClock()
  const logged: string[] = []
  const env = {
    MAIL_HOSTNAME: HOST.name,
    SENDING_IP: HOST.ip,
    DNS_SERVERS: recursor.address,
    DNS_PORT: String(server.port),
    DNS_ALLOW_PRIVATE: 'true',
  }
  const foundation = testFoundation(mongo, env, clock)
  const resolver = createResolver({
    servers: [recursor.address],
    port: server.port,
    allowPrivate: true,
    timeoutMs: 1_000,
    deadlineMs: 10_000,
  })
  // Signatures contain the time, and the server's clock cannot be changed.
  const { provider } = createDnsDeps({ ...foundation, clock: systemClock })
  const log = recordingLog(logged)
  const deps: DnsDeps = { ...createDnsDeps({ ...foundation, log }), provider, resolver, random: () => 0.5 }
  return {
    deps,
    server,
    recursor,
    clock,
    logged,
    env,
    async account(userId, more = {}) {
      const credentials: DnsCredentials = {
        provider: 'rfc2136',
        credentials: {
          server: `127.0.0.1:${server.port}`,
          key_name: server.key.name,
          key_algorithm: server.key.algorithm,
          key_secret: server.key.secret,
          ...more,
        },
      }
      const now = clock.now()
      const _id = `dns_${userId}`
      const account: DnsAccountDoc = {
        _id,
        user_id: userId,
        provider: 'rfc2136',
        name: 'test',
        by_hand: true,
        sealed: sealCredentials(deps.secrets, _id, credentials),
        tested: { at: now, ok: true, zones: [] },
        created_at: now,
        updated_at: now,
      }
      await insertDnsAccount(deps.db, account)
      return account
    },
    async claim(userId, name, change = {}) {
      const domain = await newDomain(deps, userId, name)
      await insertDomain(deps.db, domain)
      return (await updateDomain(deps.db, domain._id, change)) ?? domain
    },
    async domain(id) {
      const found = await findDomainById(deps.db, id)
      if (!found) throw new Error(`no domain ${id}`)
      return found
    },
    async stop() {
      await mongo.stop()
      await recursor.stop()
      await server.stop()
    },
  }
}

function recordingLog(lines: string[]): Log {
  const write = (fields: object, message: string) => {
    lines.push(
      JSON.stringify({ ...fields, message }, (_, value) =>
        value instanceof Error ? `${value.name}: ${value.message}` : value,
      ),
    )
  }
  const log: Log = { debug: write, info: write, warn: write, error: write }
  return log
}
