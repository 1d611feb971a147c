/** What is refused, with the names and statuses that the SDKs of Resend know. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '../../../services/mail/http/shared/access.ts'
import { type CompatApi, startCompatApi } from '../../support/http/compat-api.ts'

let api: CompatApi
beforeAll(async () => {
  api = await startCompatApi()
})
afterAll(() => api.stop())

const MESSAGE = { from: 'ann@sender.example', to: 'bob@example.net', subject: 'Hello', text: 'Hello' }
const UNKNOWN = 'em_00000000000000000000000000'

type Refusal = [status: number, name: string, message: string | RegExp]

async function expectRefusal(
  answer: Promise<{ status: number; headers: Headers; body: Record<string, unknown> }>,
  [status, name, message]: Refusal,
) {
  const { status: actual, headers, body } = await answer
  expect(body).toEqual({ statusCode: status, name, message: expect.stringMatching(message) })
  expect(actual).toBe(status)
  expect(headers.get('content-type')).toBe('application/json')
}

describe('a message is refused', () => {
  test.each<[string, unknown, Refusal]>([
    ['without a sender', { ...MESSAGE, from: undefined }, [422, 'missing_required_field', 'from']],
    ['with the sender null', { ...MESSAGE, from: null }, [422, 'missing_required_field', 'from']],
    ['without recipients', { ...MESSAGE, to: undefined }, [422, 'missing_required_field', 'to']],
    ['with an empty list of recipients', { ...MESSAGE, to: [] }, [422, 'missing_required_field', 'to']],
    ['without a subject', { ...MESSAGE, subject: null }, [422, 'missing_required_field', 'subject']],
    ['without html and text', { ...MESSAGE, text: undefined }, [422, 'missing_required_field', 'text']],
    ['with a sender that is no address', { ...MESSAGE, from: 'Ann' }, [422, 'invalid_from_address', 'from']],
    ['with a recipient that is none', { ...MESSAGE, to: ['x'] }, [422, 'validation_error', '/to/0']],
    ['from a domain of another account', { ...MESSAGE, from: 'a@other.example' }, [403, 'validation_error', /domain/]],
    ['with a bad tag', { ...MESSAGE, tags: [{ name: 'ä', value: 'x' }] }, [422, 'validation_error', 'tags']],
    [
      'with a header that is written here',
      { ...MESSAGE, headers: { 'DKIM-Signature': 'x' } },
      [422, 'validation_error', 'DKIM'],
    ],
    [
      'with a line break in the subject',
      { ...MESSAGE, subject: 'a\r\nBcc: x@y' },
      [422, 'validation_error', 'subject'],
    ],
    ['at no time', { ...MESSAGE, scheduled_at: 'soon' }, [422, 'validation_error', 'scheduled_at']],
    ['too late', { ...MESSAGE, scheduled_at: 'in 60 days' }, [422, 'validation_error', 'scheduled_at']],
    ['to a topic', { ...MESSAGE, topic_id: 't' }, [501, 'not_implemented', 'topic_id']],
    [
      'with a template that is unknown',
      { ...MESSAGE, text: null, template: { id: 'x' } },
      [422, 'validation_error', /template/],
    ],
    [
      'with more recipients than allowed',
      { ...MESSAGE, to: Array(51).fill('a@b.example') },
      [422, 'validation_error', '50'],
    ],
    ['that is a list', [MESSAGE], [422, 'validation_error', /./]],
    ['that is no JSON', '{"from":', [400, 'validation_error', /JSON/]],
    ['that is a text', '"text"', [400, 'validation_error', /JSON/]],
  ])('%s', async (_, body, refusal) => {
    await expectRefusal(api.call('POST', '/emails', body), refusal)
  })

  test('of another media type', async () => {
    const type = { 'content-type': 'text/plain' }
    await expectRefusal(api.call('POST', '/emails', 'x', type), [400, 'validation_error', /json/])
  })
})

describe('an attachment is refused', () => {
  test.each<[string, object, string]>([
    ['that is empty', { filename: 'a.txt' }, 'neither content nor path'],
    ['with null for both', { filename: 'a.txt', content: null, path: null }, 'neither'],
    ['with content and path', { filename: 'a.txt', content: 'eA==', path: 'https://a.example/' }, 'both'],
    ['that is no base64', { filename: 'a.txt', content: 'ä' }, 'attachments'],
    ['of numbers that are no bytes', { filename: 'a.txt', content: [1, 2, 256] }, 'integers'],
    ['of a Buffer with other things', { filename: 'a.txt', content: { type: 'Buffer', data: ['x'] } }, 'integers'],
    ['of another object', { filename: 'a.txt', content: { type: 'File' } }, 'attachments'],
    ['with a path that is none', { filename: 'a.txt', path: '/etc/passwd' }, 'http or https'],
    ['of a file on disk', { filename: 'a.txt', path: 'file:///etc/passwd' }, 'http or https'],
    ['with a name of two lines', { filename: 'a\r\nb', content: 'eA==' }, 'filename'],
    ['with a type that has parts', { filename: 'a', content: 'eA==', contentType: 'multipart/mixed' }, 'content_type'],
  ])('%s', async (_, attachment, message) => {
    const body = { ...MESSAGE, attachments: [attachment] }
    await expectRefusal(api.call('POST', '/emails', body), [422, 'invalid_attachment', message])
  })
})

describe('a caller is refused', () => {
  test.each<[string, Record<string, string>, Refusal]>([
    ['without a key', { authorization: '' }, [401, 'missing_api_key', /API key/]],
    ['with a session of the panel', { authorization: '', cookie: 'pw_session=x' }, [401, 'missing_api_key', /API key/]],
    ['with a key of the other service', { authorization: 'Bearer re_123' }, [403, 'invalid_api_key', /token/]],
    ['with another scheme', { authorization: 'Basic eA==' }, [403, 'invalid_api_key', /Bearer/]],
  ])('%s', async (_, headers, refusal) => {
    await expectRefusal(api.call('POST', '/emails', MESSAGE, headers), refusal)
    await expectRefusal(api.call('GET', '/emails', undefined, headers), refusal)
  })

  test('with a key that may only send', async () => {
    const authorization = `Bearer ${await api.keyWith({ scopes: ['emails:send'] })}`
    const { status } = await api.call('POST', '/emails', MESSAGE, { authorization })
    expect(status).toBe(200)
    await expectRefusal(api.call('GET', '/domains', undefined, { authorization }), [401, 'restricted_api_key', /scope/])
  })
})

test('a key that may only write suppressions changes them, and the address takes the place of the id', async () => {
  const authorization = `Bearer ${await api.keyWith({ scopes: ['suppressions:write'] })}`
  const call = async (method: 'POST' | 'DELETE', path: string, body?: object) => {
    const { status, body: answer } = await api.call(method, path, body, { authorization })
    return [status, answer]
  }
  const emails = ['w1@example.net', 'w2@example.net', 'w3@example.net']
  const [first, second, third] = emails.map(id => ({ object: 'suppression', id }))
  expect(await call('POST', '/suppressions/batch/add', { emails })).toEqual([200, { data: [first, second, third] }])
  expect(await call('DELETE', '/suppressions/w1@example.net')).toEqual([200, { ...first, deleted: true }])
  expect(await call('DELETE', '/suppressions/w1@example.net')).toMatchObject([404, { name: 'not_found' }])
  expect(await call('POST', '/suppressions/batch/remove', { emails: emails.slice(0, 2) })).toEqual([
    200,
    {
      data: [
        { ...first, deleted: false },
        { ...second, deleted: true },
      ],
    },
  ])
  expect((await api.call('GET', '/suppressions/w3@example.net')).status).toBe(200)
})

describe('everything of another account is unknown', () => {
  test('by its id', async () => {
    const { body: email } = await api.call('POST', '/emails', { ...MESSAGE, scheduled_at: 'in 1 hour' })
    const { body: domains } = await api.call('GET', '/domains')
    const { body: key } = await api.call('POST', '/api-keys', { name: 'a' })
    const { body: webhook } = await api.call('POST', '/webhooks', { endpoint: 'http://127.0.0.1:9/' })
    const { body: entry } = await api.call('POST', '/suppressions', { email: 'x@example.net' })
    const { body: template } = await api.call('POST', '/templates', { name: 'mine', html: '<p>x</p>' })
    const stranger = await api.newAccount('stranger')
    const authorization = `Bearer ${await api.keyWith({ scopes: [...SCOPES] }, stranger)}`
    const [domain] = domains.data as { id: string }[]
    for (const [method, path, body] of [
      ['GET', `/emails/${email.id}`],
      ['PATCH', `/emails/${email.id}`, { scheduled_at: 'in 2 hours' }],
      ['POST', `/emails/${email.id}/cancel`],
      ['GET', `/domains/${domain?.id}`],
      ['PATCH', `/domains/${domain?.id}`, {}],
      ['POST', `/domains/${domain?.id}/verify`],
      ['DELETE', `/domains/${domain?.id}`],
      ['POST', '/api-keys', { name: 'b', permission: 'sending_access', domain_id: domain?.id }],
      ['DELETE', `/api-keys/${key.id}`],
      ['GET', `/webhooks/${webhook.id}`],
      ['PATCH', `/webhooks/${webhook.id}`, { status: 'disabled' }],
      ['POST', `/webhooks/${webhook.id}/signing-secret/rotate`],
      ['GET', `/webhooks/${webhook.id}/events`],
      ['GET', `/webhooks/${webhook.id}/events/msg_1`],
      ['DELETE', `/webhooks/${webhook.id}`],
      ['GET', `/suppressions/${entry.id}`],
      ['GET', '/suppressions/x@example.net'],
      ['DELETE', `/suppressions/${entry.id}`],
      ['GET', `/templates/${template.id}`],
      ['GET', '/templates/mine'],
      ['PATCH', '/templates/mine', { subject: 'x' }],
      ['POST', '/templates/mine/publish'],
      ['POST', '/templates/mine/duplicate'],
      ['DELETE', '/templates/mine'],
    ] as const)
      await expectRefusal(api.call(method, path, body, { authorization }), [404, 'not_found', /./])
    for (const path of ['/emails', '/webhooks', '/suppressions', '/templates'])
      expect((await api.call('GET', path, undefined, { authorization })).body.data).toEqual([])
    expect((await api.call('GET', `/emails/${email.id}`)).body.last_event).toBe('scheduled')
  })
})

describe('a request is refused', () => {
  test.each<[string, string, unknown, Refusal]>([
    ['GET', `/emails/${UNKNOWN}`, undefined, [404, 'not_found', /message/]],
    ['GET', '/emails/4ef9a417-02e9-4d39-ad75-9611e0fcc33c', undefined, [422, 'invalid_parameter', /id/]],
    ['GET', '/emails?limit=0', undefined, [422, 'invalid_parameter', /limit/]],
    ['GET', '/emails?limit=101', undefined, [422, 'invalid_parameter', /limit/]],
    ['GET', '/emails?after=x', undefined, [422, 'invalid_parameter', /after/]],
    ['GET', `/emails?before=${UNKNOWN}`, undefined, [422, 'invalid_parameter', /before/]],
    ['GET', `/domains?before=x&limit=500`, undefined, [422, 'invalid_parameter', /limit/]],
    ['GET', `/emails?after=${UNKNOWN}&before=${UNKNOWN}`, undefined, [422, 'validation_error', /together/]],
    ['PATCH', `/emails/${UNKNOWN}`, { scheduled_at: 'in 1 hour' }, [404, 'not_found', /message/]],
    ['PATCH', `/emails/${UNKNOWN}`, {}, [422, 'missing_required_field', /scheduled_at/]],
    ['POST', '/emails/batch', [], [422, 'validation_error', /./]],
    ['POST', '/emails/batch', {}, [422, 'validation_error', /./]],
    ['POST', '/emails/batch', Array(101).fill(MESSAGE), [422, 'validation_error', /100/]],
    ['POST', '/emails/batch', [MESSAGE, { ...MESSAGE, from: 'x' }], [422, 'invalid_from_address', /from/]],
    [
      'POST',
      '/emails/batch',
      [{ ...MESSAGE, attachments: [{ path: 'https://a.example/a' }] }],
      [422, 'invalid_attachment', /batch/],
    ],
    ['POST', '/domains', { name: 'no domain' }, [422, 'validation_error', /name/]],
    ['POST', '/domains', {}, [422, 'missing_required_field', /name/]],
    ['POST', '/api-keys', {}, [422, 'missing_required_field', /name/]],
    ['POST', '/api-keys', { name: 'a', permission: 'all' }, [422, 'validation_error', /permission/]],
    ['POST', '/suppressions', { email: 'x' }, [422, 'validation_error', /email/]],
    ['POST', '/suppressions/batch/remove', {}, [422, 'validation_error', /emails or ids/]],
    ['GET', '/suppressions?origin=other', undefined, [422, 'validation_error', /reason/]],
    ['POST', '/webhooks', { endpoint: 'no address', events: ['email.sent'] }, [422, 'validation_error', /url/]],
    ['POST', '/templates', { html: '<p>x</p>' }, [422, 'missing_required_field', /name/]],
    ['GET', '/contacts', undefined, [501, 'not_implemented', /contacts/]],
    ['POST', '/broadcasts/1/send', {}, [501, 'not_implemented', /broadcasts/]],
    ['GET', `/emails/${UNKNOWN}/attachments`, undefined, [501, 'not_implemented', /attachments/]],
    ['GET', '/emails/receiving', undefined, [422, 'invalid_parameter', /id/]],
    ['GET', '/nothing', undefined, [404, 'not_found', /nothing/]],
    ['GET', '/api/v1/emails', undefined, [404, 'not_found', /api/]],
    ['GET', '/emails/batch', undefined, [405, 'method_not_allowed', /GET/]],
    ['DELETE', '/emails', undefined, [405, 'method_not_allowed', /DELETE/]],
  ])('%s %s', async (method, path, body, refusal) => {
    await expectRefusal(api.call(method, path, body), refusal)
  })

  test.each([
    ['', 400],
    ['k'.repeat(257), 400],
    ['k'.repeat(256), 200],
  ])('with a key for repeats of %# characters', async (key, status) => {
    const answer = await api.call('POST', '/emails', MESSAGE, { 'idempotency-key': key })
    expect(answer.status).toBe(status)
    if (status !== 200) expect(answer.body).toMatchObject({ statusCode: 400, name: 'invalid_idempotency_key' })
  })

  test('in a batch that is permissive for each of its messages alone', async () => {
    const batch = [
      { ...MESSAGE, scheduled_at: 'soon' },
      MESSAGE,
      { ...MESSAGE, to: 'x' },
      { ...MESSAGE, topic_id: 't' },
    ]
    const { status, body } = await api.call('POST', '/emails/batch', batch, { 'x-batch-validation': 'permissive' })
    expect(status).toBe(200)
    expect(body.data).toHaveLength(1)
    expect((body.errors as { index: number }[]).map(({ index }) => index)).toEqual([0, 2, 3])
    const none = await api.call('POST', '/emails/batch', batch.slice(3), { 'x-batch-validation': 'permissive' })
    expect(none.body).toMatchObject({ data: [], errors: [{ index: 0 }] })
  })

  test('with a mode of batches that is unknown', async () => {
    const mode = { 'x-batch-validation': 'loose' }
    await expectRefusal(api.call('POST', '/emails/batch', [MESSAGE], mode), [422, 'validation_error', /strict/])
  })
})

test('input is taken as PHP and Laravel send it: null, empty lists, headers of the message, slashes twice', async () => {
  const answer = await api.call('POST', '//emails/', {
    ...{
      ...MESSAGE,
      to: ['bob@example.net'],
      cc: [],
      bcc: null,
      reply_to: [],
      html: null,
      tags: [],
      attachments: null,
    },
    ...{ scheduled_at: null, template: null, topic_id: null, unknown: 1 },
    headers: { 'X-Order': 7, 'Message-ID': '<a@b>', Date: 'now', 'MIME-Version': '1.0', Sender: 'x@y' },
  })
  expect(answer.status).toBe(200)
  const raw = await api.rawOf(String(answer.body.id))
  expect(raw).toContain('X-Order: 7')
  expect(raw).not.toContain('<a@b>')
  const none = await api.call('POST', '/emails', { ...MESSAGE, headers: [], html: '' })
  expect(none.status).toBe(200)
})

test('requests are answered as the SDK for Ruby sends and reads them: it needs JSON, also of a removal', async () => {
  const agent = { 'user-agent': 'resend-ruby:1.1.0', accept: 'application/json' }
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  // What its mailer for Rails makes of a message: header fields of the message itself, bytes as integers.
  const headers = {
    ...{ Date: 'Tue, 24 Nov 2026 12:00:00 +0000', 'Message-ID': '<a@b.mail>', 'Content-Transfer-Encoding': '7bit' },
    ...{ 'X-Order': 7, 'In-Reply-To': '<c@d>' },
  }
  const attachments = [{ filename: 'a.txt', content: [104, 105] }]
  const mail = { ...MESSAGE, to: ['bob@example.net'], from: 'Ann <ann@sender.example>', headers, attachments }
  const sent = await api.call('POST', '/emails', { ...mail, scheduled_at: inHours(24) }, agent)
  expect([sent.status, sent.body.message]).toEqual([200, undefined])
  const id = String(sent.body.id)
  const raw = await api.rawOf(id)
  expect(raw).toContain('X-Order: 7')
  expect(raw).toContain(Buffer.from('hi').toString('base64'))
  const moved = { email_id: id, scheduled_at: inHours(48) }
  const { body: key } = await api.call('POST', '/api-keys', { name: 'ruby' }, agent)
  for (const [method, path, body] of [
    ['GET', `/emails/${id}`],
    ['PATCH', `/emails/${id}`, moved],
    ['POST', `/emails/${id}/cancel`],
    ['DELETE', `/api-keys/${key.id}`],
  ] as const) {
    const answer = await api.call(method, path, body, agent)
    expect([path, answer.status, answer.body.message]).toEqual([path, 200, undefined])
    expect(answer.body).toBeTypeOf('object')
  }
})

test('large bodies are read as they arrive, with bytes as base64 and as integers', async () => {
  const bytes = Buffer.alloc(400_000, 'abc\xff\x00', 'latin1')
  for (const content of [bytes.toString('base64'), [...bytes], bytes.toJSON()]) {
    const { status, body } = await api.call('POST', '/emails', {
      ...MESSAGE,
      attachments: [{ filename: 'a.bin', content }],
    })
    expect([status, body.message]).toEqual([200, undefined])
    const raw = await api.rawOf(String(body.id))
    expect(raw.replaceAll('\r\n', '')).toContain(bytes.toString('base64'))
  }
  const list = { ...MESSAGE, attachments: [{ filename: 'a', content: [...bytes, 256] }] }
  await expectRefusal(api.call('POST', '/emails', list), [422, 'validation_error', /values/])
})

describe('the rate', () => {
  test('is in every answer, and refused with the time to wait', async () => {
    const limited = await startCompatApi({ SEND_REQUESTS_PER_SECOND: '1', API_REQUESTS_PER_MINUTE: '3' })
    try {
      const first = await limited.call('POST', '/emails', MESSAGE)
      expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([200, '2'])
      await limited.call('POST', '/emails', MESSAGE)
      for (const path of ['/emails', '/domains', '/webhooks']) {
        const { status, headers } = await limited.call('GET', path)
        expect([status, headers.get('ratelimit-limit')]).toEqual([200, '3'])
      }
      const answer = await limited.call('GET', '/emails')
      expect(answer.body).toMatchObject({ statusCode: 429, name: 'rate_limit_exceeded' })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(answer.headers.get('ratelimit-remaining')).toBe('0')
    } finally {
      await limited.stop()
    }
  })
})
