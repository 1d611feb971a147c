/** What the operations on sessions, accounts and the audit log need. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/mongo.ts'
import type { Authorise } from '../../platform/web.ts'
import type { LoginLimiter } from '../login-limiter.ts'
import type { Audit, Caller } from './caller.ts'
import type { AccountsAccess } from './contract.ts'
import type { SessionCookie } from './session-cookie.ts'

/** Handed to every file of this folder. */
export interface AccountsHttpDeps {
  mongo: Mongo
  clock: Clock
  /** Made with channel `panel`. */
  limiter: LoginLimiter
  cookie: SessionCookie
  authorise: Authorise<AccountsAccess, Caller>
  audit: Audit
}
