/** The inbox of a domain over HTTP: filters, waiting, one message in parts, downloads, removal, and who may not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { revokeToken } from '../../../services/mail/credentials/manage-tokens.ts'
import { startConfiguredDelivery } from '../../../services/mail/delivery/setup.ts'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { saveCaptured } from '../../../services/mail/store/captured.ts'
import { INBOXES, noteArrivals } from '../../../services/mail/store/captured-inboxes.ts'
import { systemClock } from '../../../services/platform/clock.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi()
  await ensureIndexes(api.db, deliveryCollections)
})
afterAll(() => api.stop())

const EXP = new Date(Date.UTC(2099, 0, 1))
let domains = 0

/** An account with a domain and its inbox. */
async function inbox() {
  const { user, client } = await api.newUser()
  const name = `inbox${domains++}.example.com`
  const { _id: id } = await giveDomain(api.db, user._id, name, { delivery: 'capture' })
  const path = `/api/v1/domains/${id}/inbox/messages`
  const place = { userId: user._id, domainId: id }
  let second = 0
  const receive = async (more: { subject?: string; to?: string[]; raw?: Buffer } = {}) => {
    const m = newId('em')
    const {
      subject = 'Hello',
      to = ['bob@example.net'],
      raw = Buffer.from(`Subject: ${subject}\r\n\r\nHello\r\n`),
    } = more
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, second++))
    await saveCaptured(api.mongo, [
      {
        ...{ _id: `${m}.0`, m, user_id: user._id, domain_id: id, subject, mail_from: `a@${name}` },
        rcpts: to,
        raw,
        at,
        exp: EXP,
      },
    ])
    await noteArrivals(api.mongo, [place], EXP)
    return `${m}.0`
  }
  const ids = async (query = '') => (await client.get(`${path}${query}`)).body.data.map((one: { id: string }) => one.id)
  return { user, client, id, name, path, place, receive, ids }
}

describe('the list', () => {
  test('is newest first, in pages, by recipient, subject and time', async () => {
    const { receive, ids, client, path, name } = await inbox()
    const first = await receive({ subject: 'Confirm your address', to: ['Ann@example.net', 'bob@example.net'] })
    const second = await receive({ subject: 'Reset your password' })
    const third = await receive({ subject: 'confirm (again)', to: ['ann@example.net'] })
    expect(await ids()).toEqual([third, second, first])
    expect(await ids('?to=ANN@example.net')).toEqual([third, first])
    expect(await ids('?subject=CONFIRM')).toEqual([third, first])
    expect(await ids('?subject=confirm%20(')).toEqual([third])
    expect(await ids('?to=ann@example.net&subject=address')).toEqual([first])
    expect(await ids('?since=2026-01-01T00:00:01Z')).toEqual([third, second])
    expect(await ids('?to=ann')).toEqual([])
    const page = (await client.get(`${path}?limit=2`)).body
    expect(page).toMatchObject({ has_more: true, data: [{ id: third, from: `a@${name}` }, { id: second }] })
    expect((await client.get(`${path}?limit=2&after=${second}`)).body).toMatchObject({
      has_more: false,
      data: [{ id: first }],
    })
    expect(await ids(`?subject=confirm&after=${third}`)).toEqual([first])
  })

  test.each([
    'wait=61',
    'wait=-1',
    'wait=x',
    'limit=0',
    'limit=101',
    'since=now',
    'after=1',
    'to=a',
    'subject=%00',
    'from=x',
  ])('refuses %s', async query => {
    const { client, path } = await inbox()
    expect((await client.get(`${path}?${query}`)).status).toBe(422)
  })
})

describe('waiting', () => {
  test('answers when a matching message arrives, and not for another one', async () => {
    const { receive, client, path } = await inbox()
    await receive({ subject: 'Old' })
    const waiting = client.get(`${path}?wait=60&subject=welcome&to=bob@example.net`)
    await receive({ subject: 'Other' })
    await receive({ subject: 'Welcome', to: ['ann@example.net'] })
    const id = await receive({ subject: 'Welcome' })
    expect(await waiting).toMatchObject({ status: 200, body: { data: [{ id }], has_more: false } })
  })

  test('answers at once what is there, and an empty list after its time', async () => {
    const { receive, client, path } = await inbox()
    expect(await client.get(`${path}?wait=1`)).toMatchObject({ status: 200, body: { data: [], has_more: false } })
    const id = await receive()
    expect((await client.get(`${path}?wait=60`)).body.data).toMatchObject([{ id }])
  })

  test('is limited for an account, and a client that goes leaves its place', async () => {
    const { client, path, user } = await inbox()
    const { value } = await giveToken(api.db, user._id, { scopes: ['inbox:read'] })
    const gone = new AbortController()
    const all = Array.from({ length: 21 }, () =>
      fetch(`${api.url}${path}?wait=60`, { headers: { authorization: `Bearer ${value}` }, signal: gone.signal }),
    )
    // The only one that does not wait.
    const refused = await Promise.race(all)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', detail_code: 'detail.inbox_waiters' })
    gone.abort()
    await Promise.allSettled(all)
    await until(async () => (await client.get(`${path}?wait=1`)).status === 200)
  })

  test('shows nothing to a token that was revoked meanwhile', async () => {
    const { receive, path, user } = await inbox()
    const { value, _id } = await giveToken(api.db, user._id, { scopes: ['inbox:read'] })
    const waiting = api.anonymous.with({ authorization: `Bearer ${value}` }).get(`${path}?wait=60`)
    await revokeToken({ db: api.db, clock: systemClock }, user._id, _id)
    // The process trusts a token for 2 s.
    await until(async () => (await api.anonymous.with({ authorization: `Bearer ${value}` }).get(path)).status === 401)
    await receive()
    expect((await waiting).status).toBe(401)
  })

  test('ends when the process stops', async () => {
    const other = await startPanelApi()
    const { user, client } = await other.newUser()
    const { _id } = await giveDomain(other.db, user._id, 'stop.example', {})
    const waiting = client.get(`/api/v1/domains/${_id}/inbox/messages?wait=60`)
    await client.get('/api/v1/me')
    const started = performance.now()
    await Promise.all([
      other.stop(),
      waiting.then(
        ({ status }) => expect(status).toBe(200),
        () => undefined,
      ),
    ])
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})

test('mail from its submission to the waiting test: the text, the links and the code', async () => {
  const worker = await startConfiguredDelivery({
    ...testFoundation(api.mongo, { DELIVERY_MODE: 'direct' }),
    secrets: api.secrets,
  })
  try {
    const { user, client } = await api.newUser()
    const name = `fresh${domains++}.example.com`
    const { id: domain } = (await client.post('/api/v1/domains', { name })).body
    const path = `/api/v1/domains/${domain}/inbox/messages`
    // Without a single DNS record.
    expect((await client.call('PATCH', `/api/v1/domains/${domain}`, { delivery: 'capture' })).status).toBe(200)
    const waiting = client.get(`${path}?wait=60&to=new.user@example.net`)
    const sent = await client.post('/api/v1/emails', {
      ...{ from: `app@${name}`, to: 'New.User@example.net', subject: 'Welcome' },
      text: 'Your code is 482913. https://app.example/confirm?t=1',
      html: '<p>Your code is <b>482913</b>. <a href="https://app.example/confirm?t=1">Confirm</a></p>',
    })
    expect(sent.status).toBe(202)
    const [{ id, email_id }] = (await waiting).body.data
    expect(email_id).toBe(sent.body.id)
    expect((await client.get(`${path}/${id}`)).body).toMatchObject({
      ...{ object: 'captured', subject: 'Welcome', to: ['New.User@example.net'], codes: ['482913'], truncated: false },
      links: [{ href: 'https://app.example/confirm?t=1', text: 'Confirm' }],
      text: expect.stringContaining('482913'),
      html: expect.stringContaining('<b>482913</b>'),
      attachments: [],
    })
    expect(await collectionOf(api.db, INBOXES).countDocuments({ _id: `${user._id} ${domain}` })).toBe(1)
  } finally {
    await worker.stop()
  }
})

describe('hostile content', () => {
  const RAW = Buffer.from(
    [
      ...['Content-Type: multipart/mixed; boundary=b', '', '--b', 'Content-Type: text/html', ''],
      ...['<script>parent.document.title="x"</script><form action="/api/v1/me"><img src="http://a.example/x">', ''],
      ...['--b', 'Content-Type: text/html', 'Content-Disposition: attachment; filename="x\\"\r\n\tX-Evil: 1.html"', ''],
      ...['<script>alert(1)</script>', '--b--', ''],
    ].join('\r\n'),
  )

  test('is a preview that runs nothing, and a download that no browser shows', async () => {
    const { receive, client, path } = await inbox()
    const id = await receive({ raw: RAW })
    const preview = await client.get(`${path}/${id}/preview`)
    expect(preview.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
    const download = await client.get(`${path}/${id}/attachments/0`)
    expect(String(download.body)).toBe('<script>alert(1)</script>')
    expect(Object.fromEntries(download.headers)).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment; filename="?[^"\r\n]*html"?/),
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
    expect(download.headers.get('x-evil')).toBeNull()
    const raw = await client.get(`${path}/${id}/raw`)
    expect(Object.fromEntries(raw.headers)).toMatchObject({
      'content-disposition': `attachment; filename="${id}.eml"`,
      'content-type': 'message/rfc822',
      'x-content-type-options': 'nosniff',
    })
    expect(String(raw.body)).toBe(RAW.toString())
    for (const index of ['1', '99']) expect((await client.get(`${path}/${id}/attachments/${index}`)).status).toBe(404)
    for (const index of ['100', '-1', 'x'])
      expect((await client.get(`${path}/${id}/attachments/${index}`)).status).toBe(422)
  })
})

test('messages are read one after the other for an account, and many waiting requests of it are refused', async () => {
  const [busy, other] = [await inbox(), await inbox()]
  const id = await busy.receive({ raw: Buffer.from(`Subject: x\r\n\r\n${'=3D'.repeat(1024 * 1024)}\r\n`) })
  const { value } = await giveToken(api.db, busy.user._id, { scopes: ['inbox:read'] })
  const token = api.anonymous.with({ authorization: `Bearer ${value}` })
  const parts = ['', '/raw', '/preview']
  const all = Array.from({ length: 60 }, (_, n) => token.get(`${busy.path}/${id}${parts[n % parts.length]}`))
  expect((await other.client.get(`${other.path}/${await other.receive()}`)).status).toBe(200)
  const answers = await Promise.all(all)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(21)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, body, headers } of refused) {
    expect([status, body.detail_code]).toEqual([429, 'detail.waiting_requests'])
    expect(headers.get('retry-after')).toBe('5')
  }
})

describe('removal', () => {
  test('of one message, and of all', async () => {
    const { receive, ids, client, path } = await inbox()
    const [one, two] = [await receive(), await receive()]
    const other = await inbox()
    await other.receive()
    expect((await client.call('DELETE', `${path}/${one}`)).status).toBe(204)
    expect((await client.call('DELETE', `${path}/${one}`)).status).toBe(404)
    expect((await client.get(`${path}/${one}`)).status).toBe(404)
    expect(await ids()).toEqual([two])
    expect(await client.call('DELETE', path)).toMatchObject({ status: 200, body: { object: 'deleted', count: 1 } })
    expect(await client.call('DELETE', path)).toMatchObject({ status: 200, body: { count: 0 } })
    expect([await ids(), (await other.ids()).length]).toEqual([[], 1])
  })
})

describe('an inbox', () => {
  test('of another account, or of another domain than that of the message, is not there', async () => {
    const mine = await inbox()
    const other = await inbox()
    const id = await other.receive()
    const second = await giveDomain(api.db, other.user._id, `second.${other.name}`, {})
    const nested = ['', '/raw', '/preview', '/attachments/0'].map(rest => `${other.path}/${id}${rest}`)
    for (const path of [other.path, `${other.path}?wait=60`, ...nested])
      expect((await mine.client.get(path)).status).toBe(404)
    for (const path of [other.path, `${other.path}/${id}`])
      expect((await mine.client.call('DELETE', path)).status).toBe(404)
    expect((await other.client.get(`/api/v1/domains/${second._id}/inbox/messages/${id}`)).status).toBe(404)
    expect((await other.client.get(`/api/v1/domains/${other.name}/inbox/messages/${id}`)).status).toBe(200)
  })

  test.each<[string, scopes: string[], own: boolean, read: number, write: number]>([
    ['that reads', ['inbox:read'], true, 200, 403],
    ['that writes', ['inbox:write'], true, 403, 204],
    ['of the log', ['emails:read'], true, 403, 403],
    ['of another domain', ['inbox:read', 'inbox:write'], false, 404, 404],
  ])('is open to a token %s as its scopes and domains say', async (_, scopes, own, read, write) => {
    const { receive, path, user, name } = await inbox()
    const client = await api.withToken(user, { scopes, domains: [own ? name : 'other.example'] })
    const id = await receive()
    for (const rest of ['', `/${id}`, `/${id}/raw`, `/${id}/preview`])
      expect((await client.get(`${path}${rest}`)).status).toBe(read)
    expect((await client.call('DELETE', `${path}/${id}`)).status).toBe(write)
  })
})

describe('a token that captures', () => {
  const make = async () => {
    const { user, client } = await api.newUser()
    const { status, body } = await client.post('/api/v1/tokens', {
      ...{ name: 'suite', capture: true, scopes: ['emails:send', 'emails:read', 'tokens:write'] },
    })
    expect([status, body.capture]).toEqual([201, true])
    return { user, client, token: api.anonymous.with({ authorization: `Bearer ${body.token}` }) }
  }

  test.each<[string, object, number]>([
    ['a token that sends', { scopes: ['emails:send'] }, 403],
    ['a token that captures', { scopes: ['emails:send'], capture: true }, 201],
    ['a test token', { scopes: ['emails:send'], mode: 'test' }, 201],
  ])('makes %s only if that sends nothing out', async (_, body, status) => {
    const { token } = await make()
    expect((await token.post('/api/v1/tokens', { name: 'next', ...body })).status).toBe(status)
  })

  test.each<[string, object, string]>([
    ['test mode', { mode: 'test' }, '/capture'],
    ['SMTP logins', { scopes: ['smtp:write'] }, '/scopes'],
  ])('cannot have %s', async (_, body, pointer) => {
    const { client } = await api.newUser()
    const answer = await client.post('/api/v1/tokens', { name: 'x', capture: true, ...body })
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, pointer])
  })

  test('changes no mail that goes out', async () => {
    const { user, client, token } = await make()
    const { name } = await giveDomain(api.db, user._id, `live${domains++}.example.com`, {
      status: 'verified',
      verified_by: 'dns',
    })
    const mail = { from: `a@${name}`, to: 'b@example.net', subject: 'x', text: 'x' }
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const live = (await client.post('/api/v1/emails', { ...mail, scheduled_at })).body.id
    const own = (await token.post('/api/v1/emails', { ...mail, scheduled_at })).body.id
    const cancel = (id: string) => token.post(`/api/v1/emails/${id}/cancel`)
    expect(await cancel(live)).toMatchObject({ status: 403, body: { detail_code: 'detail.capture_token_messages' } })
    expect((await cancel(own)).status).toBe(200)
  })

  test('shares no idempotency keys with one that sends', async () => {
    const { user, client, token } = await make()
    const { name } = await giveDomain(api.db, user._id, `keys${domains++}.example.com`, {
      status: 'verified',
      verified_by: 'dns',
    })
    const mail = { from: `a@${name}`, to: 'b@example.net', subject: 'x', text: 'x' }
    const key = { 'idempotency-key': 'one' }
    const captured = (await token.with(key).post('/api/v1/emails', mail)).body.id
    const sent = (await client.with(key).post('/api/v1/emails', mail)).body.id
    expect(sent).not.toBe(captured)
    expect((await client.get(`/api/v1/emails/${sent}`)).body.delivery).toBe('live')
  })
})
