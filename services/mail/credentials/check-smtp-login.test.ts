import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { giveCredential, giveUser, PASSWORD } from '../../../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { until } from '../../../test/support/time/until.ts'
import { createLoginLimiter, type LOGIN_LIMITS, loginLimits } from '../../accounts/login-limiter.ts'
import { hashPassword } from '../../accounts/password-hashing.ts'
import { updateUser } from '../../accounts/store/users.ts'
import { ensureIndexes } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createMetrics } from '../../platform/observability/metrics.ts'
import { createSecrets } from '../../platform/security/secrets.ts'
import { inEnglish } from '../../platform/sentences/sentence.ts'
import type { Submitter } from '../submission/submission.ts'
import { SmtpLogins } from './check-smtp-login.ts'
import type { CredentialDoc } from './store/smtp-credentials.ts'
import { credentials, deleteCredential, findCredential, updateCredential } from './store/smtp-credentials.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [loginLimits, credentials])
})
afterAll(() => mongo.stop())

/** A process of its own, with a login and what is needed to try it. */
async function process(change: Partial<CredentialDoc> = {}, limits?: Record<keyof typeof LOGIN_LIMITS, number>) {
  const { db } = mongo
  const user = await giveUser(db)
  const credential = await giveCredential(db, user._id, newId('app'), change)
  const clock = testClock()
  const metrics = createMetrics('test')
  const limiter = createLoginLimiter({ db, metrics, channel: 'smtp' }, limits)
  const secrets = createSecrets('a master secret of more than thirty-two bytes')
  const logins = new SmtpLogins({ db, clock, log: silentLog, metrics, secrets, limiter })
  const logIn = (typed: string, password: string, ip: string) => logins.logIn(typed, password, ip)
  const { username } = credential
  return {
    user,
    credential,
    clock,
    logIn,
    renew: (submitter: Submitter) => logins.renew(submitter),
    metrics,
    with: (password: string, ip = address()) => logIn(username, password, ip),
  }
}

let last = 0
/** An address that no other test uses, so that the counters of one test do not limit another. */
const address = () => `198.51.${Math.floor(++last / 250)}.${(last % 250) + 1}`
const refused = (code: string) => ({ kind: 'refused', code, detail: { code: expect.any(String) } })

test('a right password gives the submitter with the limits of its login', async () => {
  const login = await process({ allowed_senders: ['@example.com'], messages_per_hour: 60 })
  expect(await login.with(PASSWORD)).toEqual({
    userId: login.user._id,
    via: { channel: 'smtp', id: login.credential._id },
    allowedSenders: ['@example.com'],
    messagesPerHour: 60,
  })
})

test('a hundred failures from a few addresses do not refuse the right password from where it was right lately', async () => {
  const login = await process()
  const home = address()
  expect(await login.with(PASSWORD, home)).toMatchObject({ userId: login.user._id })
  login.clock.advance(61_000) // what is remembered of a right password is gone
  const strangers = Array.from({ length: 12 }, address)
  for (const ip of strangers) for (let n = 0; n < 10; n++) await login.with(`wrong ${n}`, ip)
  expect(await login.with(PASSWORD)).toEqual(refused('rate_limited'))
  expect(await login.with(PASSWORD, home)).toMatchObject({ userId: login.user._id })
})

test('forty connections that log in in parallel are one guess', async () => {
  const login = await process()
  const ip = address()
  const many = (password: string) => Promise.all(Array.from({ length: 40 }, () => login.with(password, ip)))
  expect(await many('wrong')).toEqual(Array(40).fill(refused('invalid_login')))
  expect(await many(PASSWORD)).toEqual(Array(40).fill(expect.objectContaining({ userId: login.user._id })))
})

test('every login is counted, also those that a cache answers and those that wait for the same check', async () => {
  const login = await process()
  const ip = address()
  const many = (password: string) => Promise.all(Array.from({ length: 5 }, () => login.with(password, ip)))
  await many('wrong')
  await many(PASSWORD)
  for (let n = 0; n < 20; n++) await login.with(PASSWORD, ip)
  const { values } = await login.metrics.logins.get()
  expect(values.map(({ labels, value }) => [labels.channel, labels.outcome, value])).toEqual([
    ['smtp', 'refused', 5],
    ['smtp', 'ok', 25],
  ])
})

test('the name is case-folded', async () => {
  const { logIn, credential } = await process()
  expect(await logIn(` ${credential.username.toUpperCase()} `, PASSWORD, address())).toMatchObject({
    userId: expect.any(String),
  })
})

test('a wrong password, an unknown name, a disabled login and a suspended account get the same reply', async () => {
  const [wrong, unknown, disabled, suspended] = await Promise.all([
    process(),
    process(),
    process({ disabled: true }),
    process(),
  ])
  await updateUser(mongo.db, suspended.user._id, { status: 'suspended' })
  const replies = [
    await wrong.with('not the password'),
    await unknown.logIn('nobody', PASSWORD, address()),
    await unknown.logIn('{"$gt":""}', PASSWORD, address()),
    await disabled.with(PASSWORD),
    await suspended.with(PASSWORD),
  ]
  for (const reply of replies) expect(reply).toEqual(refused('invalid_login'))
  expect(new Set(replies.map(reply => JSON.stringify(reply))).size).toBe(1)
})

test.each([
  ['192.0.2.7', true],
  ['::ffff:192.0.2.7', true],
  ['192.0.3.7', false],
  ['2001:db8::7', false],
])('a login limited to 192.0.2.0/24 from %s', async (ip, allowed) => {
  const login = await process({ allowed_cidrs: ['192.0.2.0/24'] })
  const reply = await login.with(PASSWORD, ip)
  expect(reply).toMatchObject(allowed ? { userId: login.user._id } : refused('network_not_allowed'))
})

test('the login that is new gets in, the old password no more, immediately', async () => {
  const login = await process()
  await login.with(PASSWORD)
  const password_hash = await hashPassword('another password')
  await updateCredential(mongo.db, login.user._id, login.credential._id, { password_hash })
  expect(await login.with('another password')).toMatchObject({ userId: login.user._id })
  login.clock.advance(4_000)
  expect(await login.with(PASSWORD)).toEqual(refused('invalid_login'))
})

test('suspension, disabling and removal hold within 5 seconds for a login that was just used', async () => {
  const cuts: ((user: string, id: string) => Promise<unknown>)[] = [
    user => updateUser(mongo.db, user, { status: 'suspended' }),
    (user, id) => updateCredential(mongo.db, user, id, { disabled: true }),
    (user, id) => deleteCredential(mongo.db, user, id),
  ]
  for (const cut of cuts) {
    const login = await process()
    await login.with(PASSWORD)
    await cut(login.user._id, login.credential._id)
    login.clock.advance(4_000)
    expect(await login.with(PASSWORD)).toEqual(refused('invalid_login'))
  }
})

test('after too many failures even the right password has to wait, in another process too', async () => {
  const limits = { pair: 3, address: 100, account: 100, known: 200 }
  const one = await process({}, limits)
  const ip = address()
  for (let attempt = 0; attempt < 3; attempt++)
    expect(await one.with(`guess ${attempt}`, ip)).toEqual(refused('invalid_login'))
  expect(await one.with(PASSWORD, ip)).toEqual(refused('rate_limited'))
  const two = await process({}, limits)
  expect(await two.logIn(one.credential.username, PASSWORD, ip)).toEqual(refused('rate_limited'))
  expect(await one.with(PASSWORD)).toMatchObject({ userId: one.user._id })
})

test('parallel guesses do not slip past the limit', async () => {
  const { logIn, credential } = await process({}, { pair: 5, address: 100, account: 100, known: 200 })
  const ip = address()
  const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => logIn(credential.username, `guess ${n}`, ip)))
  expect(replies.filter(reply => 'code' in reply && reply.code === 'invalid_login')).toHaveLength(5)
})

test('a busy client with the right password is never limited', async () => {
  const login = await process({}, { pair: 2, address: 2, account: 2, known: 200 })
  const ip = address()
  for (let attempt = 0; attempt < 20; attempt++)
    expect(await login.with(PASSWORD, ip)).toMatchObject({ userId: login.user._id })
})

test('the use of a login is noted', async () => {
  const login = await process()
  await login.with(PASSWORD)
  await until(
    async () => (await findCredential(mongo.db, login.user._id, login.credential._id))?.last_used_at !== undefined,
  )
})

describe('a session that goes on', () => {
  /** Logs in, changes something, lets the memory of the process grow old, and asks again. */
  async function afterwards(change: (user: string, id: string) => Promise<unknown>) {
    const login = await process()
    const submitter = await login.with(PASSWORD)
    if ('kind' in submitter) throw new Error(inEnglish(submitter.detail))
    await change(login.user._id, login.credential._id)
    login.clock.advance(4_000)
    return { submitter, renewed: await login.renew(submitter) }
  }

  test('keeps its login while nothing changes', async () => {
    const { submitter, renewed } = await afterwards(async () => undefined)
    expect(renewed).toEqual(submitter)
  })

  test('has the new limits', async () => {
    const { renewed } = await afterwards((user, id) =>
      updateCredential(mongo.db, user, id, { allowed_senders: ['@example.net'], messages_per_hour: 7 }),
    )
    expect(renewed).toMatchObject({ allowedSenders: ['@example.net'], messagesPerHour: 7 })
  })

  test.each([
    ['that it still may come from', ['192.0.2.0/24', '198.51.0.0/16'], undefined],
    ['that it may not come from any more', ['192.0.2.0/24'], 'network_not_allowed'],
  ])('has networks %s', async (_, allowed_cidrs, code) => {
    const { renewed } = await afterwards((user, id) => updateCredential(mongo.db, user, id, { allowed_cidrs }))
    if (code) expect(renewed).toEqual(refused(code))
    else expect(renewed).not.toHaveProperty('kind')
  })

  test.each<[string, (user: string, id: string) => Promise<unknown>]>([
    ['is suspended', user => updateUser(mongo.db, user, { status: 'suspended' })],
    ['is disabled', (user, id) => updateCredential(mongo.db, user, id, { disabled: true })],
    ['is removed', (user, id) => deleteCredential(mongo.db, user, id)],
    ['has a new password', (user, id) => updateCredential(mongo.db, user, id, { password_hash: 'another' })],
  ])('ends when its login %s', async (_, change) => {
    const { renewed } = await afterwards(change)
    expect(renewed).toEqual(refused('invalid_login'))
  })

  test('is not for logins that were never given', async () => {
    const { renew, user } = await process()
    const forged = { userId: user._id, via: { channel: 'smtp' as const }, allowedSenders: [], messagesPerHour: 0 }
    expect(await renew(forged)).toEqual(refused('invalid_login'))
  })
})
