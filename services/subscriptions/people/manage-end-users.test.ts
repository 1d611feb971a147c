import { describe, expect, test } from 'vitest'
import { codeOf, openSubscriptionsModule } from '../../../test/support/subscriptions/subscriptions-module.ts'
import { systemActor } from '../context.ts'
import { viewUser } from '../rules/record-views.ts'
import type { EndUserDoc } from '../store/documents.ts'
import {
  eraseRequested,
  eraseUser,
  setDeletionWish,
  setUserStatus,
  type UserLogin,
  upsertUser,
} from './manage-end-users.ts'

const DAY_MS = 86_400_000

async function known() {
  const subscriptions = await openSubscriptionsModule()
  const { context, giveApp, giveUser } = subscriptions
  await giveApp('shop')
  const user = await giveUser('shop', 'ann')
  const at = { appKey: 'shop', id: user._id }
  const stored = async (): Promise<EndUserDoc | null> => context.collections.users.findOne({ _id: user._id })
  const wish = (status: '1' | '2') => setDeletionWish(context, systemActor, at, status)
  const set = (status: EndUserDoc['status']) => setUserStatus(context, systemActor, at, status)
  const erasures = () => context.collections.audit.countDocuments({ action: 'user.erase' })
  const active = async () => (await context.collections.counters.findOne({ _id: 'shop' }))?.users_active
  return { ...subscriptions, user, at, stored, wish, set, erasures, active }
}

describe('a user cannot enable a disabled account', () => {
  test.each<[string, ('0' | '1' | '2' | 'ask' | 'back')[], status: string, code: string]>([
    ['asks and takes it back', ['ask', 'back'], '1', 'done'],
    ['takes back what he never asked', ['back'], '1', 'done'],
    ['asks twice', ['ask', 'ask'], '2', 'done'],
    ['is disabled and takes it back', ['0', 'back'], '0', 'transition_refused'],
    ['is disabled, asks and takes it back', ['0', 'ask', 'back'], '0', 'done'],
    ['is disabled, asks, asks again and takes it back', ['0', 'ask', 'ask', 'back', 'ask', 'back'], '0', 'done'],
    ['asks, is disabled and takes it back', ['ask', '0', 'back'], '0', 'transition_refused'],
    ['is disabled, asks, and an administrator lets him in', ['0', 'ask', '1'], '1', 'done'],
    ['is let in, asks and takes it back', ['0', 'ask', '1', 'ask', 'back'], '1', 'done'],
  ])('%s', async (_, steps, status, code) => {
    const { wish, set, stored, active } = await known()
    let last: string | undefined
    for (const step of steps) last = await codeOf(step === 'ask' ? wish('2') : step === 'back' ? wish('1') : set(step))
    expect([last, (await stored())?.status]).toEqual([code, status])
    expect(await active()).toBe(status === '1' ? 1 : 0)
    if (status !== '2') expect(await stored()).not.toHaveProperty('deletion_requested_at')
  })
})

test.each<[string, first: 'ask' | 'none', between: ('0' | '2')[], status: string]>([
  ['disabled', 'none', ['0'], '0'],
  ['disabled after a wish', 'ask', ['0'], '0'],
  ['disabled, and requests again', 'ask', ['0', '2'], '2'],
])('a user who is %s during the withdrawal of a deletion request stays so', async (_, first, between, status) => {
  const { context, at, wish, set, stored } = await known()
  if (first === 'ask') await wish('2')
  const read = context.collections.users.findOne.bind(context.collections.users)
  let disabled = false
  const findOne = (async (...given: Parameters<typeof read>) => {
    const seen = await read(...given)
    if (!disabled) {
      disabled = true
      for (const next of between) await set(next)
    }
    return seen
  }) as typeof read
  const users = new Proxy(context.collections.users, {
    get: (of, name) => (name === 'findOne' ? findOne : Reflect.get(of, name).bind(of)),
  })
  const back = setDeletionWish({ ...context, collections: { ...context.collections, users } }, systemActor, at, '1')
  expect([await codeOf(back), (await stored())?.status]).toEqual([
    first === 'ask' ? 'version_conflict' : 'done',
    status,
  ])
})

test('two erasures in the same moment are one', async () => {
  const { context, at, erasures, active, stored } = await known()
  await Promise.all([1, 2, 3].map(() => eraseUser(context, systemActor, at)))
  expect([await erasures(), await active(), (await stored())?.status]).toEqual([1, 0, '0'])
})

test('a deletion request withdrawn when the nightly erasure starts is respected', async () => {
  const { context, clock, wish, stored, erasures } = await known()
  await wish('2')
  clock.advance(15 * DAY_MS + 1)
  // The list is read before the change of mind, each user after it.
  const find: typeof context.collections.users.findOne = (async (
    ...given: Parameters<typeof context.collections.users.findOne>
  ) => {
    await wish('1').catch(() => undefined)
    return context.collections.users.findOne(...given)
  }) as typeof context.collections.users.findOne
  const users = new Proxy(context.collections.users, {
    get: (of, name) => (name === 'findOne' ? find : Reflect.get(of, name).bind(of)),
  })
  await eraseRequested({ ...context, collections: { ...context.collections, users } }, systemActor)
  expect([await erasures(), (await stored())?.openid]).toEqual([0, 'ann'])
})

test('a wish of fifteen days is fulfilled, a younger one is not', async () => {
  const { context, clock, wish, stored } = await known()
  await wish('2')
  clock.advance(15 * DAY_MS - 1)
  expect(await eraseRequested(context, systemActor)).toBe(0)
  clock.advance(1)
  expect(await eraseRequested(context, systemActor)).toBe(1)
  expect(await stored()).toMatchObject({ status: '0', nickname: '' })
  for (const field of ['openid', 'email', 'deletion_requested_at', 'was_disabled'])
    expect(await stored()).not.toHaveProperty(field)
  expect(await eraseRequested(context, systemActor)).toBe(0)
})

test('a login during the erasure creates a new user and restores nothing', async () => {
  const { context, at, user, stored } = await known()
  const login = { identities: { openid: 'ann' }, profile: { nickname: 'Ann', phone: '1' } }
  const aggregate = context.collections.users.findOneAndUpdate.bind(context.collections.users)
  let erased = false
  const findOneAndUpdate = (async (...given: Parameters<typeof aggregate>) => {
    if (!erased) {
      erased = true
      await eraseUser(context, systemActor, at)
    }
    return aggregate(...given)
  }) as typeof aggregate
  const users = new Proxy(context.collections.users, {
    get: (of, name) => (name === 'findOneAndUpdate' ? findOneAndUpdate : Reflect.get(of, name).bind(of)),
  })
  const { user: next, created } = await upsertUser(
    { ...context, collections: { ...context.collections, users } },
    'shop',
    login,
  )
  expect([created, next._id === user._id]).toEqual([true, false])
  expect(await stored()).toMatchObject({ nickname: '', search_keys: [] })
  expect(await stored()).not.toHaveProperty('phone')
})

test('parallel logins that learn the same identities make one user', async () => {
  const { context } = await known()
  const login = (unionid?: string) =>
    upsertUser(context, 'shop', { identities: { openid: 'bob', ...(unionid ? { unionid } : {}) }, profile: {} })
  const users = await Promise.all([login(), login('u-bob'), login('u-bob'), login()])
  expect(new Set(users.map(({ user }) => user._id)).size).toBe(1)
  expect(users.filter(({ created }) => created)).toHaveLength(1)
  expect((await context.collections.users.findOne({ openid: 'bob' }))?.login_count).toBe(4)
})

describe('updates of a known user by the app', () => {
  const login = (profile: UserLogin['profile'], more: Partial<UserLogin> = {}): UserLogin => ({
    identities: { openid: 'ann' },
    profile,
    ...more,
  })

  test('an empty phone or email removes it', async () => {
    const { context, stored } = await known()
    await upsertUser(context, 'shop', login({ nickname: 'Ann', phone: '138' }))
    const { user } = await upsertUser(context, 'shop', login({ phone: '', email: '' }))
    expect(await stored()).toMatchObject({ nickname: 'Ann', search_keys: ['ann'], login_count: 3 })
    for (const one of [user, await stored()]) {
      expect(one).not.toHaveProperty('phone')
      expect(one).not.toHaveProperty('email')
    }
    expect(user).toEqual(await stored())
    expect(viewUser(user, context.zone)).toMatchObject({ phone: null, email: null })
  })

  test.each<[string, Partial<UserLogin>, boolean]>([
    ['nothing of reminders', {}, true],
    ['that reminders are wanted', { reminderMail: true }, false],
    ['that reminders are not wanted', { reminderMail: false }, true],
  ])('%s: the answer is what is stored', async (_, more, refused) => {
    const { context, stored } = await known()
    await upsertUser(context, 'shop', login({}, { reminderMail: false }))
    const { user } = await upsertUser(context, 'shop', login({ city: 'Wuhan', email: 'a@example.com' }, more))
    expect(user).toEqual(await stored())
    expect('no_reminders' in user).toBe(refused)
  })

  test.each<[string, UserLogin['profile'], UserLogin['profile'], string[]]>([
    ['a name and a phone', { nickname: 'Ann' }, { phone: '138' }, ['ann', '138', 'ann@example.com']],
    ['two names', { nickname: 'Ann' }, { nickname: 'Bea' }, ['ann', 'ann@example.com']],
    ['a name and no address', { nickname: 'Ann' }, { email: '' }, ['ann']],
    ['nothing and a name', {}, { nickname: 'Bea' }, ['bea', 'ann@example.com']],
  ])('%s in the same moment: the user is found by what is stored', async (_, late, early, keys) => {
    const { context, stored } = await known()
    const find = context.collections.users.find.bind(context.collections.users)
    let happened = false
    const users = new Proxy(context.collections.users, {
      get: (of, name) => {
        if (name !== 'find') return Reflect.get(of, name).bind(of)
        return (...given: Parameters<typeof find>) => ({
          async toArray() {
            const found = await find(...given).toArray()
            if (!happened) {
              happened = true
              await upsertUser(context, 'shop', login(early))
            }
            return found
          },
        })
      },
    })
    const { user } = await upsertUser(
      { ...context, collections: { ...context.collections, users } },
      'shop',
      login(late),
    )
    expect((await stored())?.search_keys).toEqual(keys)
    expect(user).toEqual(await stored())
    expect(user.login_count).toBe(3)
  })

  test('without the identity that names the user, a taken identity does not match', async () => {
    const { context, stored } = await known()
    const given = { identities: { openid: 'ann', unionid: 'u' }, profile: {} }
    await upsertUser(context, 'shop', given)
    await upsertUser(context, 'shop', { identities: { openid: 'ann', unionid: 'another' }, profile: {} })
    expect(await stored()).toMatchObject({ openid: 'ann', unionid: 'u' })
  })
})

test.each<[string, string, number]>([
  ['one second before midnight in Shanghai', '2026-11-21T15:59:59Z', 1],
  ['at midnight', '2026-11-21T16:00:00Z', 2],
])('a login %s counts on %i day', async (_, at, days) => {
  const { context, clock } = await known()
  clock.advance(new Date(at).getTime() - clock.now().getTime())
  for (let time = 0; time < 3; time++) await upsertUser(context, 'shop', { identities: { openid: 'ann' }, profile: {} })
  const counted = await context.collections.days.find({ app_key: 'shop' }).sort({ day: 1 }).toArray()
  expect(counted.map(({ day, login_users }) => [day, login_users])).toEqual(
    [
      ['2026-11-21', 1],
      ['2026-11-22', 1],
    ].slice(0, days),
  )
})
