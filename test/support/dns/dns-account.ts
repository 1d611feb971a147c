/** Changes the server of stored DNS accounts directly in the database, to simulate an unreachable provider. */
import { openCredentials, sealCredentials } from '../../../services/mail/dns/dns-context.ts'
import {
  listDnsAccountsOfResource,
  updateDnsAccount,
} from '../../../services/mail/domains/dns-accounts/store/dns-accounts.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'

/** Points all accounts of a resource to another server. */
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
