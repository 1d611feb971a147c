import { describe, expect, test } from 'vitest'
import { ACCOUNT_ROLES, includesRole, MEMBER_ROLES, mayAssign } from './member-role.ts'

test('members have every role but that of the owner', () => {
  expect([...MEMBER_ROLES, 'owner']).toEqual([...ACCOUNT_ROLES])
})

describe('includesRole', () => {
  test.each([
    ['owner', ['viewer', 'developer', 'admin', 'owner']],
    ['admin', ['viewer', 'developer', 'admin']],
    ['developer', ['viewer', 'developer']],
    ['viewer', ['viewer']],
  ] as const)('%s includes %j', (role, included) => {
    expect(ACCOUNT_ROLES.filter(needed => includesRole(role, needed))).toEqual(included)
  })
})

describe('mayAssign', () => {
  test.each([
    ['owner', ['viewer', 'developer', 'admin']],
    ['admin', ['viewer', 'developer']],
    ['developer', []],
    ['viewer', []],
  ] as const)('%s may assign %j', (by, roles) => {
    expect(MEMBER_ROLES.filter(role => mayAssign(by, role))).toEqual(roles)
  })
})
