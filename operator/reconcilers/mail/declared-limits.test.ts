/** Limits of sending that resources declare, over a real database: as their owner sets them, within those of the account. */
import { expect, test } from 'vitest'
import { createUser } from '../../../services/accounts/manage-accounts.ts'
import { defaultLimits } from '../../../services/mail/limits/find-limits.ts'
import { type LimitWish, setLimit } from '../../../services/mail/limits/manage-limits.ts'
import { limitsOfAccounts } from '../../../services/mail/limits/store/sending-limits.ts'
import { operatorContext } from '../../../test/support/kubernetes/operator-context.ts'
import type { SendingLimits } from '../../resources/sending-limits.ts'
import { applyLimits } from './declared-limits.ts'

const LOGIN = { scope: 'credential', id: 'crd_1', name: 'shop', isDeclared: false } as const
const DOMAIN = { scope: 'domain', id: 'dom_1', name: 'shop.example', isDeclared: false } as const

/** An account, with what its admin and owner do over the API. */
async function setting(env: Record<string, string> = {}) {
  const { context } = await operatorContext(env)
  const { user } = await createUser(context, { username: 'shop', role: 'user', lang: 'en', tz: 'UTC' })
  const { mongo, clock } = context
  const subjects = [LOGIN, DOMAIN]
  const deps = { mongo, clock, defaultLimits: defaultLimits(context.config) }
  const findSubject = async (_: string, scope: string) => subjects.find(one => one.scope === scope)
  const account = { id: user._id, username: user.username, recipientsPerDay: user.recipients_per_day ?? 0 }
  return {
    account,
    apply: (limits: SendingLimits, limited: typeof LOGIN | typeof DOMAIN = DOMAIN) =>
      applyLimits(context, user._id, limited, limits),
    set: (wish: LimitWish, byAdmin: boolean) => setLimit({ ...deps, findSubject }, account, wish, byAdmin),
    stored: async () => {
      const limits = (await limitsOfAccounts(mongo.db, [user._id])).get(user._id) ?? []
      // Without amounts that are not limited.
      return limits.map(limit => JSON.parse(JSON.stringify(limit)) as object)
    },
  }
}
const OWN = { byAdmin: false }

test.each<[string, NonNullable<SendingLimits>, object]>([
  ['a rate', { recipientsPerSecond: '20' }, { perSecond: 20 }],
  ['a slow rate', { recipientsPerSecond: '0.05' }, { perSecond: 0.05 }],
  ['a rate with a burst', { recipientsPerSecond: '2.5', burst: 100 }, { perSecond: 2.5, burst: 100 }],
  ['an hour', { recipientsPerHour: 500 }, { perHour: 500 }],
  [
    'all of them',
    { recipientsPerSecond: '1', burst: 5, recipientsPerHour: 100, recipientsPerDay: 1000 },
    { perSecond: 1, burst: 5, perHour: 100, perDay: 1000 },
  ],
])('%s is set once, for a domain and for a login', async (_, limits, amounts) => {
  const { apply, stored } = await setting()
  expect([await apply(limits), await apply(limits)]).toEqual([{ changed: true }, { changed: false }])
  expect(await apply(limits, LOGIN)).toEqual({ changed: true })
  expect(await stored()).toEqual([
    { scope: 'credential', subject: 'crd_1', name: 'shop', ...OWN, ...amounts },
    { scope: 'domain', subject: 'dom_1', name: 'shop.example', ...OWN, ...amounts },
  ])
})

test('without the field a limit of the owner stays, an empty one removes it, and a changed one replaces it', async () => {
  const { apply, set, stored } = await setting()
  await set({ scope: 'domain', subject: 'dom_1', recipients_per_hour: 7 }, false)
  expect([await apply(undefined), (await stored()).length]).toEqual([{ changed: false }, 1])
  expect(await apply({ recipientsPerDay: 9 })).toEqual({ changed: true })
  expect(await stored()).toEqual([{ scope: 'domain', subject: 'dom_1', name: 'shop.example', ...OWN, perDay: 9 }])
  // What the owner changes over the API is as declared after the next run.
  await set({ scope: 'domain', subject: 'dom_1', recipients_per_day: 99 }, false)
  expect(await apply({ recipientsPerDay: 9 })).toEqual({ changed: true })
  expect(await stored()).toMatchObject([{ perDay: 9 }])
  expect([await apply({}), await apply({}), await stored()]).toEqual([{ changed: true }, { changed: false }, []])
})

test('a limit of an admin for the same domain is not touched', async () => {
  const { apply, set, stored } = await setting()
  await set({ scope: 'destination', subject: 'example.net', recipients_per_minute: 5 }, true)
  await apply({ recipientsPerDay: 9 })
  await apply({})
  expect(await stored()).toMatchObject([{ scope: 'destination', byAdmin: true, perMinute: 5 }])
})

test.each<[string, Record<string, string>, LimitWish | undefined, NonNullable<SendingLimits>, string]>([
  [
    'the second of the settings',
    { ACCOUNT_RECIPIENTS_PER_SECOND: '10' },
    undefined,
    { recipientsPerSecond: '10.01' },
    'spec.sendingLimits.recipientsPerSecond',
  ],
  [
    'the hour of the settings',
    { ACCOUNT_RECIPIENTS_PER_HOUR: '100' },
    undefined,
    { recipientsPerHour: 101 },
    'spec.sendingLimits.recipientsPerHour',
  ],
  [
    'the hour that an admin has set for the account',
    {},
    { scope: 'account', subject: '*', recipients_per_hour: 50 },
    { recipientsPerHour: 51, recipientsPerDay: 10 },
    'spec.sendingLimits.recipientsPerHour',
  ],
])('a limit above %s is refused, and nothing is set', async (_, env, wish, limits, field) => {
  const { apply, set, stored } = await setting(env)
  if (wish) await set(wish, true)
  const before = await stored()
  const { refused, changed } = await apply(limits)
  expect(refused?.condition).toMatchObject({ type: 'Accepted', status: 'False', reason: 'InvalidSpec' })
  expect(refused?.condition.message).toContain(field)
  expect([changed, refused?.requeueAfterMs, await stored()]).toEqual([false, 60_000, before])
})

test('the border itself is allowed, and stays when the account is limited further', async () => {
  const { apply, set, stored } = await setting()
  await set({ scope: 'account', subject: '*', recipients_per_hour: 50 }, true)
  expect(await apply({ recipientsPerHour: 50 })).toEqual({ changed: true })
  await set({ scope: 'account', subject: '*', recipients_per_hour: 10 }, true)
  expect(await apply({ recipientsPerHour: 50 })).toEqual({ changed: false })
  expect(await stored()).toMatchObject([
    { scope: 'account', perHour: 10 },
    { scope: 'domain', perHour: 50 },
  ])
})
