import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { giveUser } from '../../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../test/support/database/test-database.ts'
import { systemClock } from '../platform/clock.ts'
import { collectionOf, ensureIndexes } from '../platform/database/mongo.ts'
import { createSecrets } from '../platform/security/secrets.ts'
import type { LoginLimiter } from './login-limiter.ts'
import { endSession, openSession, readSession } from './login-sessions.ts'
import { changePassword, resetPassword } from './manage-accounts.ts'
import { hashPassword, verifyPassword } from './password-hashing.ts'
import { deleteSessionsOf, sessions } from './store/sessions.ts'
import { findUser, updateUser, users } from './store/users.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [sessions, users])
})
afterAll(() => mongo.stop())

const OTHER = 'another master secret, also of more than 32 bytes'
const SECRET = 'a master secret of more than thirty-two bytes'
/** The sessions as a process sees them that was started with these secrets. */
const store = (...secrets: [secret?: string, previous?: string]) => ({
  db: mongo.db,
  secrets: createSecrets(secrets[0] ?? SECRET, secrets[1]),
})
const HOUR = 3_600_000
const start = Date.parse('2026-11-21T10:00:00Z')
const after = (hours: number) => new Date(start + hours * HOUR)
const open = async () => {
  const user = await giveUser(mongo.db)
  return { user, token: await openSession(store(), user, '192.0.2.1', after(0)) }
}
const isOpen = async (token: string, hours: number) => (await readSession(store(), token, after(hours))) !== undefined

test('a session identifies its account, and its token is not stored', async () => {
  const { user, token } = await open()
  expect(await readSession(store(), token, after(1))).toMatchObject({ account: { id: user._id, role: 'user' } })
  expect(JSON.stringify(await collectionOf(mongo.db, sessions).find().toArray())).not.toContain(token)
})

test('a session ends 24 hours after its last use', async () => {
  const { token } = await open()
  expect(await isOpen(token, 23.9)).toBe(true)
  expect(await isOpen(token, 47.8)).toBe(true)
  expect(await isOpen(token, 71.9)).toBe(false)
})

test('a session ends 30 days after the login, however often it is used', async () => {
  const { token } = await open()
  for (let hours = 12; hours < 720; hours += 12) expect(await isOpen(token, hours)).toBe(true)
  expect(await isOpen(token, 720)).toBe(false)
})

test('reading soon after does not write', async () => {
  const { token } = await open()
  const ends = async () => (await collectionOf(mongo.db, sessions).find().toArray()).map(({ expires_at }) => expires_at)
  const before = await ends()
  await readSession(store(), token, after(0.2))
  expect(await ends()).toEqual(before)
  await readSession(store(), token, after(0.3))
  expect(await ends()).not.toEqual(before)
})

test.each([
  ['go on', 'with the same secret', [SECRET], true],
  ['end', 'with another secret', [OTHER], false],
  ['go on', 'while the old secret is the previous one', [OTHER, SECRET], true],
  ['end', 'with two other secrets', [OTHER, `${OTHER} and more`], false],
] as const)('sessions %s after a restart %s', async (_, __, secrets, open_) => {
  const { token } = await open()
  expect((await readSession(store(...secrets), token, after(1))) !== undefined).toBe(open_)
})

test('a session that was opened before a rotation is used and ended like others', async () => {
  const { token } = await open()
  const rotating = store(OTHER, SECRET)
  expect(await readSession(rotating, token, after(23))).toBeDefined()
  expect(await readSession(rotating, token, after(46))).toBeDefined()
  await endSession(rotating, token)
  expect(await readSession(rotating, token, after(46))).toBeUndefined()
  expect(await isOpen(token, 46)).toBe(false)
})

test('rows that are written without SESSION_SECRET open nothing, as those of the release before', async () => {
  const user = await giveUser(mongo.db)
  const _id = createHash('sha256').update('a token').digest('hex')
  const row = { _id, user_id: user._id, ip: '192.0.2.1', created_at: after(0), expires_at: after(24) }
  await collectionOf(mongo.db, sessions).insertOne(row)
  expect(await isOpen('a token', 1)).toBe(false)
})

test.each([
  ['another token', (token: string) => `${token.slice(1)}x`],
  ['the stored hash', () => 'hash'],
  ['nothing', () => ''],
])('%s opens no session', async (_, mangle) => {
  const { token } = await open()
  expect(await isOpen(mangle(token), 0)).toBe(false)
})

test('a suspended account has no session, nor has one whose session was ended', async () => {
  const one = await open()
  await updateUser(mongo.db, one.user._id, { status: 'suspended' })
  expect(await isOpen(one.token, 0)).toBe(false)
  const two = await open()
  await endSession(store(), two.token)
  expect(await isOpen(two.token, 0)).toBe(false)
})

test('all sessions but one can be ended', async () => {
  const { user, token } = await open()
  const kept = await openSession(store(), user, '192.0.2.1', after(0))
  const stranger = await open()
  const session = await readSession(store(), kept, after(0))
  await deleteSessionsOf(mongo.db, user._id, session?.id)
  expect([await isOpen(token, 0), await isOpen(kept, 0), await isOpen(stranger.token, 0)]).toEqual([false, true, true])
})

test('a login that was under way while the password was reset opens no session', async () => {
  const user = await giveUser(mongo.db)
  await resetPassword({ mongo, clock: systemClock }, user._id, 'another password')
  expect(await isOpen(await openSession(store(), user, '192.0.2.1', after(0)), 0)).toBe(false)
})

test('a changed password keeps the session that changed it and ends the others', async () => {
  const { user, own, other, change } = await changing()
  await change('a third password', async () => undefined)
  expect([await isOpen(own, 0), await isOpen(other, 0)]).toEqual([true, false])
  expect((await findUser(mongo.db, user._id))?.password_hash).not.toBe(user.password_hash)
})

test('a change that was under way while an admin reset the password does not undo the reset', async () => {
  const { user, own, change } = await changing()
  const reset = () => resetPassword({ mongo, clock: systemClock }, user._id, 'set by an admin')
  await expect(change('chosen by a thief', reset)).rejects.toMatchObject({ code: 'invalid_login' })
  const now = await findUser(mongo.db, user._id)
  expect(await verifyPassword(now?.password_hash, 'set by an admin')).toBe(true)
  expect(await isOpen(own, 0)).toBe(false)
})

/** A user with two sessions, and a change of its password from the first; `between` runs after the check. */
async function changing() {
  const user = await giveUser(mongo.db, { password_hash: await hashPassword('the first password') })
  const [own, other] = [
    await openSession(store(), user, '192.0.2.1', after(0)),
    await openSession(store(), user, '192.0.2.2', after(0)),
  ]
  const session = await readSession(store(), own, after(0))
  const change = (next: string, between: () => Promise<unknown>) => {
    const limiter: LoginLimiter = {
      async guard(_name, _ip, check) {
        const value = await check()
        await between()
        return value === undefined ? { kind: 'refused' } : { kind: 'ok', value }
      },
    }
    const passwords = { current: 'the first password', next }
    const deps = { mongo, clock: systemClock, limiter }
    return changePassword(deps, { userId: user._id, sessionId: session?.id, ...passwords, ip: '192.0.2.1' })
  }
  return { user, own, other, change }
}

test('MongoDB removes ended sessions by itself', async () => {
  const indexes = await collectionOf(mongo.db, sessions).indexes()
  expect(indexes).toContainEqual(expect.objectContaining({ key: { expires_at: 1 }, expireAfterSeconds: 0 }))
})
