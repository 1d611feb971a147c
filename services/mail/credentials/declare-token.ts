/** Makes the send token of a resource: one current token, older ones that run out, all of them known by the resource. */

import { isDeepStrictEqual } from 'node:util'
import { DAY_MS } from '../../platform/durations.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { ManagedBy } from '../store/documents.ts'
import { issueToken, type TokenDeps } from './manage-tokens.ts'
import { parseToken, secretFits } from './rules/token.ts'
import type { TokenDoc } from './store/tokens.ts'
import { listTokensOfResource, updateToken } from './store/tokens.ts'

/** What a resource declares of a token. */
export interface WantedToken {
  name: string
  scopes: string[]
  /** Of a token that exists it must be the present one. */
  mode: TokenDoc['mode']
  capture: boolean
  allowed_cidrs: string[]
  /** The domain that it is limited to; undefined for scopes of the whole account. */
  domain: string | undefined
  /** Days; 0 = without end. */
  validForDays: number
  rotateBeforeDays: number
  /** The token in the Secret; undefined when the Secret is lost. */
  held: string | undefined
}

/** The current token; `value` only when it was made now. */
export interface AppliedToken {
  token: TokenDoc
  value: string | undefined
  /** Why a new one was made. */
  why: 'first' | 'lost' | 'due' | undefined
  changed: readonly string[]
}

/** Use cases run for a resource. */
export type TokenResourceDeps = TokenDeps & { resource: ManagedBy }

/** How long a token still works after it was replaced. */
export const TOKEN_OVERLAP_MS = DAY_MS

/** Keeps the token of the Secret if it is still good, else makes a new one and lets the others run out. */
export async function applyToken(deps: TokenResourceDeps, userId: string, wanted: WantedToken): Promise<AppliedToken> {
  const now = deps.clock.now().getTime()
  const known = await listTokensOfResource(deps.db, deps.resource.uid)
  // The resource speaks for another account by now: what it made for the one before ends with that.
  for (const { _id, user_id } of known.filter(token => token.user_id !== userId))
    await updateToken(deps.db, user_id, _id, { revoked_at: deps.clock.now() })
  const live = known.filter(
    ({ user_id, expires_at }) => user_id === userId && (expires_at === undefined || expires_at.getTime() > now),
  )
  const held = parseToken(wanted.held ?? '')
  const current = live.find(({ _id, secret_hash }) => _id === held?.id && secretFits(held.secret, secret_hash))
  const why = reasonForNew(live, current, wanted, now)
  if (!why && current) return { ...(await align(deps, userId, current, wanted)), value: undefined, why: undefined }
  const { token, value } = await issueToken(deps, userId, {
    name: wanted.name,
    mode: wanted.mode,
    capture: wanted.capture,
    scopes: wanted.scopes,
    domains: domainsOf(wanted),
    allowed_cidrs: wanted.allowed_cidrs,
    expires_at: wanted.validForDays === 0 ? undefined : new Date(now + wanted.validForDays * DAY_MS),
  })
  const end = new Date(now + TOKEN_OVERLAP_MS)
  for (const old of live)
    if (old.expires_at === undefined || old.expires_at > end)
      await updateToken(deps.db, userId, old._id, { expires_at: end })
  return { token, value, why, changed: [] }
}

/** The accounts that the resource has tokens of which are not revoked. */
export async function tokenAccounts({ db, resource }: TokenResourceDeps): Promise<string[]> {
  return [...new Set((await listTokensOfResource(db, resource.uid)).map(({ user_id }) => user_id))]
}

/** Revokes the tokens of a resource immediately: all, or those of one account. */
export async function withdrawTokens(deps: TokenResourceDeps, account?: string): Promise<void> {
  const now = deps.clock.now()
  for (const { _id, user_id } of await listTokensOfResource(deps.db, deps.resource.uid))
    if (account === undefined || user_id === account) await updateToken(deps.db, user_id, _id, { revoked_at: now })
}

function reasonForNew(
  live: readonly TokenDoc[],
  current: TokenDoc | undefined,
  { rotateBeforeDays, validForDays }: WantedToken,
  now: number,
): AppliedToken['why'] {
  if (!current) return live.length === 0 ? 'first' : 'lost'
  if (validForDays === 0 && current.expires_at) return 'due' // an end cannot be taken off a token
  const end = current.expires_at?.getTime()
  return end !== undefined && end - now <= rotateBeforeDays * DAY_MS ? 'due' : undefined
}

function domainsOf({ domain }: Pick<WantedToken, 'domain'>): string[] {
  return domain === undefined ? [] : [domain]
}

/** Fewer rights hold immediately, with the token that is in use. */
async function align(
  deps: TokenResourceDeps,
  userId: string,
  token: TokenDoc,
  { scopes, domain, capture, allowed_cidrs, validForDays }: WantedToken,
): Promise<{ token: TokenDoc; changed: string[] }> {
  const expires_at = validForDays === 0 ? undefined : new Date(token.created_at.getTime() + validForDays * DAY_MS)
  const limits = { scopes, capture, allowed_cidrs, domains: domainsOf({ domain }) }
  const wanted = { ...limits, ...(expires_at ? { expires_at } : {}) }
  const known = Object.entries({ ...token, capture: token.capture ?? false })
  const changed = Object.entries(wanted).filter(
    ([name, value]) => !isDeepStrictEqual(known.find(([field]) => field === name)?.[1], value),
  )
  if (changed.length === 0) return { token, changed: [] }
  const updated = await updateToken(deps.db, userId, token._id, wanted)
  if (!updated) throw new ProblemError('conflict', sentence('detail.token_revoked_meanwhile'))
  return { token: updated, changed: changed.map(([name]) => name) }
}
