import { expect, test } from 'vitest'
import { giveUser } from '../../test/support/accounts/accounts-and-domains.ts'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import { testClock } from '../../test/support/time/test-clock.ts'
import { createAccounts } from './account-status.ts'
import { updateUser } from './store/users.ts'

test('a suspension applies within 5 seconds, its end immediately; an unknown account counts as suspended', async () => {
  const { db } = await databaseForThisTest()
  const user = await giveUser(db)
  const clock = testClock()
  const accounts = createAccounts(db, clock)
  expect(await accounts.active(user._id)).toEqual({
    id: user._id,
    username: user.username,
    role: 'user',
    lang: 'en',
    tz: 'UTC',
    recipientsPerDay: 0,
  })
  await updateUser(db, user._id, { status: 'suspended' })
  clock.advance(4_999)
  expect(await accounts.isSuspended(user._id)).toBe(true)
  await updateUser(db, user._id, { status: 'active' })
  expect(await accounts.isSuspended(user._id)).toBe(false)
  expect(await accounts.isSuspended('usr_none')).toBe(true)
})

test('a changed daily limit is seen within 5 seconds', async () => {
  const { db } = await databaseForThisTest()
  const user = await giveUser(db, { recipients_per_day: 10 })
  const clock = testClock()
  const accounts = createAccounts(db, clock)
  const limit = async () => (await accounts.active(user._id))?.recipientsPerDay
  expect(await limit()).toBe(10)
  await updateUser(db, user._id, { recipients_per_day: 20 })
  expect(await limit()).toBe(10)
  clock.advance(4_999)
  expect(await limit()).toBe(20)
})
