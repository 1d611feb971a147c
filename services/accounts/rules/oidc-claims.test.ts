/** Reading people and roles from claims. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claimAt, readPerson, roleBy } from './oidc-claims.ts'

const BASE = { iss: 'https://id.example', sub: '1' }

describe('a person', () => {
  test.each([
    [{}, undefined, false],
    [{ email: 'Ann@Example.ORG', email_verified: true }, 'ann@example.org', true],
    [{ email: 'ann@example.org', email_verified: 'true' }, 'ann@example.org', true],
    [{ email: 'ann@example.org', email_verified: 'false' }, 'ann@example.org', false],
    [{ email: 'ann@example.org', email_verified: 1 }, 'ann@example.org', false],
    [{ email: 'ann@example.org' }, 'ann@example.org', false],
    [{ email: 'ann', email_verified: true }, undefined, true],
    [{ email: ['ann@example.org'], email_verified: true }, undefined, true],
    [{ email: `${'a'.repeat(250)}@example.org` }, undefined, false],
    [{ email: null }, undefined, false],
  ])('with %j has the address %j, verified: %j', (claims, email, isVerified) => {
    expect(readPerson({ ...BASE, ...claims })).toMatchObject({ issuer: BASE.iss, subject: '1', email, isVerified })
  })

  test.each<[object, readonly string[]]>([
    [{}, []],
    [{ preferred_username: 'Ann' }, ['ann']],
    [{ preferred_username: 'ann', email: 'ann@example.org' }, ['ann', 'ann@example.org']],
    [{ preferred_username: 'Ann Lee', email: 'ann@example.org' }, ['ann@example.org', 'ann']],
    [{ preferred_username: '', email: '"a b"@example.org', nickname: 'al' }, ['al']],
    [{ preferred_username: 7, email: {}, nickname: null }, []],
    [{ preferred_username: 'x'.repeat(129) }, []],
    [{ preferred_username: '安' }, []],
  ])('with %j may be called %j', (claims, usernames) => {
    expect(readPerson({ ...BASE, ...claims }).usernames).toEqual(usernames)
  })

  test('can be read from any claims', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), claims => {
        const { usernames } = readPerson({ ...claims, ...BASE })
        for (const name of usernames) expect(name).toMatch(/^[a-z0-9][a-z0-9._@+-]{0,127}$/)
      }),
    )
  })
})

describe('a claim', () => {
  const claims = {
    groups: ['a'],
    realm_access: { roles: ['b'] },
    'https://id.example/roles': 'c',
    'a.b': 'd',
    a: { b: 'e' },
  }
  test.each([
    ['groups', ['a']],
    ['realm_access.roles', ['b']],
    ['https://id.example/roles', 'c'],
    ['a.b', 'd'],
    ['realm_access.none', undefined],
    ['groups.0', 'a'],
    ['groups.length.x', undefined],
    ['none', undefined],
    ['none.roles', undefined],
    ['__proto__', undefined],
    ['constructor.name', undefined],
    ['', undefined],
  ])('%j is %j', (name, value) => expect(claimAt(claims, name)).toEqual(value))
})

describe('the role', () => {
  const rule = { claim: 'groups', adminValues: ['admins', 'true', '7'] }
  test.each([
    [['admins'], 'admin'],
    [['staff', 'admins'], 'admin'],
    ['admins', 'admin'],
    [true, 'admin'],
    [7, 'admin'],
    [['Admins'], 'user'],
    [['staff'], 'user'],
    ['admins,staff', 'user'],
    [['admins '], 'user'],
    [[['admins']], 'user'],
    [{ admins: true }, 'user'],
    [null, 'user'],
    [undefined, 'user'],
    [[], 'user'],
  ])('of %j is %s', (groups, role) => expect(roleBy({ groups }, rule)).toBe(role))

  test('is never admin without values that make one', () => {
    fc.assert(
      fc.property(fc.jsonValue(), groups => {
        expect(roleBy({ groups }, { claim: 'groups', adminValues: [] })).toBe('user')
      }),
    )
  })
})
