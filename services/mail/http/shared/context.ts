/** What the management operations of the mail API need. */
import type { Audit } from '../../../accounts/http/audit-caller.ts'
import type { Authorise, createRouter } from '../../../platform/http/web-app.ts'
import type { Foundation } from '../../../platform/process/run.ts'
import type { SendPolicy } from '../../domains/rules/sending-account.ts'
import type { Access } from './access.ts'
import type { Principal } from './authorise.ts'

/** A router of the web layer. */
export type Router = ReturnType<typeof createRouter>

/** Dependencies of every file that mounts operations. */
export interface MailHttpDeps extends Pick<Foundation, 'config' | 'mongo' | 'clock' | 'secrets' | 'log' | 'metrics'> {
  authorise: Authorise<Access, Principal>
  audit: Audit
  policy: SendPolicy
}
