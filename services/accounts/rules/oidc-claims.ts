/** What the claims of a login provider (OpenID Connect Core 1.0, section 5.1) say about a person. */
import { email } from './email.ts'
import { username } from './username.ts'

/** Claims of an ID token, or of the UserInfo endpoint. */
export type Claims = Readonly<Record<string, unknown>>

/** A person of the provider. */
export interface OidcPerson {
  issuer: string
  subject: string
  /** Case-folded; undefined without an address that can be one. */
  email: string | undefined
  /** Whether the provider vouches for the address. */
  isVerified: boolean
  /** User names that the person may have here, best first. */
  usernames: readonly string[]
}

/** Which claim has the roles, and which of its values make an admin. */
export interface RoleRule {
  claim: string
  adminValues: readonly string[]
}

/** The person behind the claims. Some providers write booleans as text. */
export function readPerson(claims: Claims): OidcPerson {
  const address = email.safeParse(claims.email)
  const verified = claims.email_verified
  const names = [claims.preferred_username, claims.email, localPart(claims.email), claims.nickname]
  return {
    issuer: String(claims.iss),
    subject: String(claims.sub),
    email: address.success ? address.data : undefined,
    isVerified: verified === true || verified === 'true',
    usernames: [...new Set(names.flatMap(name => username.safeParse(name).data ?? []))],
  }
}

/** The value of a claim: of one with this very name, else by the path that its dots make. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}

/** The role by the claims: `admin` when the claim is, or lists, one of the values. */
export function roleBy(claims: Claims, { claim, adminValues }: RoleRule): 'admin' | 'user' {
  const values = [claimAt(claims, claim)].flat()
  return values.some(
    value => ['string', 'number', 'boolean'].includes(typeof value) && adminValues.includes(`${value}`),
  )
    ? 'admin'
    : 'user'
}

function localPart(address: unknown): string | undefined {
  return typeof address === 'string' ? address.split('@')[0] : undefined
}
