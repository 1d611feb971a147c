import { describe, expect, test } from 'vitest'
import { type DomainRegistration, maySend, parentNames } from './sending-account.ts'

const registration = (user: string, change: Partial<DomainRegistration> = {}): DomainRegistration => ({
  id: `dom_${user}`,
  user_id: user,
  name: 'example.com',
  status: 'pending',
  created_at: new Date(1_000),
  ...change,
})
const mine = registration('me')
const later = { created_at: new Date(2_000) }
const verified = { status: 'verified', verified_by: 'dns' } as const
const strict = { requireVerified: true, capture: false }
const lax = { requireVerified: false, capture: false }

describe('with SEND_REQUIRES_VERIFIED', () => {
  test.each([
    ['a verified domain', registration('me', verified), true],
    ['one that an admin marked', registration('me', { status: 'verified', verified_by: 'admin' }), true],
    ['a pending one', mine, false],
    ['a failed one', registration('me', { status: 'failed' }), false],
    ['a suspended one', registration('me', { status: 'suspended' }), false],
    ['a pending one that captures', registration('me', { captures: true }), true],
    ['a failed one that captures', registration('me', { status: 'failed', captures: true }), true],
    ['a suspended one that captures', registration('me', { status: 'suspended', captures: true }), false],
    ['the sandbox outside capture', registration('me', { status: 'verified', verified_by: 'sandbox' }), false],
  ])('%s', (_, own, sends) => expect(maySend(own, [], strict)).toBe(sends))

  test('the sandbox sends in capture mode', () =>
    expect(
      maySend(registration('me', { status: 'verified', verified_by: 'sandbox' }), [], { ...strict, capture: true }),
    ).toBe(true))
})

describe('without SEND_REQUIRES_VERIFIED', () => {
  test.each([
    ['the only claim', mine, [], true],
    ['the oldest claim', mine, [registration('you', later)], true],
    ['a younger claim', registration('me', later), [registration('you')], false],
    ['an equally old claim with the smaller id', mine, [registration('you')], true],
    ['an equally old claim with the larger id', registration('you'), [registration('me')], false],
    ['behind a suspended claim', registration('me', later), [registration('you', { status: 'suspended' })], true],
    ['verified by another', mine, [registration('you', { ...later, ...verified })], false],
    [
      'parent verified by another',
      registration('me', { name: 'a.example.com' }),
      [registration('you', verified)],
      false,
    ],
    [
      'grandparent verified by another',
      registration('me', { name: 'a.b.example.com' }),
      [registration('you', verified)],
      false,
    ],
    ['child verified by another', mine, [registration('you', { ...verified, name: 'a.example.com' })], false],
    ['parent claimed but not verified', registration('me', { name: 'a.example.com' }), [registration('you')], true],
    ['a name that only ends alike', mine, [registration('you', { ...verified, name: 'anexample.com' })], true],
    ['parent verified by myself', registration('me', { name: 'a.example.com' }), [registration('me', verified)], true],
    ['verified by another, capturing', registration('me', { captures: true }), [registration('you', verified)], true],
    ['suspended', registration('me', { status: 'suspended' }), [], false],
    ['verified by me', registration('me', { ...later, ...verified }), [registration('you')], true],
  ])('%s', (_, own, others, sends) => expect(maySend(own, others, lax)).toBe(sends))
})

test.each([
  ['a.b.example.com', ['b.example.com', 'example.com', 'com']],
  ['example.com', ['com']],
  ['com', []],
])('parents of %s', (name, parents) => expect(parentNames(name)).toEqual(parents))
