/** Mounts the operations on sessions, accounts and the audit log. */
import type { createRouter } from '../../platform/http/web-app.ts'
import { mountMembers } from '../members/http/members.ts'
import { mountWorkingAccount } from '../members/http/working-account.ts'
import { mountAudit } from './audit-log.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { mountInvitations } from './invitations.ts'
import { mountSession } from './login.ts'
import { mountOidc } from './oidc.ts'
import { mountMe } from './own-account.ts'
import { mountOwnSessions } from './own-sessions.ts'
import { mountPasskeys } from './passkeys.ts'
import { mountRecovery } from './recovery.ts'
import { mountSecondFactor } from './second-factor.ts'
import { mountUsers } from './users.ts'

/** Mounts all account operations. */
export function mountAccounts(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  mountSession(router, deps)
  mountMe(router, deps)
  mountOwnSessions(router, deps)
  mountSecondFactor(router, deps)
  mountOidc(router, deps)
  mountPasskeys(router, deps)
  mountRecovery(router, deps)
  mountInvitations(router, deps)
  mountMembers(router, deps)
  mountWorkingAccount(router, deps)
  mountUsers(router, deps)
  mountAudit(router, deps)
}
