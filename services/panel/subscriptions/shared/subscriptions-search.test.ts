/** Addresses of the subscription pages: what their lists are asked for. */
import { describe, expect, test } from 'vitest'
import {
  allChangesSearch,
  changesSearch,
  plansSearch,
  subscriptionListSearch,
  subscriptionsSearch,
  switchesSearch,
  usersSearch,
} from './subscriptions-search.ts'

describe('known filters are read', () => {
  test.each([
    [
      'users',
      usersSearch,
      { search: 'Ada', status: 2, platform: 'ios', order: 'asc', start_date: '2026-11-01', end_date: '2026-11-30' },
    ],
    [
      'subscriptions',
      subscriptionListSearch,
      {
        ...{ search: 'Ada', status: '0', plan_id: '3', user_id: 77, payment_method: 'alipay' },
        ...{ auto_renew: '1', expiring: '1', start_date: '2026-11-01', page: 2 },
      },
    ],
    ['plans', plansSearch, { search: 'Gold', status: '1', page: 3 }],
    ['one plan', plansSearch, { plan: 3 }],
    ['one subscription', subscriptionListSearch, { subscription: 31 }],
    ['switches', switchesSearch, { search: 'new', type: 'json' }],
    ['changes', changesSearch, { user: '7', target_kind: 'plan', action: 'plan.update', actor: 'ann', page: 2 }],
    ['changes of all apps', allChangesSearch, { app: 'shop', target_kind: 'admin', action: 'admin.update', page: 2 }],
    ['changes of a subscription', changesSearch, { subscription: '9' }],
  ])('of %s', (_, read, raw) => {
    const text = Object.entries(raw).map(([name, value]) => [name, name === 'page' ? value : String(value)])
    expect(read(raw)).toEqual(Object.fromEntries(text))
  })
})

test.each([
  ['a user in all apps', allChangesSearch, { user: '7', subscription: '9' }],
  ['an unknown status', usersSearch, { status: '9' }],
  ['a word as a status', subscriptionListSearch, { status: 'active' }],
  ['an inherited name', switchesSearch, { type: 'constructor' }],
  ['the default order', usersSearch, { order: 'desc' }],
  ['an impossible date', usersSearch, { start_date: 'yesterday' }],
  ['an id with a zero before it', subscriptionListSearch, { plan_id: '007' }],
  ['an id that is no number', changesSearch, { user: 'ada', subscription: '-1' }],
  ['a plan that is no number', plansSearch, { plan: 'new' }],
  ['a subscription that is no number', subscriptionListSearch, { subscription: '0x1' }],
  ['objects and empty texts', usersSearch, { search: {}, platform: '', page: 1 }],
  ['the first page', subscriptionsSearch, { page: '1' }],
  ['filters of another list', switchesSearch, { status: '1', plan_id: '3' }],
])('%s is dropped', (_, read, raw) => {
  expect(read(raw)).toEqual({})
})
