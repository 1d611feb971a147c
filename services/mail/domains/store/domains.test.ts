import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { giveDomain } from '../../../../test/support/accounts/accounts-and-domains.ts'
import { freshDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts'
import { testClock } from '../../../../test/support/time/test-clock.ts'
import { collectionOf, ensureIndexes } from '../../../platform/database/mongo.ts'
import type { DomainDoc } from './domain-model.ts'
import { domains } from './domain-model.ts'
import { createSenderDomains, deleteDomain, updateDomain, verifyDomain } from './domains.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [domains])
})
beforeEach(async () => {
  await collectionOf(mongo.db, domains).deleteMany({})
})
afterAll(() => mongo.stop())

const verified = { status: 'verified', verified_by: 'dns' } as const
const finder = (requireVerified: boolean) => {
  const clock = testClock()
  return { clock, find: createSenderDomains(mongo.db, clock, { requireVerified, capture: false }) }
}

describe('the sender domain of an account', () => {
  test('is found only for its own account and its exact name', async () => {
    const domain = await giveDomain(mongo.db, 'usr_a', 'example.com', verified)
    const { find } = finder(true)
    expect(await find('usr_a', 'example.com')).toMatchObject({ id: domain._id, maySend: true })
    for (const [user, name] of [
      ['usr_b', 'example.com'],
      ['usr_a', 'mail.example.com'],
      ['usr_a', 'com'],
    ] as const)
      expect(await find(user, name)).toBeUndefined()
  })

  test('that is verified may send at once, one that is lost or deleted no more within 5 seconds', async () => {
    const domain = await giveDomain(mongo.db, 'usr_a', 'example.com')
    const { find, clock } = finder(true)
    expect(await find('usr_a', 'example.com')).toMatchObject({ id: domain._id, maySend: false })
    await verifyDomain(mongo.db, domain._id, 'dns', clock.now())
    expect(await find('usr_a', 'example.com')).toMatchObject({ id: domain._id, maySend: true })
    await updateDomain(mongo.db, domain._id, { status: 'failed' })
    clock.advance(4_000)
    expect(await find('usr_a', 'example.com')).toMatchObject({ id: domain._id, maySend: false })
    await deleteDomain(mongo.db, 'usr_a', domain._id)
    expect(await find('usr_a', 'example.com')).toBeUndefined()
  })

  test.each([
    ['that must be verified', true, 1],
    ['that need not be', false, 2],
  ])('look-ups at one moment of domains %s share a query', async (_, requireVerified, queries) => {
    const names = Array.from({ length: 10 }, (_, n) => `d${n}.example`)
    for (const name of names.slice(0, 5)) await giveDomain(mongo.db, 'usr_a', name)
    await giveDomain(mongo.db, 'usr_b', 'x.d0.example', verified)
    const second = await giveDomain(mongo.db, 'usr_b', 'd9.example', verified)
    const { find } = finder(requireVerified)
    await mongo.db.command({ profile: 2 })
    const found = await Promise.all([...names.map(name => find('usr_a', name)), find('usr_b', 'd9.example')])
    await mongo.db.command({ profile: 0 })
    expect(found.map(sender => sender?.maySend)).toEqual([
      ...[false, ...Array.from({ length: 4 }, () => !requireVerified)],
      ...Array.from({ length: 5 }, () => undefined),
      true,
    ])
    expect(found.at(-1)?.id).toBe(second._id)
    const asked = { ns: `${mongo.db.databaseName}.${domains.name}`, op: 'query' }
    expect(await mongo.db.collection('system.profile').countDocuments(asked)).toBe(queries)
    await mongo.db.collection('system.profile').drop()
  })

  test.each<[string, { user: string; name: string; change?: Partial<DomainDoc> }[], boolean]>([
    ['without another claim', [], true],
    ['claimed by another before', [{ user: 'usr_b', name: 'example.com', change: { created_at: new Date(0) } }], false],
    ['claimed by another later', [{ user: 'usr_b', name: 'example.com', change: { created_at: new Date() } }], true],
    [
      'verified by another',
      [{ user: 'usr_b', name: 'example.com', change: { ...verified, created_at: new Date() } }],
      false,
    ],
    ['with a parent that another has verified', [{ user: 'usr_b', name: 'com', change: verified }], false],
    ['with a child that another has verified', [{ user: 'usr_b', name: 'a.b.example.com', change: verified }], false],
    ['with a child that another only claims', [{ user: 'usr_b', name: 'a.example.com' }], true],
    ['beside a name that only ends alike', [{ user: 'usr_b', name: 'notexample.com', change: verified }], true],
    ['beside a name where the dot matters', [{ user: 'usr_b', name: 'a.exampleXcom', change: verified }], true],
  ])('without SEND_REQUIRES_VERIFIED, %s', async (_, rivals, maySend) => {
    const own = await giveDomain(mongo.db, 'usr_a', 'example.com')
    for (const { user, name, change } of rivals) await giveDomain(mongo.db, user, name, change)
    expect(await finder(false).find('usr_a', 'example.com')).toMatchObject({ id: own._id, maySend })
  })
})

describe('verifying', () => {
  test('is for one account a name, also at the same moment, and free again when it is lost', async () => {
    const [one, two] = [
      await giveDomain(mongo.db, 'usr_a', 'example.com'),
      await giveDomain(mongo.db, 'usr_b', 'example.com'),
    ]
    const now = new Date('2026-11-21T10:00:00Z')
    const outcomes = await Promise.all([one, two].map(({ _id }) => verifyDomain(mongo.db, _id, 'dns', now)))
    expect(outcomes.filter(outcome => outcome === 'taken')).toHaveLength(1)
    const [winner, loser] = outcomes[0] === 'taken' ? [two, one] : [one, two]
    expect(outcomes).toContainEqual(
      expect.objectContaining({ _id: winner._id, status: 'verified', verified_by: 'dns', verified_at: now }),
    )
    await updateDomain(mongo.db, winner._id, { status: 'failed' }, ['verified_by', 'verified_at'])
    expect(await verifyDomain(mongo.db, loser._id, 'dns', now)).toMatchObject({ status: 'verified' })
  })

  test('a domain that is gone is "gone"', async () => {
    expect(await verifyDomain(mongo.db, 'dom_none', 'admin', new Date())).toBe('gone')
  })
})

test('fields can be set and removed in one change', async () => {
  const { _id } = await giveDomain(mongo.db, 'usr_a', 'example.com', { ...verified, dns_account_id: 'dns_1' })
  const changed = await updateDomain(mongo.db, _id, { status: 'pending' }, ['verified_by', 'dns_account_id'])
  expect(changed).toMatchObject({ status: 'pending', name: 'example.com' })
  expect(changed).not.toHaveProperty('verified_by')
  expect(changed).not.toHaveProperty('dns_account_id')
})
