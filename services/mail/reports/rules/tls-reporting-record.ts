/** Where a domain wants TLS reports: the TXT record at `_smtp._tls` (RFC 8460 section 3), read as strictly as its grammar. */
import { needsSmtpUtf8, normaliseEmail } from '../../message/address.ts'

/** One place that gets the report. */
export type ReportDestination = { kind: 'mail'; address: string } | { kind: 'https'; url: string }

/** Destinations of a record that are used, in its order; further ones get nothing. */
export const MAX_DESTINATIONS = 5
/** Longest record, in characters: a longer one is ignored. Real ones are shorter than 300. */
const MAX_RECORD = 8_192
const MAX_URI = 2_048

const VERSION = /^v=TLSRPTv1[ \t]*;/
const BLANKS = /^[ \t]+|[ \t]+$/g
const EXTENSION = /^[a-z\d][\w.-]{0,31}=[\x21-\x3a\x3c\x3e-\x7e]+$/i
/** A URI of any scheme; commas, semicolons and exclamation marks in it are encoded. */
const URI = /^[a-z][a-z\d+.-]*:[\w\-.~:/?#[\]@$&'()*+=%]+$/i

/**
 * The destinations in the TXT records of a name, each given as one text. Empty unless exactly one of the records is a
 * TLS reporting record and it is valid. Destinations of other schemes, and those that cannot be used, are left out.
 */
export function reportDestinationsOf(records: readonly string[]): ReportDestination[] {
  const [record, second] = records.filter(text => VERSION.test(text))
  if (record === undefined || second !== undefined || record.length > MAX_RECORD) return []
  const fields = record
    .split(';')
    .slice(1)
    .map(field => field.replaceAll(BLANKS, ''))
  if (fields.at(-1) === '') fields.pop()
  const uris =
    fields
      .find(field => field.startsWith('rua='))
      ?.slice('rua='.length)
      .split(/[ \t]*,[ \t]*/) ?? []
  const others = fields.filter(field => !field.startsWith('rua='))
  if (!uris.every(uri => URI.test(uri)) || !others.every(field => EXTENSION.test(field))) return []
  const found = uris.flatMap(uri => destinationOf(uri) ?? [])
  const distinct = new Map(found.map(destination => [destinationKey(destination), destination]))
  return [...distinct.values()].slice(0, MAX_DESTINATIONS)
}

/** Equal for equal destinations. */
export function destinationKey(destination: ReportDestination): string {
  return destination.kind === 'mail' ? `mailto:${destination.address}` : destination.url
}

function destinationOf(uri: string): ReportDestination | undefined {
  if (uri.length > MAX_URI) return undefined
  if (/^mailto:/i.test(uri)) return mailDestination(uri.slice('mailto:'.length))
  const url = URL.parse(uri)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  url.hash = ''
  return { kind: 'https', url: url.href }
}

/** One address; header fields that the URI asks for are left out. */
function mailDestination(written: string): ReportDestination | undefined {
  const address = normaliseEmail(decoded(written.split('?')[0] ?? ''))
  return address === undefined || needsSmtpUtf8(address) ? undefined : { kind: 'mail', address }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
