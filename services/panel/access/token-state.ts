import type { Token } from './access-types.ts'

/** State at `now` (milliseconds); a revoked token is never reported as expired. */
export function tokenState(
  token: Pick<Token, 'revoked_at' | 'expires_at'>,
  now: number,
): 'revoked' | 'expired' | 'live' {
  if (token.revoked_at) return 'revoked'
  return token.expires_at && Date.parse(token.expires_at) <= now ? 'expired' : 'live'
}
