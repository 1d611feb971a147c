/** Whether a token still works. */
import type { Token } from './access-types.ts'

/** Where a token stands at a time in milliseconds. */
export function tokenState(
  token: Pick<Token, 'revoked_at' | 'expires_at'>,
  now: number,
): 'revoked' | 'expired' | 'live' {
  if (token.revoked_at) return 'revoked'
  return token.expires_at && Date.parse(token.expires_at) <= now ? 'expired' : 'live'
}
