/** The e-mail address of a user, and a new password with a link from a mail. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { passwordMark } from '../../../services/accounts/password-hashing.ts'
import { createMailAllowance, RECOVERY_LIMITS } from '../../../services/accounts/recovery-limiter.ts'
import { type OutgoingAccountMail, sendAccountMails } from '../../../services/accounts/send-account-mails.ts'
import { accountLinks } from '../../../services/accounts/store/account-links.ts'
import { accountMails } from '../../../services/accounts/store/account-mails.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { findUser, type UserDoc, updateUser } from '../../../services/accounts/store/users.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { createLog } from '../../../services/platform/observability/log.ts'
import { giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

const MINUTE = 60_000
const BASE = 'http://panel.example'
let api: PanelApi
let clock: TestClock
let outbox: OutgoingAccountMail[]
let address = 0
beforeAll(async () => {
  clock = testClock()
  api = await startPanelApi({ TRUSTED_PROXIES: '127.0.0.1/32' }, clock)
})
afterAll(() => api.stop())
beforeEach(() => {
  outbox = []
})

/** A stranger at an address of its own, so that limits of addresses do not meet. */
const stranger = () => api.anonymous.with({ 'x-forwarded-for': `192.0.2.${++address % 250}` })
const ask = (username: string, from = stranger()) => from.post('/api/v1/session/password-reset', { username })
const complete = (token: string, new_password = 'a new password') =>
  stranger().post('/api/v1/session/password-reset/complete', { token, new_password })
const canLogIn = async ({ username }: UserDoc, password: string) =>
  (await stranger().post('/api/v1/session', { username, password })).status === 200

/** Runs the job of the worker; `send` replaces the queue. */
function work(send: (mail: OutgoingAccountMail) => Promise<void> = async mail => void outbox.push(mail)) {
  const deps = { mongo: api.mongo, secrets: api.secrets, clock, log: createLog('silent', 'test'), baseUrl: BASE, send }
  return sendAccountMails({ ...deps, mayMail: createMailAllowance(api.db) }, new AbortController().signal)
}

/** The token in the last mail to an address. */
function tokenFor(to: string): string {
  const mail = outbox.findLast(one => one.to === to && one.text.includes('#'))
  return /#([\w-]{43})\n/.exec(mail?.text ?? '')?.[1] ?? `no mail to ${to}`
}

let count = 0
const withEmail = (change: Partial<UserDoc> = {}) =>
  giveUser(api.db, { email: `person${++count}@example.net`, ...change }).then(user => ({
    user,
    email: user.email ?? '',
  }))
const resetToken = async ({ user, email }: Awaited<ReturnType<typeof withEmail>>) => {
  expect((await ask(user.username)).status).toBe(204)
  await work()
  return tokenFor(email)
}

describe('a new password by mail', () => {
  test('is set with the link, ends all sessions, is told and audited', async () => {
    const given = await withEmail()
    const client = await api.as(given.user)
    const token = await resetToken(given)
    expect(outbox).toMatchObject([{ to: given.email, subject: 'Set a new password' }])
    expect(outbox[0]?.text).toContain(`${BASE}/reset-password#${token}\n`)
    expect((await complete(token)).status).toBe(204)
    expect((await client.get('/api/v1/session')).status).toBe(401)
    expect([await canLogIn(given.user, PASSWORD), await canLogIn(given.user, 'a new password')]).toEqual([false, true])
    await work()
    expect(outbox[1]).toMatchObject({ to: given.email, subject: 'Your password was changed' })
    const [entry] = (await listAudit(api.db, given.user._id, { limit: 9 })).filter(
      ({ action }) => action === 'user.password_reset',
    )
    expect(entry).toMatchObject({ actor: { user_id: given.user._id, via: 'link' } })
  })

  test('is found by the address as well, in any case, for each account that has it, in its language', async () => {
    const one = await withEmail()
    // Accounts come in the order of their ids, which those of the same millisecond do not have.
    const two = await withEmail({ _id: newId('usr', Date.now() + 1_000), email: one.email, lang: 'zh' })
    await ask(one.email.toUpperCase())
    await work()
    expect(outbox.map(({ to, subject }) => [to, subject])).toEqual([
      [one.email, 'Set a new password'],
      [one.email, '设置新密码'],
    ])
    expect(outbox[1]?.text).toContain(two.user.username)
  })

  test.each<[string, () => Promise<string>]>([
    ['an unknown name', async () => 'nobody-at-all'],
    ['an unknown address', async () => 'nobody@example.org'],
    ['an account without an address', async () => (await giveUser(api.db)).username],
    ['a suspended account', async () => (await withEmail({ status: 'suspended' })).user.username],
    [
      'the account of a namespace',
      async () => {
        const managed_by = { kind: 'Namespace', namespace: 'a', name: 'a', uid: '' } as const
        return (await withEmail({ managed_by })).user.username
      },
    ],
    ['an operator', async () => '{"$ne":""}'],
  ])('sends nothing for %s, and answers the same', async (_, name) => {
    const known = await ask((await withEmail()).user.username)
    const answer = await ask(await name())
    const shown = ({ status, body, headers }: typeof answer) => [status, body, [...headers.keys()].sort()]
    expect(shown(answer)).toEqual(shown(known))
    await work()
    expect(outbox).toHaveLength(1)
    expect(await collectionOf(api.db, accountMails).countDocuments()).toBe(0)
  })

  test('of two uses of a link at once exactly one wins', async () => {
    const given = await withEmail()
    const token = await resetToken(given)
    const passwords = Array.from({ length: 6 }, (_, n) => `a new password ${n}`)
    const statuses = await Promise.all(
      passwords.map(password => complete(token, password).then(({ status }) => status)),
    )
    expect(statuses.filter(status => status === 204)).toHaveLength(1)
    expect(statuses.filter(status => status === 410)).toHaveLength(5)
    expect(await canLogIn(given.user, passwords[statuses.indexOf(204)] ?? '')).toBe(true)
  })

  test.each<[string, (given: { user: UserDoc; email: string }, token: string) => Promise<unknown>]>([
    ['was used', (_, token) => complete(token, 'the first password')],
    ['was replaced by a newer one', given => resetToken(given)],
    ['has expired', async () => clock.advance(60 * MINUTE)],
    ['is older than the password', ({ user }) => updateUser(api.db, user._id, { password_hash: 'another' })],
    ['is of an account that was suspended', ({ user }) => updateUser(api.db, user._id, { status: 'suspended' })],
  ])('is refused with a link that %s', async (_, change) => {
    const given = await withEmail()
    const token = await resetToken(given)
    await change(given, token)
    const before = (await findUser(api.db, given.user._id))?.password_hash
    expect(await complete(token, 'a password of a thief')).toMatchObject({
      status: 410,
      body: { code: 'link_invalid' },
    })
    expect((await findUser(api.db, given.user._id))?.password_hash).toBe(before)
  })

  test('is refused with a link of another kind, the stored hash, or a weak password', async () => {
    const given = await withEmail()
    const token = await resetToken(given)
    const confirm = await stranger().post('/api/v1/session/email-confirmation', { token })
    expect(confirm).toMatchObject({ status: 410 })
    const stored = await collectionOf(api.db, accountLinks).findOne({ user_id: given.user._id })
    expect(await complete(stored?.token.slice(0, 43) ?? '')).toMatchObject({ status: 410 })
    expect(JSON.stringify(stored)).not.toContain(token)
    expect(await complete(token, 'short')).toMatchObject({ status: 422 })
    expect((await complete(token)).status).toBe(204)
  })

  test('one name, one address and one account are limited', async () => {
    const given = await withEmail()
    const statuses: number[] = []
    for (let n = 0; n <= RECOVERY_LIMITS.name; n++) statuses.push((await ask(given.user.username)).status)
    expect(statuses).toEqual([...Array(RECOVERY_LIMITS.name).fill(204), 429])
    expect((await ask(given.email)).status).toBe(204)
    await work()
    expect(outbox.filter(({ to }) => to === given.email)).toHaveLength(RECOVERY_LIMITS.account) // one less than was asked for
    const single = api.anonymous.with({ 'x-forwarded-for': '198.51.100.1' })
    const many: number[] = []
    for (let n = 0; n <= RECOVERY_LIMITS.address; n++) many.push((await ask(`name-${n}`, single)).status)
    expect(many.indexOf(429)).toBe(RECOVERY_LIMITS.address)
    expect((await ask(`name-${RECOVERY_LIMITS.address}`)).status).toBe(204) // the refused request did not count for the name
    await work()
  })
})

describe('the worker', () => {
  test('sends a mail again that the queue refused, with a link that works', async () => {
    const given = await withEmail()
    await ask(given.user.username)
    expect(await work(() => Promise.reject(new Error('queue is away')))).toBe(0)
    expect(await work()).toBe(0) // not due yet
    clock.advance(MINUTE)
    expect(await work()).toBe(1)
    expect((await complete(tokenFor(given.email))).status).toBe(204)
    await work()
  })

  test('sends a mail once when several workers run', async () => {
    const given = await withEmail()
    await ask(given.user.username)
    await Promise.all([work(), work(), work()])
    expect(outbox).toHaveLength(1)
  })

  test('drops a request that is an hour old', async () => {
    await ask((await withEmail()).user.username)
    clock.advance(60 * MINUTE)
    expect(await work()).toBe(0)
    await collectionOf(api.db, accountMails).deleteMany({})
  })
})

describe('the own address', () => {
  const change = (client: PanelApi['anonymous'], email: string | null, current_password = PASSWORD) =>
    client.call('PUT', '/api/v1/me/email', { email, current_password })
  const confirm = (token: string) => stranger().post('/api/v1/session/email-confirmation', { token })

  test('holds once its link was opened, and the former one is told', async () => {
    const { user, client } = await api.newUser({ email: 'former@example.net' })
    expect(await change(client, ' New@Example.NET ')).toMatchObject({
      status: 200,
      body: { email: 'former@example.net' },
    })
    await work()
    expect(outbox).toMatchObject([{ to: 'new@example.net', subject: 'Confirm your email address' }])
    expect((await confirm(tokenFor('new@example.net'))).status).toBe(204)
    expect((await client.get('/api/v1/me')).body.email).toBe('new@example.net')
    await work()
    expect(outbox[1]).toMatchObject({ to: 'former@example.net', subject: 'Your email address was changed' })
    expect(await confirm(tokenFor('new@example.net'))).toMatchObject({ status: 410 })
    expect((await listAudit(api.db, user._id, { limit: 9 })).map(({ action }) => action).sort()).toEqual([
      'user.email_confirmed',
      'user.email_requested',
    ])
  })

  test('is removed at once, and its open links with it', async () => {
    const given = await withEmail()
    const token = await resetToken(given)
    const client = await api.as(given.user)
    expect(await change(client, null)).toMatchObject({ status: 200, body: { email: null } })
    expect((await findUser(api.db, given.user._id))?.email).toBeUndefined()
    expect(await complete(token)).toMatchObject({ status: 410 })
    await work()
    expect(outbox.at(-1)).toMatchObject({ to: given.email, subject: 'Your email address was changed' })
  })

  test('a link that an older password allowed confirms nothing', async () => {
    const { user, client } = await api.newUser()
    await change(client, 'thief@example.net')
    await work()
    const password_hash = 'another'
    await updateUser(api.db, user._id, { password_hash })
    expect(await confirm(tokenFor('thief@example.net'))).toMatchObject({ status: 410 })
    expect((await findUser(api.db, user._id))?.email).toBeUndefined()
    expect(passwordMark(password_hash)).not.toBe(passwordMark(user.password_hash))
  })

  test.each([
    ['a wrong password', { email: 'a@example.net', current_password: 'wrong' }, 401],
    ['no password', { email: 'a@example.net' }, 422],
    ['a line break', { email: 'a@example.net\r\nBcc: b@example.net', current_password: PASSWORD }, 422],
    ['a name', { email: 'Ann <a@example.net>', current_password: PASSWORD }, 422],
    ['two addresses', { email: 'a@example.net,b@example.net', current_password: PASSWORD }, 422],
    ['an operator', { email: { $ne: null }, current_password: PASSWORD }, 422],
    ['a very long address', { email: `${'a'.repeat(250)}@example.net`, current_password: PASSWORD }, 422],
  ])('is not changed with %s', async (_, body, status) => {
    const { client } = await api.newUser()
    expect(await client.call('PUT', '/api/v1/me/email', body)).toMatchObject({ status })
    await work()
    expect(outbox).toEqual([])
  })
})
