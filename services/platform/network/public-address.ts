/** Which addresses lie on the public internet: what users name may lead nowhere else. */
import ipaddr from 'ipaddr.js'

/** Benchmark and documentation ranges that ipaddr.js counts as unicast or that newer RFCs added. */
const MORE_PRIVATE = [
  '198.18.0.0/15',
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001:db8::/32',
  '3fff::/20',
].map(range => ipaddr.parseCIDR(range))

/** The only allocated global unicast IPv6 block (RFC 4291 2.4, IANA); `::127.0.0.1` and future blocks are outside. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/** True for an address on the public internet; loopback, private, link-local, documentation and reserved ones are not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address) // an IPv4-mapped IPv6 address counts as its IPv4 address
  if (parsed.range() !== 'unicast') return false
  if (parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_IPV6)) return false
  return !MORE_PRIVATE.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits))
}

/** True for an address of this machine: 127.0.0.0/8 and ::1, also IPv4-mapped. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}
