/** Limits of one account in the management API: request rate, number of domains, and a share of expensive work. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../../services/mail/domains/checks/dns-check-job.ts'
import { requestKey } from '../../../services/mail/domains/rotate-dkim.ts'
import { domains } from '../../../services/mail/domains/store/domain-model.ts'
import { type Access, SCOPES } from '../../../services/mail/http/shared/access.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { giveDomain, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { freshDatabase } from '../../support/database/test-database.ts'
import { type DnsStub, startDnsStub } from '../../support/dns/empty-name-server.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { MAIL_OPERATIONS, type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

/** The panel API for one test. */
async function panelWith(env: Record<string, string>): Promise<PanelApi> {
  const api = await startPanelApi(env)
  onTestFinished(() => api.stop())
  return api
}

/** Counts responses by status. */
function count(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('every operation counts towards the request rate', () => {
  let api: PanelApi
  let byToken: ApiClient
  let bySession: ApiClient
  beforeAll(async () => {
    api = await startPanelApi({ API_REQUESTS_PER_MINUTE: '1', PANEL_REQUESTS_PER_MINUTE: '1' })
    const { user, client } = await api.newUser({ role: 'admin' })
    byToken = await api.withToken(user, { scopes: [...SCOPES] })
    bySession = client
    for (const one of [byToken, bySession]) expect((await one.get('/api/v1/domains')).status).toBe(200)
  })
  afterAll(() => api.stop())

  const rows = MAIL_OPERATIONS.map(({ method, path, access }) => {
    const { kind, scope } = access as { kind: string; scope?: string }
    return { method, path: path.replaceAll(/\{\w+\}/g, 'x_1'), kind, scope }
  })
  // Operations that submit or change messages are limited by SEND_REQUESTS_PER_SECOND.
  const sends = rows.filter(({ method, path }) => method !== 'GET' && /^\/api\/(send|v1\/emails)/.test(path))
  const counted = rows.filter(row => !sends.includes(row) && row.kind !== 'public')
  const refused = { status: 429, body: { code: 'rate_limited' } }
  /** The minute may be over before the last row: then this request is the one that the next minute permits. */
  const useUp = (client: ApiClient) => client.get('/api/v1/domains')

  test('except for eight and the public ones', () => {
    expect([sends.length, counted.length > 60]).toEqual([8, true])
  })

  test.each(counted.filter(({ kind }) => kind === 'account'))(
    '$method $path is limited for a token',
    async ({ method, path }) => {
      await useUp(byToken)
      const answer = await byToken.call(method, path, method === 'GET' ? undefined : {})
      expect(answer).toMatchObject(refused)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    },
  )

  test.each(counted)('$method $path is limited for a session', async ({ method, path }) => {
    await useUp(bySession)
    const answer = await bySession.call(method, path, method === 'GET' ? undefined : {})
    expect(answer).toMatchObject(refused)
  })
})

test('logins have a rate for each address, successful ones included', async () => {
  const api = await panelWith({ API_REQUESTS_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.0/8' })
  const { user } = await api.newUser()
  const logIn = (from: string) =>
    api.anonymous
      .with({ 'x-forwarded-for': from })
      .post('/api/v1/session', { username: user.username, password: PASSWORD })
  const answers = []
  for (let n = 0; n < 5; n++) answers.push(await logIn('203.0.113.1'))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
  expect((await logIn('203.0.113.2')).status).toBe(200)
})

describe('domains', () => {
  test('are limited for each account, also concurrently', async () => {
    const api = await panelWith({ DOMAINS_PER_ACCOUNT: '3' })
    const { user, client } = await api.newUser()
    const register = (n: number) => client.post('/api/v1/domains', { name: `d${n}.example.com` })
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => register(n)))
    expect(count(answers)).toEqual({ 201: 3, 409: 3 })
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'too_many_domains',
      detail: 'An account may have 3 domains (DOMAINS_PER_ACCOUNT); remove one, or ask the administrator.',
    })
    expect(await collectionOf(api.db, domains).countDocuments({ user_id: user._id })).toBe(3)
    const { body } = await client.get('/api/v1/domains')
    expect((await client.call('DELETE', `/api/v1/domains/${body.data[0].id}`)).status).toBe(204)
    expect((await register(9)).status).toBe(201)
    expect((await (await api.newUser()).client.post('/api/v1/domains', { name: 'd1.example.com' })).status).toBe(201)
  })

  test('that one account registers concurrently are queued or rejected, and others do not wait for them', async () => {
    const api = await panelWith({})
    const [greedy, other] = [await api.newUser(), await api.newUser()]
    const done: string[] = []
    const register = async ({ client }: typeof greedy, name: string) => {
      const answer = await client.post('/api/v1/domains', { name })
      done.push(`${name} ${answer.status}`)
      return answer
    }
    const many = Array.from({ length: 30 }, (_, n) => register(greedy, `d${n}.example.com`))
    const foreign = register(other, 'other.example.org')
    const answers = await Promise.all(many)
    expect(await foreign).toMatchObject({ status: 201 })
    const counts = count(answers)
    expect(Object.keys(counts)).toEqual(['201', '429'])
    expect(counts[201]).toBeGreaterThanOrEqual(11)
    for (const { status, headers } of answers) if (status === 429) expect(headers.get('retry-after')).toBe('5')
    const keys = done.filter(line => line.endsWith('201'))
    expect(keys.indexOf('other.example.org 201')).toBeLessThan(5)
  })
})

describe('DKIM keys', () => {
  test('are not generated for a request that is rejected', async () => {
    const mongo = await freshDatabase()
    onTestFinished(() => mongo.stop())
    const foundation = testFoundation(mongo, {})
    let made = 0
    const seal = (...key: Parameters<typeof foundation.secrets.seal>) => {
      made++
      return foundation.secrets.seal(...key)
    }
    const deps = createDnsDeps({ ...foundation, secrets: { ...foundation.secrets, seal } })
    const domain = await giveDomain(mongo.db, 'usr_1', 'keys.example.com')
    const pending = await requestKey(deps, domain, {})
    const now = { ...domain, dkim: [pending] }
    for (const wanted of [{}, { selector: pending.selector }, { algorithm: 'ed25519-sha256' as const }])
      await expect(requestKey(deps, now, wanted)).rejects.toMatchObject({ code: 'conflict' })
    expect(made).toBe(1)
  })

  test('that one account requests concurrently are queued or rejected', async () => {
    const api = await panelWith({})
    const { user, client } = await api.newUser()
    const names = Array.from({ length: 25 }, (_, n) => `k${n}.example.com`)
    for (const name of names) await giveDomain(api.db, user._id, name)
    const answers = await Promise.all(names.map(name => client.post(`/api/v1/domains/${name}/dkim/rotate`, {})))
    const counts = count(answers)
    expect(Object.keys(counts)).toEqual(['201', '429'])
    expect(counts[201]).toBeGreaterThanOrEqual(11)
    for (const { status, headers } of answers) if (status === 429) expect(headers.get('retry-after')).toBe('5')
  })
})

test('credentials of DNS providers are tested four at a time for one account', async () => {
  const held: ServerResponse[] = []
  const provider = createServer((_, answer) => void held.push(answer)).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  onTestFinished(() => void provider.close())
  const { port } = provider.address() as AddressInfo
  const api = await panelWith({ CLOUDFLARE_API_URL: `http://127.0.0.1:${port}` })
  const { client } = await api.newUser()
  const refused: number[] = []
  const tries = Array.from({ length: 40 }, async () => {
    const body = { provider: 'cloudflare', credentials: { api_token: 'token' } }
    const { status } = await client.post('/api/v1/dns-accounts', body)
    if (status === 429) refused.push(status)
  })
  await until(() => refused.length + held.length >= 20)
  expect([refused.length, held.length]).toEqual([16, 4])
  const deny = (answer: ServerResponse) => void answer.writeHead(403, { 'content-type': 'application/json' }).end('{}')
  provider.removeAllListeners('request').on('request', (_, answer: ServerResponse) => deny(answer))
  held.forEach(deny)
  await Promise.all(tries)
})

describe('DNS', () => {
  let dns: DnsStub
  beforeAll(async () => {
    dns = await startDnsStub(5)
  })
  afterAll(() => dns.stop())

  test('repeated checks of one domain return the first result without new queries, until a change', async () => {
    const api = await panelWith(dns.env)
    const { user, client } = await api.newUser()
    const { _id } = await giveDomain(api.db, user._id, 'once.example.com')
    const check = () => client.post(`/api/v1/domains/${_id}/verify`)
    const first = await check()
    const questions = dns.queries.filter(name => name.endsWith('once.example.com')).length
    expect(questions).toBeGreaterThan(3)
    const answers = await Promise.all(Array.from({ length: 30 }, check))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`))).toEqual(
      new Set([`202 ${first.body.id}`]),
    )
    expect(dns.queries.filter(name => name.endsWith('once.example.com')).length).toBe(questions)
    await client.post(`/api/v1/domains/${_id}/dns/plan`, {})
    expect((await check()).body.id).not.toBe(first.body.id)
  })

  test('checks of one account leave capacity for others', async () => {
    const api = await panelWith(dns.env)
    const [greedy, other] = [await api.newUser(), await api.newUser()]
    const ids = []
    for (let n = 0; n < 40; n++) ids.push((await giveDomain(api.db, greedy.user._id, `d${n}.example.com`))._id)
    const mine = await giveDomain(api.db, other.user._id, 'mine.example.org')
    const done: string[] = []
    const check = async (who: ApiClient, id: string) => {
      const answer = await who.post(`/api/v1/domains/${id}/verify`)
      if (answer.status === 202) done.push(id)
      return answer
    }
    const many = ids.map(id => check(greedy.client, id))
    const foreign = check(other.client, mine._id)
    expect(await foreign).toMatchObject({ status: 202 })
    expect(done.length).toBeLessThanOrEqual(9)
    const counts = count(await Promise.all(many))
    expect(counts[202]).toBeGreaterThanOrEqual(24)
    expect((counts[202] ?? 0) + (counts[429] ?? 0)).toBe(40)
  })

  test('scheduled checks alternate between accounts', async () => {
    const mongo = await freshDatabase()
    onTestFinished(() => mongo.stop())
    await ensureIndexes(mongo.db, [domains])
    const due = (secondsAgo: number) => ({ next_check_at: new Date(Date.now() - secondsAgo * 1_000) })
    for (let n = 0; n < 80; n++) await giveDomain(mongo.db, 'usr_many', `s${n}.example.com`, due(1_000 - n))
    await giveDomain(mongo.db, 'usr_one', 'one.example.org', due(1))
    dns.queries.length = 0
    const signal = new AbortController().signal
    const deps = createDnsDeps(testFoundation(mongo, dns.env))
    expect(await checkDueDomains(deps, { signal, touch: async () => undefined })).toBe(81)
    const order = [
      ...new Set(dns.queries.flatMap(name => /(?:s\d+\.example\.com|one\.example\.org)$/.exec(name)?.[0] ?? [])),
    ]
    expect(order).toHaveLength(81)
    expect(order.indexOf('one.example.org')).toBeLessThan(30)
  })
})

test('the operations cover every kind of access', () => {
  const kinds = new Set(MAIL_OPERATIONS.map(({ access }) => (access as Access | { kind: 'public' }).kind))
  expect([...kinds].toSorted()).toEqual(['account', 'admin', 'member', 'public', 'session'])
})
