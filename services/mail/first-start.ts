/** What exists after the first start: an SMTP login from the configuration, and in capture mode a domain to try. */
import { setting } from '../accounts/first-admin.ts'
import { newPassword } from '../accounts/rules/password.ts'
import { username } from '../accounts/rules/username.ts'
import { ProblemError } from '../platform/problems.ts'
import type { Foundation } from '../platform/process/run.ts'
import { createCredential } from './credentials/manage-smtp-credentials.ts'
import { findCredentialByName } from './credentials/store/smtp-credentials.ts'
import { newDomain } from './domains/register-domain.ts'
import type { DomainDoc } from './domains/store/domain-model.ts'
import { findDomain, insertDomain } from './domains/store/domains.ts'

type Deps = Pick<Foundation, 'config' | 'mongo' | 'clock' | 'secrets'>

/** Creates the SMTP login of SMTP_USERNAME for the first admin when it is missing; an existing one stays as it is. */
export async function ensureFirstCredential({ config, mongo, clock, secrets }: Deps, adminId: string): Promise<void> {
  const { SMTP_USERNAME, SMTP_PASSWORD } = config
  if (SMTP_USERNAME === undefined || SMTP_PASSWORD === undefined) return
  const name = setting('SMTP_USERNAME', username, SMTP_USERNAME)
  const password = setting('SMTP_PASSWORD', newPassword, SMTP_PASSWORD)
  if (await findCredentialByName(mongo.db, name)) return
  const limits = { allowed_senders: [], allowed_cidrs: [], messages_per_hour: 0 }
  try {
    await createCredential({ db: mongo.db, clock, secrets }, adminId, { username: name, password, ...limits })
  } catch (error) {
    if (!(error instanceof ProblemError && error.code === 'conflict')) throw error // else another process was faster
  }
}

/** The name of the sandbox domain: below the own host name, so that no other party owns it. */
export function sandboxName(mailHostname: string): string {
  return `sandbox.${mailHostname}`
}

/**
 * In capture mode, a verified domain of the admin to send from right away; undefined in the other modes, where it
 * may not send even if it exists.
 */
export async function ensureSandboxDomain(
  { config, mongo, clock, secrets }: Deps,
  adminId: string,
): Promise<DomainDoc | undefined> {
  if (config.DELIVERY_MODE !== 'capture') return undefined
  const name = sandboxName(config.MAIL_HOSTNAME)
  const known = await findDomain(mongo.db, adminId, name)
  if (known) return known
  const { next_check_at: _, ...domain } = await newDomain({ db: mongo.db, clock, secrets }, adminId, name)
  const now = clock.now()
  const sandbox: DomainDoc = { ...domain, status: 'verified', verified_by: 'sandbox', verified_at: now }
  await insertDomain(mongo.db, sandbox)
  return findDomain(mongo.db, adminId, name)
}
