/** Bulk mail from its acceptance to the recipient who leaves: header fields, the page, one click, and what follows. */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startConfiguredDelivery } from '../../../services/mail/delivery/setup.ts'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { dkimName, dkimRecord } from '../../../services/mail/dns/records/dkim.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { QUOTAS } from '../../../services/mail/limits/store/quota-leases.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { unsubscribeUrl } from '../../../services/mail/streams/unsubscribe-link.ts'
import { mailWebhookSending } from '../../../services/mail/webhooks/send-mail-webhooks.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import type { Running } from '../../../services/platform/running.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { sendEvents } from '../../../services/platform/webhooks/deliver-events.ts'
import { giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { at, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const ENV = { SESSION_SECRET: SECRET, DELIVERY_MODE: 'capture', WEBHOOK_ALLOW_PRIVATE: 'true' }

let api: PanelApi
let worker: Running
beforeAll(async () => {
  api = await startPanelApi(ENV)
  await ensureIndexes(api.db, deliveryCollections)
  const foundation = { ...testFoundation(api.mongo, ENV), secrets: api.secrets }
  worker = await startConfiguredDelivery(foundation)
})
afterAll(async () => {
  await worker.stop()
  await api.stop()
})

let accounts = 0
async function sender() {
  const { user, client } = await api.newUser()
  const domain = `news${accounts++}.example.com`
  const id = newId('dom')
  const key = await createDkimKey(api.secrets, id, 's1', 'ed25519-sha256', new Date())
  const verified = { status: 'verified', verified_by: 'dns' } as const
  await giveDomain(api.db, user._id, domain, { _id: id, ...verified, dkim: [{ ...key, state: 'active' }] })
  const send = (more: object = {}) =>
    client.post('/api/v1/emails', {
      ...{ from: `ann@${domain}`, to: 'bob@example.net', subject: 'News', text: 'Hi', stream: 'bulk' },
      ...more,
    })
  /** What a captured message of this subject says in its header. */
  const header = async (subject: string) => {
    const found = async () =>
      (await client.get('/api/v1/inbox')).body.data.find((one: { subject: string }) => one.subject === subject)
    await until(async () => (await found()) !== undefined)
    const { id: captured } = await found()
    // What became of the attempt is written after the captured message, and it leaves the queue last.
    await until(
      async () => (await collectionOf(api.db, DELIVERIES).countDocuments({ m: captured.split('.')[0] })) === 0,
    )
    const text = String((await client.get(`/api/v1/inbox/${captured}/raw`)).body)
    return text.slice(0, text.indexOf('\r\n\r\n'))
  }
  return { user, client, domain, send, header }
}

const linkIn = (header: string) => /^List-Unsubscribe: <([^>]+)>/m.exec(header)?.[1] ?? ''
/** The link of a message, at the server of the test. */
const pathOf = (header: string) => new URL(linkIn(header)).pathname
const open = (path: string, init?: RequestInit) => fetch(`${api.url}${path}`, init)
const oneClick = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }

describe('a link in bulk mail', () => {
  test('changes nothing when it is opened, also by a filter, and asks', async () => {
    const ann = await sender()
    await ann.send({ unsubscribe: { list: 'weekly' } })
    const path = pathOf(await ann.header('News'))
    for (const method of ['GET', 'HEAD']) expect((await open(path, { method })).status).toBe(200)
    const page = await open(path)
    expect(await page.text()).toMatch(
      /Send no more mail of the list “weekly” of news\d+\.example\.com to bob@example\.net/,
    )
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect((await ann.client.get('/api/v1/suppressions')).body.data).toEqual([])
  })

  test.each<[string, RequestInit]>([
    ['a mail program with a form', oneClick],
    ['a mail program with multipart', { method: 'POST', body: multipart({ 'List-Unsubscribe': 'One-Click' }) }],
    ['a mail program without a body', { method: 'POST' }],
    ['the button of the page', { method: 'POST', body: new URLSearchParams({ choice: 'list' }) }],
  ])('ends mail of its list at once by %s', async (_, request) => {
    const ann = await sender()
    const first = await ann.send({ unsubscribe: { list: 'weekly' } })
    const path = pathOf(await ann.header('News'))
    for (let n = 0; n < 2; n++) expect((await open(path, request)).status).toBe(200)
    expect((await ann.client.get('/api/v1/suppressions')).body.data).toMatchObject([
      {
        email: 'bob@example.net',
        stream: 'bulk/weekly',
        reason: 'unsubscribe',
        origin: 'unsubscribe',
        email_id: first.body.id,
      },
    ])
    expect(await ann.send({ unsubscribe: { list: 'weekly' } })).toMatchObject({
      ...{ status: 422, body: { code: 'all_recipients_suppressed' } },
    })
    for (const other of [{ unsubscribe: { list: 'daily' } }, {}, { stream: 'transactional' }])
      expect((await ann.send(other)).status).toBe(202)
    const { data } = (await ann.client.get(`/api/v1/emails/${first.body.id}/events`)).body
    expect(data.at(-1)).toMatchObject({ type: 'email.unsubscribed', recipient: 'bob@example.net' })
    expect(data).toHaveLength(3)
  })

  test('ends all bulk mail by the other button, and no transactional mail', async () => {
    const ann = await sender()
    await ann.send({ unsubscribe: { list: 'weekly' } })
    const path = pathOf(await ann.header('News'))
    await open(path, { method: 'POST', body: new URLSearchParams({ choice: 'all' }) })
    for (const given of [{ unsubscribe: { list: 'daily' } }, {}]) expect((await ann.send(given)).status).toBe(422)
    expect((await ann.send({ stream: 'transactional' })).status).toBe(202)
  })

  test('withdraws mail that is waiting', async () => {
    const ann = await sender()
    await ann.send()
    const path = pathOf(await ann.header('News'))
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
    const waiting = await ann.send({ subject: 'Later', scheduled_at: inMs(3_600_000) })
    await open(path, oneClick)
    // The time must still lie ahead when the request is read.
    const soon = () => ann.client.call('PATCH', `/api/v1/emails/${waiting.body.id}`, { scheduled_at: inMs(1_000) })
    await until(async () => (await soon()).status === 200)
    await until(async () => (await ann.client.get(`/api/v1/emails/${waiting.body.id}`)).body.status === 'suppressed')
  })

  test('leaves mail of other accounts to the same address alone', async () => {
    const [ann, eve] = [await sender(), await sender()]
    await ann.send()
    await open(pathOf(await ann.header('News')), oneClick)
    expect((await eve.send()).status).toBe(202)
  })

  test('works after its message has left the log', async () => {
    const { user, client } = await sender()
    const of = {
      userId: user._id,
      deliveryId: 'em_gone.0',
      stream: 'bulk',
      domain: 'a.example',
      email: 'old@example.net',
    }
    const path = new URL(unsubscribeUrl(api.secrets, 'https://mail.example.com', of)).pathname
    expect((await open(path, oneClick)).status).toBe(200)
    expect((await client.get('/api/v1/suppressions')).body.data).toMatchObject([{ email: 'old@example.net' }])
  })

  test.each(['/u/', '/u/x', `/u/${'a'.repeat(5_000)}`, '/u/v1.a.b.c', '/u/%00'])('%s names nobody', async path => {
    for (const method of ['GET', 'POST']) expect((await open(path, { method })).status).toBeGreaterThanOrEqual(400)
  })

  test('of another installation names nobody', async () => {
    const of = { userId: 'usr_1', deliveryId: 'em_1.0', stream: 'bulk', domain: 'a.example', email: 'a@example.net' }
    const foreign = createSecrets('another secret of at least thirty-two bytes')
    expect((await open(new URL(unsubscribeUrl(foreign, 'https://a.example', of)).pathname, oneClick)).status).toBe(404)
  })

  test('takes no large body', async () => {
    const ann = await sender()
    await ann.send()
    const path = pathOf(await ann.header('News'))
    expect((await open(path, { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(413)
  })

  test('shows what a list or a domain is named as text', async () => {
    const of = {
      userId: 'usr_1',
      deliveryId: 'em_1.0',
      stream: 'bulk/x',
      domain: '<script>alert(1)</script>',
      email: '"<b>"@example.net',
    }
    const page = await open(new URL(unsubscribeUrl(api.secrets, 'https://a.example', of)).pathname)
    expect(await page.text()).not.toMatch(/<script|<b>/)
  })
})

test('webhooks hear of the unsubscription and of the suppression, once', async () => {
  const ann = await sender()
  const receiver = await startWebhookReceiver()
  receiver.secrets.push((await ann.client.post('/api/v1/webhooks', { url: receiver.url })).body.secret)
  await ann.send({ unsubscribe: { list: 'weekly' }, tags: [{ name: 'campaign', value: 'spring' }] })
  const path = pathOf(await ann.header('News'))
  await Promise.all([open(path, oneClick), open(path, oneClick)])
  await open(path, oneClick)
  const foundation = { ...testFoundation(api.mongo, ENV), secrets: api.secrets }
  await sendEvents(mailWebhookSending(foundation), new AbortController().signal)
  await ann.client.call('DELETE', '/api/v1/suppressions/bob@example.net?stream=bulk/weekly')
  await sendEvents(mailWebhookSending(foundation), new AbortController().signal)
  const heard = receiver.received
  expect(heard.map(({ type }) => type).toSorted()).toEqual([
    ...['email.accepted', 'email.delivered', 'email.unsubscribed', 'suppression.added', 'suppression.removed'],
  ])
  expect(heard.find(({ type }) => type === 'email.unsubscribed')?.data).toMatchObject({
    ...{
      to: 'bob@example.net',
      stream: 'bulk/weekly',
      method: 'one_click',
      tags: [{ name: 'campaign', value: 'spring' }],
    },
  })
  expect(heard.find(({ type }) => type === 'suppression.added')?.data).toMatchObject({
    ...{ email: 'bob@example.net', stream: 'bulk/weekly', reason: 'unsubscribe' },
  })
})

describe('the header of bulk mail', () => {
  test('is signed with the fields of each recipient', async () => {
    const environment = await startDeliveryEnvironment({
      env: { APP_BASE_URL: 'https://mail.test', BOUNCE_DOMAIN: 'bounces.mail.test' },
    })
    const record = { row: 'return_path', status: 'verified', observed: ['bounces.mail.test'] } as const
    await updateDomain(environment.mongo.db, environment.domain._id, {
      check: {
        ...{ at: new Date(), attempts: 1, failures: 0, errors: [] },
        records: [{ ...record, observed: [...record.observed], errors: [], warnings: [], instructions: [] }],
      },
    })
    await environment.work()
    await environment.submit({ lane: 'bulk', list: 'weekly', to: [at('a'), at('b'), at('c')] })
    await until(async () => environment.receiver.received.length === 3)
    const links = new Set<string>()
    for (const { content, rcpts } of environment.receiver.received) {
      expect(rcpts).toHaveLength(1)
      const { results } = await dkimVerify(content, {
        resolver: async (name: string) =>
          name === dkimName('s1', 'example.com')
            ? [[dkimRecord('rsa-sha256', environment.domain.dkim[0]?.public_key ?? '')]]
            : [],
      })
      expect(results[0]?.status.result).toBe('pass')
      const signed = String(results[0]?.signingHeaders?.keys)
        .toLowerCase()
        .split(/[:;,\s]+/)
      for (const field of ['list-unsubscribe', 'list-unsubscribe-post', 'feedback-id', 'cfbl-address'])
        expect(signed).toContain(field)
      const header = content.toString()
      links.add(linkIn(header))
      expect(header).toMatch(/^CFBL-Address: feedback\+[a-z0-9]{49}@bounce\.example\.com; report=arf\r$/m)
      expect(header).toMatch(/^ <mailto:unsubscribe\+[a-z0-9]{49}@bounce\.example\.com>\r$/m)
    }
    expect(links.size).toBe(3)
  })

  test('keeps the link of the sender', async () => {
    const ann = await sender()
    await ann.send({ unsubscribe: { url: 'https://news.example.com/leave?u=1' } })
    const header = await ann.header('News')
    expect(linkIn(header)).toBe('https://news.example.com/leave?u=1')
    expect(header.match(/^List-Unsubscribe/gim)).toHaveLength(2)
  })

  test('has nothing of it in transactional mail', async () => {
    const ann = await sender()
    await ann.send({ stream: 'transactional' })
    expect(await ann.header('News')).not.toMatch(/^(?:list-unsubscribe|feedback-id|cfbl-address)/im)
  })
})

describe('bulk mail is refused', () => {
  test('without a public https address and without own fields', async () => {
    const other = await startPanelApi({ DELIVERY_MODE: 'direct' })
    try {
      const { user, client } = await other.newUser()
      await giveDomain(other.db, user._id, 'plain.example', { status: 'verified', verified_by: 'dns' })
      const given = { from: 'a@plain.example', to: 'b@example.net', subject: 's', text: 't', stream: 'bulk' }
      expect(await client.post('/api/v1/emails', given)).toMatchObject({
        ...{ status: 422, body: { code: 'bulk_without_unsubscribe', detail_code: 'streams.no_address' } },
      })
      expect(
        (await client.post('/api/v1/emails', { ...given, unsubscribe: { url: 'https://a.example/' } })).status,
      ).toBe(202)
    } finally {
      await other.stop()
    }
  })

  test('with half of the fields of one click', async () => {
    const ann = await sender()
    expect(await ann.send({ headers: { 'List-Unsubscribe': '<mailto:leave@example.com>' } })).toMatchObject({
      ...{ status: 422, body: { code: 'bulk_without_unsubscribe', detail_code: 'streams.incomplete_fields' } },
    })
  })

  test('above 5,000 a day to one provider from a domain that is not authenticated', async () => {
    const other = await startPanelApi({ DELIVERY_MODE: 'direct', APP_BASE_URL: 'https://mail.example.net' })
    try {
      const { user, client } = await other.newUser()
      const domain = await giveDomain(other.db, user._id, 'many.example', { status: 'verified', verified_by: 'dns' })
      const send = (to: string, stream = 'bulk') =>
        client.post('/api/v1/emails', { from: 'a@many.example', to, subject: 's', text: 't', stream })
      expect((await send('first@gmail.com')).status).toBe(202)
      // What other processes have sent today.
      await collectionOf(other.db, QUOTAS).updateMany({}, { $set: { leased: 5_000 } })
      await until(async () => (await send('next@googlemail.com')).status === 429)
      expect(await send('last@gmail.com')).toMatchObject({
        ...{
          status: 429,
          body: { code: 'bulk_unauthenticated', detail: expect.stringContaining('SPF, DKIM and DMARC') },
        },
      })
      for (const [to, stream] of [
        ['a@qq.com', 'bulk'],
        ['a@company.example', 'bulk'],
        ['a@gmail.com', 'transactional'],
      ] as const)
        expect((await send(to, stream)).status).toBe(202)
      const records = ['spf', 'dkim:s1', 'dmarc'].map(row => ({
        ...{ row, status: 'verified' as const, observed: [], errors: [], warnings: [], instructions: [] },
      }))
      await updateDomain(other.db, domain._id, {
        check: { at: new Date(), attempts: 1, failures: 0, errors: [], records },
      })
      await until(async () => (await send('again@gmail.com')).status === 202)
    } finally {
      await other.stop()
    }
  })
})

function multipart(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}
