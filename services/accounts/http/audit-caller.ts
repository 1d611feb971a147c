/** The caller of account operations, and its representation in the audit log. */
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { factsOf, type WebContext } from '../../platform/http/web-app.ts'
import type { Account } from '../account-status.ts'
import type { AccountRole } from '../members/rules/member-role.ts'
import { type AuditDoc, recordAudit } from '../store/audit-log.ts'

/** The caller of an operation. */
export interface Caller {
  /** The account on which the operation works: for operations on the own user that of this user. */
  account: Account
  /** What the caller is in the account: tokens of it act for the owner, within their scopes. */
  role?: AccountRole
  /** The user who acts, where the account is another one's. */
  person?: Account
  /** The account that the session has chosen, see `OpenSession`. */
  accountId?: string
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

/** Who acts: the logged-in user, or the owner of the token. */
export function personOf({ account, person }: Pick<Caller, 'account' | 'person'>): Account {
  return person ?? account
}

/** Who makes a record, as it is kept in the record. */
export function creatorOf(caller: Pick<Caller, 'account' | 'person'>): { user_id: string; name: string } {
  const { id, username } = personOf(caller)
  return { user_id: id, name: username }
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
  return (caller, context, { action, target, userId }) => {
    const { account, via, token } = caller
    const { id, username } = personOf(caller)
    const actor = {
      user_id: id,
      name: username,
      via,
      ...(token ? { token_id: token.id } : {}),
      ip: factsOf(context).ip,
    }
    return recordAudit(db, { user_id: userId ?? account.id, actor, action, target }, clock.now())
  }
}
