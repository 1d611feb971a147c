/** What a caller of the mail API must be allowed to do: scopes of tokens and the access of operations. */

/** What a token may be allowed to do; a session may do everything of its account. */
export const SCOPES = [
  'emails:send',
  'emails:read',
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
] as const

/** One scope of a token. */
export type Scope = (typeof SCOPES)[number]

/**
 * Who may call an operation: an account (by session, or by a token with the scope, and with `also` where that is set), an
 * account's session alone, or an admin's session. `legacy` marks the operations that the configured API_TOKEN opens too.
 */
export type Access =
  | { kind: 'account'; scope: Scope; also?: Scope; legacy?: true }
  | { kind: 'session' }
  | { kind: 'admin' }

/** The scopes that a token needs for an operation of an account. */
export function scopesFor({ scope, also }: Extract<Access, { kind: 'account' }>): Scope[] {
  return also === undefined ? [scope] : [scope, also]
}
