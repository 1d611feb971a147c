/** The addresses that take mail: return paths, addresses for complaints, and the roles of BOUNCE_DOMAIN (ADR 88). */
import { domainOf } from '../../message/address.ts'
import { type ReturnPathMac, readReturnPathToken } from '../../message/return-path.ts'

/** What an address is for; `process-inbound.ts` has the handler of each kind. */
export type AddressKind = 'return_path' | 'feedback' | 'role'

/** An address that takes mail. `key` bounds how many messages are kept for it. */
export type InboundAddress =
  | { kind: 'return_path' | 'feedback'; key: string; messageId: string; recipient: number }
  | { kind: 'role'; key: string }

/** A valid address, or why mail to it is refused. */
export type AddressResult = InboundAddress | { refused: 'unknown' | 'expired' }

/** What reading addresses depends on. */
export interface AddressContext {
  /** BOUNCE_DOMAIN. */
  bounceDomain: string
  now: Date
  macs: readonly ReturnPathMac[]
}

/** Names at BOUNCE_DOMAIN without a token. A new kind of mail is a row here, and one in the handlers and limits. */
const NAMES: ReadonlyMap<string, 'role'> = new Map([
  ['postmaster', 'role'],
  ['abuse', 'role'],
])

/** `feedback+<token>@BOUNCE_DOMAIN` takes complaints (RFC 9477). */
const FEEDBACK = /^feedback\+/i
/** Octets that are kept of a message: reports have everything of interest before the copy of the original. */
const REPORT_OCTETS = 2 * 1024 * 1024

/** How much is kept of one message, in octets, and how many messages of one key, within `perMs`. */
export const LIMITS: Readonly<Record<AddressKind, { octets: number; messages: number; perMs: number }>> = {
  return_path: { octets: REPORT_OCTETS, messages: 20, perMs: 30 * 86_400_000 },
  feedback: { octets: REPORT_OCTETS, messages: 20, perMs: 30 * 86_400_000 },
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
  const isFeedback = isOurs && FEEDBACK.test(local)
  const token = isFeedback ? local.replace(FEEDBACK, '') : local
  const read = readReturnPathToken(token, host, context.now, context.macs)
  if (read?.kind === 'expired') return { refused: 'expired' }
  if (read?.kind !== 'valid') return { refused: 'unknown' }
  const { messageId, recipient } = read
  return { kind: isFeedback ? 'feedback' : 'return_path', key: `${messageId}.${recipient}`, messageId, recipient }
}
