import { describe, expect, test } from 'vitest'
import { MAIL_EVENT_TYPES } from './mail-event.ts'
import { hasType, ownTypesOf, resendBody, theirTypesOf } from './resend-format.ts'

const AT = new Date('2026-11-24T10:00:00Z')
const MADE = new Date('2026-11-24T09:00:00Z')
const EMAIL = {
  ...{ email_id: 'em_1', message_id: '<m@a.example>', from: 'ann@a.example', to: 'bob@b.example', subject: 'Hi' },
  ...{ domain: 'a.example', tags: [{ name: 'kind', value: 'order' }], metadata: { a: 'b' }, stream: 'transactional' },
}
const THEIRS = {
  ...{ email_id: 'em_1', message_id: '<m@a.example>', created_at: MADE.toISOString(), from: 'ann@a.example' },
  ...{ to: ['bob@b.example'], subject: 'Hi', tags: { kind: 'order' } },
}
const attempt = { status: 'x', smtp_code: 550, diagnostic: '550 No such user', attempt: 1 }
const domain = { domain_id: 'dom_1', name: 'a.example', status: 'verified', failing_records: [] }
const shownDomain = {
  ...{ id: 'dom_1', name: 'a.example', status: 'verified', created_at: MADE.toISOString() },
  ...{ region: 'us-east-1', records: [] },
}

describe('an event says in the format of Resend', () => {
  test.each<[string, object, string, object]>([
    ['email.accepted', EMAIL, 'email.sent', THEIRS],
    ['email.accepted', { ...EMAIL, scheduled_at: '2026-12-01T00:00:00Z' }, 'email.scheduled', THEIRS],
    ['email.delivered', { ...EMAIL, ...attempt }, 'email.delivered', THEIRS],
    ['email.deferred', { ...EMAIL, ...attempt }, 'email.delivery_delayed', THEIRS],
    [
      'email.bounced',
      { ...EMAIL, ...attempt, kind: 'mailbox' },
      'email.bounced',
      {
        ...THEIRS,
        bounce: {
          ...{ type: 'Permanent', subType: 'NoEmail', message: '550 No such user' },
          diagnosticCode: ['550 No such user'],
        },
      },
    ],
    [
      'email.bounced',
      { ...EMAIL, status: 'bounced' },
      'email.bounced',
      { ...THEIRS, bounce: { type: 'Permanent', subType: 'General', message: '', diagnosticCode: [] } },
    ],
    ['email.failed', { ...EMAIL, ...attempt }, 'email.failed', { ...THEIRS, failed: { reason: '550 No such user' } }],
    ['email.complained', { ...EMAIL, feedback_type: 'abuse' }, 'email.complained', THEIRS],
    [
      'email.suppressed',
      { ...EMAIL, reason: 'hard_bounce' },
      'email.suppressed',
      {
        ...THEIRS,
        suppressed: {
          ...{ type: 'OnAccountSuppressionList', reason: 'hard_bounce', diagnosticCode: [] },
          message: 'The address is suppressed (hard_bounce).',
        },
      },
    ],
    ['email.opened', { ...EMAIL, user_agent: 'Browser' }, 'email.opened', THEIRS],
    [
      'email.clicked',
      { ...EMAIL, url: 'https://a.example/', user_agent: 'Browser' },
      'email.clicked',
      {
        ...THEIRS,
        click: {
          ...{ ipAddress: '', link: 'https://a.example/', userAgent: 'Browser' },
          timestamp: AT.toISOString(),
        },
      },
    ],
    ['domain.verified', domain, 'domain.updated', shownDomain],
    ['domain.lost', { ...domain, status: 'failed' }, 'domain.updated', { ...shownDomain, status: 'failed' }],
    [
      'suppression.added',
      { suppression_id: 'sup_1', email: 'bob@b.example', reason: 'hard_bounce', email_id: 'em_1' },
      'suppression.added',
      {
        ...{ id: 'sup_1', email: 'bob@b.example', origin: 'bounce', source_id: 'em_1' },
        created_at: MADE.toISOString(),
      },
    ],
    [
      'suppression.removed',
      { suppression_id: 'sup_1', email: 'bob@b.example', reason: 'unsubscribe' },
      'suppression.removed',
      {
        ...{ id: 'sup_1', email: 'bob@b.example', origin: 'manual', source_id: null },
        created_at: MADE.toISOString(),
      },
    ],
    ['webhook.test', { webhook_id: 'wh_1' }, 'webhook.test', { webhook_id: 'wh_1' }],
  ])('%s %#', (type, data, theirType, theirData) => {
    const event = { type, at: AT, data: data as Record<string, unknown> }
    expect(resendBody(event, () => MADE)).toEqual({ type: theirType, created_at: AT.toISOString(), data: theirData })
  })

  test('the time of the event where that of its message is not known', () => {
    const body = resendBody({ type: 'email.delivered', at: AT, data: EMAIL }, () => undefined)
    expect(body).toMatchObject({ data: { created_at: AT.toISOString() } })
  })
})

test('types without a counterpart are not sent in it; in the own format every type is', () => {
  const without = MAIL_EVENT_TYPES.filter(type => !hasType('resend', type))
  expect(without).toEqual(['email.canceled', 'email.unsubscribed'])
  for (const format of ['postwright', undefined] as const)
    expect(MAIL_EVENT_TYPES.every(type => hasType(format, type))).toBe(true)
})

test('chosen types are translated there and back', () => {
  expect(ownTypesOf('email.delivery_delayed')).toEqual(['email.deferred'])
  for (const unknown of ['email.received', 'contact.created', 'domain.created', '__proto__', 'toString'])
    expect(ownTypesOf(unknown)).toBeUndefined()
  expect(theirTypesOf(['email.deferred', 'email.canceled'])).toEqual(['email.delivery_delayed'])
  expect(theirTypesOf(['email.accepted'])).toEqual(['email.sent', 'email.scheduled'])
  for (const type of theirTypesOf([])) expect(theirTypesOf(ownTypesOf(type) ?? [])).toContain(type)
})
