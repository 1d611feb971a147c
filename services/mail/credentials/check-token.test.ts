import { afterAll, beforeAll, expect, test } from 'vitest'
import { giveToken, giveUser } from '../../../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { until } from '../../../test/support/time/until.ts'
import { updateUser } from '../../accounts/store/users.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createTokenCheck } from './check-token.ts'
import type { TokenDoc } from './store/tokens.ts'
import { findTokenById, updateToken } from './store/tokens.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
})
afterAll(() => mongo.stop())

function checker(apiToken?: string) {
  const clock = testClock()
  return { clock, check: createTokenCheck({ db: mongo.db, clock, log: silentLog, apiToken }) }
}

test('a valid token has its account, scopes and limits', async () => {
  const user = await giveUser(mongo.db)
  const token = await giveToken(mongo.db, user._id, { domains: ['example.com'] })
  const { check } = checker()
  expect(await check(token.value, '192.0.2.1')).toMatchObject({
    kind: 'token',
    account: { id: user._id, role: 'user' },
    token: { _id: token._id, domains: ['example.com'], scopes: ['emails:send', 'emails:read'] },
  })
})

const past = new Date('2026-11-21T09:59:59Z')
test.each<[string, Partial<TokenDoc>, (value: string) => string, string]>([
  ['revoked', { revoked_at: past }, value => value, 'invalid_token'],
  ['expired', { expires_at: past }, value => value, 'invalid_token'],
  ['with another secret', {}, value => `${value.slice(0, -1)}y`, 'invalid_token'],
  ['with the mode changed', {}, value => value.replace('live', 'test'), 'invalid_token'],
  ['with an unknown id', {}, value => value.replace(/live_.{26}/, `live_${'0'.repeat(26)}`), 'invalid_token'],
  ['of another form', {}, () => 'pw_live_x', 'invalid_token'],
  [
    'from another network',
    { allowed_cidrs: ['198.51.100.0/24', '2001:db8::/32'] },
    value => value,
    'network_not_allowed',
  ],
])('refused: a token %s', async (_, change, mangle, code) => {
  const user = await giveUser(mongo.db)
  const token = await giveToken(mongo.db, user._id, change)
  await expect(checker().check(mangle(token.value), '192.0.2.1')).rejects.toMatchObject({ code })
})

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['2001:db8::1', '2001:db8::/32'],
  ['192.0.2.9', '192.0.2.9'],
])('a token from %s passes a limit to %s', async (ip, network) => {
  const user = await giveUser(mongo.db)
  const token = await giveToken(mongo.db, user._id, { allowed_cidrs: [network] })
  await expect(checker().check(token.value, ip)).resolves.toMatchObject({ kind: 'token' })
})

test('a token that expires while it is remembered ends on time', async () => {
  const user = await giveUser(mongo.db)
  const token = await giveToken(mongo.db, user._id, { expires_at: new Date('2026-11-21T10:00:01Z') })
  const { check, clock } = checker()
  await check(token.value, '192.0.2.1')
  clock.advance(1_000)
  await expect(check(token.value, '192.0.2.1')).rejects.toMatchObject({ code: 'invalid_token' })
})

test('a revocation and a suspension hold within 5 seconds in a process that used the token before', async () => {
  for (const cut of [
    (user: string, token: string) => updateToken(mongo.db, user, token, { revoked_at: past }),
    (user: string) => updateUser(mongo.db, user, { status: 'suspended' }),
  ]) {
    const user = await giveUser(mongo.db)
    const token = await giveToken(mongo.db, user._id)
    const { check, clock } = checker()
    await check(token.value, '192.0.2.1')
    await cut(user._id, token._id)
    clock.advance(4_000)
    await expect(check(token.value, '192.0.2.1')).rejects.toMatchObject({ code: 'invalid_token' })
  }
})

test('the use of a token is noted at most once a minute', async () => {
  const user = await giveUser(mongo.db)
  const token = await giveToken(mongo.db, user._id)
  const { check, clock } = checker()
  const noted = async () => (await findTokenById(mongo.db, token._id))?.last_used_at?.toISOString()
  await check(token.value, '192.0.2.1')
  await until(async () => (await noted()) === '2026-11-21T10:00:00.000Z')
  clock.advance(59_000)
  await check(token.value, '192.0.2.1')
  clock.advance(2_000)
  await check(token.value, '192.0.2.1')
  await until(async () => (await noted()) === '2026-11-21T10:01:01.000Z')
})

test('the configured API_TOKEN acts for the oldest admin, and for no account when that one is suspended', async () => {
  const { check, clock } = checker('the configured legacy token')
  await expect(check('the configured legacy token', '192.0.2.1')).rejects.toMatchObject({ code: 'invalid_token' })
  const first = await giveUser(mongo.db, { role: 'admin' })
  await giveUser(mongo.db, { role: 'admin' })
  expect(await check('the configured legacy token', '192.0.2.1')).toMatchObject({
    kind: 'legacy',
    account: { id: first._id },
  })
  await updateUser(mongo.db, first._id, { status: 'suspended' })
  clock.advance(4_000)
  await expect(check('the configured legacy token', '192.0.2.1')).rejects.toMatchObject({ code: 'invalid_token' })
})
