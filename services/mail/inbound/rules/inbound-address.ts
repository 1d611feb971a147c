/**
 * The addresses that take mail: return paths, those for complaints, for unsubscribing and for reports about domains, and
 * the roles of BOUNCE_DOMAIN (ADR 88).
 */
import { domainOf } from '../../message/address.ts'
import { domainOfToken, type Mac, readReportAddress } from '../../message/report-address.ts'
import { type ReturnPathMac, readReturnPathToken } from '../../message/return-path.ts'

/** What an address is for; `process-inbound.ts` has the handler of each kind. */
export type AddressKind = 'return_path' | 'feedback' | 'unsubscribe' | 'domain_report' | 'role'

/** An address that takes mail. `key` bounds how many messages are kept for it. */
export type InboundAddress =
  | { kind: 'return_path' | 'feedback' | 'unsubscribe'; key: string; messageId: string; recipient: number }
  | { kind: 'domain_report'; key: string; address: string }
  | { kind: 'role'; key: string }

/** A valid address, or why mail to it is refused. */
export type AddressResult = InboundAddress | { refused: 'unknown' | 'expired' }

/** What reading addresses depends on. */
export interface AddressContext {
  /** BOUNCE_DOMAIN. */
  bounceDomain: string
  now: Date
  macs: readonly ReturnPathMac[]
  /** For addresses that take reports about domains. */
  reportMac: Mac
}

/** Names at BOUNCE_DOMAIN without a token. A new kind of mail is a row here, and one in the handlers and limits. */
const NAMES: ReadonlyMap<string, 'role'> = new Map([
  ['postmaster', 'role'],
  ['abuse', 'role'],
])

/** Before the token of a return path: `feedback+` takes complaints (RFC 9477), `unsubscribe+` any mail (RFC 2369). */
const PREFIX = /^(?<kind>feedback|unsubscribe)\+/i
/** Octets that are kept of a message: reports have everything of interest before the copy of the original. */
const REPORT_OCTETS = 2 * 1024 * 1024
/** The attachment of a report about a domain is what matters. */
const DOMAIN_REPORT_OCTETS = 10 * 1024 * 1024

/** How much is kept of one message, in octets, and how many messages of one key, within `perMs`. */
export const LIMITS: Readonly<Record<AddressKind, { octets: number; messages: number; perMs: number }>> = {
  return_path: { octets: REPORT_OCTETS, messages: 20, perMs: 30 * 86_400_000 },
  feedback: { octets: REPORT_OCTETS, messages: 20, perMs: 30 * 86_400_000 },
  unsubscribe: { octets: 4_096, messages: 20, perMs: 30 * 86_400_000 },
  domain_report: { octets: DOMAIN_REPORT_OCTETS, messages: 120, perMs: 3_600_000 },
  role: { octets: REPORT_OCTETS, messages: 1_000, perMs: 3_600_000 },
}

/** Reads an envelope recipient. Letters of any case mean the same. */
export function readInboundAddress(address: string, context: AddressContext): AddressResult {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, Math.max(at, 0))
  const host = domainOf(address).toLowerCase()
  const isOurs = host === context.bounceDomain
  const name = isOurs ? NAMES.get(local.toLowerCase()) : undefined
  if (name) return { kind: name, key: name }
  const report = readReportAddress(address, context.bounceDomain)
  const domain = report && domainOfToken(report.kind, report.token, context.reportMac)
  if (report && domain !== undefined)
    return { kind: 'domain_report', key: `${report.kind} ${domain}`, address: address.toLowerCase() }
  const prefix = PREFIX.exec(local)?.groups?.kind?.toLowerCase()
  const token = prefix === undefined ? local : local.slice(prefix.length + 1)
  const read = readReturnPathToken(token, host, context.now, context.macs)
  if (read?.kind === 'expired') return { refused: 'expired' }
  if (read?.kind !== 'valid') return { refused: 'unknown' }
  const { messageId, recipient } = read
  const kind = prefix === 'feedback' || prefix === 'unsubscribe' ? prefix : 'return_path'
  return { kind, key: `${messageId}.${recipient}`, messageId, recipient }
}
