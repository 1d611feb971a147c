/** The SMTP main with a real database, and an account that may send. */
import { onTestFinished } from 'vitest'
import type { CredentialDoc } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import type { Clock } from '../../../services/platform/clock.ts'
import { smtp } from '../../../services/smtp.ts'
import { giveCredential, giveDomain, giveUser, PASSWORD } from '../accounts/accounts-and-domains.ts'
import type { TestDatabase } from '../database/test-database.ts'
import { testFoundation } from '../processes/test-foundation.ts'
import { converse } from './smtp-conversation.ts'
import { certificateFiles } from './submission-listener.ts'

/** Ports of a started main. */
export interface SubmissionService {
  starttls: number
  tls: number
}

/** Starts the SMTP main in this process; it stops when the test ends. */
export async function startSubmission(
  mongo: TestDatabase,
  env: Record<string, string> = {},
  clock?: Clock,
): Promise<SubmissionService> {
  const files = await certificateFiles()
  const settings = {
    SUBMISSION_LISTEN: '0:starttls,0:tls',
    SUBMISSION_TLS_CERT: files.cert,
    SUBMISSION_TLS_KEY: files.key,
  }
  const foundation = testFoundation(mongo, { ...settings, ...env }, clock)
  const running = await smtp(foundation)
  onTestFinished(() => running.stop())
  const [starttls = 0, tls = 0] = running.ports
  return { starttls, tls }
}

/** An account with a verified domain and a login. */
export interface SendingAccount {
  userId: string
  domain: DomainDoc
  credential: CredentialDoc
}

let accounts = 0

/** Stores an account that may send; the domain is new unless its name is given. */
export async function giveSendingAccount(
  { db }: TestDatabase,
  change: Partial<CredentialDoc> = {},
  domain: Partial<DomainDoc> = {},
): Promise<SendingAccount> {
  const user = await giveUser(db)
  const name = domain.name ?? `sender${++accounts}.example`
  const verified = { status: 'verified', verified_by: 'admin' } as const
  return {
    userId: user._id,
    domain: await giveDomain(db, user._id, name, { ...verified, ...domain }),
    credential: await giveCredential(db, user._id, `login-${user._id}`.toLowerCase(), change),
  }
}

/** Connects with implicit TLS and logs in as the account. */
export async function logInAs(service: SubmissionService, { credential }: SendingAccount) {
  const client = await converse(service.tls, { tls: true })
  await client.reply()
  const reply = await client.logIn(credential.username, PASSWORD)
  if (reply.code !== 235) throw new Error(reply.text)
  return client
}
