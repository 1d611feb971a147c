import { describe, expect, test } from 'vitest'
import { STATUS, type Status } from '../../rules/subscription-lifecycle.ts'
import { recordEvent, subscriptionEvent } from './event-types.ts'

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
