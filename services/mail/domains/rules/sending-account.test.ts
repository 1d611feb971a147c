import { describe, expect, test } from 'vitest'
import { type DomainClaim, maySend, parentNames } from './sending-account.ts'

const claim = (user: string, change: Partial<DomainClaim> = {}): DomainClaim => ({
  id: `dom_${user}`,
  user_id: user,
  name: 'example.com',
  status: 'pending',
  created_at: new Date(1_000),
  ...change,
})
const mine = claim('me')
const later = { created_at: new Date(2_000) }
const verified = { status: 'verified', verified_by: 'dns' } as const
const strict = { requireVerified: true, capture: false }
const lax = { requireVerified: false, capture: false }

describe('with SEND_REQUIRES_VERIFIED', () => {
  test.each([
    ['a verified domain', claim('me', verified), true],
    ['one that an admin marked', claim('me', { status: 'verified', verified_by: 'admin' }), true],
    ['a pending one', mine, false],
    ['a failed one', claim('me', { status: 'failed' }), false],
    ['a suspended one', claim('me', { status: 'suspended' }), false],
    ['the sandbox outside capture', claim('me', { status: 'verified', verified_by: 'sandbox' }), false],
  ])('%s', (_, own, sends) => expect(maySend(own, [], strict)).toBe(sends))

  test('the sandbox sends in capture mode', () =>
    expect(maySend(claim('me', { status: 'verified', verified_by: 'sandbox' }), [], { ...strict, capture: true })).toBe(
      true,
    ))
})

describe('without SEND_REQUIRES_VERIFIED', () => {
  test.each([
    ['the only claim', mine, [], true],
    ['the oldest claim', mine, [claim('you', later)], true],
    ['a younger claim', claim('me', later), [claim('you')], false],
    ['an equally old claim with the smaller id', mine, [claim('you')], true],
    ['an equally old claim with the larger id', claim('you'), [claim('me')], false],
    ['behind a suspended claim', claim('me', later), [claim('you', { status: 'suspended' })], true],
    ['verified by another', mine, [claim('you', { ...later, ...verified })], false],
    ['parent verified by another', claim('me', { name: 'a.example.com' }), [claim('you', verified)], false],
    ['grandparent verified by another', claim('me', { name: 'a.b.example.com' }), [claim('you', verified)], false],
    ['child verified by another', mine, [claim('you', { ...verified, name: 'a.example.com' })], false],
    ['parent claimed but not verified', claim('me', { name: 'a.example.com' }), [claim('you')], true],
    ['a name that only ends alike', mine, [claim('you', { ...verified, name: 'anexample.com' })], true],
    ['parent verified by myself', claim('me', { name: 'a.example.com' }), [claim('me', verified)], true],
    ['suspended', claim('me', { status: 'suspended' }), [], false],
    ['verified by me', claim('me', { ...later, ...verified }), [claim('you')], true],
  ])('%s', (_, own, others, sends) => expect(maySend(own, others, lax)).toBe(sends))
})

test.each([
  ['a.b.example.com', ['b.example.com', 'example.com', 'com']],
  ['example.com', ['com']],
  ['com', []],
])('parents of %s', (name, parents) => expect(parentNames(name)).toEqual(parents))
