/** The rate of an account over all processes, and what the other limits answer. */
import { describe, expect, test } from 'vitest'
import { updateUser } from '../../../services/accounts/store/users.ts'
import type { SendingLimit } from '../../../services/mail/limits/rules/sending-limit.ts'
import { putLimit } from '../../../services/mail/limits/store/sending-limits.ts'
import { giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { type CallOptions, type SendApi, sendApiForThisTest } from '../../support/http/send-api.ts'
import { runLimitedLoad } from '../../support/mail/limited-load.ts'

describe('an account at many times its rate, over four processes', () => {
  test.each([
    ['passes with its rate, and no other account notices', 5, undefined],
    ['does not exceed it when a process is killed', 5, 'kill a process'],
    ['does not exceed it when the database crashes', 5, 'crash the database'],
  ] as const)(
    '%s',
    async (_, rate, disruption) => {
      const seconds = 12
      const report = await runLimitedLoad({ seconds, rate, ...(disruption && { disruption }) })
      // The burst of one second, and what four processes may have leased before the span began.
      const most = (span: number) => rate * (span + 1) + 4
      expect(report.mostInTenSeconds).toBeLessThanOrEqual(most(10))
      expect(report.stored).toBeLessThanOrEqual(most(seconds + 1))
      expect(report.stored).toBeGreaterThanOrEqual(report.accepted)
      expect(report.others.accepted).toBeGreaterThan(0)
      const limit = 'The sending limit of this account is 5 recipients a second with a burst of 5; try again in 1 s.'
      expect(report.answers).toEqual(expect.arrayContaining([`429 ${limit}`, `451 4.7.1 ${limit}`]))
      if (disruption === 'crash the database') return
      expect(report.refused).toBeGreaterThan(report.accepted)
      expect(report.accepted).toBeGreaterThanOrEqual(0.95 * rate * seconds)
      if (!disruption) expect(report.others.refused).toBe(0)
    },
    120_000,
  )
})

const minimal = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }
const limitOf = (api: SendApi, limit: Pick<SendingLimit, 'scope' | 'subject'> & Partial<SendingLimit>) =>
  putLimit(api.mongo.db, api.user._id, { name: limit.subject, byAdmin: false, ...limit }, new Date())

describe('a refusal names its limit', () => {
  const recipients = (count: number) => Array.from({ length: count }, (_, n) => `r${n}@example.net`)

  test.each<[what: string, limit: (api: SendApi) => Parameters<typeof limitOf>[1], detail: RegExp, header: string]>([
    [
      'the rate of the account',
      api => ({ scope: 'account', subject: api.user._id, perSecond: 0.05, burst: 3 }),
      /^The sending limit of this account is 0\.05 recipients a second with a burst of 3; try again in \d+ s\.$/,
      '0.05',
    ],
    [
      'the hour of the account',
      api => ({ scope: 'account', subject: api.user._id, perHour: 3 }),
      /^The sending limit of this account is 3 recipients an hour, of which 0 are left; it starts again in \d+ s\.$/,
      '3',
    ],
    [
      'the day of a domain',
      api => ({ scope: 'domain', subject: api.domainId, name: 'example.com', perDay: 3 }),
      /^The sending limit of the domain example\.com is 3 recipients a day, of which 0 are left; /,
      '3',
    ],
  ])('%s', async (_, limit, detail, header) => {
    const api = await sendApiForThisTest()
    await limitOf(api, limit(api))
    const send = (to: string[]) => api.call('POST', '/api/send', { body: { ...minimal, to } })
    expect((await send(recipients(3))).status).toBe(202)
    const refused = await send(recipients(1))
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', detail: expect.stringMatching(detail) },
    })
    const { headers } = refused
    expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([header, '0'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.get('retry-after')).toBe(headers.get('ratelimit-reset'))
  })

  test('that of a token concerns no other token, and costs the account nothing', async () => {
    const api = await sendApiForThisTest()
    const { value, _id: tokenId } = await giveToken(api.mongo.db, api.user._id)
    await limitOf(api, { scope: 'credential', subject: tokenId, name: 'shop', perHour: 1 })
    await updateUser(api.mongo.db, api.user._id, { recipients_per_day: 4 })
    const send = (options: CallOptions = {}) => api.call('POST', '/api/send', { body: minimal, ...options })
    expect((await send({ token: value })).status).toBe(202)
    for (let n = 0; n < 3; n++)
      expect(await send({ token: value })).toMatchObject({
        body: { detail: expect.stringContaining('the login shop') },
      })
    for (let n = 0; n < 3; n++) expect((await send()).status).toBe(202)
    expect(await send()).toMatchObject({ status: 429, body: { code: 'daily_quota_exceeded' } })
  })

  test('the settings limit accounts that no admin has set a limit for', async () => {
    const api = await sendApiForThisTest({ ACCOUNT_RECIPIENTS_PER_HOUR: '1' })
    const send = () => api.call('POST', '/api/send', { body: minimal })
    expect((await send()).status).toBe(202)
    expect((await send()).status).toBe(429)
    const { body } = await api.call('GET', '/api/v1/limits')
    expect(body).toMatchObject({
      sending_limits: [{ scope: 'account', set_by: 'settings', recipients_per_hour: 1, used_this_hour: 1 }],
    })
  })
})
