/**
 * Checks the reverse DNS names and blocklist entries of the sending addresses. The result is cached, because blocklists
 * limit queries.
 */

import type { DnsDeps } from '../dns/dns-context.ts'
import type { DnsSession } from '../dns/dns-session.ts'
import {
  evaluateListing,
  evaluatePtr,
  type ListVerdict,
  listName,
  type PtrVerdict,
  type Standing,
  standingOf,
} from './rules/sending-address.ts'

/** One sending address. */
export interface CheckedAddress {
  address: string
  status: Standing
  ptr: PtrVerdict
  blocklists: ListVerdict[]
}

/** All of them at one time. */
export interface CheckedAddresses {
  at: Date
  addresses: CheckedAddress[]
}

/** How long a result is cached, and how long when a fresh one is requested. */
const KEPT_MS = 600_000
const LEAST_MS = 10_000

/** Makes the check of SENDING_IP; `fresh` checks again unless the last check is more recent than {@link LEAST_MS}. */
export function addressCheck({ resolver, config, clock }: Pick<DnsDeps, 'resolver' | 'config' | 'clock'>) {
  let last: { at: Date; addresses: Promise<CheckedAddress[]> } | undefined
  return async (fresh: boolean): Promise<CheckedAddresses> => {
    const now = clock.now()
    if (!last || now.getTime() - last.at.getTime() > (fresh ? LEAST_MS : KEPT_MS)) {
      const session = resolver.session()
      const look = (ip: string) => checkAddress(session, ip, config.MAIL_HOSTNAME, config.BLOCKLISTS)
      last = { at: now, addresses: Promise.all(config.SENDING_IP.map(look)) }
    }
    return { at: last.at, addresses: await last.addresses }
  }
}

async function checkAddress(
  { lookup }: DnsSession,
  address: string,
  hostname: string,
  zones: readonly string[],
): Promise<CheckedAddress> {
  const [ptr, back, blocklists] = await Promise.all([
    lookup(listName(address, address.includes(':') ? 'ip6.arpa' : 'in-addr.arpa'), 'PTR'),
    lookup(hostname, address.includes(':') ? 'AAAA' : 'A'),
    Promise.all(
      zones.map(async zone => {
        const name = listName(address, zone)
        const answer = await lookup(name, 'A')
        return evaluateListing(zone, answer, answer.kind === 'found' ? await lookup(name, 'TXT') : undefined)
      }),
    ),
  ])
  const verdict = evaluatePtr(address, hostname, ptr, new Map([[hostname.toLowerCase(), back]]))
  return { address, status: standingOf(verdict, blocklists), ptr: verdict, blocklists }
}
