/** Changes what a stored DNS account points to, behind everybody's back: a provider that went away. */
import { openCredentials, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import {
  listDnsAccountsOfResource,
  updateDnsAccount,
} from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'

/** Lets all accounts of a resource lead to another server. */
export async function resealAccount(
  { mongo: { db }, secrets }: Pick<Foundation, 'mongo' | 'secrets'>,
  uid: string,
  server: string,
): Promise<void> {
  for (const account of await listDnsAccountsOfResource(db, uid)) {
    const credentials = openCredentials(secrets, account)
    if (credentials.provider !== 'rfc2136') throw new Error(`no rfc2136 account: ${account._id}`)
    const moved = { ...credentials, credentials: { ...credentials.credentials, server } }
    await updateDnsAccount(db, account._id, { sealed: sealCredentials(secrets, account._id, moved) })
  }
}
