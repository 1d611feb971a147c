import { describe, expect, test } from 'vitest'
import { STATUS, type Status } from '../../rules/period.ts'
import { recordEvent, signedHeaders, subscriptionEvent, waitAfter } from './webhook.ts'

const life = (status: Status, end = 100, auto_renew = true) => ({ status, end, auto_renew })
const { pending, active, expired, cancelled, refunded } = STATUS

describe('a step of a subscription', () => {
  test.each([
    ['granted or paid', undefined, life(active), 'subscription.created'],
    ['ordered', undefined, life(pending), undefined],
    ['an order paid', life(pending), life(active), 'subscription.created'],
    ['an order closed', life(pending), life(cancelled), undefined],
    ['renewed', life(active, 100), life(active, 200), 'subscription.renewed'],
    ['made permanent', life(active, 100), life(active, 0), 'subscription.renewed'],
    ['renewed late', life(expired), life(active, 200), 'subscription.renewed'],
    ['expired', life(active), life(expired), 'subscription.expired'],
    ['cancelled at the end of the period', life(active), life(active, 100, false), 'subscription.canceled'],
    ['set to renew again', life(active, 100, false), life(active), undefined],
    ['shortened', life(active, 200), life(active, 100), undefined],
    ['cancelled now', life(active), life(cancelled), 'subscription.canceled'],
    ['cancelled after its end', life(expired), life(cancelled), 'subscription.canceled'],
    ['refunded', life(active), life(refunded), 'subscription.refunded'],
    ['refunded in part', life(active), life(active), undefined],
  ])('%s', (_, before, after, event) => {
    expect(subscriptionEvent(before, after)).toBe(event)
  })
})

test.each([
  ['switch', 'switch.create', 'switch.updated'],
  ['switch', 'switch.delete', 'switch.updated'],
  ['plan', 'plan.create', undefined],
  ['plan', 'plan.update', 'plan.updated'],
  ['user', 'user.update', 'user.updated'],
  ['user', 'user.erase', 'user.deleted'],
  ['app', 'app.update', undefined],
  ['credential', 'credential.create', undefined],
])('a change of a %s by %s is %s', (kind, action, event) => {
  expect(recordEvent(kind, action)).toBe(event)
})

test('eight tries over 27 hours and 35 minutes, then never again', () => {
  const waits = Array.from({ length: 8 }, (_, i) => waitAfter(i + 1))
  expect(waits.at(-1)).toBeUndefined()
  const hours = waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / 3_600_000
  expect(hours).toBeCloseTo(27.585, 2)
})

test('the signature is that of the published example of Standard Webhooks', () => {
  const headers = signedHeaders(
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  )
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})
