/** What the operations on sessions, accounts and the audit log need. */
import type { z } from 'zod'
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Authorise, WebContext } from '../../platform/http/web-app.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { LoginLimiter } from '../login-limiter.ts'
import type { AccountsAccess, session } from './accounts-contract.ts'
import type { Audit, Caller } from './audit-caller.ts'
import type { SessionCookie } from './session-cookie.ts'

/** Handed to every file of this folder. */
export interface AccountsHttpDeps {
  mongo: Mongo
  clock: Clock
  secrets: Secrets
  /** Made with channel `panel`. */
  limiter: LoginLimiter
  /** Counts a login from an address, right or wrong, before anything is looked at. Throws `rate_limited`. */
  loginRate: (context: WebContext) => Promise<void>
  cookie: SessionCookie
  authorise: Authorise<AccountsAccess, Caller>
  audit: Audit
  /** DELIVERY_MODE: told to who is logged in. */
  deliveryMode: z.output<typeof session>['delivery_mode']
  /** BUSINESS_TZ. */
  businessTimeZone: string
  /** The role of an account in the subscription half, of which this one knows nothing. */
  subscriptionRole: (accountId: string) => Promise<z.output<typeof session>['subscription_role']>
  /** To how many recipients accounts have sent today; the mail half counts them. */
  recipientsToday: (accountIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
}
