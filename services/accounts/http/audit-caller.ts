/** The caller of account operations, and its representation in the audit log. */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { factsOf, type WebContext } from '../../platform/http/web-app.ts'
import type { Account } from '../account-status.ts'
import { type AuditDoc, recordAudit } from '../store/audit-log.ts'

/** The caller of an operation. */
export interface Caller {
  account: Account
  /**
   * `legacy` is the configured API_TOKEN, which acts for the first admin; `link` a link in a mail; `oidc` and `passkey`
   * a login with one.
   */
  via: 'session' | 'token' | 'legacy' | 'link' | 'oidc' | 'passkey'
  /** The id of the session, with `via: 'session'`. */
  sessionId?: string
  /** The presented token, with `via: 'token'`. */
  token?: { id: string }
}

/** What happened to which thing; `userId` is the account that owns it, the caller's own unless given. */
export interface Happening {
  action: AuditDoc['action']
  target: AuditDoc['target']
  userId?: string
}

/** Records a change in the audit log, with the caller and address. */
export type Audit = (caller: Caller, context: WebContext, happening: Happening) => Promise<void>

/** The audit log of one process. */
export function createAudit({ db, clock }: { db: Db; clock: Clock }): Audit {
  return ({ account, via, token }, context, { action, target, userId }) => {
    const actor = {
      user_id: account.id,
      name: account.username,
      via,
      ...(token ? { token_id: token.id } : {}),
      ip: factsOf(context).ip,
    }
    return recordAudit(db, { user_id: userId ?? account.id, actor, action, target }, clock.now())
  }
}
