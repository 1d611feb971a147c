/** Which roles see which entries of the menu. */
import { expect, test } from 'vitest'
import type { Output } from '../api/client.ts'
import { isVisible, menuOf, NAVIGATION } from './navigation.ts'

type Session = Output<'getSession'>

const session = (
  role: Session['user']['role'],
  subscription_role: Session['subscription_role'],
  delivery_mode: Session['delivery_mode'] = 'direct',
  own: Session['account']['role'] = 'owner',
): Session => ({
  object: 'session',
  user: {
    object: 'user',
    id: 'usr_1',
    username: 'ann',
    email: null,
    role,
    status: 'active',
    lang: 'en',
    lang_chosen: false,
    tz: 'UTC',
    recipients_per_day: 0,
    managed_by: null,
    created_at: '2026-11-21T10:00:00.000Z',
  },
  account: { id: 'usr_1', name: 'ann', role: own, suspended: false },
  accounts: [],
  delivery_mode,
  subscription_role,
  business_time_zone: 'Asia/Shanghai',
})
const places = (of: Session) =>
  NAVIGATION.flatMap(group => group.entries.filter(place => isVisible(place, of)).map(({ to }) => to))
const has = (of: Session, part: string) => places(of).some(to => to.startsWith(part))

test.each([
  [
    'a user',
    session('user', null),
    { '/domains': true, '/apps': false, '/subscriptions': false, '/admin': false, '/inbox': false },
  ],
  ['an admin of an account', session('user', null, 'direct', 'admin'), { '/audit': true, '/members': true }],
  ['a developer of an account', session('user', null, 'direct', 'developer'), { '/audit': false, '/members': true }],
  [
    'an admin who views another account',
    session('admin', null, 'direct', 'viewer'),
    { '/audit': false, '/tokens': true, '/admin/queues': true },
  ],
  ['in the trial mode', session('user', null, 'capture'), { '/inbox': true, '/admin': false }],
  ['through a relay', session('user', null, 'relay'), { '/inbox': false }],
  [
    'a viewer of an app',
    session('user', 'viewer'),
    { '/apps/$key/plans': true, '/subscriptions/admins': false, '/admin': false },
  ],
  [
    'an operator of apps',
    session('user', 'operator'),
    {
      ...{ '/apps/$key/switches': true, '/apps/$key/webhooks': false },
      '/subscriptions/admins': false,
    },
  ],
  [
    'an admin',
    session('admin', 'super'),
    {
      ...{ '/admin/queues': true, '/subscriptions/admins': true },
      '/apps/$key/webhooks': true,
    },
  ],
  [
    'an admin without a role in subscriptions',
    session('admin', null),
    { '/admin/queues': true, '/apps': false, '/subscriptions': false },
  ],
] as [string, Session, Record<string, boolean>][])('%s', (_, of, expected) => {
  for (const [part, shown] of Object.entries(expected)) expect([part, has(of, part)]).toEqual([part, shown])
})

test('every entry is unique', () => {
  const all = NAVIGATION.flatMap(group => group.entries.map(({ to }) => to))
  expect(new Set(all).size).toBe(all.length)
})

const ADMIN = session('admin', 'super')

test.each<[string, Session, string, string[]]>([
  ['an admin on a page of the own mail', ADMIN, '/domains', ['subscriptions', 'operator']],
  ['an admin on a page of an app', ADMIN, '/apps/shop/plans', ['operator']],
  ['an admin in the list of apps', ADMIN, '/apps', ['operator']],
  ['an admin on a page about all apps', ADMIN, '/subscriptions/all-changes', ['operator']],
  ['an admin on a page of the administration', ADMIN, '/admin/queues', ['subscriptions']],
  ['an address that only begins alike', ADMIN, '/administrators', ['subscriptions', 'operator']],
  ['an admin without a role in subscriptions', session('admin', null), '/domains', []],
  ['a user with all roles in subscriptions', session('user', 'super', 'capture'), '/domains', []],
  ['a user', session('user', null), '/domains', []],
])('%s starts with the right groups folded', (_, of, pathname, folded) => {
  const groups = menuOf(of, pathname)
  expect(groups.filter(({ startsFolded }) => startsFolded).map(({ heading }) => heading)).toEqual(folded)
  expect(groups.flatMap(({ entries }) => entries.map(({ to }) => to))).toEqual(places(of))
  expect(groups.every(({ entries }) => entries.length > 0)).toBe(true)
})
