import { describe, expect, test } from 'vitest'
import { ACCOUNT_ROLES, includesRole as includesRoleInService } from '../../accounts/members/rules/member-role.ts'
import { includesRole } from './roles.ts'

describe('includesRole', () => {
  test.each(ACCOUNT_ROLES.flatMap(role => ACCOUNT_ROLES.map(needed => [role, needed] as const)))(
    'decides as the service does: %s, %s',
    (role, needed) => {
      expect(includesRole(role, needed)).toBe(includesRoleInService(role, needed))
    },
  )
})
