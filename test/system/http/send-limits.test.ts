import { expect, onTestFinished, test } from 'vitest'
import { updateUser } from '../../../services/accounts/store/users.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf, connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { freshDatabase } from '../../support/database/test-database.ts'
import { startTestMongod } from '../../support/database/test-mongod.ts'
import { type CallOptions, sendApiForThisTest, sessionHeaders, startSendApi } from '../../support/http/send-api.ts'
import { testClock } from '../../support/time/test-clock.ts'
import { until } from '../../support/time/until.ts'

/** What SEND_REQUESTS_PER_SECOND counts in. */
const WINDOW_MS = 2_000
const minimal = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }

test('the request rate of an account counts for all of its tokens and processes', async () => {
  const api = await sendApiForThisTest({ SEND_REQUESTS_PER_SECOND: '5' })
  const second = await startSendApi(
    { SEND_REQUESTS_PER_SECOND: '5' },
    { mongo: { ...api.mongo, stop: async () => undefined }, domain: 'second.example' },
  )
  const { value } = await giveToken(api.mongo.db, api.user._id)
  const began = performance.now()
  const tries = Array.from({ length: 30 }, (_, n) =>
    (n % 2 ? api : second).call('POST', '/api/send', { body: minimal, token: n % 3 ? api.token : value }),
  )
  const answers = await Promise.all(tries)
  const windows = 1 + Math.ceil((performance.now() - began) / WINDOW_MS)
  await second.stop()
  const sent = answers.filter(({ status }) => status === 202)
  const refused = answers.filter(({ status }) => status === 429)
  expect([sent.length + refused.length, sent.length]).toEqual([
    30,
    await collectionOf(api.mongo.db, MESSAGES).countDocuments(),
  ])
  // One window holds ten; the thirty may straddle two windows, or more on a busy machine.
  expect(sent.length).toBeGreaterThanOrEqual(10)
  expect(sent.length).toBeLessThanOrEqual(10 * windows)
  for (const { headers, body } of refused) {
    expect(body).toMatchObject({ code: 'rate_limited' })
    expect(headers.get('ratelimit-limit')).toBe('10')
    expect(headers.get('ratelimit-remaining')).toBe('0')
    expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'))
  }
  expect(
    sent.map(({ headers }) => Number(headers.get('ratelimit-remaining'))).every(left => left >= 0 && left < 10),
  ).toBe(true)
})

test('the daily recipient limit of an account counts for all processes and is reported in headers', async () => {
  const clock = testClock(new Date('2026-11-21T23:59:00Z'))
  const mongo = await freshDatabase()
  const api = await startSendApi({}, { mongo, clock })
  const second = await startSendApi(
    {},
    { mongo: { ...mongo, stop: async () => undefined }, clock, domain: 'second.example' },
  )
  onTestFinished(async () => {
    await second.stop()
    await api.stop()
  })
  await updateUser(mongo.db, api.user._id, { recipients_per_day: 5 })
  const send = (to: string[], more: CallOptions = {}, from = second) =>
    from.call('POST', '/api/send', { body: { ...minimal, to }, token: api.token, ...more })
  const three = ['a@example.net', 'b@example.net', 'c@example.net']
  const limits = async () => (await api.call('GET', '/api/v1/limits')).body

  expect(await limits()).toMatchObject({ recipients_per_day: 5, recipients_today: 0 })
  expect((await send(three, {}, api)).status).toBe(202)
  const refused = await send(three)
  expect(refused).toMatchObject({ status: 429, body: { code: 'daily_quota_exceeded' } })
  const headerNames = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']
  expect(headerNames.map(name => refused.headers.get(name))).toEqual(['60', '5', '2', '60'])
  const { value: testToken } = await giveToken(mongo.db, api.user._id, { mode: 'test' })
  expect((await send(three, { token: testToken })).status).toBe(202)

  const batch = [three.slice(0, 1), three, three.slice(1, 2)].map(to => ({ ...minimal, to }))
  const { body } = await second.call('POST', '/api/v1/emails/batch', { body: batch, token: api.token })
  const { data } = body as { data: { status: number; error?: { code: string } }[] }
  expect(data.map(({ status, error }) => [status, error?.code])).toEqual([
    [202, undefined],
    [429, 'daily_quota_exceeded'],
    [202, undefined],
  ])
  expect(await limits()).toMatchObject({ recipients_per_day: 5, recipients_today: 5 })
  expect((await send(three.slice(0, 1), {}, api)).headers.get('ratelimit-remaining')).toBe('0')

  clock.advance(60_000)
  expect(await limits()).toMatchObject({ recipients_today: 0 })
  expect((await send(three)).status).toBe(202)

  await updateUser(mongo.db, api.user._id, { recipients_per_day: 1 })
  clock.advance(4_999)
  for (const process of [api, second]) expect((await send(['a@example.net'], {}, process)).status).toBe(429)
  await updateUser(mongo.db, api.user._id, { recipients_per_day: 0 })
  clock.advance(4_999)
  for (const process of [api, second]) expect((await send(three, {}, process)).status).toBe(202)
})

test('reads by token and reads in the panel have separate rates', async () => {
  const api = await sendApiForThisTest({ API_REQUESTS_PER_MINUTE: '3', PANEL_REQUESTS_PER_MINUTE: '5' })
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await api.call('GET', '/api/v1/emails')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  expect((await api.call('POST', '/api/send', { body: minimal })).status).toBe(202)
  const headers = await sessionHeaders(api.mongo, api.user._id)
  const bySession = []
  for (let n = 0; n < 6; n++) bySession.push((await api.call('GET', '/api/v1/emails', { token: '', headers })).status)
  expect(bySession).toEqual([200, 200, 200, 200, 200, 429])
})

test('returns 503 with Retry-After while the database does not answer, and recovers', async () => {
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog)
  const api = await startSendApi({ SEND_REQUESTS_PER_SECOND: '1000' }, { mongo })
  expect((await api.call('POST', '/api/send', { body: minimal })).status).toBe(202)
  process.kill(mongod.pid, 'SIGSTOP')
  try {
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => api.call('POST', '/api/send', { body: minimal, headers })),
      api.call('POST', '/api/v1/emails/batch', { body: [minimal], headers }),
    ])
    for (const { status, headers, body } of answers) {
      expect([status, (body as { code: string }).code]).toEqual([503, expect.stringMatching(/unavailable/)])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  } finally {
    process.kill(mongod.pid, 'SIGCONT')
  }
  const send = () => api.call('POST', '/api/send', { body: minimal, headers: { 'idempotency-key': 'once' } })
  await until(async () => (await send()).status === 202, 60_000)
  expect(await collectionOf(mongo.db, MESSAGES).countDocuments({ 'idem.key': 'send:once' })).toBe(1)
  await api.stop()
  await mongod.stop()
})
