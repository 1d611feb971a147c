/** Recovery from the command line, for a person with access to the machine but without a login. */
import { resetPassword, type UserDeps } from './manage-accounts.ts'
import { foldUsername } from './rules/username.ts'
import { recordAudit } from './store/audit-log.ts'
import { findUserByName } from './store/users.ts'

/** Result of the command. */
export type ResetOutcome = { kind: 'reset'; password: string; suspended: boolean } | { kind: 'unknown' }

/** Creates a new password for an account, ends its sessions and writes it into the audit log. */
export async function resetPasswordByName(deps: UserDeps, typed: string): Promise<ResetOutcome> {
  const { db } = deps.mongo
  const user = await findUserByName(db, foldUsername(typed))
  if (!user) return { kind: 'unknown' }
  const { password = '' } = await resetPassword(deps, user._id, undefined)
  const entry = {
    user_id: user._id,
    actor: { name: 'npm run admin', via: 'command' as const },
    action: 'user.password_reset',
    target: { type: 'user', id: user._id, name: user.username },
  }
  await recordAudit(db, entry, deps.clock.now())
  return { kind: 'reset', password, suspended: user.status === 'suspended' }
}
