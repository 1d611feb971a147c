/**
 * Where reports about a domain go: an address or a URL with a token of the domain, so that a report counts for no other
 * domain and nobody can address a domain whose record they have not seen. Tokens survive mail systems that change the case.
 */
import { createHash, timingSafeEqual } from 'node:crypto'

/** The two kinds of reports. */
export type ReportKind = 'dmarc' | 'tls'

/** Computes a MAC of a value with the current key, and with the previous one while it is configured. */
export type Mac = (value: string) => readonly Buffer[]

/** A path below APP_BASE_URL that takes reports; the token follows. */
export const REPORTS_PATH = '/reports'

const LOCAL_PARTS = { dmarc: 'dmarc', tls: 'tlsrpt' } as const
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_PREFIX = 'dom_'
/** 100 bits. */
const SIGNATURE_CHARS = 20
const TOKEN = /^[\da-z]{1,32}$/

/** The token of a domain for one kind of reports. `domainId` is that of the domain's document. */
export function reportToken(kind: ReportKind, domainId: string, mac: Mac): string {
  const id = domainId.slice(ID_PREFIX.length)
  return id + signatures(kind, id, mac)[0]
}

/** The id of the domain of a token; undefined for a token that was not made for this kind with a current key. */
export function domainOfToken(kind: ReportKind, token: string, mac: Mac): string | undefined {
  const lower = token.toLowerCase()
  const id = lower.slice(0, -SIGNATURE_CHARS)
  const given = lower.slice(-SIGNATURE_CHARS)
  if (!TOKEN.test(id)) return undefined
  return signatures(kind, id, mac).some(expected => isSame(given, expected)) ? ID_PREFIX + id : undefined
}

/** The URL that takes reports of a domain; `baseUrl` is APP_BASE_URL. */
export function reportUrl(kind: ReportKind, token: string, baseUrl: string): string {
  return `${baseUrl}${REPORTS_PATH}/${kind}/${token}`
}

/** `dmarc+<token>@<mail domain>` or `tlsrpt+<token>@<mail domain>`. */
export function reportAddress(kind: ReportKind, token: string, mailDomain: string): string {
  return `${LOCAL_PARTS[kind]}+${token}@${mailDomain}`
}

/** Kind and token of an address; undefined for an address of another form or of another mail domain. */
export function readReportAddress(
  address: string,
  mailDomain: string,
): { kind: ReportKind; token: string } | undefined {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1).toLowerCase() !== mailDomain.toLowerCase()) return undefined
  const [, name, token = ''] = /^(dmarc|tlsrpt)\+([\da-z]{1,57})$/.exec(address.slice(0, at).toLowerCase()) ?? []
  if (name === undefined) return undefined
  return { kind: name === LOCAL_PARTS.tls ? 'tls' : 'dmarc', token }
}

function signatures(kind: ReportKind, id: string, mac: Mac): string[] {
  return mac(`${kind} ${id}`).map(bytes =>
    [...bytes.subarray(0, SIGNATURE_CHARS)].map(byte => ALPHABET[byte % 32]).join(''),
  )
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
