/** Statistics by day and hour, and the destinations that fail. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { giveEvent, giveMessage } from '../../support/mail/stored-messages.ts'
import { testClock } from '../../support/time/test-clock.ts'

const NOW = new Date('2026-11-24T12:30:00Z')
const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS)
let api: PanelApi
let client: ApiClient
let user: UserDoc

beforeAll(async () => {
  api = await startPanelApi({}, testClock(NOW))
  ;({ user, client } = await api.newUser())
  const tags = (value: string) => [{ name: 'category', value }]
  await giveMessage(api.db, user._id, { created_at: ago(0.25), tags: tags('news'), from: 'a@One.example' })
  const bounced = await giveMessage(api.db, user._id, {
    created_at: ago(2),
    tags: tags('news'),
    from: 'b@two.example',
    via: { channel: 'smtp', id: 'smtp_1' },
    rcpts: [
      { email: 'x@gone.example', type: 'to', status: 'bounced', kind: 'address', code: 550, at: ago(1.5) },
      { email: 'y@gone.example', type: 'to', status: 'bounced', kind: 'address', code: 550, at: ago(1.5) },
      { email: 'z@fine.example', type: 'to', status: 'delivered', kind: 'greylisted' },
    ],
  })
  await giveEvent(api.db, bounced, { type: 'deferred', text: '451 later', at: ago(1.9) })
  await giveEvent(api.db, bounced, {
    attempt: 2,
    type: 'bounced',
    code: 550,
    text: '550 5.1.1 no such user',
    at: ago(1.5),
  })
  await giveMessage(api.db, user._id, {
    created_at: ago(30),
    rcpts: [{ email: 'w@slow.example', type: 'to', status: 'deferred', kind: 'throttled' }],
    via: { channel: 'system' },
  })
  const failed = [{ email: 'x@gone.example', type: 'to' as const, status: 'failed' as const, kind: 'network' }]
  await giveMessage(api.db, user._id, { created_at: ago(1), test: true, rcpts: failed })
  await giveMessage(api.db, (await api.newUser()).user._id, { created_at: ago(1), rcpts: failed })
})
afterAll(() => api.stop())

test('a report of days has the dimensions of what failed, who sent, and tags', async () => {
  const { body } = await client.get('/api/v1/stats?since=2026-11-23')
  expect(body.totals).toMatchObject({ messages: 3, recipients: 5, bounced: 2, waiting: 1, delivered: 2 })
  expect(body.reasons).toEqual([
    { reason: 'address', deferred: 0, bounced: 2, failed: 0 },
    { reason: 'throttled', deferred: 1, bounced: 0, failed: 0 },
  ])
  const named = (rows: Record<string, unknown>[], key: string) => rows.map(row => [row[key], row.recipients])
  expect(named(body.senders, 'domain')).toEqual([
    ['two.example', 3],
    ['example.com', 1],
    ['one.example', 1],
  ])
  expect(named(body.submitters, 'id')).toEqual([
    ['smtp_1', 3],
    ['key_1', 1],
  ])
  expect(named(body.tags, 'tag')).toEqual([['category:news', 4]])
})

test('a report of hours has each hour, the running one last, and the sum of as many hours before', async () => {
  const { body } = await client.get('/api/v1/stats/hours?hours=24')
  expect(body.hours).toHaveLength(24)
  expect([body.since, body.until, body.hours.at(-1).start]).toEqual([
    '2026-11-23T13:00:00.000Z',
    NOW.toISOString(),
    '2026-11-24T12:00:00.000Z',
  ])
  expect(body.hours.slice(-3).map(({ recipients }: { recipients: number }) => recipients)).toEqual([3, 0, 1])
  expect([body.totals.recipients, body.previous.recipients, body.previous.waiting]).toEqual([4, 1, 1])
  expect((await client.get('/api/v1/stats/hours?hours=1')).body.totals).toMatchObject({ messages: 1, delivered: 1 })
})

test.each(['hours=0', 'hours=49', 'hours=x'])('%s is refused', async query => {
  expect((await client.get(`/api/v1/stats/hours?${query}`)).status).toBe(422)
})

test('failing destinations have their counts, the worst first, and the last reply', async () => {
  const { body } = await client.get('/api/v1/stats/failing-destinations')
  expect(body.data).toMatchObject([
    {
      ...{ domain: 'gone.example', deferred: 0, bounced: 2, failed: 0, reason: 'address' },
      ...{ last_reply: '550 5.1.1 no such user', at: ago(1.5).toISOString() },
    },
    { domain: 'slow.example', deferred: 1, bounced: 0, failed: 0, reason: 'throttled', last_reply: null },
  ])
  const since = encodeURIComponent(ago(24).toISOString())
  const recent = await client.get(`/api/v1/stats/failing-destinations?since=${since}`)
  expect(recent.body.data.map(({ domain }: { domain: string }) => domain)).toEqual(['gone.example'])
})

test('a destination that works again is not among them', async () => {
  const messages = collectionOf(api.db, MESSAGES)
  const { _id } = await giveMessage(api.db, user._id, {
    created_at: ago(3),
    rcpts: [{ email: 'a@late.example', type: 'to', status: 'deferred', kind: 'greylisted' }],
  })
  const domains = async () =>
    (await client.get('/api/v1/stats/failing-destinations')).body.data.map(({ domain }: { domain: string }) => domain)
  expect(await domains()).toContain('late.example')
  await messages.updateOne({ _id }, { $set: { 'rcpts.0.status': 'delivered' } })
  expect(await domains()).not.toContain('late.example')
})

test('a token that is limited to domains gets none of it', async () => {
  const limited = await api.withToken(user, { domains: ['one.example'], scopes: ['emails:read'] })
  for (const path of ['stats/hours', 'stats/failing-destinations'])
    expect((await limited.get(`/api/v1/${path}`)).status).toBe(403)
})
