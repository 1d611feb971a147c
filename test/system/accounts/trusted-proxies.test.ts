/** Reverse proxies: the client address behind a trusted proxy, and the warning about one that is not trusted. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { giveUser, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { startPanelApi } from '../../support/http/panel-api.ts'
import { startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'
import { until } from '../../support/time/until.ts'

async function startApi(env: Record<string, string>) {
  const api = await startPanelApi(env)
  onTestFinished(() => api.stop())
  const admin = await api.newUser({ role: 'admin' })
  const checks = async () => {
    const { checks: all } = (await admin.client.get('/api/v1/admin/health')).body
    return all.find(({ name }: { name: string }) => name === 'proxies')
  }
  return { api, admin, checks }
}

/** Fails logins with invented names until the address is rate limited. */
async function exhaust(client: Awaited<ReturnType<typeof startApi>>['api']['anonymous']) {
  const tries = Array.from({ length: 51 }, (_, n) => ({ username: `made-up-${n}`, password: 'wrong password' }))
  const answers = await Promise.all(tries.map(body => client.post('/api/v1/session', body)))
  expect(answers.some(({ status }) => status === 429)).toBe(true)
}

describe('failed logins of one client', () => {
  test.each([
    ['do not affect other clients of a trusted proxy', 'private', 200],
    ['lock all clients of an untrusted proxy out, because they share its address', '', 429],
  ])('%s', async (_, TRUSTED_PROXIES, status) => {
    const { api } = await startApi({ TRUSTED_PROXIES })
    await exhaust(api.anonymous.with({ 'x-forwarded-for': '203.0.113.9' }))
    const user = await giveUser(api.db)
    const other = api.anonymous.with({ 'x-forwarded-for': '198.51.100.7' })
    expect((await other.post('/api/v1/session', { username: user.username, password: PASSWORD })).status).toBe(status)
  })
})

describe('the health page', () => {
  test('reports no proxy, or the one that is not trusted', async () => {
    const { api, checks } = await startApi({})
    expect(await checks()).toEqual({
      name: 'proxies',
      status: 'ok',
      detail: 'No reverse proxy is trusted, and none was seen.',
      detail_code: 'health.proxies_none',
      detail_params: {},
    })
    await api.anonymous.with({ 'x-forwarded-for': '203.0.113.9' }).get('/api/v1/session')
    await until(async () => (await checks()).status === 'warning')
    expect((await checks()).detail).toMatch(/^127\.0\.0\.1 sends forwarding headers and is not in TRUSTED_PROXIES: /)
  })

  test('reports the trusted networks', async () => {
    const { api, checks } = await startApi({ TRUSTED_PROXIES: '127.0.0.0/8' })
    await api.anonymous.with({ 'x-forwarded-for': '203.0.113.9' }).get('/api/v1/session')
    expect(await checks()).toMatchObject({ status: 'ok', detail: 'Forwarding headers are accepted from 127.0.0.0/8.' })
  })
})

test('the subscription API logs a warning about its proxy once', async () => {
  const api = await startSubscriptionApi()
  onTestFinished(() => api.stop())
  for (const _again of [1, 2, 3]) await api.call('GET', '/overview', { headers: { forwarded: 'for=203.0.113.9' } })
  expect(api.logged.filter(({ header }) => header)).toEqual([{ peer: '127.0.0.1', header: 'forwarded' }])
})
