/** What the user may do in the account in which the session works. The service checks the role itself. */
import { createContext, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'

export type AccountRole = Output<'getSession'>['account']['role']

/** The role of the user, provided by the layout; pages without it have no session and nothing of an account. */
export const RoleContext = createContext<AccountRole>('owner')

/** Lowest first, as in the service. */
const RANKS: readonly AccountRole[] = ['viewer', 'developer', 'admin', 'owner']

export function includesRole(role: AccountRole, needed: AccountRole): boolean {
  return RANKS.indexOf(role) >= RANKS.indexOf(needed)
}

/** Why the user may not do what needs this role; undefined: the user may. */
export function useRoleRefusal(needed: AccountRole | undefined): string | undefined {
  const { t } = useTranslation()
  const role = useContext(RoleContext)
  if (needed === undefined || includesRole(role, needed)) return undefined
  return t('members.needsRole', { role: t(`members.roles.${needed}`), own: t(`members.roles.${role}`) })
}
