/** Tracked mail from its acceptance to the reader: what is delivered, what links do, what is recorded, and when nothing is. */
import { request } from 'node:http'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startConfiguredDelivery } from '../../../services/mail/delivery/setup.ts'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { dkimName, dkimRecord } from '../../../services/mail/dns/records/dkim.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import type { DomainDoc } from '../../../services/mail/domains/store/domain-model.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { readMime } from '../../../services/mail/message/mime-reader.ts'
import type { EventDoc } from '../../../services/mail/store/documents.ts'
import { EVENTS } from '../../../services/mail/store/events.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { MAX_EVENTS } from '../../../services/mail/tracking/rules/engagement.ts'
import { clickUrl, openUrl, readClickToken } from '../../../services/mail/tracking/tracking-link.ts'
import { mailWebhookSending } from '../../../services/mail/webhooks/send-mail-webhooks.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import type { Running } from '../../../services/platform/running.ts'
import { createSecrets } from '../../../services/platform/security/secrets.ts'
import { sendEvents } from '../../../services/platform/webhooks/deliver-events.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { at, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

const ENV = {
  ...{
    SESSION_SECRET: 'a secret of at least thirty-two bytes',
    DELIVERY_MODE: 'capture',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  },
}
const TARGET = 'https://shop.example/order?id=1&name=%C3%A9'
const HTML = `<p>Hello <a href="${TARGET.replace('&', '&amp;')}">order</a> <a data-no-track href="https://shop.example/private">x</a></p>`
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }

let api: PanelApi
let worker: Running
beforeAll(async () => {
  api = await startPanelApi(ENV)
  await ensureIndexes(api.db, deliveryCollections)
  worker = await startConfiguredDelivery({ ...testFoundation(api.mongo, ENV), secrets: api.secrets })
})
afterAll(async () => {
  await worker.stop()
  await api.stop()
})

let accounts = 0
/** An account whose domain tracks, as the API has set it. */
async function sender(tracking: object = { opens: true, clicks: true }) {
  const { user, client } = await api.newUser()
  const domain = `shop${accounts++}.example.com`
  const id = newId('dom')
  const key = await createDkimKey(api.secrets, id, 's1', 'ed25519-sha256', new Date())
  const verified = { status: 'verified', verified_by: 'dns' } as const
  await giveDomain(api.db, user._id, domain, { _id: id, ...verified, dkim: [{ ...key, state: 'active' }] })
  expect((await client.call('PATCH', `/api/v1/domains/${id}`, { tracking })).status).toBe(200)
  const send = (more: object = {}) =>
    client.post('/api/v1/emails', {
      from: `ann@${domain}`,
      to: 'bob@example.net',
      subject: 'Order',
      html: HTML,
      ...more,
    })
  /** The captured message with this subject, as its reader gets it. */
  const read = async (subject = 'Order') => {
    const found = async () =>
      (await client.get('/api/v1/inbox')).body.data.find((one: { subject: string }) => one.subject === subject)
    await until(async () => (await found()) !== undefined)
    return Buffer.from(String((await client.get(`/api/v1/inbox/${(await found()).id}/raw`)).body))
  }
  const events = async (emailId: string) =>
    (await client.get(`/api/v1/emails/${emailId}/events`)).body.data.filter(({ type }: { type: string }) =>
      ['email.opened', 'email.clicked'].includes(type),
    )
  return { user, client, domain, id, send, read, events }
}

const linksIn = (raw: Buffer) => ({
  link: /href="([^"]+\/t\/c\/[^"]+)"/.exec(readMime(raw).html ?? '')?.[1] ?? '',
  image: /src="([^"]+\/t\/o\/[^"]+\.gif)"/.exec(readMime(raw).html ?? '')?.[1] ?? '',
})
/** Requests an address of a message at the server of the test. */
const open = (address: string, init: RequestInit = {}) =>
  fetch(`${api.url}${new URL(address).pathname}`, { redirect: 'manual', headers: BROWSER, ...init })

/** Opens and clicks in a live stream, up to the first one of the message `end`, which is left out. */
async function engagementsUntil({ body }: Response, end: string) {
  const heard: { type: string; data: Record<string, unknown> }[] = []
  let rest = ''
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const type = /^event: (email\.(?:opened|clicked))$/m.exec(part)?.[1]
      if (type === undefined) continue
      const data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? '{}')
      if (data.email_id === end) return heard
      heard.push({ type, data })
    }
  }
  throw new Error(`the stream ended after ${JSON.stringify(heard)}`)
}

describe('tracked mail', () => {
  test('has a link that leads to its target and an image, and what happens with them is recorded once', async () => {
    const ann = await sender()
    const sent = await ann.send()
    const raw = await ann.read()
    expect(readMime(raw).html).toContain('href="https://shop.example/private"')
    const { link, image } = linksIn(raw)
    expect(link).not.toContain('shop.example/order')
    expect(await ann.events(sent.body.id)).toEqual([])
    for (let n = 0; n < 3; n++) {
      const followed = await open(link)
      expect([followed.status, followed.headers.get('location')]).toEqual([302, TARGET])
      expect(followed.headers.get('cache-control')).toBe('no-store')
      expect(followed.headers.get('referrer-policy')).toBe('no-referrer')
      const shown = await open(image)
      expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/gif'])
      expect(shown.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      expect((await shown.bytes()).subarray(0, 6)).toEqual(new Uint8Array(Buffer.from('GIF89a')))
    }
    const found = await ann.events(sent.body.id)
    expect(found.map(({ type }: { type: string }) => type).toSorted()).toEqual(['email.clicked', 'email.opened'])
    const clicked = found.find(({ type }: { type: string }) => type === 'email.clicked')
    expect(clicked).toMatchObject({ url: TARGET, recipient: 'bob@example.net', user_agent: BROWSER['user-agent'] })
    expect(clicked).toMatchObject({ text_code: 'tracking.clicked', attempt: null })
    expect(clicked).not.toHaveProperty('machine')
    // What became of an attempt is written after the captured message.
    await expect
      .poll(async () => (await ann.client.get(`/api/v1/emails/${sent.body.id}`)).body.status)
      .toBe('delivered')
    // Nothing else of the reader is kept.
    const [stored] = await collectionOf(api.db, EVENTS).find({ m: sent.body.id, type: 'opened' }).toArray()
    expect(Object.keys(stored ?? {}).toSorted()).toEqual(
      [
        ...[
          '_id',
          'at',
          'attempt',
          'cell',
          'exp',
          'explanation',
          'm',
          'ms',
          'rcpt',
          'text',
          'type',
          'user_agent',
          'user_id',
        ],
      ].filter(field => field in (stored ?? {})),
    )
    expect(JSON.stringify(stored)).not.toContain('127.0.0.1')
  })

  test('has links that answer at their own host only, and records nothing for HEAD', async () => {
    const ann = await sender()
    const sent = await ann.send()
    const { link, image } = linksIn(await ann.read())
    for (const address of [link, image])
      expect((await open(address, { method: 'HEAD' })).status).toBe(address === link ? 302 : 200)
    expect(await ann.events(sent.body.id)).toEqual([])
    const { port } = new URL(api.url)
    const answered = (address: string, host: string) =>
      new Promise<number | undefined>((resolve, reject) =>
        request({ port, path: new URL(address).pathname, headers: { ...BROWSER, host } }, response => {
          response.resume()
          resolve(response.statusCode)
        })
          .on('error', reject)
          .end(),
      )
    expect(await answered(link, 'links.shop.example')).toBe(404)
    expect(await ann.events(sent.body.id)).toEqual([])
    const ofShop = clickUrl(api.secrets, 'https://links.shop.example', `${sent.body.id}.0`, TARGET)
    expect(await answered(ofShop, 'links.other.example')).toBe(404)
    expect(await answered(ofShop, 'Links.Shop.Example:443')).toBe(302)
    await until(async () => (await ann.events(sent.body.id)).length === 1)
    expect(await answered(image, 'links.shop.example')).toBe(200)
  })

  test.each<[string, Record<string, string>]>([
    [
      'Gmail',
      { 'user-agent': 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)' },
    ],
    ['Apple', { 'user-agent': 'Mozilla/5.0' }],
    ['a browser that prefetches', { ...BROWSER, 'sec-purpose': 'prefetch' }],
    ['a script', { 'user-agent': 'curl/8.0' }],
  ])('marks what %s does as done by a program', async (_, headers) => {
    const ann = await sender()
    const sent = await ann.send()
    await open(linksIn(await ann.read()).image, { headers })
    expect(await ann.events(sent.body.id)).toMatchObject([{ machine: true, text_code: 'tracking.opened_by_program' }])
  })

  test('webhooks get each event once', async () => {
    const ann = await sender()
    const receiver = await startWebhookReceiver()
    const events = ['email.opened', 'email.clicked']
    receiver.secrets.push((await ann.client.post('/api/v1/webhooks', { url: receiver.url, events })).body.secret)
    const sent = await ann.send({ tags: [{ name: 'campaign', value: 'spring' }] })
    const { link, image } = linksIn(await ann.read())
    await Promise.all([open(link), open(link), open(image), open(image)])
    await open(link)
    const foundation = { ...testFoundation(api.mongo, ENV), secrets: api.secrets }
    await sendEvents(mailWebhookSending(foundation), new AbortController().signal)
    const heard = receiver.received.toSorted((a, b) => a.type.localeCompare(b.type))
    const common = { email_id: sent.body.id, to: 'bob@example.net', user_agent: BROWSER['user-agent'] }
    expect(heard.map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'email.clicked',
        data: expect.objectContaining({ ...common, url: TARGET, tags: [{ name: 'campaign', value: 'spring' }] }),
      },
      { type: 'email.opened', data: expect.objectContaining(common) },
    ])
    for (const { data } of heard) expect(data).not.toHaveProperty('ip')
  })

  test('the live stream gets each event once', async () => {
    const ann = await sender()
    const sent = await ann.send({ subject: 'First' })
    const last = await ann.send({ subject: 'Last' })
    const { link, image } = linksIn(await ann.read('First'))
    const end = linksIn(await ann.read('Last')).image
    const { value } = await giveToken(api.db, ann.user._id)
    const stream = await fetch(`${api.url}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${value}` },
      signal: AbortSignal.timeout(90_000),
    })
    await Promise.all([open(link), open(link), open(image), open(image)])
    await open(end)
    const heard = await engagementsUntil(stream, last.body.id)
    const common = { email_id: sent.body.id, recipient: 'bob@example.net', user_agent: BROWSER['user-agent'] }
    expect(heard.toSorted((a, b) => a.type.localeCompare(b.type))).toEqual([
      { type: 'email.clicked', data: expect.objectContaining({ ...common, type: 'email.clicked', url: TARGET }) },
      { type: 'email.opened', data: expect.objectContaining({ ...common, type: 'email.opened' }) },
    ])
    for (const { data } of heard) expect(data).not.toHaveProperty('ip')
  })
})

describe('a link', () => {
  const token = (address: string) => address.slice(address.lastIndexOf('/') + 1)

  test('that is changed, foreign, or for another use leads nowhere', async () => {
    const foreign = createSecrets('another secret of at least thirty-two bytes')
    const link = clickUrl(api.secrets, api.url, 'em_1.0', 'https://shop.example/')
    const paths = [
      ...[link.slice(0, -1), `${link.slice(0, -6)}AAAAAA`, `${link}A`],
      clickUrl(foreign, api.url, 'em_1.0', 'https://evil.example/'),
      `https://l.test/t/c/${token(openUrl(api.secrets, '', 'em_1.0')).replace('.gif', '')}`,
      `https://l.test/t/o/${token(link)}.gif`,
      `https://l.test/t/o/${token(openUrl(api.secrets, '', 'em_1.0')).replace('.gif', '')}`,
      `https://l.test/t/c/${api.secrets.seal('unsubscribe', 'click 127.0.0.1', 'em_1.0 https://evil.example/')}`,
      ...[
        'c/',
        'c/x',
        'c/https://evil.example/',
        `c/${'a'.repeat(9_000)}`,
        'o/x.gif',
        'o/.gif',
        'c/%00',
        'c/v1.a.b.c',
      ].map(path => `https://l.test/t/${path}`),
    ]
    for (const path of paths) {
      const answer = await open(path)
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.headers.get('location')).toBeNull()
    }
    const read = { deliveryId: 'em_1.0', target: 'https://shop.example/' }
    expect(readClickToken(api.secrets, token(link), new URL(api.url).hostname)).toEqual(read)
  })

  test('of a message that has left the log still leads to its target', async () => {
    const answer = await open(clickUrl(api.secrets, api.url, 'em_gone.0', 'https://shop.example/'))
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://shop.example/'])
    expect(await collectionOf(api.db, EVENTS).countDocuments({ m: 'em_gone' })).toBe(0)
  })

  test('of a message whose domain tracks no more leads on, and nothing is recorded', async () => {
    const ann = await sender()
    const sent = await ann.send()
    const { link, image } = linksIn(await ann.read())
    await ann.client.call('PATCH', `/api/v1/domains/${ann.id}`, { tracking: { opens: false, clicks: false } })
    expect((await open(link)).status).toBe(302)
    expect((await open(image)).status).toBe(200)
    expect(await ann.events(sent.body.id)).toEqual([])
  })

  test('that is followed very often fills no log', async () => {
    const ann = await sender()
    const sent = await ann.send()
    await ann.read()
    const { user } = ann
    const past = Array.from(
      { length: MAX_EVENTS.clicked },
      (_, n): EventDoc => ({
        ...{ _id: `${sent.body.id}.0#clicked-x-${n}`, m: sent.body.id, user_id: user._id, rcpt: 'bob@example.net' },
        ...{ attempt: 0, type: 'clicked', at: new Date(), ms: 0, text: '', exp: new Date(Date.now() + 1e8) },
      }),
    )
    await collectionOf(api.db, EVENTS).insertMany(past)
    expect((await open(linksIn(await ann.read()).link)).status).toBe(302)
    expect(await ann.events(sent.body.id)).toHaveLength(MAX_EVENTS.clicked)
  })
})

describe('what is tracked', () => {
  test('is nothing by default', async () => {
    const { user, client } = await api.newUser()
    const { _id } = await giveDomain(api.db, user._id, 'plain.example.com', { status: 'verified', verified_by: 'dns' })
    const { body } = await client.get(`/api/v1/domains/${_id}`)
    expect(body.tracking).toEqual({ opens: false, clicks: false })
    expect(body.records.filter(({ purpose }: { purpose: string }) => purpose === 'tracking')).toEqual([])
  })

  test('is set one by one', async () => {
    const ann = await sender({ opens: true })
    expect((await ann.client.get(`/api/v1/domains/${ann.id}`)).body.tracking).toEqual({ opens: true, clicks: false })
    await ann.client.call('PATCH', `/api/v1/domains/${ann.id}`, { tracking: { clicks: true } })
    expect((await ann.client.get(`/api/v1/domains/${ann.id}`)).body.tracking).toEqual({ opens: true, clicks: true })
    for (const tracking of [{ opens: 1 }, { links: true }, null, 'all'])
      expect((await ann.client.call('PATCH', `/api/v1/domains/${ann.id}`, { tracking })).status).toBe(422)
  })

  test.each<[string, object, { link: boolean; image: boolean }]>([
    ['what the domain has on', {}, { link: true, image: true }],
    ['without opens', { track: { opens: false } }, { link: true, image: false }],
    ['without clicks', { track: { clicks: false } }, { link: false, image: true }],
    ['nothing', { track: { opens: false, clicks: false } }, { link: false, image: false }],
    ['also what is asked for', { track: { opens: true, clicks: true } }, { link: true, image: true }],
    ['text alone', { html: undefined, text: TARGET }, { link: false, image: false }],
  ])('of a message: %s', async (_, more, expected) => {
    const ann = await sender()
    expect((await ann.send(more)).status).toBe(202)
    const { link, image } = linksIn(await ann.read())
    expect({ link: link !== '', image: image !== '' }).toEqual(expected)
  })

  test('is refused where the domain does not track it, and ignored with a warning on the old path', async () => {
    const ann = await sender({ opens: true })
    expect(await ann.send({ track: { clicks: true } })).toMatchObject({
      ...{ status: 422, body: { code: 'tracking_off', detail_code: 'tracking.off_clicks' } },
    })
    const old = { from: `a@${ann.domain}`, to: 'b@example.net', subject: 'Old', html: HTML, track: { clicks: true } }
    expect(await ann.client.post('/api/send', old)).toMatchObject({
      ...{ status: 202, body: { warnings: [{ code: 'unsupported_field', field: 'track' }] } },
    })
  })

  test.each(['off', 'opens', 'clicks', 'everything'])('is chosen by X-Postwright-Track: %s', async word => {
    const ann = await sender()
    const from = `ann@${ann.domain}`
    const raw = `From: ${from}\r\nSubject: Raw\r\nX-Postwright-Track: ${word}\r\nContent-Type: text/html\r\n\r\n${HTML}\r\n`
    const sent = await ann.client.post('/api/v1/emails/raw', {
      ...{ from, to: 'bob@example.net', raw: Buffer.from(raw).toString('base64') },
    })
    if (word === 'everything') return expect(sent).toMatchObject({ status: 422, body: { code: 'bad_header' } })
    const read = await ann.read('Raw')
    const { link, image } = linksIn(read)
    expect({ link: link !== '', image: image !== '' }).toEqual({ link: word === 'clicks', image: word === 'opens' })
    expect(String(read)).not.toMatch(/x-postwright/i)
  })
})

describe('a receiving server', () => {
  const RECORD = { row: 'tracking', status: 'verified', observed: ['app.mail.test'] } as const
  const domainWith = (record: object): Partial<DomainDoc> => ({
    tracking: { opens: true, clicks: true },
    check: {
      ...{ at: new Date(), attempts: 1, failures: 0, errors: [] },
      records: [{ ...RECORD, observed: [...RECORD.observed], errors: [], warnings: [], instructions: [], ...record }],
    },
  })
  const start = async (domain: Partial<DomainDoc>, env: Record<string, string> = {}) => {
    const environment = await startDeliveryEnvironment({ env: { APP_BASE_URL: 'https://app.mail.test', ...env } })
    await updateDomain(environment.mongo.db, environment.domain._id, domain)
    await environment.work()
    return environment
  }
  const content = (html: string, header = '') =>
    Buffer.from(
      `From: a@example.com\r\nSubject: s\r\n${header}Content-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`,
    )

  test('gets each recipient a signed message with links of its own', async () => {
    const environment = await start(domainWith({}))
    const id = await environment.submit({ raw: content(`${HTML}<p>é</p>`), to: [at('a'), at('b'), at('c')] })
    await until(async () => environment.receiver.received.length === 3)
    const seen = new Set<string>()
    for (const { content: received, rcpts } of environment.receiver.received) {
      const { results } = await dkimVerify(received, {
        resolver: async (name: string) =>
          name === dkimName('s1', 'example.com')
            ? [[dkimRecord('rsa-sha256', environment.domain.dkim[0]?.public_key ?? '')]]
            : [],
      })
      expect(results[0]?.status.result).toBe('pass')
      const { link, image } = linksIn(received)
      expect(link).toMatch(/^https:\/\/links\.example\.com\/t\/c\//)
      expect(image).toMatch(/^https:\/\/links\.example\.com\/t\/o\//)
      const sealed = link.slice(link.lastIndexOf('/') + 1)
      const { deliveryId, target } = readClickToken(environment.secrets, sealed, 'links.example.com') ?? {}
      const { rcpts: all } = await environment.message(id)
      expect(all[Number(deliveryId?.slice(id.length + 1))]?.email).toBe(rcpts[0]?.email)
      expect(target).toBe(TARGET)
      seen.add(link)
    }
    expect(seen.size).toBe(3)
    expect(environment.receiver.protocolErrors).toEqual([])
  })

  test.each<[string, Partial<DomainDoc>, Record<string, string>]>([
    ['while the record is missing', domainWith({ status: 'not_started', observed: [] }), {}],
    ['while its host does not answer', domainWith({ status: 'failed' }), {}],
    ['while the record leads to a former host', domainWith({ observed: ['old.mail.test'] }), {}],
    ['before the first check', { tracking: { opens: true, clicks: true } }, {}],
    ['while the installation has no public name', domainWith({}), { APP_BASE_URL: 'http://127.0.0.1:3025' }],
    ['while the domain does not track', { check: domainWith({}).check as NonNullable<DomainDoc['check']> }, {}],
  ])('gets the message as it was %s, in one transaction', async (_, domain, env) => {
    const environment = await start(domain, env)
    await environment.submit({ raw: content(HTML), to: [at('a'), at('b')] })
    await until(async () => environment.receiver.received.length > 0)
    expect(environment.receiver.received).toHaveLength(1)
    expect(String(environment.receiver.received[0]?.content)).toContain(HTML)
  })

  test('gets text, and what the sender signed, in one transaction as it was', async () => {
    const environment = await start(domainWith({}))
    for (const raw of [
      Buffer.from(`From: a@example.com\r\nSubject: s\r\n\r\n${TARGET}\r\n`),
      content(HTML, 'DKIM-Signature: v=1; a=rsa-sha256; d=other.example; s=x; h=from; bh=x; b=x\r\n'),
    ]) {
      const before = environment.receiver.received.length
      await environment.submit({ raw, to: [at('a'), at('b')] })
      await until(async () => environment.receiver.received.length === before + 1)
      const text = String(environment.receiver.received.at(-1)?.content)
      expect(text.endsWith(String(raw))).toBe(true)
    }
  })

  test('gets links with the scheme of the installation', async () => {
    const environment = await start(domainWith({}), { TRACKING_SCHEME: 'http' })
    await environment.submit({ raw: content(HTML) })
    await until(async () => environment.receiver.received.length === 1)
    expect(linksIn(environment.receiver.received[0]?.content ?? Buffer.alloc(0)).link).toMatch(
      /^http:\/\/links\.example\.com\/t/,
    )
  })
})

test('mail of large messages, which are read when their turn comes, is tracked as well', async () => {
  const ann = await sender()
  const attachment = { filename: 'a.bin', content: Buffer.alloc(300_000, 'x').toString('base64') }
  const sent = await ann.send({ attachments: [attachment], to: ['a@example.net', 'b@example.net'] })
  await until(async () => (await collectionOf(api.db, MESSAGES).findOne({ _id: sent.body.id }))?.left === 0)
  const { data } = (await ann.client.get('/api/v1/inbox')).body
  const links = await Promise.all(
    data.map(
      async ({ id }: { id: string }) =>
        linksIn(Buffer.from(String((await ann.client.get(`/api/v1/inbox/${id}/raw`)).body))).link,
    ),
  )
  expect(new Set(links).size).toBe(2)
})
