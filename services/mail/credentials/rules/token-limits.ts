/** Limits of a token, and the limits that it may grant to another. */
import ipaddr from 'ipaddr.js'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** The limits of a token; empty lists limit nothing. */
export interface TokenLimits {
  /** What a `test` token sends goes nowhere. */
  mode: 'live' | 'test'
  /** What it sends is captured; absent: no. */
  capture?: boolean | undefined
  scopes: readonly string[]
  /** Domain names it may send from. */
  domains: readonly string[]
  allowedCidrs: readonly string[]
  expiresAt: Date | undefined
}

/** The limits of whoever grants: a token, or with `byRole` a member of the account. */
export interface GrantingLimits extends TokenLimits {
  byRole?: true
}

/** An error of one field of the request. */
export interface LimitError {
  field: 'mode' | 'capture' | 'scopes' | 'domains' | 'allowed_cidrs' | 'expires_at'
  reason: Sentence
}

/** Scopes that a limit to domains can hold; with any other one, such as making logins, the token would get around it. */
const DOMAIN_SCOPES: readonly string[] = ['emails:send', 'emails:read', 'inbox:read', 'inbox:write']

/** True when a token that sends nothing out may not have the scope: what an SMTP login sends goes out. */
export function sendsForReal({ mode, capture }: Pick<TokenLimits, 'mode' | 'capture'>, scope: string): boolean {
  return (mode === 'test' || capture === true) && scope === 'smtp:write'
}

/** What is wrong with these limits in themselves. */
export function findLimitErrors(asked: TokenLimits, now: Date): LimitError[] {
  const errors: LimitError[] = []
  const wide = asked.scopes.find(scope => !DOMAIN_SCOPES.includes(scope))
  if (asked.domains.length > 0 && wide !== undefined)
    errors.push({ field: 'scopes', reason: sentence('field.scope_of_all_domains', { scope: wide }) })
  const real = asked.scopes.find(scope => sendsForReal(asked, scope))
  if (real !== undefined)
    errors.push({ field: 'scopes', reason: sentence('field.scope_of_live_token', { scope: real }) })
  if (asked.capture && asked.mode === 'test')
    errors.push({ field: 'capture', reason: sentence('field.capture_of_test') })
  if (asked.expiresAt !== undefined && asked.expiresAt <= now)
    errors.push({ field: 'expires_at', reason: sentence('field.time_past') })
  return errors
}

/** Requested limits beyond those of the granting token, or of the role in the account that grants. */
export function excess(asked: TokenLimits, own: GrantingLimits): LimitError[] {
  const errors: LimitError[] = []
  if (own.mode === 'test' && asked.mode === 'live')
    errors.push({ field: 'mode', reason: sentence('field.caller_is_test') })
  // A test token sends nothing at all.
  if (own.capture && !asked.capture && asked.mode === 'live')
    errors.push({ field: 'capture', reason: sentence('field.caller_captures') })
  const scope = asked.scopes.find(name => !own.scopes.includes(name))
  if (scope !== undefined) {
    const code = own.byRole ? 'field.role_lacks_scope' : 'field.caller_lacks_scope'
    errors.push({ field: 'scopes', reason: sentence(code, { scope }) })
  }
  errors.push(...excessOfNetworks(asked.allowedCidrs, own))
  if (own.expiresAt !== undefined && (asked.expiresAt === undefined || asked.expiresAt > own.expiresAt))
    errors.push({ field: 'expires_at', reason: sentence('field.caller_expires_earlier') })
  return errors
}

/** What an SMTP login would have without the token that asks for its password having it: more networks, and no end. */
export function excessOfLogin(networks: readonly string[], own: Ways): LimitError[] {
  const errors = excessOfNetworks(networks, own)
  if (own.expiresAt !== undefined) errors.push({ field: 'expires_at', reason: sentence('field.caller_expires') })
  return errors
}

/** From where and until when a token works. */
export type Ways = Pick<TokenLimits, 'allowedCidrs' | 'expiresAt'>

/** Networks that lie outside of the token's own; no networks are all there are. */
export function excessOfNetworks(asked: readonly string[], own: Pick<Ways, 'allowedCidrs'>): LimitError[] {
  const inside = asked.length > 0 && asked.every(network => within(network, own.allowedCidrs))
  if (own.allowedCidrs.length === 0 || inside) return []
  return [{ field: 'allowed_cidrs', reason: sentence('field.caller_networks') }]
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
