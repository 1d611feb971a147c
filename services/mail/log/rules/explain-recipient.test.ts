import { describe, expect, test } from 'vitest'
import { inEnglish, sentence } from '../../../platform/sentences/sentence.ts'
import type { FailureKind } from '../../delivery/rules/failure-kinds.ts'
import type { EventDoc, RecipientState } from '../../store/documents.ts'
import { type Explanation, explainRecipient, type RecipientFacts } from './explain-recipient.ts'
import { KIND_EXPLANATIONS } from './kind-explanations.ts'

const at = new Date('2026-11-21T10:00:00.123Z')
const message = { created_at: at, expires_at: new Date('2026-11-24T10:00:00Z') }
const event = (text: string, change: Partial<EventDoc> = {}): EventDoc => ({
  ...{ _id: 'em_1.0#1', m: 'em_1', user_id: 'usr_1', rcpt: 'a@example.net', attempt: 1, at, ms: 1, exp: at },
  ...{ type: 'bounced', mx: 'mx.example.net', text },
  ...change,
})
const recipient = (status: RecipientState['status']): RecipientState => ({ email: 'a@example.net', type: 'to', status })
const explain = (status: RecipientState['status'], events: EventDoc[], more: Partial<RecipientFacts> = {}) =>
  explainRecipient({ message, recipient: recipient(status), events, ...more })
const codes = ({ what, why, responsible, next, kind }: Explanation) =>
  [what.code, why?.code, responsible, next.code, kind].map(code => code ?? '').join(' ')

describe('a recipient', () => {
  test.each<[string, Explanation, string]>([
    ['that waits', explain('queued', []), 'explain.queued  none explain.do_nothing '],
    [
      'that is scheduled',
      explain('scheduled', [], { message: { ...message, scheduled_at: at } }),
      'explain.scheduled  none explain.do_nothing ',
    ],
    [
      'that is held',
      explain('deferred', [event('451 x', { type: 'deferred' })], { hold: { by: 'ann', reason: 'wrong price' } }),
      'explain.held  account explain.do_release ',
    ],
    [
      'that got it',
      explain('delivered', [event('250 ok', { type: 'delivered' })]),
      'explain.delivered explain.why_accepted none explain.do_nothing ',
    ],
    [
      'that got it, as a log without the event knows',
      explain('delivered', []),
      'explain.delivered_somewhere explain.why_accepted none explain.do_nothing ',
    ],
    [
      'that is suppressed',
      explain('suppressed', [event('x', { type: 'suppressed', explanation: sentence('suppression.manual') })]),
      'explain.suppressed suppression.manual recipient explain.do_remove_suppression ',
    ],
    ['that was canceled', explain('canceled', []), 'explain.canceled  account explain.do_send_again '],
    [
      'that complained after its delivery',
      explain('complained', [
        event('250 ok', { type: 'delivered' }),
        event('abuse', { type: 'complained', attempt: 0 }),
      ]),
      'explain.complained  recipient explain.do_respect ',
    ],
    [
      'that bounced after its delivery',
      explain('bounced', [
        event('250 ok', { type: 'delivered' }),
        event('User unknown', { attempt: 0, enhanced: '5.1.1', code: 550 }),
      ]),
      'explain.bounced_later explain.why_address recipient explain.do_check_address address',
    ],
    [
      'that bounced by a code of a report without a reply code',
      explain('bounced', [event('mailbox is full', { attempt: 0, enhanced: '5.2.2' })]),
      'explain.bounced_later explain.why_mailbox_full recipient explain.do_other_channel mailbox_full',
    ],
    [
      'whose outcome is unknown, and that waits',
      explain('deferred', [event('x', { type: 'deferred', ambiguous: true })]),
      'explain.deferred explain.why_ambiguous network explain.do_wait ',
    ],
    [
      'whose outcome stays unknown',
      explain('failed', [event('x', { type: 'failed', ambiguous: true })]),
      'explain.failed explain.why_ambiguous network explain.do_verify_receipt ',
    ],
    [
      'whose time was over',
      explain('failed', [event('x', { type: 'expired', explanation: sentence('delivery.expired_unreachable') })]),
      'explain.failed explain.why_expired unknown explain.do_contact_receiver other',
    ],
    [
      'whose mail server does not say why',
      explain('bounced', [event('554 no')]),
      'explain.bounced explain.why_other unknown explain.do_contact_receiver other',
    ],
    [
      'that bounced, as a log without events knows',
      explain('bounced', []),
      'explain.bounced_somewhere explain.why_other unknown explain.do_contact_receiver other',
    ],
  ])('%s', (_, explanation, expected) => expect(codes(explanation)).toBe(expected))

  test('that was refused for failed authentication is told the record to change', () => {
    const refused = explain('bounced', [event('550 5.7.27 SPF did not pass', { kind: 'authentication' })])
    expect(codes(refused)).toBe(
      'explain.bounced explain.why_authentication sender_dns authentication.fix_spf authentication',
    )
  })

  test('the last deciding event counts, not the last one', () => {
    const events = [event('451 4.2.2 full', { type: 'deferred' }), event('550 5.1.1 gone', { attempt: 2 })]
    const later = event('x', { type: 'unsubscribed', attempt: 0 })
    expect(explain('bounced', [...events, later]).decisive?.attempt).toBe(2)
  })

  test('texts name attempt, time and host', () => {
    const due = new Date('2026-11-21T11:00:00Z')
    const waiting = explain('deferred', [event('451 4.2.2 full', { type: 'deferred', attempt: 3 })], {
      waiting: { att: 3, due },
    })
    expect(inEnglish(waiting.what)).toBe(
      'Attempt 3 failed. The next one is due at 2026-11-21 11:00:00 UTC; attempts end at 2026-11-24 10:00:00 UTC.',
    )
    expect(inEnglish(explain('bounced', [event('550 5.1.1 x')]).what)).toBe(
      'mx.example.net rejected the message permanently at 2026-11-21 10:00:00 UTC.',
    )
  })
})

describe('each class of failures', () => {
  const kinds = Object.entries(KIND_EXPLANATIONS) as [FailureKind, (typeof KIND_EXPLANATIONS)[FailureKind]][]

  test.each(kinds)('%s has its reason and its next step after a refusal for good', (kind, expected) => {
    const { why, next, responsible } = explain('bounced', [event('refused', { kind })])
    expect({ why, next, responsible }).toEqual({
      why: expected.why,
      // The words of the receiver choose the record.
      next: expected.next,
      responsible: expected.responsible,
    })
  })

  test.each(kinds)('%s while it is tried again', (kind, { next, passes }) => {
    const waiting = explain('deferred', [event('later', { kind, type: 'deferred' })])
    expect(waiting.next).toEqual(passes ? sentence('explain.do_wait') : next)
  })
})

test.each<[string, string, FailureKind]>([
  ['of a provider', '550 5.2.1 The user you are trying to contact is receiving mail at a rate that', 'throttled'],
  ['of a missing mailbox', '550 5.1.1 User unknown', 'address'],
  ['of a full mailbox', '452 4.2.2 Mailbox full', 'mailbox_full'],
])('events of releases without classes are classified by their reply: %s', (_, text, kind) => {
  expect(explain('bounced', [event(text)]).kind).toBe(kind)
})
