/** The second factor: set-up, login in two steps, recovery codes, removal, and what must not get past it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resealAccounts } from '../../../services/accounts/reseal.ts'
import { codeOf, stepAt } from '../../../services/accounts/rules/totp.ts'
import { CODE_LIMITS, RECOVERY_CODES } from '../../../services/accounts/second-factor.ts'
import { listAudit } from '../../../services/accounts/store/audit-log.ts'
import { secondFactors } from '../../../services/accounts/store/second-factors.ts'
import { updateUser } from '../../../services/accounts/store/users.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { type TestClock, testClock } from '../../support/time/test-clock.ts'

const STEP = 30_000
let api: PanelApi
let clock: TestClock
let address = 0
beforeAll(async () => {
  clock = testClock()
  api = await startPanelApi({ TRUSTED_PROXIES: '127.0.0.1/32' }, clock)
})
afterAll(() => api.stop())

const stranger = () => api.anonymous.with({ 'x-forwarded-for': `192.0.2.${++address % 250}` })
const FACTOR = '/api/v1/me/second-factor'

/** The code that an app shows now; `ahead`: in so many steps. */
function codeFor(secret: string, ahead = 0): string {
  const bits = [...secret]
    .map(char => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
    .join('')
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
  return codeOf(bytes, stepAt(clock.now().getTime()) + ahead)
}

/** A code that is wrong now. */
const wrongCode = (secret: string) =>
  ['000000', '000001', '000002', '000003'].find(code => ![-1, 0, 1].some(n => codeFor(secret, n) === code)) ?? ''

async function withFactor() {
  const { user, client } = await api.newUser()
  const { body } = await client.post(FACTOR, { current_password: PASSWORD })
  const answer = await client.post(`${FACTOR}/confirm`, { code: codeFor(body.secret) })
  expect(answer.status).toBe(200)
  clock.advance(2 * STEP) // the codes of the set-up are used up
  return { user, client, secret: body.secret as string, recovery: answer.body.codes as string[] }
}
const firstStep = ({ username }: { username: string }, from = stranger()) =>
  from.post('/api/v1/session', { username, password: PASSWORD })
const secondStep = (challenge: string, code: string, from = stranger()) =>
  from.post('/api/v1/session/second-factor', { challenge, code })

test('it is on once a code was confirmed, and other sessions end then', async () => {
  const { user, client } = await api.newUser()
  const other = await api.as(user)
  const { body } = await client.post(FACTOR, { current_password: PASSWORD })
  expect(body.uri).toBe(`otpauth://totp/Postwright:${user.username}?secret=${body.secret}&issuer=Postwright`)
  expect((await firstStep(user)).status).toBe(200) // not asked for yet
  expect(await client.post(`${FACTOR}/confirm`, { code: wrongCode(body.secret) })).toMatchObject({
    body: { code: 'invalid_code' },
  })
  expect(await client.get(FACTOR)).toMatchObject({ body: { enabled: false, recovery_codes_left: 0 } })
  const confirmed = await client.post(`${FACTOR}/confirm`, { code: codeFor(body.secret) })
  expect(new Set(confirmed.body.codes).size).toBe(RECOVERY_CODES)
  expect(await client.get(FACTOR)).toMatchObject({ body: { enabled: true, recovery_codes_left: RECOVERY_CODES } })
  expect((await other.get('/api/v1/session')).status).toBe(401)
  expect(await client.post(FACTOR, { current_password: PASSWORD })).toMatchObject({ status: 409 })
})

test('a login takes two steps, and sets no cookie before the second', async () => {
  const { user, secret } = await withFactor()
  const first = await firstStep(user)
  expect(first).toMatchObject({ status: 401, body: { code: 'second_factor_required' } })
  expect(first.headers.get('set-cookie')).toBeNull()
  const second = await secondStep(first.body.challenge, codeFor(secret))
  expect(second).toMatchObject({ status: 200, body: { user: { username: user.username } } })
  const [cookie = ''] = (second.headers.get('set-cookie') ?? '').split(';')
  expect((await api.anonymous.with({ cookie }).get('/api/v1/me')).status).toBe(200)
})

test('a wrong password answers as for an account without a factor', async () => {
  const { user } = await withFactor()
  const answer = await stranger().post('/api/v1/session', { username: user.username, password: 'wrong' })
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_login' } })
  expect(answer.body.challenge).toBeUndefined()
})

describe('a code', () => {
  test('counts once: of parallel uses exactly one logs in, and none later', async () => {
    const { user, secret } = await withFactor()
    const { challenge } = (await firstStep(user)).body
    const code = codeFor(secret)
    const statuses = await Promise.all([1, 2, 3, 4].map(() => secondStep(challenge, code).then(({ status }) => status)))
    expect(statuses.sort()).toEqual([200, 401, 401, 401])
    expect(await secondStep(challenge, code)).toMatchObject({ body: { code: 'invalid_code' } })
  })

  test.each([
    ['of the step before', -1, 200],
    ['of the next step', 1, 200],
    ['of two steps ago', -2, 401],
    ['of the step after the next', 2, 401],
  ])('%s: %i steps away', async (_, ahead, status) => {
    const { user, secret } = await withFactor()
    clock.advance(5 * STEP)
    expect((await secondStep((await firstStep(user)).body.challenge, codeFor(secret, ahead))).status).toBe(status)
  })

  test('of another account is wrong', async () => {
    const [mine, theirs] = [await withFactor(), await withFactor()]
    const { challenge } = (await firstStep(mine.user)).body
    expect((await secondStep(challenge, codeFor(theirs.secret))).status).toBe(401)
    expect((await secondStep(challenge, theirs.recovery[0] ?? '')).status).toBe(401)
  })

  test('cannot be guessed: the account waits after some wrong ones, from whatever addresses', async () => {
    const { user, secret } = await withFactor()
    const { challenge } = (await firstStep(user)).body
    const statuses: number[] = []
    for (let n = 0; n <= CODE_LIMITS.account; n++)
      statuses.push((await secondStep(challenge, wrongCode(secret))).status)
    expect(statuses).toEqual([...Array(CODE_LIMITS.account).fill(401), 429])
    expect((await secondStep(challenge, codeFor(secret))).status).toBe(429)
  })
})

describe('a recovery code', () => {
  test('logs in once, typed in any way, also in parallel', async () => {
    const { user, client, recovery } = await withFactor()
    const { challenge } = (await firstStep(user)).body
    const [one = '', two = ''] = recovery
    const statuses = await Promise.all([1, 2, 3].map(() => secondStep(challenge, one).then(({ status }) => status)))
    expect(statuses.sort()).toEqual([200, 401, 401])
    expect((await secondStep(challenge, two.replaceAll('-', ' ').toUpperCase())).status).toBe(200)
    expect((await client.get(FACTOR)).body.recovery_codes_left).toBe(RECOVERY_CODES - 2)
  })

  test('and the secret are not readable in the database', async () => {
    const { user, secret, recovery } = await withFactor()
    const stored = JSON.stringify(await collectionOf(api.db, secondFactors).findOne({ _id: user._id }))
    for (const value of [secret, ...recovery, ...recovery.map(code => code.replaceAll('-', ''))])
      expect(stored).not.toContain(value)
  })
})

describe('a challenge is refused', () => {
  test.each<[string, (user: { _id: string }) => Promise<unknown>]>([
    ['after five minutes', async () => clock.advance(5 * 60_000)],
    ['after the password was changed', ({ _id }) => updateUser(api.db, _id, { password_hash: 'another' })],
    ['after the account was suspended', ({ _id }) => updateUser(api.db, _id, { status: 'suspended' })],
  ])('%s', async (_, change) => {
    const { user, secret } = await withFactor()
    const { challenge } = (await firstStep(user)).body
    await change(user)
    expect(await secondStep(challenge, codeFor(secret))).toMatchObject({ status: 401, body: { code: 'login_expired' } })
  })

  test.each<[string, (challenge: string) => string]>([
    ['that was changed', challenge => `${challenge.slice(0, -2)}AA`],
    ['of another installation', () => createSecrets('x'.repeat(32)).seal('totp', 'login-challenge', '{}')],
    ['that is a sealed value from elsewhere', () => api.secrets.seal('totp', 'second_factors/x/totp', 'x')],
    ['that is no sealed value', () => 'v1.x.y.z'],
  ])('%s', async (_, forge) => {
    const { user, secret } = await withFactor()
    const { challenge } = (await firstStep(user)).body
    expect(await secondStep(forge(challenge), codeFor(secret))).toMatchObject({ body: { code: 'login_expired' } })
  })
})

describe('it is turned off', () => {
  const disable = (client: PanelApi['anonymous'], code: string, current_password = PASSWORD) =>
    client.post(`${FACTOR}/disable`, { code, current_password })

  test('with password and code, not with one of them', async () => {
    const { user, client, secret } = await withFactor()
    expect(await disable(client, codeFor(secret), 'wrong')).toMatchObject({ body: { code: 'invalid_login' } })
    expect(await disable(client, wrongCode(secret))).toMatchObject({ body: { code: 'invalid_code' } })
    expect((await disable(client, codeFor(secret))).status).toBe(204)
    expect((await firstStep(user)).status).toBe(200)
    expect(await disable(client, codeFor(secret, 1))).toMatchObject({ status: 409 })
    const actions = (await listAudit(api.db, user._id, { limit: 9 })).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['user.second_factor_enabled', 'user.second_factor_disabled']))
  })

  test('by an admin, for who has lost everything', async () => {
    const { user } = await withFactor()
    const admin = await api.newUser({ role: 'admin' })
    const path = `/api/v1/admin/users/${user._id}/remove-second-factor`
    expect((await admin.client.post(path)).status).toBe(204)
    expect((await firstStep(user)).status).toBe(200)
    expect(await admin.client.post(path)).toMatchObject({ status: 409, body: { detail_code: 'detail.no_factor' } })
    const [entry] = await listAudit(api.db, user._id, { limit: 9 }).then(list =>
      list.filter(({ action }) => action === 'user.second_factor_removed'),
    )
    expect(entry?.actor.name).toBe(admin.user.username)
  })
})

test('a rotation of SESSION_SECRET seals the secrets again', async () => {
  const secret = 'a secret of more than thirty-two bytes, new'
  const before = await startPanelApi()
  try {
    const { client, user } = await before.newUser()
    await client.post(FACTOR, { current_password: PASSWORD })
    const sealed = async () => (await collectionOf(before.db, secondFactors).findOne({ _id: user._id }))?.sealed ?? ''
    const old = await sealed()
    const rotated = { ...createSecrets(secret), open: before.secrets.open }
    expect(await resealAccounts(before.db, rotated)).toBe(1)
    const plain = createSecrets(secret).open('totp', `second_factors/${user._id}/totp`, await sealed())
    expect(plain).toBe(before.secrets.open('totp', `second_factors/${user._id}/totp`, old))
  } finally {
    await before.stop()
  }
})
