/** What a caller of the mail API must be allowed to do: scopes of tokens and the access of operations. */

import { ACCOUNT_ROLES, type AccountRole, includesRole } from '../../../accounts/members/rules/member-role.ts'

/** What a token may be allowed to do; a session may do everything of its account. */
export const SCOPES = [
  'emails:send',
  'emails:read',
  'inbox:read',
  'inbox:write',
  'domains:read',
  'domains:write',
  'dns:write',
  'smtp:read',
  'smtp:write',
  'tokens:read',
  'tokens:write',
  'suppressions:read',
  'suppressions:write',
  'templates:read',
  'templates:write',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
  // Reading by programs of the Model Context Protocol, and sending by them: no other scope opens /mcp.
  'mcp',
  'mcp:send',
] as const

/** One scope of a token. */
export type Scope = (typeof SCOPES)[number]

/**
 * The lowest role that has a scope, for operations of sessions, and for tokens that members make. Viewers read what has no
 * secret. The audit log is for admins: it has the addresses from which the owner logs in.
 */
export const ROLE_OF_SCOPE: Readonly<Record<Scope, AccountRole>> = {
  'emails:send': 'developer',
  'emails:read': 'viewer',
  'inbox:read': 'viewer',
  'inbox:write': 'developer',
  'domains:read': 'viewer',
  'domains:write': 'admin',
  'dns:write': 'admin',
  'smtp:read': 'viewer',
  'smtp:write': 'developer',
  'tokens:read': 'viewer',
  'tokens:write': 'developer',
  'suppressions:read': 'viewer',
  'suppressions:write': 'developer',
  'templates:read': 'viewer',
  'templates:write': 'developer',
  'audit:read': 'admin',
  'webhooks:read': 'viewer',
  'webhooks:write': 'developer',
  mcp: 'viewer',
  'mcp:send': 'developer',
}

/** The scopes that a role has. */
export function scopesOfRole(role: AccountRole): readonly Scope[] {
  return SCOPES.filter(scope => includesRole(role, ROLE_OF_SCOPE[scope]))
}

/**
 * Who may call an operation: `account`: a session whose user has the scope by its role in the account, or a token with the
 * scope, and with `also` where that is set; `member`: such a session with at least this role; `session`: every session,
 * for its own user, in whichever account it works; `admin`: the session of an admin of the installation. `legacy` marks
 * the operations that the configured API_TOKEN opens too.
 */
export type Access =
  | { kind: 'account'; scope: Scope; also?: Scope; legacy?: true }
  | { kind: 'member'; role: AccountRole }
  | { kind: 'session' }
  | { kind: 'admin' }

/** The lowest role in the account that opens an operation to a session. */
export function roleFor(access: Extract<Access, { kind: 'account' | 'member' }>): AccountRole {
  if (access.kind === 'member') return access.role
  const roles = scopesFor(access).map(scope => ROLE_OF_SCOPE[scope])
  return ACCOUNT_ROLES.findLast(role => roles.includes(role)) ?? 'owner'
}

/** The scopes that a token needs for an operation of an account. */
export function scopesFor({ scope, also }: Extract<Access, { kind: 'account' }>): Scope[] {
  return also === undefined ? [scope] : [scope, also]
}
