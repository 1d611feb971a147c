/** The PROXY protocol, versions 1 and 2: the origin of a connection, reported by a load balancer in front. */
import ipaddr from 'ipaddr.js'

/** The first octets of a connection. */
export type ProxyHeader =
  /** Not all there yet. */
  | { kind: 'more' }
  /** Not a header, or one that cannot be read. */
  | { kind: 'error'; reason: string }
  /** `length` octets of header; without `source` the balancer speaks for itself (health checks). */
  | { kind: 'header'; length: number; source?: { address: string; port: number } }

/** First octets of version 2. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const V1_LONGEST = 107
/** Addresses and type-length-value fields; what balancers send stays below a kilobyte. */
const V2_LONGEST = 4096

/** Reads the header at the start of `octets` (haproxy, doc/proxy-protocol.txt). */
export function readProxyHeader(octets: Buffer): ProxyHeader {
  const signature = octets.subarray(0, SIGNATURE.length)
  if (signature.equals(SIGNATURE.subarray(0, signature.length)))
    return octets.length < 16 ? { kind: 'more' } : readVersion2(octets)
  const start = octets.toString('latin1', 0, 6)
  if (start === 'PROXY '.slice(0, start.length)) return readVersion1(octets)
  return { kind: 'error', reason: 'no PROXY header' }
}

function readVersion1(octets: Buffer): ProxyHeader {
  const text = octets.toString('latin1', 0, V1_LONGEST)
  const end = text.indexOf('\r\n')
  if (end < 0) return text.length < V1_LONGEST ? { kind: 'more' } : { kind: 'error', reason: 'the header has no end' }
  const length = end + 2
  const [, family, address = '', , port = ''] = text.slice(0, end).split(' ')
  if (family === 'UNKNOWN') return { kind: 'header', length }
  const fits = family === 'TCP4' ? ipaddr.IPv4.isValidFourPartDecimal(address) : ipaddr.IPv6.isValid(address)
  if ((family !== 'TCP4' && family !== 'TCP6') || !fits || !isPort(port))
    return { kind: 'error', reason: 'the header of version 1 is not valid' }
  return { kind: 'header', length, source: { address: plain(address), port: Number(port) } }
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}

function readVersion2(octets: Buffer): ProxyHeader {
  const [command = 0, family = 0] = octets.subarray(12, 14)
  const length = 16 + octets.readUInt16BE(14)
  if (command >> 4 !== 2 || (command & 15) > 1 || length > V2_LONGEST)
    return { kind: 'error', reason: 'the header of version 2 is not valid' }
  if (octets.length < length) return { kind: 'more' }
  if ((command & 15) === 0) return { kind: 'header', length }
  const octetsOfAddress = { 17: 4, 33: 16 }[family]
  if (octetsOfAddress === undefined) return { kind: 'header', length } // another family: the balancer's own address counts
  if (length < 16 + octetsOfAddress * 2 + 4) return { kind: 'error', reason: 'the header of version 2 is too short' }
  const address = ipaddr.fromByteArray([...octets.subarray(16, 16 + octetsOfAddress)]).toString()
  return {
    kind: 'header',
    length,
    source: { address: plain(address), port: octets.readUInt16BE(16 + octetsOfAddress * 2) },
  }
}

/** IPv4 addresses inside IPv6 are the same client as the bare ones. */
function plain(address: string): string {
  return ipaddr.process(address).toString()
}
