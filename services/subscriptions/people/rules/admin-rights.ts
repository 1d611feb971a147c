/** Roles and scope of administrators. */

/** Stands for all apps in the list of an administrator. */
export const EVERY_APP = '*'

/** What an operation needs: a look, a change, or the whole house. */
export type Right = 'view' | 'edit' | 'super'

/** The rights of an administrator. */
export interface Rights {
  role: 'super' | 'operator' | 'viewer'
  app_keys: readonly string[]
}

const LEVEL = { view: 0, edit: 1, super: 2 } as const
const ROLE = { viewer: 0, operator: 1, super: 2 } as const

/** True when the role is enough. */
export function may({ role }: Rights, right: Right): boolean {
  return ROLE[role] >= LEVEL[right]
}

/** True when the app lies in the scope. */
export function covers({ role, app_keys }: Rights, appKey: string): boolean {
  return role === 'super' || app_keys.includes(EVERY_APP) || app_keys.includes(appKey)
}

/** The scope as a list of apps; undefined for all. */
export function scopeOf({ role, app_keys }: Rights): readonly string[] | undefined {
  return role === 'super' || app_keys.includes(EVERY_APP) ? undefined : app_keys
}
