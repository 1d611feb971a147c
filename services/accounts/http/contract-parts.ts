/** What the contracts of this folder share. */
import { z } from 'zod'
import type { AccountRole } from '../members/rules/member-role.ts'

/**
 * Permitted callers: a user's session, in whichever account it works; a session with a role in its account; an admin's
 * session; or a token that may read the audit log.
 */
export type AccountsAccess =
  | { kind: 'session' }
  | { kind: 'member'; role: AccountRole }
  | { kind: 'admin' }
  | { kind: 'account'; scope: 'audit:read' }

export const ANYBODY = { kind: 'public' } as const
export const SESSION: AccountsAccess = { kind: 'session' }
export const ADMIN: AccountsAccess = { kind: 'admin' }
export const AUDIT: AccountsAccess = { kind: 'account', scope: 'audit:read' }

export const time = z.iso.datetime()
export const userParams = z.strictObject({ id: z.string().min(1).max(128) })
/** The token of a link in a mail. */
export const linkToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/)
