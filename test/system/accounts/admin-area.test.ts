/** The admin area over HTTP, against real DNS and a real database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CERTIFICATES } from '../../../services/mail/administration/store/certificates.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import type { DeliveryDoc, ResourceState } from '../../../services/mail/store/documents.ts'
import { slotsOf } from '../../../services/mail/store/rules/assign-slot.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'
import { smtp } from '../../../services/smtp.ts'
import { giveCredential, giveDomain, giveToken, PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { type DnsServer, startDnsServer } from '../../support/dns/authoritative-servers.ts'
import { type Recursor, startRecursor } from '../../support/dns/recursor.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

const ZONES = [
  { name: 'sender.test', lines: ['mail IN A 192.0.2.10', 'mail IN A 192.0.2.12'] },
  {
    name: '2.0.192.in-addr.arpa',
    lines: ['10 IN PTR mail.sender.test.', '11 IN PTR static-11.provider.test.', '13 IN PTR mail.sender.test.'],
  },
  { name: 'list.test', lines: ['11.2.0.192 IN A 127.0.0.2', '11.2.0.192 IN TXT "https://list.test/why"'] },
  { name: 'shy.test', lines: ['* IN A 127.255.255.254'] },
]
let server: DnsServer
let recursor: Recursor
let api: PanelApi
let admin: ApiClient

beforeAll(async () => {
  server = await startDnsServer('knot', ZONES)
  recursor = await startRecursor(ZONES.map(({ name }) => ({ name, port: server.port })))
  api = await startPanelApi({
    MAIL_HOSTNAME: 'mail.sender.test',
    SENDING_IP: '192.0.2.10,192.0.2.11,192.0.2.12,192.0.2.13',
    BLOCKLISTS: 'list.test,shy.test',
    DNS_SERVERS: recursor.address,
  })
  ;({ client: admin } = await api.newUser({ role: 'admin' }))
})
afterAll(async () => {
  await api?.stop()
  await recursor?.stop()
  await server?.stop()
})

test('reports reverse names and blocklist entries for each sending address', async () => {
  const { body } = await admin.get('/api/v1/admin/sending-addresses')
  expect(body.hostname).toBe('mail.sender.test')
  const rows: { address: string; status: string; ptr: { status: string }; blocklists: { status: string }[] }[] =
    body.data
  expect(
    rows.map(({ address, status, ptr, blocklists }) => [
      address,
      status,
      ptr.status,
      blocklists.map(list => list.status),
    ]),
  ).toEqual([
    ['192.0.2.10', 'ok', 'ok', ['clear', 'refused']],
    ['192.0.2.11', 'failing', 'other_name', ['listed', 'refused']],
    ['192.0.2.12', 'failing', 'missing', ['clear', 'refused']],
    ['192.0.2.13', 'warning', 'not_confirmed', ['clear', 'refused']],
  ])
  expect(body.data[1].blocklists[0]).toMatchObject({ codes: ['127.0.0.2'], reason: 'https://list.test/why' })
})

test('caches the results of blocklists, even with fresh=true', async () => {
  await admin.get('/api/v1/admin/sending-addresses')
  const before = recursor.queries()
  await Promise.all([
    admin.get('/api/v1/admin/sending-addresses'),
    admin.get('/api/v1/admin/sending-addresses?fresh=true'),
  ])
  expect(recursor.queries()).toBe(before)
})

describe('certificates', () => {
  const list = async () => (await admin.get('/api/v1/admin/certificates')).body

  test('lists the certificates of SMTP processes with their problems, and replaces a renewed one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pw-tls-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
    const write = async (hosts: string[], days: number) => {
      const made = await makeCertificate(hosts, days, new Date())
      await Promise.all([writeFile(cert, made.cert), writeFile(key, made.key)])
    }
    await write(['other.example', '192.0.2.1'], 5)
    const env = { SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key, SUBMISSION_LISTEN: '127.0.0.1:0:tls' }
    const foundation = testFoundation(api.mongo as Parameters<typeof testFoundation>[0], env)
    const running = await smtp(foundation)
    onTestFinished(() => running.stop())
    await until(async () => (await list()).data.length === 1)
    expect(await list()).toMatchObject({
      host: 'mail.sender.test',
      data: [
        {
          names: ['other.example', '192.0.2.1'],
          file: cert,
          key: 'EC P-256',
          status: 'failing',
          faults: ['name_missing', 'expires_soon', 'self_signed'],
        },
      ],
    })
    const [{ fingerprint }] = (await list()).data
    const daysLeft = async () => {
      const { values } = await foundation.metrics.certificateExpiry.get()
      const [{ labels, value } = { labels: {}, value: 0 }] = values
      expect([values.length, labels.use]).toEqual([1, 'submission'])
      return Math.round((value - Date.now() / 1_000) / 86_400)
    }
    expect(await daysLeft()).toBe(5)
    await write(['mail.sender.test'], 90)
    await until(async () => {
      const [listed] = (await list()).data
      return listed !== undefined && listed.fingerprint !== fingerprint
    })
    const { data } = await list()
    expect(data).toMatchObject([{ names: ['mail.sender.test'], status: 'warning', faults: ['self_signed'] }])
    expect(await daysLeft()).toBe(90)
    await collectionOf(api.db, CERTIFICATES).deleteMany({})
  })

  test('lists nothing if none is served', async () => expect((await list()).data).toEqual([]))
})

describe('retrying a destination', () => {
  const deliveries = () => collectionOf(api.db, DELIVERIES)
  const give = (site: string, change: Partial<DeliveryDoc>): DeliveryDoc => ({
    _id: `${newId('em')}.0`,
    m: 'em_1',
    user_id: 'usr_1',
    rcpt: `u@${site}`,
    site,
    slot: slotsOf(site, 64, false)[0] ?? -1,
    lane: 'bulk',
    due: new Date(Date.now() + 3_600_000),
    att: 1,
    expires_at: new Date(Date.now() + 1e8),
    created_at: new Date(),
    ...change,
  })
  test('reschedules deliveries that failed before, and leaves scheduled, claimed and other ones unchanged', async () => {
    const rows = {
      waiting: give('late.example', {}),
      system: give('late.example', { lane: 'system' }),
      scheduled: give('late.example', { att: 0 }),
      claimed: give('late.example', { tok: 'w:1:x' }),
      other: give('other.example', {}),
    }
    await deliveries().insertMany(Object.values(rows))
    const { status, body } = await admin.post('/api/v1/admin/queues/retry', { site: 'Late.example ' })
    expect([status, body]).toEqual([200, { object: 'queue_retry', site: 'late.example', retried: 2 }])
    const due = await deliveries()
      .find({ due: { $lte: new Date() } })
      .toArray()
    expect(due.map(({ _id }) => _id).toSorted()).toEqual([rows.waiting._id, rows.system._id].toSorted())
    expect((await admin.get('/api/v1/audit-logs')).body.data[0]).toMatchObject({
      action: 'queue.retried',
      target: { type: 'site', id: 'late.example' },
    })
    expect((await admin.post('/api/v1/admin/queues/retry', { site: 'late.example' })).body.retried).toBe(0)
  })
})

describe('resources', () => {
  const STATE: ResourceState = {
    ready: false,
    reason: 'DNSPending',
    message: 'The DKIM record is not visible yet.',
    conditions: [
      { type: 'Ready', status: 'False', reason: 'DNSPending', message: 'The DKIM record is not visible yet.' },
    ],
    observed_at: new Date('2026-11-21T10:00:00Z'),
  }
  const by = (kind: string, name: string) => ({ kind, namespace: 'web', name, uid: name })
  // An earlier release stored the text only.
  const code = { message_code: 'text.verbatim', message_params: { text: STATE.message } }
  const shown = {
    ...{ ...STATE, ...code, observed_at: '2026-11-21T10:00:00.000Z' },
    conditions: STATE.conditions.map(condition => ({ ...condition, ...code })),
  }

  test('lists all kinds of the mail module by namespace and name, without unmanaged records and revoked tokens', async () => {
    const { user, client } = await api.newUser()
    const domain = await giveDomain(api.db, user._id, 'managed.example', {
      managed_by: by('MailDomain', 'b'),
      k8s: STATE,
    })
    await giveDomain(api.db, user._id, 'by-hand.example')
    await giveCredential(api.db, user._id, 'managed', { managed_by: by('SMTPCredential', 'c') })
    await giveToken(api.db, user._id, { managed_by: by('APIToken', 'a') })
    await giveToken(api.db, user._id, { managed_by: by('APIToken', 'a'), revoked_at: new Date() })
    const { body } = await admin.get('/api/v1/admin/resources')
    expect(body.data.map(({ resource }: { resource: { kind: string } }) => resource.kind)).toEqual([
      'APIToken',
      'MailDomain',
      'SMTPCredential',
    ])
    expect(body.data[1]).toMatchObject({
      resource: { kind: 'MailDomain', namespace: 'web', name: 'b' },
      record: { type: 'domain', id: domain._id, name: 'managed.example', user_id: user._id },
      state: shown,
    })
    expect(body.data[0].state).toBeNull()
    // The owner of the record sees the state of its resource, too.
    expect((await client.get('/api/v1/domains/managed.example')).body.resource).toEqual(shown)
    expect((await client.get('/api/v1/domains/by-hand.example')).body.resource).toBeNull()
  })

  test('lists those of the subscription module in the envelope', async () => {
    const app = { _id: 900_001, app_key: 'managed', app_name: 'Managed shop', live: true, status: '1' }
    await api.db
      .collection<typeof app & { managed_by: object; k8s: object }>('sub_apps')
      .insertOne({ ...app, managed_by: by('App', 'shop'), k8s: STATE })
    const cookie = await cookieOfAdmin()
    const answer = await fetch(`${api.url}/subscription-api/resource`, { headers: { cookie } })
    expect(await answer.json()).toMatchObject({
      data: {
        resources: [
          {
            kind: 'App',
            namespace: 'web',
            name: 'shop',
            app_key: 'managed',
            record_name: 'Managed shop',
            state: { ready: false, reason: 'DNSPending', observed_at: String(Date.UTC(2026, 10, 21, 10) / 1000) },
          },
        ],
      },
    })
  })
})

/** The cookie of a new admin's session. */
async function cookieOfAdmin(): Promise<string> {
  const { user } = await api.newUser({ role: 'admin' })
  const answer = await fetch(`${api.url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: user.username, password: PASSWORD }),
  })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}
