import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { excess, findLimitErrors, type TokenLimits } from './token-limits.ts'

const now = new Date('2026-11-21T10:00:00Z')
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const limits = (change: Partial<TokenLimits> = {}): TokenLimits => ({
  mode: 'live',
  scopes: ['emails:send'],
  domains: [],
  allowedCidrs: [],
  expiresAt: undefined,
  ...change,
})
const fields = (errors: readonly { field: string }[]) => errors.map(({ field }) => field)

test.each<[string, Partial<TokenLimits>, string[]]>([
  ['nothing special', {}, []],
  ['one that ends later', { expiresAt: hours(1) }, []],
  ['one that is over', { expiresAt: now }, ['expires_at']],
  ['sending from certain domains', { domains: ['a.example'], scopes: ['emails:send', 'emails:read'] }, []],
  ['certain domains and SMTP logins', { domains: ['a.example'], scopes: ['emails:send', 'smtp:write'] }, ['scopes']],
  ['test mode and reading of SMTP logins', { mode: 'test', scopes: ['smtp:read', 'tokens:write'] }, []],
  ['test mode and SMTP logins', { mode: 'test', scopes: ['smtp:write'] }, ['scopes']],
  ['certain domains and their inboxes', { domains: ['a.example'], scopes: ['inbox:read', 'inbox:write'] }, []],
  ['capture', { capture: true, scopes: ['smtp:read', 'tokens:write'] }, []],
  ['capture and SMTP logins', { capture: true, scopes: ['smtp:write'] }, ['scopes']],
  ['capture and test mode', { capture: true, mode: 'test' }, ['capture']],
  ['certain domains and tokens', { domains: ['a.example'], scopes: ['tokens:write'] }, ['scopes']],
])('a token with %s', (_, change, expected) => expect(fields(findLimitErrors(limits(change), now))).toEqual(expected))

describe('limits that a token grants without having them', () => {
  const own = { scopes: ['tokens:write', 'emails:send'] }
  test.each<[string, Partial<TokenLimits>, Partial<TokenLimits>, string[]]>([
    ['nothing', {}, own, []],
    ['test mode', { mode: 'test' }, own, []],
    ['live mode, being a test token', {}, { ...own, mode: 'test' }, ['mode']],
    ['test mode, being a test token', { mode: 'test' }, { ...own, mode: 'test' }, []],
    ['sending, being a token that captures', {}, { ...own, capture: true }, ['capture']],
    ['capture, being a token that captures', { capture: true }, { ...own, capture: true }, []],
    ['test mode, being a token that captures', { mode: 'test' }, { ...own, capture: true }, []],
    ['capture', { capture: true }, own, []],
    ['a scope', { scopes: ['emails:send', 'dns:write'] }, own, ['scopes']],
    ['any network, being limited', {}, { ...own, allowedCidrs: ['10.0.0.0/8'] }, ['allowed_cidrs']],
    ['a wider network', { allowedCidrs: ['10.0.0.0/7'] }, { ...own, allowedCidrs: ['10.0.0.0/8'] }, ['allowed_cidrs']],
    ['another network', { allowedCidrs: ['11.0.0.0/8'] }, { ...own, allowedCidrs: ['10.0.0.0/8'] }, ['allowed_cidrs']],
    ['the other family', { allowedCidrs: ['::/0'] }, { ...own, allowedCidrs: ['0.0.0.0/0'] }, ['allowed_cidrs']],
    ['the same network', { allowedCidrs: ['10.0.0.0/8'] }, { ...own, allowedCidrs: ['10.0.0.0/8'] }, []],
    ['a narrower network', { allowedCidrs: ['10.1.0.0/16'] }, { ...own, allowedCidrs: ['10.0.0.0/8'] }, []],
    ['an address in it', { allowedCidrs: ['10.1.2.3'] }, { ...own, allowedCidrs: ['10.0.0.0/8'] }, []],
    [
      'one inside and one outside',
      { allowedCidrs: ['10.1.2.3', '11.0.0.1'] },
      { ...own, allowedCidrs: ['10.0.0.0/8'] },
      ['allowed_cidrs'],
    ],
    ['no end, having one', {}, { ...own, expiresAt: hours(1) }, ['expires_at']],
    ['a later end', { expiresAt: hours(2) }, { ...own, expiresAt: hours(1) }, ['expires_at']],
    ['the same end', { expiresAt: hours(1) }, { ...own, expiresAt: hours(1) }, []],
  ])('%s', (_, asked, mine, expected) => expect(fields(excess(limits(asked), limits(mine)))).toEqual(expected))
})

test('a token may always grant exactly its own limits', () => {
  const network = fc.oneof(
    fc.ipV4(),
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  )
  fc.assert(
    fc.property(fc.array(network), fc.array(fc.constantFrom('a', 'b', 'c')), (allowedCidrs, scopes) => {
      const own = limits({ allowedCidrs, scopes })
      expect(excess(own, own)).toEqual([])
    }),
  )
})
