/** Roles of users in an account that several of them share. */

/** Lowest first: each role may do what those before it may do. */
export const ACCOUNT_ROLES = ['viewer', 'developer', 'admin', 'owner'] as const

/** What a user is in an account; `owner` is the user whose account it is, and nobody else. */
export type AccountRole = (typeof ACCOUNT_ROLES)[number]

/** Roles that a membership can have. */
export const MEMBER_ROLES = ['viewer', 'developer', 'admin'] as const

/** The role of a user in the account of another one. */
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** True when a role includes the other one. */
export function includesRole(role: AccountRole, needed: AccountRole): boolean {
  return ACCOUNT_ROLES.indexOf(role) >= ACCOUNT_ROLES.indexOf(needed)
}

/**
 * True when a user with role `by` may grant and withdraw `role`: the owner every one, an admin those below its own. Without
 * this an admin could make another admin, who stays when the first one is removed.
 */
export function mayAssign(by: AccountRole, role: MemberRole): boolean {
  return by === 'owner' || (by === 'admin' && role !== 'admin')
}
