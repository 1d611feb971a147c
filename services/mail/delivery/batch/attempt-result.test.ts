import { describe, expect, test } from 'vitest'
import { verbatim } from '../../../platform/sentences/compose.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { EventDoc } from '../../store/documents.ts'
import type { OutgoingMessage } from '../../store/outgoing.ts'
import { explained } from '../../store/rules/explanation.ts'
import { ownReply } from '../rules/smtp-reply.ts'
import { WireError } from '../smtp/smtp-wire.ts'
import type { RecipientOutcome, Sent } from '../smtp/transport.ts'
import { expiredResult, localResult, recordedResult, resultOf, unrecordedResult } from './attempt-result.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const HOUR = 3_600_000
const context = { now: NOW, random: () => 0.5, logDays: 30 }
const sent: Sent = {
  outcomes: [],
  mx: 'mx.example.net',
  ip: '192.0.2.1',
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
  conversation: 'C: MAIL FROM:<a@example.com>',
  dsn: true,
  ms: 42,
}

function delivery(change: Partial<ClaimedDelivery> = {}): ClaimedDelivery {
  return {
    id: 'em_1.1',
    messageId: 'em_1',
    userId: 'usr_1',
    recipient: 'b@example.net',
    site: 'example.net',
    slot: 3,
    lane: 'transactional',
    due: NOW,
    claimToken: 'token',
    epoch: 4,
    attempts: 0,
    ambiguousAttempts: 0,
    isMarked: false,
    expiresAt: new Date(NOW.getTime() + 72 * HOUR),
    createdAt: NOW,
    ...change,
  }
}

const message = (ambiguous: 'retry' | 'fail' = 'retry') =>
  ({ _id: 'em_1', ambiguous, rcpts: [] }) as never as OutgoingMessage
const reply = (
  stage: 'greeting' | 'mail' | 'rcpt' | 'data' | 'dot',
  code: number,
  enhanced?: string,
): RecipientOutcome => ({
  kind: 'reply',
  stage,
  reply: { code, text: 'as it is', ...(enhanced && { enhanced }) },
})
const error = (kind: WireError['kind']): RecipientOutcome => ({
  kind: 'error',
  error: new WireError(kind, verbatim('it broke')),
})
const unknown: RecipientOutcome = {
  kind: 'unknown',
  error: new WireError('timeout', sentence('delivery.no_reply', { seconds: 600 })),
}

/** Type of the event, what follows, and how the failure is called. */
function show(outcome: RecipientOutcome, change: Partial<ClaimedDelivery> = {}, policy: 'retry' | 'fail' = 'retry') {
  const result = resultOf(delivery(change), message(policy), outcome, sent, context)
  if (!result) return 'nothing'
  const { event, next, classification } = result
  const follows =
    next.kind === 'retry'
      ? `in ${(next.due.getTime() - NOW.getTime()) / 1_000} s`
      : next.kind === 'end'
        ? next.status
        : next.kind
  return [
    event.type,
    follows,
    classification.kind ?? '-',
    event.code ?? '-',
    event.enhanced ?? '-',
    event.ambiguous ? '?' : '!',
  ].join(' ')
}

const expiring = { expiresAt: new Date(NOW.getTime() + 10_000) }
const expired = { expiresAt: NOW }

describe('what an outcome comes to', () => {
  test.each<[string, RecipientOutcome, string]>([
    ['a 250 to the dot', reply('dot', 250, '2.0.0'), 'delivered delivered - 250 2.0.0 !'],
    ['a 250 without an enhanced code', reply('dot', 250), 'delivered delivered - 250 2.0.0 !'],
    ['a 354 to the dot', reply('dot', 354), 'deferred in 60 s other 354 3.0.0 !'],
    ['a 250 to DATA', reply('data', 250), 'deferred in 60 s other 250 2.0.0 !'],
    ['a refused recipient', reply('rcpt', 550, '5.1.1'), 'bounced bounced address 550 5.1.1 !'],
    ['a refusal without an enhanced code', reply('rcpt', 550), 'bounced bounced other 550 5.0.0 !'],
    ['a full mailbox', reply('rcpt', 452, '4.2.2'), 'deferred in 3600 s mailbox_full 452 4.2.2 !'],
    ['a complaint about the rate', reply('mail', 421, '4.7.0'), 'deferred in 5 s throttled 421 4.7.0 !'],
    ['a refusal of the connection', reply('greeting', 554), 'deferred in 60 s policy 554 5.0.0 !'],
    ['a connection that broke', error('network'), 'deferred in 60 s network - - !'],
    ['silence before the dot', error('timeout'), 'deferred in 60 s network - - !'],
    ['TLS that failed', error('tls'), 'deferred in 60 s tls - - !'],
    ['nonsense', error('protocol'), 'deferred in 60 s network - - !'],
    ['silence after the dot', unknown, 'deferred in 1125 s network - - ?'],
    ['a lease that ended', { kind: 'withheld' }, 'nothing'],
    [
      'a message too large for the server',
      { kind: 'unsupported', reply: { code: 552, enhanced: '5.3.4', text: 'too large' } },
      'bounced bounced size 552 5.3.4 !',
    ],
    [
      'a server without SMTPUTF8',
      { kind: 'unsupported', reply: { code: 550, enhanced: '5.6.7', text: 'no' } },
      'bounced bounced unsupported 550 5.6.7 !',
    ],
    [
      'a message that could not be converted just now',
      { kind: 'unsupported', reply: { code: 451, enhanced: '4.3.0', text: 'not now' } },
      'deferred in 300 s signing 451 4.3.0 !',
    ],
  ])('%s', (_, outcome, expected) => {
    expect(show(outcome)).toBe(expected)
  })

  test.each<[string, RecipientOutcome, Partial<ClaimedDelivery>, 'retry' | 'fail', string]>([
    ['the last moment: one more try at the end', error('network'), expiring, 'retry', 'deferred in 10 s network - - !'],
    ['the end', error('network'), expired, 'retry', 'expired failed network - - !'],
    ['the end, with a reply', reply('rcpt', 451, '4.3.0'), expired, 'retry', 'expired failed other 451 4.3.0 !'],
    ['the end, but delivered', reply('dot', 250), expired, 'retry', 'delivered delivered - 250 2.0.0 !'],
    ['the end, and unknown', unknown, expired, 'retry', 'expired failed network - - ?'],
    ['unknown for the second time', unknown, { ambiguousAttempts: 1 }, 'retry', 'deferred in 1125 s network - - ?'],
    ['unknown for the third time', unknown, { ambiguousAttempts: 2 }, 'retry', 'failed failed network - - ?'],
    ['unknown under the policy "fail"', unknown, {}, 'fail', 'failed failed network - - ?'],
    ['known under the policy "fail"', reply('rcpt', 451), {}, 'fail', 'deferred in 60 s other 451 4.0.0 !'],
    ['the third try', error('network'), { attempts: 2 }, 'retry', 'deferred in 600 s network - - !'],
  ])('at %s', (_, outcome, change, policy, expected) => {
    expect(show(outcome, change, policy)).toBe(expected)
  })
})

describe('the event', () => {
  test('contains the attempt, and expires with the log', () => {
    const result = resultOf(delivery({ attempts: 2 }), message(), reply('dot', 250, '2.0.0'), sent, context)
    expect(result?.event).toEqual({
      _id: 'em_1.1#3',
      m: 'em_1',
      user_id: 'usr_1',
      rcpt: 'b@example.net',
      attempt: 3,
      type: 'delivered',
      at: NOW,
      ms: 42,
      text: '250 2.0.0 as it is',
      code: 250,
      enhanced: '2.0.0',
      mx: 'mx.example.net',
      ip: '192.0.2.1',
      tls: sent.tls,
      conversation: 'C: MAIL FROM:<a@example.com>',
      exp: new Date(NOW.getTime() + 30 * 24 * HOUR),
    })
  })

  test('of a failure of our own has no conversation and no host', () => {
    const failure = {
      classification: { outcome: 'deferred', kind: 'signing' } as const,
      enhanced: '4.7.7',
      text: 'no key',
    }
    const { event, next } = localResult(delivery(), message(), failure, context)
    expect(event).toMatchObject({ type: 'deferred', text: 'no key', enhanced: '4.7.7', ms: 0 })
    expect(Object.keys(event)).not.toEqual(expect.arrayContaining(['conversation']))
    expect(next).toMatchObject({ kind: 'retry', due: new Date(NOW.getTime() + 5 * 60_000) })
  })

  test.each<[string, RecipientOutcome, string, Sentence | undefined]>([
    ['the words of the server', reply('rcpt', 451, '4.3.0'), '451 4.3.0 as it is', undefined],
    ['an error of the network', error('network'), 'it broke', undefined],
    [
      'a reply of ours',
      { kind: 'unsupported', reply: ownReply(552, '5.3.4', sentence('delivery.size_limit', { limit: 9 })) },
      '552 5.3.4 the receiving server accepts at most 9 bytes',
      {
        code: 'delivery.own_reply',
        params: { status: '552 5.3.4', reason: { code: 'delivery.size_limit', params: { limit: 9 } } },
      },
    ],
    [
      'silence after the dot',
      unknown,
      'the outcome is unknown: the final dot was sent, then no reply within 600 s',
      { code: 'delivery.outcome_unknown', params: { reason: { code: 'delivery.no_reply', params: { seconds: 600 } } } },
    ],
  ])('has code and parameters where its text is ours: %s', (_, outcome, text, explanation) => {
    const event = resultOf(delivery(), message(), outcome, sent, context)?.event
    expect([event?.text, event?.explanation]).toEqual([text, explanation])
  })

  test.each<[string, ClaimedDelivery['lastAttempt'], string, unknown]>([
    ['never tried', undefined, '', { code: 'delivery.expired_unreachable' }],
    [
      'last refused',
      { text: '451 later', at: NOW },
      '; the last attempt: 451 later',
      { params: { reason: { code: 'text.verbatim', params: { text: '451 later' } } } },
    ],
    [
      'last unreachable',
      { ...explained(sentence('delivery.no_host')), at: NOW },
      '; the last attempt: no host to try',
      { code: 'delivery.expired_after', params: { reason: { code: 'delivery.no_host' } } },
    ],
  ])('of an expired delivery that was %s names the last attempt', (_, lastAttempt, end, explanation) => {
    const { event } = expiredResult(delivery({ lastAttempt }), message(), context)
    expect(event.text).toBe(`the lifetime of the message ended while its destination could not be reached${end}`)
    expect(event.explanation).toMatchObject(explanation as object)
  })

  test('of a stopped worker has that reason, without a host', () => {
    const { event } = unrecordedResult(delivery(), message(), context)
    expect(event.text).toMatch(/^the outcome is unknown: the worker stopped/)
    expect(event).toMatchObject({ ambiguous: true, ms: 0 })
    expect(event.mx).toBeUndefined()
  })
})

test.each([
  [true, true],
  [false, false],
])('a next hop that offers DSN (%s) reports itself (%s)', (dsn, expected) => {
  expect(resultOf(delivery(), message(), reply('dot', 250), { ...sent, dsn }, context)?.reportsItself).toBe(expected)
})

describe('what its worker wrote down before it was gone', () => {
  type Case = [string, RecipientOutcome, Partial<ClaimedDelivery>, 'retry' | 'fail']
  const cases: Case[] = [
    ['delivered', reply('dot', 250, '2.0.0'), {}, 'retry'],
    ['refused for good', reply('rcpt', 550, '5.1.1'), {}, 'retry'],
    ['refused for now', reply('dot', 451, '4.3.0'), { attempts: 3 }, 'retry'],
    ['refused for now, at its end', reply('dot', 451, '4.3.0'), expired, 'retry'],
    ['no connection', error('network'), {}, 'retry'],
    ['no reply to the dot', unknown, {}, 'retry'],
    ['no reply to the dot, for the third time', unknown, { ambiguousAttempts: 2 }, 'retry'],
    ['no reply to the dot, under the policy "fail"', unknown, {}, 'fail'],
  ]
  test.each(cases)('leads where it would have led: %s', (_, outcome, change, policy) => {
    const held = delivery(change)
    const first = resultOf(held, message(policy), outcome, sent, context)
    if (!first) throw new Error('no result')
    const again = recordedResult(held, message(policy), first.event, context)
    expect(again.next).toEqual(first.next)
    expect(again.event).toBe(first.event)
    expect(again.classification.outcome === 'delivered').toBe(first.classification.outcome === 'delivered')
  })

  test.each<[EventDoc['type'], string]>([
    ['bounced', 'bounced'],
    ['failed', 'failed'],
    ['expired', 'failed'],
    ['canceled', 'canceled'],
  ])('as %s ends with the status %s', (type, status) => {
    const event = { ...unrecordedResult(delivery(), message(), context).event, type }
    const { next } = recordedResult(delivery(), message(), event, context)
    expect(next).toEqual({ kind: 'end', status, event: type })
  })

  test('as of a worker that was gone itself waits no longer than after any failure', () => {
    const first = unrecordedResult(delivery(), message(), context)
    expect(recordedResult(delivery(), message(), first.event, context).next).toEqual(first.next)
    expect(first.next).toEqual({ kind: 'retry', due: new Date(NOW.getTime() + 60_000) })
  })

  test('to be tried again is tried again, though its time is over by now', () => {
    const { event } = resultOf(delivery(), message(), reply('dot', 451, '4.3.0'), sent, context) ?? {}
    if (!event) throw new Error('no result')
    const next = recordedResult(delivery(expired), message(), event, context).next
    expect(next).toEqual({ kind: 'retry', due: NOW })
  })

  test.each([true, false])('of a delivery asks for no report on it: who sends that is not known (%s)', dsn => {
    const { event } = resultOf(delivery(), message(), reply('dot', 250), { ...sent, dsn }, context) ?? {}
    if (!event) throw new Error('no result')
    expect(recordedResult(delivery(), message(), event, context).reportsItself).toBe(true)
  })
})
