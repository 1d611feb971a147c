/**
 * Return-path tokens: the local part of the envelope sender names a recipient of a message, so that a report about the
 * delivery finds it whatever its text claims (variable envelope return path, VERP). A token is one word of lower-case
 * base 32 that survives servers which change the case of local parts:
 *
 * | characters | content |
 * |---|---|
 * | 1 | version, `b` |
 * | 26 | the message's id without its prefix |
 * | 3 | number of the recipient |
 * | 3 | last day on which the token is valid, in days since 1970 |
 * | 16 | first 80 bits of an HMAC over the rest and the domain |
 */
import { timingSafeEqual } from 'node:crypto'
import { DAY_MS } from '../../platform/durations.ts'

/** A recipient of a message, with the last moment at which its delivery may be attempted. */
export interface ReturnPathRecipient {
  messageId: string
  /** Index in the message's `rcpts`. */
  recipient: number
  expiresAt: Date
}

/** The HMAC of a text under the installation's key for return paths. */
export type ReturnPathMac = (text: string) => Buffer

/** What a token says. `expired` and `forged` are refused; a text that is no token at all is undefined. */
export type ReadToken = { kind: 'valid'; messageId: string; recipient: number } | { kind: 'expired' | 'forged' }

/** Reports may come this long after the last attempt: message logs are kept for 30 days by default. */
const VALID_MS = 30 * DAY_MS
/** Crockford's base 32 in lower case, as in ids; those of a cell also have a `u`. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PREFIX = 'em_'
const TOKEN =
  /^b(?<id>[0-9a-hjkmnp-tv-z]{23}[0-9a-hjkmnp-z][0-9a-hjkmnp-tv-z]{2})(?<recipient>[0-9a-hjkmnp-tv-z]{3})(?<day>[0-9a-hjkmnp-tv-z]{3})(?<mac>[0-9a-hjkmnp-tv-z]{16})$/
/** RFC 5321 section 4.5.3.1.3: octets of a path without its brackets. */
const PATH_OCTETS = 254
/** Octets of a token, of a prefix before it (`feedback+`) and of the at sign. */
const LOCAL_OCTETS = 49 + 9 + 1
/** Largest number of three digits. */
const MOST = 32 ** 3 - 1

/** The label of a domain's own return path. */
const LABEL = 'bounce'

/** The host of a domain's own return path; undefined for a domain that is too long for one. */
export function returnPathHost(domain: string): string | undefined {
  const host = `${LABEL}.${domain}`
  return host.length <= PATH_OCTETS - LOCAL_OCTETS ? host : undefined
}

/**
 * The token of a recipient for addresses at `host`; undefined for ids of another form than those of messages. Repeated
 * attempts of a delivery get the same token, which greylisting receivers expect.
 */
export function returnPathToken(of: ReturnPathRecipient, host: string, mac: ReturnPathMac): string | undefined {
  const day = Math.floor((of.expiresAt.getTime() + VALID_MS) / DAY_MS)
  if (!of.messageId.startsWith(PREFIX) || of.recipient > MOST || day > MOST) return undefined
  const named = `b${of.messageId.slice(PREFIX.length)}${toBase32(of.recipient, 3)}${toBase32(day, 3)}`
  const token = named + macOf(named, host, mac)
  return TOKEN.test(token) ? token : undefined
}

/**
 * Reads the token of an address at `host`, in any case of letters. `macs`: of the current key, and of the previous one
 * while it is configured. A token is valid at the host that it was made for only.
 */
export function readReturnPathToken(
  written: string,
  host: string,
  now: Date,
  macs: readonly ReturnPathMac[],
): ReadToken | undefined {
  const token = written.toLowerCase()
  const { id, recipient, day, mac } = TOKEN.exec(token)?.groups ?? {}
  if (!id || !recipient || !day || !mac) return undefined
  const named = token.slice(0, -mac.length)
  const isOurs = macs.some(key => timingSafeEqual(Buffer.from(macOf(named, host.toLowerCase(), key)), Buffer.from(mac)))
  if (!isOurs) return { kind: 'forged' }
  if (now.getTime() >= (fromBase32(day) + 1) * DAY_MS) return { kind: 'expired' }
  return { kind: 'valid', messageId: PREFIX + id, recipient: fromBase32(recipient) }
}

/** Sixteen characters: 80 bits. */
function macOf(named: string, host: string, mac: ReturnPathMac): string {
  const octets = mac(`${named}@${host}`)
  return toBase32(octets.readUIntBE(0, 5), 8) + toBase32(octets.readUIntBE(5, 5), 8)
}

function toBase32(value: number, digits: number): string {
  let text = ''
  for (let rest = value, i = 0; i < digits; i++, rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text
  return text
}

function fromBase32(text: string): number {
  return [...text].reduce((value, digit) => value * 32 + ALPHABET.indexOf(digit), 0)
}
