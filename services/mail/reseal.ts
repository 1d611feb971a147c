/** What the mail module keeps sealed: DKIM keys, copyable SMTP passwords, credentials of DNS accounts. */
import { type Db, modelOf } from '../platform/database/models.ts'
import { reseal } from '../platform/security/reseal.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { credentialPlace } from './credentials/manage-smtp-credentials.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { dkimPlace } from './domains/dkim-keys.ts'
import { dnsAccounts } from './domains/dns-accounts/store/dns-accounts.ts'
import { domains } from './domains/store/domain-model.ts'
import { mailWebhookPlace } from './webhooks/manage-webhooks.ts'
import { mailWebhooks } from './webhooks/store/webhook-collections.ts'

/** Seals all of it with the current secret; resolves to how many values were stale. */
export async function resealMail(db: Db, secrets: Secrets): Promise<number> {
  const keys = await reseal(modelOf(db, domains), secrets, ({ _id, dkim }) =>
    dkim.map(({ selector, sealed_private_key: sealed }, index) => ({
      path: `dkim.${index}.sealed_private_key`,
      sealed,
      purpose: 'dkim',
      place: dkimPlace(_id, selector),
    })),
  )
  const passwords = await reseal(modelOf(db, credentials), secrets, ({ _id, password_sealed: sealed }) =>
    sealed ? [{ path: 'password_sealed', sealed, purpose: 'smtp-password', place: credentialPlace(_id) }] : [],
  )
  const accounts = await reseal(modelOf(db, dnsAccounts), secrets, ({ _id, sealed }) => [
    { path: 'sealed', sealed, purpose: 'dns-credential', place: `dns-accounts/${_id}` },
  ])
  const webhooks = await reseal(modelOf(db, mailWebhooks), secrets, ({ _id, sealed, previous }) => {
    const known = { purpose: 'app-secret' as const, place: mailWebhookPlace(_id) }
    const current = { ...known, path: 'sealed', sealed }
    return previous ? [current, { ...known, path: 'previous.sealed', sealed: previous.sealed }] : [current]
  })
  return keys + passwords + accounts + webhooks
}
