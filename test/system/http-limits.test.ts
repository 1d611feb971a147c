import { expect, test } from 'vitest'
import { MESSAGES } from '../../services/mail/store/messages.ts'
import { silentLog } from '../../services/platform/log.ts'
import { collectionOf, connectMongo } from '../../services/platform/mongo.ts'
import { startTestMongod } from '../support/mongod.ts'
import { sendApiForThisTest, sessionHeaders, startSendApi } from '../support/send-api.ts'
import { giveToken } from '../support/tenants.ts'
import { until } from '../support/until.ts'

const minimal = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }

test('an account sends as fast as its rate, over all of its tokens and all processes', async () => {
  const api = await sendApiForThisTest({ SEND_REQUESTS_PER_SECOND: '5' })
  const second = await startSendApi(
    { SEND_REQUESTS_PER_SECOND: '5' },
    { mongo: { ...api.mongo, stop: async () => undefined }, domain: 'second.example' },
  )
  const { value } = await giveToken(api.mongo.db, api.user._id)
  const tries = Array.from({ length: 30 }, (_, n) =>
    (n % 2 ? api : second).call('POST', '/api/send', { body: minimal, token: n % 3 ? api.token : value }),
  )
  const answers = await Promise.all(tries)
  await second.stop()
  const sent = answers.filter(({ status }) => status === 202)
  const refused = answers.filter(({ status }) => status === 429)
  expect([sent.length + refused.length, sent.length]).toEqual([
    30,
    await collectionOf(api.mongo.db, MESSAGES).countDocuments(),
  ])
  // One window holds ten; the thirty may straddle two windows.
  expect(sent.length).toBeGreaterThanOrEqual(10)
  expect(sent.length).toBeLessThanOrEqual(20)
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

test('reading by token has a rate of its own; people at the panel have none', async () => {
  const api = await sendApiForThisTest({ API_REQUESTS_PER_MINUTE: '3' })
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await api.call('GET', '/api/v1/emails')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  expect((await api.call('POST', '/api/send', { body: minimal })).status).toBe(202)
  const headers = await sessionHeaders(api.mongo, api.user._id)
  expect((await api.call('GET', '/api/v1/emails', { token: '', headers })).status).toBe(200)
})

test('while the database is away every request gets 503 with Retry-After, and afterwards all is well', async () => {
  const mongod = await startTestMongod()
  const mongo = await connectMongo(mongod.uri, silentLog)
  const api = await startSendApi({ SEND_REQUESTS_PER_SECOND: '1000' }, { mongo })
  expect((await api.call('POST', '/api/send', { body: minimal })).status).toBe(202)
  process.kill(mongod.pid, 'SIGSTOP')
  try {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        api.call('POST', '/api/send', { body: minimal, headers: { 'idempotency-key': 'once' } }),
      ),
    )
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
