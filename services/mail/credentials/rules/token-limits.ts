/** What a token may be allowed, and what a token may hand on to another. */
import ipaddr from 'ipaddr.js'

/** The limits of a token; empty lists limit nothing. */
export interface TokenLimits {
  /** What a `test` token sends goes nowhere. */
  mode: 'live' | 'test'
  scopes: readonly string[]
  /** Domain names it may send from. */
  domains: readonly string[]
  allowedCidrs: readonly string[]
  expiresAt: Date | undefined
}

/** A fault of one field of the request. */
export interface LimitFault {
  field: 'mode' | 'scopes' | 'domains' | 'allowed_cidrs' | 'expires_at'
  message: string
}

/** Scopes that a limit to domains can hold; with any other one, such as making logins, the token would get around it. */
const DOMAIN_SCOPES: readonly string[] = ['emails:send', 'emails:read']

/** True when a test token may not have the scope: what an SMTP login sends goes out. */
export function sendsForReal(mode: TokenLimits['mode'], scope: string): boolean {
  return mode === 'test' && scope === 'smtp:write'
}

/** What is wrong with these limits in themselves. */
export function limitFaults(asked: TokenLimits, now: Date): LimitFault[] {
  const faults: LimitFault[] = []
  const wide = asked.scopes.find(scope => !DOMAIN_SCOPES.includes(scope))
  if (asked.domains.length > 0 && wide !== undefined)
    faults.push({ field: 'scopes', message: `A token for certain domains cannot have the scope ${wide}.` })
  const real = asked.scopes.find(scope => sendsForReal(asked.mode, scope))
  if (real !== undefined) faults.push({ field: 'scopes', message: `A test token cannot have the scope ${real}.` })
  if (asked.expiresAt !== undefined && asked.expiresAt <= now)
    faults.push({ field: 'expires_at', message: 'This time is over.' })
  return faults
}

/** What a token that makes another one would hand on without having it. */
export function excess(asked: TokenLimits, own: TokenLimits): LimitFault[] {
  const faults: LimitFault[] = []
  if (own.mode === 'test' && asked.mode === 'live')
    faults.push({ field: 'mode', message: 'The token that asks is a test token itself.' })
  const scope = asked.scopes.find(name => !own.scopes.includes(name))
  if (scope !== undefined)
    faults.push({ field: 'scopes', message: `The token that asks lacks the scope ${scope} itself.` })
  faults.push(...excessOfNetworks(asked.allowedCidrs, own))
  if (own.expiresAt !== undefined && (asked.expiresAt === undefined || asked.expiresAt > own.expiresAt))
    faults.push({ field: 'expires_at', message: 'The token that asks expires earlier itself.' })
  return faults
}

/** What an SMTP login would have without the token that asks for its password having it: more networks, and no end. */
export function excessOfLogin(networks: readonly string[], own: Ways): LimitFault[] {
  const faults = excessOfNetworks(networks, own)
  if (own.expiresAt !== undefined)
    faults.push({ field: 'expires_at', message: 'The token that asks expires, and an SMTP login does not.' })
  return faults
}

/** From where and until when a token works. */
export type Ways = Pick<TokenLimits, 'allowedCidrs' | 'expiresAt'>

/** Networks that lie outside of the token's own; no networks are all there are. */
export function excessOfNetworks(asked: readonly string[], own: Pick<Ways, 'allowedCidrs'>): LimitFault[] {
  const inside = asked.length > 0 && asked.every(network => within(network, own.allowedCidrs))
  if (own.allowedCidrs.length === 0 || inside) return []
  return [{ field: 'allowed_cidrs', message: 'The token that asks is limited to fewer networks itself.' }]
}

/** True when the network (or address) lies in one of the others. */
function within(network: string, others: readonly string[]): boolean {
  const [address, bits] = parseNetwork(network)
  return others.some(other => {
    const [base, baseBits] = parseNetwork(other)
    return base.kind() === address.kind() && baseBits <= bits && address.match(base, baseBits)
  })
}

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
