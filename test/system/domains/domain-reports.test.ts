/** Reports about a domain: uploaded by its owner, posted to its signed address, and shown. */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditLog } from '../../../services/accounts/store/audit-log.ts'
import { reportToken } from '../../../services/mail/message/report-address.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { dmarcXml, tlsReport, zipOf } from '../../support/mail/domain-reports.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi({ SENDING_IP: '203.0.113.1', DNS_SERVERS: '127.0.0.1:1' })
})
afterAll(() => api.stop())

let names = 0
/** An account with a domain, and requests to it. */
async function newDomain() {
  const { user, client } = await api.newUser()
  const name = `d${++names}.example`
  const domain = await giveDomain(api.db, user._id, name)
  const path = `/api/v1/domains/${domain._id}`
  const token = (kind: 'dmarc' | 'tls') =>
    reportToken(kind, domain._id, value => api.secrets.macs('report-address', value))
  return { user, client, name, domain, path, token }
}

/** Posts octets; for the API with the credentials of a token. */
async function post(path: string, file: Buffer | string, headers: Record<string, string> = {}) {
  const body = Buffer.isBuffer(file) ? new Uint8Array(file) : file
  const response = await fetch(api.url + path, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('an upload by the owner', () => {
  test.each<[string, string, (name: string) => Buffer]>([
    ['XML', 'application/xml', name => Buffer.from(dmarcXml({ domain: name }))],
    ['gzip', 'application/gzip', name => gzipSync(dmarcXml({ domain: name }))],
    ['zip', 'application/zip', name => zipOf([{ name: 'r.xml', content: Buffer.from(dmarcXml({ domain: name })) }])],
    ['a file of unknown type', 'application/octet-stream', name => gzipSync(dmarcXml({ domain: name }))],
    [
      'what curl sends by default',
      'application/x-www-form-urlencoded',
      name => Buffer.from(dmarcXml({ domain: name })),
    ],
  ])('as %s is counted once and shown', async (_, type, file) => {
    const { user, name, path, client } = await newDomain()
    const { secret } = await tokenOf(user)
    const upload = () =>
      post(`${path}/reports`, file(name), { authorization: `Bearer ${secret}`, 'content-type': type })
    const { status, body } = await upload()
    expect([status, body.kind, body.total, body.duplicate]).toEqual([200, 'dmarc', 3, false])
    expect((await upload()).body.duplicate).toBe(true)
    const summary = await client.get(`${path}/dmarc`)
    expect(summary.body).toMatchObject({ totals: { messages: 3, pass: 3, fail: 0 }, more_sources: false })
    expect(summary.body.sources[0]).toMatchObject({
      ...{ ip: '192.0.2.1', verdict: 'authorised', explanation_code: 'report.authorised' },
    })
    const audited = await collectionOf(api.db, auditLog).countDocuments({ action: 'domain.report_added' })
    expect(audited).toBeGreaterThan(0)
  })

  test('of a TLS report is shown by failure', async () => {
    const { client, path, name } = await newDomain()
    expect((await client.post(`${path}/reports`, tlsReport(name))).body).toMatchObject({ kind: 'tls', failed: 303 })
    const { body } = await client.get(`${path}/tls-reports?days=7`)
    expect(body.totals).toEqual({ successful: 5326, failed: 303 })
    expect(
      body.failures.map(({ result, sessions }: { result: string; sessions: number }) => [result, sessions]),
    ).toEqual([
      ['starttls-not-supported', 200],
      ['certificate-expired', 100],
      ['other', 3],
    ])
  })

  test.each<[string, (name: string) => string | Buffer, number, string, string]>([
    ['another domain', () => dmarcXml({ domain: 'example.org' }), 422, 'validation_failed', 'report.other_domain'],
    ['no report', () => 'hello', 422, 'validation_failed', 'report.unknown_format'],
    ['nothing', () => '', 422, 'validation_failed', 'report.unknown_format'],
    ['more than 10 MiB', () => Buffer.alloc(10 * 1024 * 1024 + 1), 413, 'message_too_large', 'detail.body_too_large'],
    ['a bomb', () => gzipSync(Buffer.alloc(64 * 1024 * 1024)), 422, 'validation_failed', 'report.inflates_too_much'],
  ])('of %s is refused with the reason', async (_, file, status, code, detail) => {
    const { user, path, name } = await newDomain()
    const { secret } = await tokenOf(user)
    const answer = await post(`${path}/reports`, file(name), { authorization: `Bearer ${secret}` })
    expect([answer.status, answer.body.code, answer.body.detail_code]).toEqual([status, code, detail])
  })

  test('as a form is refused', async () => {
    const { user, path } = await newDomain()
    const { secret } = await tokenOf(user)
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'multipart/form-data; boundary=x' }
    expect((await post(`${path}/reports`, '--x--', headers)).status).toBe(415)
  })

  test('needs the scope domains:write, and reading domains:read', async () => {
    const { user, path, name } = await newDomain()
    const reader = await api.withToken(user, { scopes: ['domains:read'] })
    expect((await reader.post(`${path}/reports`, tlsReport(name))).status).toBe(403)
    expect((await reader.get(`${path}/dmarc`)).status).toBe(200)
    const sender = await api.withToken(user, { scopes: ['emails:send'] })
    for (const kind of ['dmarc', 'tls-reports']) expect((await sender.get(`${path}/${kind}`)).status).toBe(403)
  })

  test.each(['0', '401', 'x', '-1', '1.5'])('days=%s is refused', async days => {
    const { client, path } = await newDomain()
    expect((await client.get(`${path}/dmarc?days=${days}`)).status).toBe(422)
  })
})

describe('a report that is posted to the signed address of a domain', () => {
  test('is counted without a login: 201, and 200 when repeated', async () => {
    const { client, path, name, token } = await newDomain()
    const send = () => post(`/reports/tls/${token('tls')}`, gzipSync(JSON.stringify(tlsReport(name))))
    expect((await send()).status).toBe(201)
    expect((await send()).status).toBe(200)
    expect((await client.get(`${path}/tls-reports`)).body.totals.failed).toBe(303)
    expect((await post(`/reports/dmarc/${token('dmarc')}`, dmarcXml({ domain: name }))).status).toBe(201)
    expect((await client.get(`${path}/dmarc`)).body.reporters).toMatchObject([{ organisation: 'receiver.example' }])
  })

  test('about another domain is refused', async () => {
    const { token } = await newDomain()
    const { status, body } = await post(`/reports/tls/${token('tls')}`, JSON.stringify(tlsReport('example.org')))
    expect([status, body.detail_code]).toEqual([422, 'report.other_domain'])
  })

  test.each<[string, (own: Awaited<ReturnType<typeof newDomain>>) => string]>([
    ['a forged signature', ({ token }) => `/reports/tls/${token('tls').slice(0, -1)}_`],
    ['the token of the other kind', ({ token }) => `/reports/tls/${token('dmarc')}`],
    ['the id alone', ({ domain }) => `/reports/tls/${domain._id}`],
    ['another kind', ({ token }) => `/reports/other/${token('tls')}`],
    ['no token', () => '/reports/tls/'],
  ])('with %s is not found', async (_, path) => {
    const own = await newDomain()
    expect((await post(path(own), JSON.stringify(tlsReport(own.name)))).status).toBe(404)
  })

  test('of a removed domain is not found', async () => {
    const { client, path, name, token } = await newDomain()
    expect((await client.call('DELETE', `${path}?dns=keep`)).status).toBe(204)
    expect((await post(`/reports/tls/${token('tls')}`, JSON.stringify(tlsReport(name)))).status).toBe(404)
  })

  test('is limited in its rate', async () => {
    const own = await newDomain()
    const send = () => post(`/reports/tls/${own.token('tls')}`, 'x')
    const statuses: number[] = []
    while (statuses.length < 130 && statuses.at(-1) !== 429) statuses.push((await send()).status)
    expect(statuses.at(-1)).toBe(429)
  })
})

/** A token of an account with all rights, as text. */
async function tokenOf(user: Parameters<PanelApi['as']>[0]) {
  const session = await api.as(user)
  const { body } = await session.post('/api/v1/tokens', { name: 'test', scopes: ['domains:read', 'domains:write'] })
  return { secret: String(body.token) }
}
