/** Dependencies of the operations on sessions, accounts and the audit log. */
import type { z } from 'zod'
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import type { Authorise, WebContext } from '../../platform/http/web-app.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { LoginLimiter } from '../login-limiter.ts'
import type { InvitationRate } from '../members/invitation-rate.ts'
import type { OidcPolicy } from '../oidc-login.ts'
import type { OidcProvider } from '../oidc-provider.ts'
import type { RecoveryRate } from '../recovery-limiter.ts'
import type { RelyingParty } from '../rules/relying-party.ts'
import type { session } from './account-schema.ts'
import type { Audit, Caller } from './audit-caller.ts'
import type { AccountsAccess } from './contract-parts.ts'
import type { SessionCookie } from './session-cookie.ts'

/** Logins with people of a provider. */
export interface OidcLogins {
  provider: OidcProvider
  policy: OidcPolicy
  /** On the button. */
  name: string
}

/** Shared by all files of this folder. */
export interface AccountsHttpDeps {
  mongo: Mongo
  clock: Clock
  secrets: Secrets
  /** Made with channel `panel`. */
  limiter: LoginLimiter
  /** Made with channel `second-factor`. */
  codes: LoginLimiter
  /** Counts a login from an address, successful or not, before any lookup. Throws `rate_limited`. */
  loginRate: (context: WebContext) => Promise<void>
  /** Limits the requests for a new password. */
  recoveryRate: RecoveryRate
  /** Limits the invitations to accounts. */
  invitationRate: InvitationRate
  cookie: SessionCookie
  /** PASSWORD_LOGIN. */
  passwordLogin: boolean
  /** The login provider, where there is one. */
  oidc: OidcLogins | undefined
  /** Of passkeys; undefined where browsers allow none. */
  relyingParty: RelyingParty | undefined
  authorise: Authorise<AccountsAccess, Caller>
  audit: Audit
  /** DELIVERY_MODE, part of the session response. */
  deliveryMode: z.output<typeof session>['delivery_mode']
  /** BUSINESS_TZ. */
  businessTimeZone: string
  /** The role of an account in the subscription module, injected because accounts must not import it. */
  subscriptionRole: (accountId: string) => Promise<z.output<typeof session>['subscription_role']>
  /** How many tokens and SMTP logins of an account a user has made; they are the mail module's. */
  credentialsMadeBy: (accountId: string, userId: string) => Promise<{ tokens: number; smtp_credentials: number }>
  /** Number of recipients that accounts have sent to today; counted by the mail module. */
  recipientsToday: (accountIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
}
