import { describe, expect, test } from 'vitest'
import { giveUser } from '../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { systemClock } from '../platform/clock.ts'
import { ensureIndexes } from '../platform/database/mongo.ts'
import { ensureNamespaceAccount } from './namespace-account.ts'
import { verifyPassword } from './password-hashing.ts'
import { findUser, users } from './store/users.ts'

async function depsOf() {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [users])
  return { mongo, clock: systemClock }
}

describe('the account of a namespace', () => {
  test('is created once by parallel resources, and has no password for a login', async () => {
    const deps = await depsOf()
    const accounts = await Promise.all(
      Array.from({ length: 6 }, () => ensureNamespaceAccount(deps, 'k8s-team', 'team')),
    )
    expect(new Set(accounts.map(({ _id }) => _id)).size).toBe(1)
    expect(accounts[0]).toMatchObject({ role: 'user', managed_by: { kind: 'Namespace', name: 'team' } })
    expect(await verifyPassword(accounts[0]?.password_hash, '')).toBe(false)
  })

  test.each<[string, object]>([
    ['a person', {}],
    ['another namespace', { managed_by: { kind: 'Namespace', namespace: 'b', name: 'b', uid: '' } }],
    ['another kind of resource', { managed_by: { kind: 'MailDomain', namespace: 'team', name: 'team', uid: '' } }],
    ['an admin', { role: 'admin' }],
  ])('is never one that belongs to %s', async (_, change) => {
    const deps = await depsOf()
    const known = await giveUser(deps.mongo.db, { username: 'k8s-team', ...change })
    await expect(ensureNamespaceAccount(deps, 'k8s-team', 'team')).rejects.toMatchObject({ code: 'conflict' })
    expect(await findUser(deps.mongo.db, known._id)).toEqual(known)
  })
})
