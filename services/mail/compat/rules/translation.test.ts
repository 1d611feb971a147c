import { describe, expect, test } from 'vitest'
import { type ProblemCode, problems } from '../../../platform/problems.ts'
import { DecodedBase64 } from '../../message/base64.ts'
import { refuseSettings, toShownDomain } from './domain.ts'
import { lastEvent, toListed } from './email-answer.ts'
import { toOwnEmail } from './email-request.ts'
import { postalCode, postalStatus, postalToOwnEmail } from './postal.ts'
import { REFUSALS, refusalOf } from './refusal-of-problem.ts'
import { toInstant } from './relative-time.ts'
import { toName, toOwnTemplate } from './template.ts'

const NOW = new Date('2026-11-24T10:00:00.000Z')

describe('a time', () => {
  test.each([
    ['2026-12-24T18:00:00Z', '2026-12-24T18:00:00.000Z'],
    ['2026-12-24T18:00:00+02:00', '2026-12-24T16:00:00.000Z'],
    ['2026-12-24T18:00+0200', '2026-12-24T16:00:00.000Z'],
    ['2026-12-24 18:00:00.123456+00:00', '2026-12-24T18:00:00.123Z'],
    ['2026-12-24 18:00:00.5+00', '2026-12-24T18:00:00.500Z'],
    ['in 1 min', '2026-11-24T10:01:00.000Z'],
    ['in a minute', '2026-11-24T10:01:00.000Z'],
    ['in an hour', '2026-11-24T11:00:00.000Z'],
    ['In 30 Seconds', '2026-11-24T10:00:30.000Z'],
    ['in 2 days', '2026-11-26T10:00:00.000Z'],
    [' in 1 week ', '2026-12-01T10:00:00.000Z'],
  ])('%j is %s', (text, expected) => {
    expect(toInstant(text, NOW)).toBe(expected)
  })

  test.each([
    '',
    'soon',
    'tomorrow at 9am',
    '2026-12-24',
    '2026-12-24T18:00:00',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-12-24T25:00:00Z',
    'in 1 year',
    'in -1 min',
    7,
    null,
  ])('%j is none', value => {
    expect(() => toInstant(value, NOW)).toThrow('scheduled_at must be a time')
  })
})

describe('a message', () => {
  test.each<[string, object, object]>([
    ['without values', { from: 'a@b', to: null, cc: [], html: '', text: undefined, other: 1 }, { from: 'a@b' }],
    ['with nothing but an empty text', { text: '' }, { text: '' }],
    ['with html and an empty text', { html: '<p>', text: '' }, { html: '<p>' }],
    ['with an empty sender', { from: '', subject: '' }, { from: '', subject: '' }],
    ['with an empty time', { scheduled_at: '' }, {}],
    ['with headers as a list', { headers: ['a'] }, { headers: ['a'] }],
    [
      'with headers of the message',
      { headers: { 'message-id': 'x', 'X-A': 1, 'X-B': null } },
      { headers: { 'X-A': '1' } },
    ],
    [
      'with a template',
      { template: { id: 't', variables: { a: 1 }, other: 2 } },
      { template: { id: 't', variables: { a: 1 } } },
    ],
    ['with something else for attachments', { attachments: 'x' }, { attachments: 'x' }],
    ['with an attachment that is none', { attachments: ['x'] }, { attachments: ['x'] }],
    [
      'with an attachment in the page',
      { attachments: [{ filename: 'a', content: 'eA==', content_id: '<a@b>', contentType: 'text/plain' }] },
      {
        attachments: [
          { filename: 'a', content: 'eA==', content_id: 'a@b', content_type: 'text/plain', disposition: 'inline' },
        ],
      },
    ],
    [
      'with an attachment by its address',
      { attachments: [{ path: 'https://a.example/x/b%20c.pdf?d' }] },
      { attachments: [{ filename: 'b c.pdf', path: 'https://a.example/x/b%20c.pdf?d' }] },
    ],
    [
      'with bytes in three ways',
      {
        attachments: [{ content: [0, 255] }, { content: { type: 'Buffer', data: [1] } }, { content: Buffer.from('a') }],
      },
      {
        attachments: [Buffer.from([0, 255]), Buffer.from([1]), Buffer.from('a')].map(bytes => ({
          ...{ filename: 'attachment', content: new DecodedBase64(bytes) },
        })),
      },
    ],
  ])('%s', (_, given, expected) => {
    expect(toOwnEmail(given, NOW)).toEqual(expected)
  })

  test.each([null, 'text', 7, [{}]])('that is no object stays what it is: %j', value => {
    expect(toOwnEmail(value, NOW)).toBe(value)
    expect(postalToOwnEmail(value)).toBe(value)
  })

  test('of Postal', () => {
    expect(
      postalToOwnEmail({
        ...{ from: 'a@b', to: ['c@d'], subject: 's', plain_body: 't', html_body: '<p>', tag: 'a b', headers: {} },
        attachments: [{ name: 'a.txt', content_type: 'text/plain', data: 'eA==' }],
      }),
    ).toEqual({
      ...{ from: 'a@b', to: ['c@d'], subject: 's', text: 't', html: '<p>', metadata: { tag: 'a b' } },
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', content: 'eA==' }],
    })
    expect(postalToOwnEmail({ tag: 'order' })).toEqual({ tags: [{ name: 'tag', value: 'order' }] })
    for (const field of [{ sender: 'a@b' }, { bounce: true }])
      expect(() => postalToOwnEmail(field)).toThrow('not served')
  })

  test('is shown with each recipient in its field', () => {
    const recipient = (email: string, type: 'to' | 'cc' | 'bcc' | 'envelope') => ({ email, type })
    const email = {
      ...{ id: 'em_1', message_id: '<m>', from: 'a@b', subject: 's', status: 'deferred' as const, tags: [] },
      recipients: [recipient('t@x', 'to'), recipient('c@x', 'cc'), recipient('e@x', 'envelope')],
      ...{ created_at: NOW.toISOString(), scheduled_at: null },
    }
    expect(toListed(email)).toMatchObject({
      to: ['t@x', 'e@x'],
      cc: ['c@x'],
      bcc: null,
      last_event: 'delivery_delayed',
    })
    expect(lastEvent('suppressed')).toBe('suppressed')
  })
})

describe('a domain', () => {
  const record = (purpose: string, type: string, value: string, need = 'required', status = 'verified') => ({
    ...{ purpose, type, value, need, status, host: purpose, ttl: 600 },
  })
  const domain = {
    id: 'dom_1',
    name: 'a.example',
    created_at: NOW.toISOString(),
    check: {},
    tracking: { opens: true, clicks: false },
  }

  test('has the records of its owner', () => {
    const records = [
      record('dkim', 'TXT', 'v=DKIM1'),
      record('spf', 'TXT', 'v=spf1 -all', 'required', 'conflict'),
      record('return_path_mx', 'MX', '10 bounces.example.net', 'recommended'),
      record('a', 'A', '192.0.2.1', 'recommended'),
      record('tls_rpt', 'TXT', 'v=TLSRPTv1', 'optional'),
    ]
    const shown = toShownDomain({ ...domain, status: 'pending', records })
    expect(shown.records).toEqual([
      { record: 'DKIM', name: 'dkim', type: 'TXT', ttl: '600', value: 'v=DKIM1', status: 'verified' },
      { record: 'SPF', name: 'spf', type: 'TXT', ttl: '600', value: 'v=spf1 -all', status: 'failed' },
      {
        ...{ record: 'SPF', name: 'return_path_mx', type: 'MX', ttl: '600', value: 'bounces.example.net' },
        ...{ priority: 10, status: 'verified' },
      },
    ])
    expect([shown.status, shown.open_tracking, shown.click_tracking]).toEqual(['pending', true, false])
  })

  test.each([
    ['pending', null, 'not_started'],
    ['pending', {}, 'pending'],
    ['verified', null, 'verified'],
    ['failed', {}, 'failed'],
    ['suspended', {}, 'failed'],
  ])('%s with the check %j is %s', (status, check, expected) => {
    expect(toShownDomain({ ...domain, check, status, records: [] }).status).toBe(expected)
  })

  test.each([
    { tls: 'enforced' },
    { tracking_subdomain: 'links' },
    { custom_return_path: 'send' },
    { capabilities: { sending: 'disabled' } },
    { capabilities: { receiving: 'enabled' } },
  ])('with %j is refused', settings => {
    expect(() => refuseSettings(settings)).toThrow('not served')
  })

  test('with settings that change nothing is taken', () => {
    const settings = {
      open_tracking: false,
      tls: 'opportunistic',
      region: 'eu-west-1',
      capabilities: { sending: 'enabled' },
    }
    expect(() => refuseSettings({ ...settings, click_tracking: null })).not.toThrow()
  })
})

describe('a template', () => {
  test('has outputs and variables of the own language', () => {
    expect(
      toOwnTemplate({
        ...{ name: 'Ä Welcome!', subject: null, html: '{{{ NAME }}} {{{A}}} {{ b }}', text: '' },
        variables: [{ key: 'NAME', type: 'string', fallback_value: null }, { key: 'A', fallback_value: 0 }, 'x'],
      }),
    ).toEqual({
      ...{ name: 'a-welcome', html: '{{ NAME }} {{ A }} {{ b }}' },
      variables: [{ key: 'NAME', type: 'string', required: true }, { key: 'A', default: 0 }, 'x'],
    })
  })

  test.each<[unknown, unknown]>([
    ['Order  #7', 'order-7'],
    ['中文', '中文'],
    ['x'.repeat(80), 'x'.repeat(64)],
    [7, 7],
  ])('%j has the name %j', (name, expected) => {
    expect(toName(name)).toBe(expected)
  })
})

describe('a problem of the own API', () => {
  const facts = (code: ProblemCode) => ({ code, http: problems[code].http, sentence: { code: '' }, errors: [] })
  test.each<[ProblemCode, number, string]>([
    ['invalid_json', 400, 'validation_error'],
    ['invalid_token', 403, 'invalid_api_key'],
    ['network_not_allowed', 403, 'invalid_api_key'],
    ['account_suspended', 403, 'suspended_api_key'],
    ['insufficient_scope', 401, 'restricted_api_key'],
    ['domain_not_verified', 403, 'validation_error'],
    ['not_found', 404, 'not_found'],
    ['idempotency_key_reused', 409, 'invalid_idempotent_request'],
    ['idempotency_in_progress', 409, 'concurrent_idempotent_requests'],
    ['rate_limited', 429, 'rate_limit_exceeded'],
    ['quota_exceeded', 429, 'rate_limit_exceeded'],
    ['daily_quota_exceeded', 429, 'daily_quota_exceeded'],
    ['message_too_large', 422, 'validation_error'],
    ['conflict', 422, 'validation_error'],
    ['too_many_domains', 422, 'validation_error'],
    ['all_recipients_suppressed', 422, 'validation_error'],
    ['queue_unavailable', 503, 'application_error'],
    ['unavailable', 503, 'application_error'],
    ['internal', 500, 'application_error'],
  ])('%s is %i %s', (code, status, name) => {
    expect(refusalOf(facts(code))).toEqual({ status, name })
  })

  test('is in the table by a code that exists', () => {
    expect(Object.keys(REFUSALS).filter(code => !(code in problems))).toEqual([])
  })

  test('of whatever kind has a status of an error, and in the format of Postal a code', () => {
    for (const code of Object.keys(problems) as ProblemCode[]) {
      const refusal = refusalOf(facts(code))
      expect(refusal.status).toBeGreaterThanOrEqual(400)
      expect(postalCode(refusal)).toMatch(/^[A-Z]/)
      expect([200, 429, 500, 503]).toContain(postalStatus(refusal))
    }
    expect(postalCode({ status: 403, name: 'validation_error' })).toBe('UnauthenticatedFromAddress')
    expect(postalStatus({ status: 501, name: 'not_implemented' })).toBe(200)
  })
})
