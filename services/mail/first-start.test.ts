import { expect, test } from 'vitest'
import { giveCredential, giveUser } from '../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { testFoundation } from '../../test/support/processes/test-foundation.ts'
import { ensureIndexes } from '../platform/database/mongo.ts'
import { readCredentialPassword } from './credentials/manage-smtp-credentials.ts'
import { credentials, findCredentialByName } from './credentials/store/smtp-credentials.ts'
import { openDkimKey } from './domains/dkim-keys.ts'
import { normaliseDomain } from './domains/rules/domain-name.ts'
import { domains } from './domains/store/domain-model.ts'
import { createSenderDomains, findDomain } from './domains/store/domains.ts'
import { ensureFirstCredential, ensureSandboxDomain } from './first-start.ts'

async function start(env: Record<string, string>) {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [credentials, domains])
  const admin = await giveUser(mongo.db, { role: 'admin' })
  return { db: mongo.db, admin, foundation: testFoundation(mongo, env) }
}
const login = { SMTP_USERNAME: 'Demo', SMTP_PASSWORD: 'the smtp password' }

test('the configured SMTP login is created once and can be copied by the admin', async () => {
  const { db, admin, foundation } = await start(login)
  await Promise.all([1, 2, 3].map(() => ensureFirstCredential(foundation, admin._id)))
  expect(await db.collection(credentials.name).countDocuments()).toBe(1)
  const made = await findCredentialByName(db, 'demo')
  const password = await readCredentialPassword({ ...foundation, db }, admin._id, made?._id ?? '')
  expect(password).toBe('the smtp password')
})

test('a login that exists keeps its owner and password', async () => {
  const { db, admin, foundation } = await start(login)
  const known = await giveCredential(db, 'usr_somebody', 'demo')
  await ensureFirstCredential(foundation, admin._id)
  expect(await findCredentialByName(db, 'demo')).toEqual(known)
})

test('a setting that makes no login stops the start and is named', async () => {
  const { admin, foundation } = await start({ ...login, SMTP_PASSWORD: 'short' })
  await expect(ensureFirstCredential(foundation, admin._id)).rejects.toThrow(/^SMTP_PASSWORD must have at least 8/)
})

test.each(['localhost.localdomain', 'mail.example.net', 'box'])(
  'in capture mode on %s there is a sandbox domain with a key, and it may send',
  async MAIL_HOSTNAME => {
    const { db, admin, foundation } = await start({ MAIL_HOSTNAME, DELIVERY_MODE: 'capture' })
    const made = await Promise.all([1, 2].map(() => ensureSandboxDomain(foundation, admin._id)))
    expect(made[0]).toEqual(made[1])
    const sandbox = made[0]
    if (!sandbox) throw new Error('there is no sandbox')
    expect(normaliseDomain(sandbox.name)).toEqual({ ok: true, name: `sandbox.${MAIL_HOSTNAME}` })
    expect(sandbox).toMatchObject({ status: 'verified', verified_by: 'sandbox' })
    expect(sandbox).not.toHaveProperty('next_check_at')
    const [key] = sandbox.dkim
    expect(key && openDkimKey(foundation.secrets, sandbox, key).asymmetricKeyDetails?.modulusLength).toBe(2048)
    const find = createSenderDomains(db, foundation.clock, { requireVerified: true, capture: true })
    expect(await find(admin._id, sandbox.name)).toEqual({
      ...{ id: sandbox._id, maySend: true, isAuthenticated: false },
    })
  },
)

test('outside capture mode there is none', async () => {
  const { db, admin, foundation } = await start({})
  expect(await ensureSandboxDomain(foundation, admin._id)).toBeUndefined()
  expect(await findDomain(db, admin._id, 'sandbox.mail.example.net')).toBeUndefined()
})
