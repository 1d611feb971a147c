import { expect, test } from 'vitest'
import { currentPlanState } from '../plans/plan-revision.ts'
import { currentSwitchState } from '../switches/switch-revision.ts'
import { changesOnRestore } from './revision-changes.ts'

test.each([
  ['a field with another value', { price: 1 }, { price: 2 }, [{ field: 'price', from: '2', to: '1' }]],
  ['a field that was not set', {}, { title: 'New' }, [{ field: 'title', from: 'New', to: '–' }]],
  ['a field that is not set now', { title: 'Old' }, { title: '' }, [{ field: 'title', from: null, to: 'Old' }]],
  [
    'fields that the current record does not contain',
    { _id: 1, edits: 3, updated_at: 'x' },
    { name: 'a' },
    [{ field: 'name', from: 'a', to: '–' }],
  ],
  ['equal lists in another order of fields', { logs: [{ b: 1, a: 2 }] }, { logs: [{ a: 2, b: 1 }] }, []],
  ['an empty list and none', {}, { rules: [] }, []],
])('%s', (_, former, present, changes) => {
  expect(changesOnRestore(former, present)).toEqual(changes)
})

const PLAN: Parameters<typeof currentPlanState>[0] = {
  id: '1',
  app_key: 'shop',
  name: 'Monthly',
  description: '',
  price: '19.90',
  original_price: '29.90',
  duration: '30',
  features: '{"features":["Support"]}',
  sort_order: '1',
  status: '1',
  created_at: '2026-11-21 10:00:00',
  updated_at: '2026-11-21 10:00:00',
  version: '2',
  trial_days: '7',
  grace_days: '0',
  auto_renew_allowed: '1',
  active_subscriptions: '0',
  is_permanent: false,
}
const STORED_PLAN = {
  _id: 1,
  name: 'Monthly',
  description: '',
  price_cents: 1990,
  original_price_cents: 2990,
  duration: 30,
  features: ['Support'],
  sort_order: 1,
  status: '1',
  trial_days: 7,
  grace_days: 0,
  auto_renew_allowed: true,
}

test('an unchanged plan has no changes', () => {
  expect(changesOnRestore(STORED_PLAN, currentPlanState(PLAN))).toEqual([])
  expect(changesOnRestore({ ...STORED_PLAN, price_cents: 990 }, currentPlanState(PLAN))).toEqual([
    { field: 'price_cents', from: '1990', to: '990' },
  ])
})

const SWITCH: Parameters<typeof currentSwitchState>[0] = {
  id: '1',
  name: 'checkout',
  description: 'The new one',
  type: 'boolean',
  value: { title: 'News', logs: [], test_json: 'true' },
  raw_value: '1',
  enabled: '1',
  client_visible: '1',
  rollout: '25',
  rules: [],
  schedules: [{ at: '1798736400' }],
  version: '2',
  created_at: '0',
  updated_at: '0',
  created_by: 'ann',
  updated_by: 'ann',
  display_value: '',
  status_class: 'success',
  status_text: '',
  created_at_formatted: '2026-11-21 10:00:00',
  updated_at_formatted: '2026-11-21 10:00:00',
}
const STORED_SWITCH = {
  description: 'The new one',
  type: 'boolean',
  value: '1',
  title: 'News',
  logs: [],
  enabled: '1',
  client_visible: '1',
  rollout: 25,
  rules: [],
  schedules: [{ at: 1_798_736_400 }],
}

test('an unchanged switch has no changes', () => {
  expect(changesOnRestore(STORED_SWITCH, currentSwitchState(SWITCH))).toEqual([])
  expect(changesOnRestore({ ...STORED_SWITCH, description: '' }, currentSwitchState(SWITCH))).toEqual([
    { field: 'description', from: 'The new one', to: '–' },
  ])
})

test('notes of a changelog are part of its value only', () => {
  const value = '{"title":"News","logs":[]}'
  const record = { ...SWITCH, type: 'changelog', raw_value: value }
  expect(
    changesOnRestore({ ...STORED_SWITCH, type: 'changelog', value, title: '', logs: [] }, currentSwitchState(record)),
  ).toEqual([])
})
