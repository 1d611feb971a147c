/** API tokens of an account: made, rotated, revoked. The value exists only in the answer that creates it. */

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { normaliseDomain } from '../domains/rules/domain-name.ts'
import { findDomain } from '../domains/store/domains.ts'
import { type ActingResource, refuseManaged } from '../managed.ts'
import { formatToken, hashSecret } from './rules/token.ts'
import {
  excess,
  findLimitErrors,
  type GrantingLimits,
  type LimitError,
  type TokenLimits,
} from './rules/token-limits.ts'
import type { TokenDoc } from './store/tokens.ts'
import { findToken, insertToken, updateToken } from './store/tokens.ts'

/** Dependencies of the use cases, with the resource that acts, if one does. */
export interface TokenDeps extends ActingResource {
  db: Db
  clock: Clock
}

/** A new token. */
export type NewToken = Pick<TokenDoc, 'name' | 'mode' | 'scopes' | 'domains' | 'allowed_cidrs'> & {
  capture?: boolean | undefined
  expires_at?: Date | undefined
  created_by?: TokenDoc['created_by']
}

/** A token and its value, to be shown once. */
export interface TokenAndValue {
  token: TokenDoc
  value: string
}

/**
 * Creates a token. `by` are the limits of the calling token or role, if any: it cannot grant more than it has, 403
 * `insufficient_scope`. Domains must be the account's: 422.
 */
export async function issueToken(
  { db, clock, resource }: TokenDeps,
  userId: string,
  input: NewToken,
  by?: GrantingLimits,
): Promise<TokenAndValue> {
  const now = clock.now()
  const domains = await ownDomains(db, userId, input.domains)
  const { mode, capture, scopes, allowed_cidrs: allowedCidrs, expires_at: expiresAt } = input
  const limits = { mode, capture, scopes, domains, allowedCidrs, expiresAt }
  refuseLimits('validation_failed', findLimitErrors(limits, now))
  if (by) refuseLimits('insufficient_scope', excess(limits, by))
  const secret = makeSecret()
  const token: TokenDoc = {
    _id: newId('key', now.getTime()),
    user_id: userId,
    name: input.name,
    mode: input.mode,
    ...(capture ? { capture } : {}),
    secret_hash: hashSecret(secret),
    scopes: input.scopes,
    domains,
    allowed_cidrs: input.allowed_cidrs,
    ...(input.expires_at ? { expires_at: input.expires_at } : {}),
    ...(input.created_by ? { created_by: input.created_by } : {}),
    ...(resource ? { managed_by: resource } : {}),
    created_at: now,
  }
  await insertToken(db, token)
  return withValue(token, secret)
}

/** A token of the account, or 404. */
export async function getToken({ db }: TokenDeps, userId: string, id: string): Promise<TokenDoc> {
  return found(await findToken(db, userId, id))
}

/** Gives a token a new secret; the old one ends within 5 seconds. A token may rotate itself or one with no more rights. */
export async function rotateToken(
  deps: TokenDeps,
  userId: string,
  id: string,
  by?: GrantingLimits,
): Promise<TokenAndValue> {
  const token = await getToken(deps, userId, id)
  refuseManaged(token, deps)
  if (token.revoked_at) throw new ProblemError('conflict', sentence('detail.token_revoked'))
  if (by) refuseLimits('insufficient_scope', excess(limitsOf(token), by))
  const secret = makeSecret()
  const rotated = found(await updateToken(deps.db, userId, id, { secret_hash: hashSecret(secret) }))
  return withValue(rotated, secret)
}

/** Revokes a token; again changes nothing. It stays in lists, so that old log entries can be read. */
export async function revokeToken(deps: TokenDeps, userId: string, id: string): Promise<TokenDoc> {
  const token = await getToken(deps, userId, id)
  refuseManaged(token, deps)
  return (await updateToken(deps.db, userId, id, { revoked_at: deps.clock.now() })) ?? token
}

/** The limits of a stored token. */
function limitsOf(token: TokenDoc): TokenLimits {
  return {
    mode: token.mode,
    capture: token.capture,
    scopes: token.scopes,
    domains: token.domains,
    allowedCidrs: token.allowed_cidrs,
    expiresAt: token.expires_at,
  }
}

async function ownDomains(db: Db, userId: string, typed: readonly string[]): Promise<string[]> {
  const names = typed.map(name => normaliseDomain(name))
  const known = await Promise.all(names.map(result => (result.ok ? findDomain(db, userId, result.name) : undefined)))
  const wrong = known.indexOf(undefined)
  if (wrong !== -1)
    refuseLimits('validation_failed', [
      { field: 'domains', reason: sentence('field.own_domain', { name: typed[wrong] ?? '' }) },
    ])
  return known.flatMap(domain => (domain ? [domain.name] : []))
}

/** Throws the first error of what a token or login may do, with all of them. */
export function refuseLimits(code: 'validation_failed' | 'insufficient_scope', errors: readonly LimitError[]): void {
  const [first] = errors
  if (!first) return
  throw new ProblemError(code, first.reason, {
    errors: errors.map(({ field, reason }) => ({ pointer: `/${field}`, reason, code: 'not_allowed' })),
  })
}

function makeSecret(): string {
  return randomBytes(32).toString('base64url')
}

function withValue(token: TokenDoc, secret: string): TokenAndValue {
  return { token, value: formatToken({ mode: token.mode, id: token._id, secret }) }
}

function found(token: TokenDoc | undefined): TokenDoc {
  if (!token) throw new ProblemError('not_found', sentence('detail.no_token'))
  return token
}
