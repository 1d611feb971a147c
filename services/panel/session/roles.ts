/** What the user may do in the account in which the session works. The service checks the role itself. */
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useSession } from './session.ts'

export type AccountRole = Output<'getSession'>['account']['role']

/** Lowest first, as in the service. */
const RANKS: readonly AccountRole[] = ['viewer', 'developer', 'admin', 'owner']

export function includesRole(role: AccountRole, needed: AccountRole): boolean {
  return RANKS.indexOf(role) >= RANKS.indexOf(needed)
}

/** Why the user may not do what needs this role; undefined: the user may. */
export function useRoleRefusal(needed: AccountRole | undefined): string | undefined {
  const { t } = useTranslation()
  const { account } = useSession()
  if (needed === undefined || includesRole(account.role, needed)) return undefined
  return t('members.needsRole', { role: t(`members.roles.${needed}`), own: t(`members.roles.${account.role}`) })
}
