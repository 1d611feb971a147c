/** Roles and scope of administrators. */

/** Means all apps in the list of an administrator. */
export const EVERY_APP = '*'

/** The right that an operation needs; `super` covers apps and administrators. */
export type Right = 'view' | 'edit' | 'super'

/** The rights of an administrator. */
export interface Rights {
  role: 'super' | 'operator' | 'viewer'
  app_keys: readonly string[]
}

const LEVEL = { view: 0, edit: 1, super: 2 } as const
const ROLE = { viewer: 0, operator: 1, super: 2 } as const

/** True when the role includes the right. */
export function may({ role }: Rights, right: Right): boolean {
  return ROLE[role] >= LEVEL[right]
}

/** True when the app is in scope. */
export function covers({ role, app_keys }: Rights, appKey: string): boolean {
  return role === 'super' || app_keys.includes(EVERY_APP) || app_keys.includes(appKey)
}

/** The scope as a list of apps; undefined for all. */
export function scopeOf({ role, app_keys }: Rights): readonly string[] | undefined {
  return role === 'super' || app_keys.includes(EVERY_APP) ? undefined : app_keys
}
