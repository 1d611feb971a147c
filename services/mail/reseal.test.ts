import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { collectionOf, type Db } from '../platform/database/mongo.ts'
import { createSecrets, type Secrets } from '../platform/security/secrets.ts'
import { credentials } from './credentials/store/smtp-credentials.ts'
import { dnsAccounts } from './domains/dns-accounts/store/dns-accounts.ts'
import { domains } from './domains/store/domain-model.ts'
import { resealMail } from './reseal.ts'

const OLD = 'the secret before the rotation, thirty-two bytes'
const NEW = 'the secret after the rotation, also 32 bytes and more'

async function store(db: Db, secrets: Secrets): Promise<void> {
  const key = (selector: string) => ({
    selector,
    sealed_private_key: secrets.seal('dkim', `domains/dom_1/dkim/${selector}`, `key ${selector}`),
  })
  await collectionOf(db, domains).insertOne({ _id: 'dom_1', dkim: [key('a'), key('b')] } as never)
  await collectionOf(db, credentials).insertMany([
    { _id: 'smtp_1', password_sealed: secrets.seal('smtp-password', 'credentials/smtp_1', 'copy me') },
    { _id: 'smtp_2' },
  ] as never)
  await collectionOf(db, dnsAccounts).insertOne({
    _id: 'dns_1',
    sealed: secrets.seal('dns-credential', 'dns-accounts/dns_1', '{}'),
  } as never)
}

test('after a rotation everything is sealed again, and the old secret can be removed', async () => {
  const { db } = await databaseForThisTest()
  await store(db, createSecrets(OLD))
  expect(await resealMail(db, createSecrets(NEW, OLD))).toBe(4)
  const alone = createSecrets(NEW)
  const domain = await collectionOf(db, domains).findOne({})
  expect(
    domain?.dkim.map(key => alone.open('dkim', `domains/dom_1/dkim/${key.selector}`, key.sealed_private_key)),
  ).toEqual(['key a', 'key b'])
  const login = await collectionOf(db, credentials).findOne({ _id: 'smtp_1' })
  expect(alone.open('smtp-password', 'credentials/smtp_1', login?.password_sealed ?? '')).toBe('copy me')
})

test('a second run finds nothing', async () => {
  const { db } = await databaseForThisTest()
  await store(db, createSecrets(OLD))
  const secrets = createSecrets(NEW, OLD)
  await resealMail(db, secrets)
  expect(await resealMail(db, secrets)).toBe(0)
})

test('what no known secret opens stays as it is and stops nothing', async () => {
  const { db } = await databaseForThisTest()
  await store(db, createSecrets('a secret that is lost by now, with 32 bytes'))
  expect(await resealMail(db, createSecrets(NEW, OLD))).toBe(0)
})
