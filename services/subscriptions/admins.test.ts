import { expect, test } from 'vitest'
import { freshDatabase } from '../../test/support/database.ts'
import { openSubscriptionHalf } from '../../test/support/subscription-half.ts'
import { createLoginLimiter } from '../accounts/login-limiter.ts'
import { createUser, resetPassword, suspendUser } from '../accounts/manage-users.ts'
import { ProblemError } from '../platform/problems.ts'
import { toProblem } from '../platform/web.ts'
import { adminOfAccount, logIn, readSession, roleOfAccount } from './admins.ts'
import { openSubscriptions } from './context.ts'

const PASSWORD = 'correct horse battery'

async function loggedIn() {
  const half = await openSubscriptionHalf()
  const { s, foundation } = half
  const made = { password: PASSWORD, role: 'admin', lang: 'zh', tz: 'UTC' } as const
  const { user } = await createUser(foundation, { username: 'root', ...made })
  await createUser(foundation, { username: 'second', ...made })
  const limiter = createLoginLimiter(
    { db: s.mongo.db, metrics: s.metrics, channel: 'admin' },
    { pair: 5, address: 20, account: 100 },
  )
  const { token } = await logIn(s, limiter, { username: 'root', password: PASSWORD, ip: '192.0.2.1' })
  return { ...half, user, token }
}

/** The same half with accounts that cannot be read, as when the primary steps down between two questions. */
async function withoutAccounts({ foundation }: Awaited<ReturnType<typeof loggedIn>>) {
  const away = await freshDatabase()
  await away.stop()
  return { ...openSubscriptions(foundation), mongo: { ...foundation.mongo, db: away.db } }
}

test('a database that is away while the account is looked up is no reason to say that the session ended', async () => {
  const given = await loggedIn()
  const lost = await withoutAccounts(given)
  for (const ask of [
    () => readSession(lost, given.token),
    () => adminOfAccount(lost, given.user._id),
    () => roleOfAccount(lost, given.user._id),
  ]) {
    const error: unknown = await ask().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).not.toBeInstanceOf(ProblemError)
    expect(toProblem(error).code).toBe('unavailable')
  }
  const fresh = openSubscriptions(given.foundation)
  expect((await readSession(fresh, given.token)).username).toBe('root')
  expect(await roleOfAccount(fresh, given.user._id)).toBe('super')
})

test.each<[string, (given: Awaited<ReturnType<typeof loggedIn>>) => Promise<unknown>]>([
  ['is suspended', ({ foundation, user }) => suspendUser(foundation, user._id)],
  ['has another password', ({ foundation, user }) => resetPassword(foundation, user._id, 'another long password')],
  ['is gone', ({ s, user }) => s.mongo.db.collection<{ _id: string }>('users').deleteOne({ _id: user._id })],
])('the session of an account that %s has ended', async (_, change) => {
  const given = await loggedIn()
  await change(given)
  await expect(readSession(openSubscriptions(given.foundation), given.token)).rejects.toMatchObject({
    code: 'session_invalid',
  })
})
