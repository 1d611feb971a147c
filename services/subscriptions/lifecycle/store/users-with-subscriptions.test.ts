/** Users with their subscriptions: batched queries never mix up callers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts'
import { ensureIndexes } from '../../../platform/database/mongo.ts'
import { STATUS } from '../../rules/subscription-lifecycle.ts'
import { type Collections, openCollections, subscriptionCollections } from '../../store/collections.ts'
import type { EndUserDoc, SubscriptionDoc } from '../../store/documents.ts'
import { createFindHolders, type FindHolders } from './users-with-subscriptions.ts'

const AT = new Date('2026-11-21T10:00:00Z')
const USERS = 200
let mongo: TestDatabase
let collections: Collections
let find: FindHolders

beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, subscriptionCollections)
  collections = openCollections(mongo.db)
  find = createFindHolders(collections)
  const numbers = Array.from({ length: USERS }, (_, i) => i + 1)
  await collections.users.insertMany(numbers.map(userOf))
  await collections.subscriptions.insertMany(
    numbers.flatMap(n => [subscriptionOf(n, STATUS.active), subscriptionOf(-n, 2)]),
  )
})
afterAll(() => mongo.stop())

/** Every fourth belongs to another app, where openids are the same; two neighbours share a unionid. */
function userOf(n: number): EndUserDoc {
  return {
    _id: n,
    app_key: appOf(n),
    openid: `o-${n - (n % 4)}-${n % 4 === 3 ? 0 : n % 4}`,
    unionid: `u-${n - (n % 2)}`,
    huawei_openid: `h-${n}`,
    nickname: '',
    avatar: '',
    gender: '',
    country: '',
    province: '',
    city: '',
    platform: '',
    status: '1',
    login_count: 1,
    search_keys: [],
    created_at: AT,
    updated_at: AT,
  }
}

const appOf = (n: number) => (n % 4 === 3 ? 'other' : 'demo')

function subscriptionOf(n: number, status: SubscriptionDoc['status']): SubscriptionDoc {
  const user_id = Math.abs(n)
  return {
    _id: n,
    app_key: appOf(user_id),
    user_id,
    plan_id: 1,
    plan: { plan_id: 1, version: 1, name: 'P', price_cents: 1, duration: 30, grace_days: 0, features: [] },
    payment_method: 'alipay',
    payment_id: `P${n}`,
    paid_cents: 1,
    status,
    start: 1,
    end: 0,
    lapse_at: 0,
    auto_renew: false,
    since: 1,
    version: 1,
    created_at: AT,
    updated_at: AT,
  }
}

const ids = async (...queried: Parameters<FindHolders>) => (await find(...queried)).map(({ _id }) => _id).toSorted()

test('a user is returned with the active records and only the fields that access needs', async () => {
  const [holder, ...others] = await find('demo', { openid: 'o-4-1' })
  expect(others).toEqual([])
  expect(holder).toEqual({
    _id: 5,
    status: '1',
    openid: 'o-4-1',
    unionid: 'u-4',
    huawei_openid: 'h-5',
    held: [{ _id: 5, status: STATUS.active, end: 0, lapse_at: 0, plan: subscriptionOf(5, 1).plan }],
  })
})

test.each<[string, Parameters<FindHolders>, number[]]>([
  ['an id', ['demo', { user_id: 4 }], [4]],
  ['an id beside an identity that names another: the id counts', ['demo', { user_id: 4, openid: 'o-4-1' }], [4]],
  ['an id of another app', ['demo', { user_id: 7 }], []],
  ['an unknown id', ['demo', { user_id: 4_242 }], []],
  ['an openid that another app has as well', ['demo', { openid: 'o-4-0' }], [4]],
  ['the same openid there', ['other', { openid: 'o-4-0' }], [7]],
  ['a unionid of two', ['demo', { unionid: 'u-4' }], [4, 5]],
  ['two identities of one user', ['demo', { openid: 'o-4-1', huawei_openid: 'h-5' }], [5]],
  ['identities of two users', ['demo', { openid: 'o-4-1', huawei_openid: 'h-6' }], [5, 6]],
  ['one that is known and one that is not', ['demo', { openid: 'o-4-1', huawei_openid: 'h-x' }], [5]],
  ['nothing', ['demo', {}], []],
])('%s', async (_, queried, expected) => {
  expect(await ids(...queried)).toEqual(expected)
})

test('questions at the same time share few commands, and each gets its own answer', async () => {
  await mongo.db.command({ profile: 2 })
  const numbers = Array.from({ length: USERS * 2 }, (_, i) => (i % (USERS + 20)) + 1)
  const answers = await Promise.all(
    numbers.map(n => (n % 3 === 0 ? find(appOf(n), { user_id: n }) : find(appOf(n), { huawei_openid: `h-${n}` }))),
  )
  await mongo.db.command({ profile: 0 })
  expect(answers.map(found => found.map(({ _id }) => _id))).toEqual(numbers.map(n => (n > USERS ? [] : [n])))
  expect(answers.flat().map(({ held }) => held.length)).toEqual(answers.flat().map(() => 1))
  const queried = await mongo.db.collection('system.profile').countDocuments({ 'command.aggregate': 'sub_users' })
  expect(queried).toBeGreaterThan(0)
  expect(queried).toBeLessThan(numbers.length / 10)
})

test('an answer is never older than its request, whatever is under way', async () => {
  for (let n = 1; n <= 20; n++) {
    const others = Array.from({ length: 10 }, (_, i) => find('demo', { huawei_openid: `h-${i + 1}` }))
    const _id = 1_000 + n
    await collections.users.insertOne({ ...userOf(4), _id, openid: `o-new-${n}`, huawei_openid: `h-new-${n}` })
    expect(await ids('demo', { huawei_openid: `h-new-${n}` })).toEqual([_id])
    await Promise.all(others)
  }
})

test('when the database is away every caller hears of it', async () => {
  const away = await freshDatabase()
  const broken = createFindHolders(openCollections(away.db))
  await away.stop()
  const queried = [broken('demo', { user_id: 1 }), broken('demo', { openid: 'o' }), broken('other', { user_id: 2 })]
  expect((await Promise.allSettled(queried)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
})
