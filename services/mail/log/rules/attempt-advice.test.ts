import { describe, expect, test } from 'vitest'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { EventDoc } from '../../store/documents.ts'
import { adviceOn } from './attempt-advice.ts'

const at = new Date('2026-11-21T10:00:00Z')
const event = (text: string, change: Partial<EventDoc> = {}): EventDoc => ({
  ...{ _id: 'em_1.0#1', m: 'em_1', user_id: 'usr_1', rcpt: 'a@gmail.com', attempt: 1, at, ms: 1, exp: at },
  ...{ type: 'bounced', text },
  ...change,
})

describe('advice on an attempt', () => {
  test.each<[string, EventDoc, string | undefined]>([
    [
      'a refused authentication',
      event('550 5.7.26 Unauthenticated email, DMARC policy'),
      'authentication.fix_alignment',
    ],
    ['a deferred one', event('421 4.7.27 SPF did not pass', { type: 'deferred' }), 'authentication.fix_spf'],
    ["a provider's own code", event('550 MI:SPF mx1', { rcpt: 'a@163.com' }), 'authentication.fix_spf'],
    ['another refusal', event('550 5.1.1 User unknown'), undefined],
    ['a delivery', event('250 2.0.0 ok', { type: 'delivered' }), undefined],
    ['a text that is no reply', event('DKIM failed, connection closed'), undefined],
    [
      'a sentence of ours',
      event('550 5.7.26 x', {
        explanation: sentence('delivery.own_reply', { status: '550', reason: sentence('delivery.closed') }),
      }),
      undefined,
    ],
  ])('%s', (_, given, code) => {
    expect(adviceOn(given)?.code).toBe(code)
  })
})
