/** The form of addresses and networks that people write: read by everybody in the same way. */
import ipaddr from 'ipaddr.js'

/** The entry of TRUSTED_PROXIES that means {@link PRIVATE_NETWORKS}, for the peer of a connection alone. */
export const PRIVATE = 'private'

/** Loopback, link-local, RFC 1918, RFC 6598 (CGNAT) and RFC 4193. */
const PRIVATE_NETWORKS = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
] as const

/**
 * True for an IPv4 address of four decimal numbers, or an IPv6 address without a zone. Short and octal forms are none:
 * `10` is 0.0.0.10, and `010.0.0.1` is 8.0.0.1 for some and 10.0.0.1 for others.
 */
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (/^[0-9a-f:.]+$/i.test(text) && ipaddr.IPv6.isValid(text))
}

/** The canonical form of an address, also used for DNS results: `2001:DB8:0::1` is `2001:db8::1`. */
export function canonicalAddress(address: string): string {
  return ipaddr.process(address).toString()
}

/** True for an address, or one with the number of its leading bits, as in 192.0.2.0/24. */
export function isNetwork(text: string): boolean {
  const [base = '', bits] = text.split('/', 2)
  if (bits === undefined || !isAddress(base)) return isAddress(text)
  if (!ipaddr.isValidCIDR(text)) return false
  // Clients are identified by their IPv4 address, so a network of mapped ones would match none.
  const [address] = ipaddr.parseCIDR(text)
  return !(address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress())
}

/** True when the address is in the network (`10.0.0.0/8`, or a single address). */
export function inNetwork(address: string, network: string): boolean {
  const parsed = ipaddr.process(address)
  const [base, bits] = ipaddr.isValidCIDR(network) ? ipaddr.parseCIDR(network) : [ipaddr.process(network), undefined]
  if (parsed.kind() !== base.kind()) return false
  return parsed.match(base, bits ?? (base.kind() === 'ipv4' ? 32 : 128))
}

/** The networks that TRUSTED_PROXIES names, those of `private` one by one. */
export function proxyNetworks(trusted: readonly string[]): string[] {
  return trusted.flatMap(entry => (entry === PRIVATE ? PRIVATE_NETWORKS : entry))
}

/** True when forwarding headers of this peer count; `trusted` is TRUSTED_PROXIES. */
export function isTrustedProxy(peer: string, trusted: readonly string[]): boolean {
  return ipaddr.isValid(peer) && proxyNetworks(trusted).some(network => inNetwork(peer, network))
}

/**
 * The address of a client: the peer, or the hops of trusted proxies in X-Forwarded-For, read from the last one.
 * `private` trusts the peer alone: a client in the same private network may have forged the hops before its own.
 */
export function resolveClientAddress(peer: string, hops: readonly string[], trusted: readonly string[]): string {
  const named = trusted.filter(entry => entry !== PRIVATE)
  let address = peer
  for (const [index, hop] of hops.toReversed().entries()) {
    if (!isTrustedProxy(address, index === 0 ? trusted : named) || !ipaddr.isValid(hop)) break
    address = ipaddr.process(hop).toString()
  }
  return address
}

/** What counts as one client: an IPv4 address, or the /64 of an IPv6 one, all of which its owner has (RFC 6177). */
export function clientNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()
}
