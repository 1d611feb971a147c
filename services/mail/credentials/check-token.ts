/** Checks a presented Bearer token: secret, revocation, expiry, owner and network. */
import { type Account, createAccounts } from '../../accounts/account-status.ts'
import { findFirstAdmin } from '../../accounts/store/users.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { inNetwork } from '../../platform/network/ip-networks.ts'
import type { Log } from '../../platform/observability/log.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sameSecret } from '../../platform/security/secrets.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import { parseToken, secretFits } from './rules/token.ts'
import type { TokenDoc } from './store/tokens.ts'
import { findTokenById, touchToken } from './store/tokens.ts'

/** A token that is good. */
export type CheckedToken =
  | { kind: 'token'; account: Account; token: TokenDoc }
  /** The configured API_TOKEN: no scopes, opens only what is marked `legacy`. */
  | { kind: 'legacy'; account: Account }

/** Resolves for a good token; throws 401 `invalid_token` or 403 `network_not_allowed`. */
export type CheckToken = (value: string, ip: string) => Promise<CheckedToken>

/** Oldest token that a check relies on, in milliseconds; a revocation holds after this time in every process. */
const TOKEN_AGE_MS = 2_000
const NOTE_USE_MS = 60_000

/** The check of one process. `apiToken` is the configured legacy token. */
export function createTokenCheck({
  db,
  clock,
  log,
  apiToken,
}: {
  db: Db
  clock: Clock
  log: Log
  apiToken: string | undefined
}): CheckToken {
  const accounts = createAccounts(db, clock)
  const cache = createTtlCache<TokenDoc | undefined>({
    ttlMs: TOKEN_AGE_MS,
    max: 10_000,
    clock,
    isCacheable: token => token !== undefined && token.revoked_at === undefined,
  })
  const noted = createTtlCache<boolean>({ ttlMs: NOTE_USE_MS, max: 10_000, clock, isCacheable: () => true })
  const noteUse = (id: string, now: Date) =>
    noted
      .get(id, () => touchToken(db, id, now).then(() => true))
      .catch((error: unknown) => log.warn({ token_id: id, err: error }, 'use of a token not noted'))

  async function legacy(): Promise<CheckedToken> {
    const admin = await findFirstAdmin(db)
    const account = admin && (await accounts.active(admin._id))
    if (!account) throw new ProblemError('invalid_token')
    return { kind: 'legacy', account }
  }

  return async (value, ip) => {
    if (apiToken !== undefined && sameSecret(value, apiToken)) return legacy()
    const parts = parseToken(value)
    if (!parts) throw new ProblemError('invalid_token')
    const now = clock.now()
    const token = await cache.get(parts.id, () => findTokenById(db, parts.id))
    const good =
      token !== undefined &&
      secretFits(parts.secret, token.secret_hash) &&
      token.mode === parts.mode &&
      token.revoked_at === undefined &&
      (token.expires_at === undefined || token.expires_at > now)
    const account = good ? await accounts.active(token.user_id) : undefined
    if (!good || !account) throw new ProblemError('invalid_token')
    if (token.allowed_cidrs.length > 0 && !token.allowed_cidrs.some(network => inNetwork(ip, network)))
      throw new ProblemError('network_not_allowed')
    void noteUse(token._id, now)
    return { kind: 'token', account, token }
  }
}
