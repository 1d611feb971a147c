/** Mounts the operations on sessions, accounts and the audit log. */
import type { createRouter } from '../../platform/web.ts'
import { mountAudit } from './audit.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { mountMe } from './me.ts'
import { mountSession } from './session.ts'
import { mountUsers } from './users.ts'

/** Puts all of them on the router. */
export function mountAccounts(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  mountSession(router, deps)
  mountMe(router, deps)
  mountUsers(router, deps)
  mountAudit(router, deps)
}
