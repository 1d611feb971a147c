/** State of a token around its expiry. */
import { expect, test } from 'vitest'
import { tokenState } from './token-state.ts'

const END = '2026-11-21T12:00:00.000Z'
const at = Date.parse(END)

test.each([
  [{ revoked_at: null, expires_at: null }, at, 'live'],
  [{ revoked_at: null, expires_at: END }, at - 1, 'live'],
  [{ revoked_at: null, expires_at: END }, at, 'expired'],
  [{ revoked_at: null, expires_at: END }, at + 1, 'expired'],
  // A revoked token is not reported as expired.
  [{ revoked_at: END, expires_at: END }, at + 1, 'revoked'],
  [{ revoked_at: END, expires_at: null }, at - 1, 'revoked'],
] as const)('%j at %d is %s', (token, now, state) => {
  expect(tokenState(token, now)).toBe(state)
})
