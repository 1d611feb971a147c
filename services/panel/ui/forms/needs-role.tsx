/** Controls that need a role in the account. */
import type { ReactNode } from 'react'
import { type AccountRole, useRoleRefusal } from '../../state/roles.ts'

/** Disables the controls inside, with the reason, unless the user has the role in the account. */
export function NeedsRole({ needs, children }: { needs: AccountRole; children: ReactNode }) {
  const refusal = useRoleRefusal(needs)
  if (refusal === undefined) return children
  return (
    <fieldset disabled className="pw-needs-role" aria-label={refusal} title={refusal}>
      {children}
    </fieldset>
  )
}
