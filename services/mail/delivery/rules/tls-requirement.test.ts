import { expect, test } from 'vitest'
import { matchesMx, tlsModeOf } from './tls-requirement.ts'

test.each([
  ['mx.example.com', 'mx.example.com', true],
  ['MX.example.com', 'mx.EXAMPLE.com', true],
  ['*.example.com', 'mx.example.com', true],
  ['*.example.com', 'a.mx.example.com', false],
  ['*.example.com', 'example.com', false],
  ['*.example.com', '.example.com', false],
  ['mx.example.com', 'mx2.example.com', false],
])('the pattern %s and the host %s: %s', (pattern, host, matches) => {
  expect(matchesMx(pattern, host)).toBe(matches)
})

const enforce = { mode: 'enforce', mx: ['mx.example.com'] } as const
const testing = { mode: 'testing', mx: ['mx.example.com'] } as const

test.each([
  ['enforced and listed', 'mx.example.com', enforce, 0, 'require-verified'],
  ['enforced and listed, though TLS failed before', 'mx.example.com', enforce, 9_000, 'require-verified'],
  ['enforced and not listed', 'evil.example', enforce, 0, undefined],
  ['testing changes nothing', 'evil.example', testing, 0, 'opportunistic'],
  ['no policy', 'mx.example.com', undefined, 0, 'opportunistic'],
  ['TLS failed lately', 'mx.example.com', undefined, 9_000, 'off'],
  ['TLS failed long ago', 'mx.example.com', undefined, 1_000, 'opportunistic'],
] as const)('%s', (_, host, policy, clearUntil, mode) => {
  expect(tlsModeOf(host, policy, clearUntil, 5_000)).toBe(mode)
})
