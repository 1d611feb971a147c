import { expect, test } from 'vitest'
import { giveUser } from '../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { testFoundation } from '../../test/support/processes/test-foundation.ts'
import { ensureIndexes } from '../platform/database/mongo.ts'
import { ensureFirstAdmin } from './first-admin.ts'
import { verifyPassword } from './password-hashing.ts'
import { findUserByName, users } from './store/users.ts'

async function start(env: Record<string, string>) {
  const mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [users])
  return { mongo, foundation: testFoundation(mongo, env) }
}
const settings = { ADMIN_USERNAME: 'Root', ADMIN_PASSWORD: 'the first password' }

test('the configured admin is created once by parallel processes', async () => {
  const { mongo, foundation } = await start(settings)
  const admins = await Promise.all([1, 2, 3].map(() => ensureFirstAdmin(foundation)))
  expect(admins.map(admin => admin?.username)).toEqual(['root', 'root', 'root'])
  expect(await mongo.db.collection(users.name).countDocuments()).toBe(1)
  expect(await verifyPassword(admins[0]?.password_hash, 'the first password')).toBe(true)
})

test('an account that exists keeps its password and role', async () => {
  const { mongo, foundation } = await start(settings)
  const known = await giveUser(mongo.db, { username: 'root' })
  expect(await ensureFirstAdmin(foundation)).toBeUndefined()
  expect(await findUserByName(mongo.db, 'root')).toEqual(known)
})

test('without settings the oldest admin is the first', async () => {
  const { mongo, foundation } = await start({})
  expect(await ensureFirstAdmin(foundation)).toBeUndefined()
  await giveUser(mongo.db)
  const oldest = await giveUser(mongo.db, { role: 'admin' })
  await giveUser(mongo.db, { role: 'admin' })
  expect((await ensureFirstAdmin(foundation))?._id).toBe(oldest._id)
})

test.each([
  ['a name with a space', { ...settings, ADMIN_USERNAME: 'the root' }, /^ADMIN_USERNAME must have/],
  ['a short password', { ...settings, ADMIN_PASSWORD: 'short' }, /^ADMIN_PASSWORD must have at least 8/],
])('%s stops the start with the name of the setting and without its value', async (_, env, message) => {
  const { foundation } = await start(env)
  await expect(ensureFirstAdmin(foundation)).rejects.toThrow(message)
  await expect(ensureFirstAdmin(foundation)).rejects.not.toThrow(/short|the root/)
})
