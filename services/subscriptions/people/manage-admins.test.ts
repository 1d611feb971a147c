import { describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { createLoginLimiter } from '../../accounts/login-limiter.ts'
import { createUser, endAllSessions, resetPassword, suspendUser } from '../../accounts/manage-accounts.ts'
import { base32, stepAt, codeOf as totpCode } from '../../accounts/rules/totp.ts'
import { confirmFactor, secondFactorPlace, startFactor } from '../../accounts/second-factor.ts'
import { findSecondFactor } from '../../accounts/store/second-factors.ts'
import { toProblem } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { type Actor, openSubscriptions, systemActor } from '../context.ts'
import type { AdminDoc } from '../store/models.ts'
import { adminOfAccount, createAdmin, logIn, logOut, readSession, roleOfAccount, updateAdmin } from './manage-admins.ts'

const PASSWORD = 'correct horse battery'

async function loggedIn() {
  const subscriptions = await openSubscriptionsModule()
  const { context, foundation } = subscriptions
  const made = { password: PASSWORD, role: 'admin', lang: 'zh', tz: 'UTC' } as const
  const { user } = await createUser(foundation, { username: 'root', ...made })
  await createUser(foundation, { username: 'second', ...made })
  const limiter = createLoginLimiter(
    { db: context.mongo.db, metrics: context.metrics, channel: 'admin' },
    { pair: 5, address: 20, account: 100, known: 200 },
  )
  const { token } = await logIn(context, limiter, {
    username: 'root',
    password: PASSWORD,
    codes: limiter,
    ip: '192.0.2.1',
  })
  return { ...subscriptions, user, token, limiter }
}

/** The same half with accounts that cannot be read, as when the primary steps down between two questions. */
async function withoutAccounts({ foundation }: Awaited<ReturnType<typeof loggedIn>>) {
  const away = await freshDatabase()
  await away.stop()
  return { ...openSubscriptions(foundation), mongo: { ...foundation.mongo, db: away.db } }
}

test('an account with a second factor needs a code as well, which counts once', async () => {
  const { context, foundation, user, limiter } = await loggedIn()
  const deps = { ...foundation, limiter, codes: limiter }
  const given = { username: 'root', password: PASSWORD, codes: limiter, ip: '192.0.2.1' }
  const { secret } = await startFactor(deps, { userId: user._id, password: PASSWORD, ip: '192.0.2.1' })
  const { sealed = '' } = (await findSecondFactor(context.mongo.db, user._id)) ?? {}
  const bytes = Buffer.from(foundation.secrets.open('totp', secondFactorPlace(user._id), sealed), 'base64')
  expect(base32(bytes)).toBe(secret)
  const code = (ahead: number) => totpCode(bytes, stepAt(foundation.clock.now().getTime()) + ahead)
  await confirmFactor(deps, { userId: user._id, sessionId: undefined, code: code(-1) })
  const outcome = (more: object) => codeOf(logIn(context, limiter, { ...given, ...more }))
  expect(await outcome({})).toBe('second_factor_required')
  expect(await outcome({ code: code(-1) })).toBe('invalid_code')
  expect((await logIn(context, limiter, { ...given, code: code(0) })).token).toMatch(/^at_/)
  expect(await outcome({ code: code(0) })).toBe('invalid_code')
  expect(await outcome({ password: 'wrong', code: code(1) })).toBe('invalid_login')
})

test('an unavailable database during the account lookup does not end the session', async () => {
  const given = await loggedIn()
  const lost = await withoutAccounts(given)
  for (const attempt of [
    () => readSession(lost, given.token),
    () => adminOfAccount(lost, given.user._id),
    () => roleOfAccount(lost, given.user._id),
  ]) {
    const error: unknown = await attempt().then(
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
  ['had all sessions ended', ({ foundation, user }) => endAllSessions(foundation, user._id)],
  [
    'is gone',
    ({ context, user }) => context.mongo.db.collection<{ _id: string }>('users').deleteOne({ _id: user._id }),
  ],
])('the session of an account that %s has ended', async (_, change) => {
  const given = await loggedIn()
  await change(given)
  await expect(readSession(openSubscriptions(given.foundation), given.token)).rejects.toMatchObject({
    code: 'session_invalid',
  })
})

test.each([
  ['go on', 'while the old secret is the previous one', true],
  ['end', 'without it', false],
] as const)('sessions %s after SESSION_SECRET has changed, %s', async (_, __, kept) => {
  const { foundation, token } = await loggedIn()
  const { SESSION_SECRET } = foundation.config
  const secrets = createSecrets(`${SESSION_SECRET}, changed`, kept ? SESSION_SECRET : undefined)
  const restarted = openSubscriptions({ ...foundation, secrets })
  const reading = codeOf(readSession(restarted, token), ({ username }) => username)
  expect(await reading).toBe(kept ? 'root' : 'session_invalid')
  if (!kept) return
  await logOut(restarted, token, await readSession(restarted, token), false)
  expect(await codeOf(readSession(restarted, token))).toBe('session_invalid')
  expect(await codeOf(readSession(openSubscriptions(foundation), token))).toBe('session_invalid')
})

describe('at least one super administrator remains', () => {
  /** Super administrators, each working in a process of its own. */
  async function supers(count: number) {
    const { context, foundation } = await openSubscriptionsModule()
    const rights = { role: 'super', app_keys: ['*'], name: '', email: '', password: PASSWORD } as const
    const made: AdminDoc[] = []
    for (let n = 0; n < count; n++)
      made.push(
        await createAdmin(context, systemActor, { ...rights, app_keys: [...rights.app_keys], username: `super-${n}` }),
      )
    const take = (by: AdminDoc, from: AdminDoc, change: Parameters<typeof updateAdmin>[3]) => {
      const actor: Actor = { ...systemActor, kind: 'admin', id: String(by._id), name: by.username }
      const outcome = updateAdmin(openSubscriptions(foundation), actor, from._id, change)
      return outcome.then(
        () => 'done',
        (error: { code?: string }) => error.code,
      )
    }
    const left = () => context.collections.admins.countDocuments({ role: 'super', status: '1' })
    return { context, foundation, made, take, left }
  }

  test.each<[string, Parameters<typeof updateAdmin>[3], Parameters<typeof updateAdmin>[3]]>([
    ['demote', { role: 'viewer' }, { role: 'operator' }],
    ['disable', { status: '0' }, { status: '0' }],
    ['demote and disable', { role: 'viewer' }, { status: '0' }],
  ])('when two %s each other at the same moment', async (_, one, two) => {
    const { made, take, left } = await supers(2)
    const [first, second] = made as [AdminDoc, AdminDoc]
    expect((await Promise.all([take(first, second, one), take(second, first, two)])).toSorted()).toEqual([
      'done',
      'transition_refused',
    ])
    expect(await left()).toBe(1)
  })

  test('when four do it in a circle', async () => {
    const { made, take, left } = await supers(4)
    const circle = made.map((admin, n) => take(admin, made[(n + 1) % 4] ?? admin, { role: 'viewer' }))
    expect((await Promise.all(circle)).toSorted()).toEqual(['done', 'done', 'done', 'transition_refused'])
    expect(await left()).toBe(1)
  })

  test.each<[string, (given: Awaited<ReturnType<typeof supers>>, account: string) => Promise<unknown>]>([
    [
      'is suspended',
      async ({ foundation }, account) => {
        // The panel keeps an admin of its own.
        await createUser(foundation, { username: 'root', password: PASSWORD, role: 'admin', lang: 'zh', tz: 'UTC' })
        await suspendUser(foundation, account)
      },
    ],
    [
      'is gone',
      ({ context }, account) => context.mongo.db.collection<{ _id: string }>('users').deleteOne({ _id: account }),
    ],
  ])('whose account can log in: one that %s does not count', async (_, change) => {
    const given = await supers(3)
    const [first, second, third] = given.made as [AdminDoc, AdminDoc, AdminDoc]
    await change(given, third.account_id)
    expect(await given.take(first, second, { role: 'viewer' })).toBe('done')
    expect(await given.take(second, first, { role: 'viewer' })).toBe('transition_refused')
    expect(await given.take(first, third, { role: 'viewer' })).toBe('done')
    expect(await given.take(first, second, { role: 'super' })).toBe('done')
    expect(await given.take(second, first, { role: 'viewer' })).toBe('done')
  })

  test('and the last one can still be renamed, and given helpers', async () => {
    const { made, take, left } = await supers(2)
    const [first, second] = made as [AdminDoc, AdminDoc]
    expect(await take(first, second, { role: 'operator' })).toBe('done')
    expect(await take(second, first, { status: '0' })).toBe('transition_refused')
    expect(await take(second, first, { name: 'The last one', role: 'super', status: '1' })).toBe('done')
    expect(await take(first, second, { status: '0' })).toBe('done')
    expect(await take(first, second, { role: 'super', status: '1' })).toBe('done')
    expect(await take(second, first, { status: '0' })).toBe('done')
    expect(await left()).toBe(1)
  })
})

test('changes at the same moment are written down one after the other, each from what the one before it left', async () => {
  const { context, foundation } = await openSubscriptionsModule()
  const rights = { role: 'viewer' as const, app_keys: [], email: '', password: PASSWORD, username: 'renamed' }
  const { _id } = await createAdmin(context, systemActor, { ...rights, name: 'name-0' })
  const names = ['name-1', 'name-2', 'name-3', 'name-4']
  await Promise.all(names.map(name => updateAdmin(openSubscriptions(foundation), systemActor, _id, { name })))
  const entries = await context.collections.audit.find({ action: 'admin.update' }).toArray()
  const next = new Map(entries.map(({ changes: { name = [] } }) => [name[0], name[1]]))
  let [last, steps]: [unknown, number] = ['name-0', 0]
  for (; next.has(last) && steps < names.length; steps++) last = next.get(last)
  expect([steps, last]).toEqual([names.length, (await context.collections.admins.findOne({ _id }))?.name])
})
