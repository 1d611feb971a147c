import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../test/support/database/test-database.ts'
import { collectionOf, ensureIndexes } from '../platform/database/mongo.ts'
import { newId } from '../platform/ids.ts'
import { createMetrics } from '../platform/observability/metrics.ts'
import { createLoginLimiter, knownNetworks, type LoginChannel, loginLimits } from './login-limiter.ts'

let mongo: TestDatabase
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [loginLimits, knownNetworks])
})
afterAll(() => mongo.stop())

const limits = { pair: 3, address: 5, account: 7, known: 20 }
const limiter = (channel: LoginChannel = 'panel', metrics = createMetrics('test'), own = limits) =>
  createLoginLimiter({ db: mongo.db, metrics, channel }, own)
const wrong = async () => undefined
const right = async () => 'value'
/** Names and addresses that no other test counts. */
const name = () => newId('n')
let last = 0
const address = () => `203.0.${Math.floor(++last / 200)}.${last % 200}`

/** Kinds of the outcomes of failing attempts in a row. */
async function fail(count: number, attempt: () => Promise<{ kind: string }>): Promise<string[]> {
  const kinds: string[] = []
  for (let i = 0; i < count; i++) kinds.push((await attempt()).kind)
  return kinds
}
const refusedThen = (refused: number, limited: number) => [
  ...Array.from({ length: refused }, () => 'refused'),
  ...Array.from({ length: limited }, () => 'limited'),
]

test('a name from one address may fail three times, then it waits', async () => {
  const [who, from] = [name(), address()]
  expect(await fail(5, () => limiter().guard(who, from, wrong))).toEqual(refusedThen(3, 2))
  const outcome = await limiter().guard(who, from, right)
  expect(outcome).toMatchObject({ kind: 'limited', retryAfterSeconds: expect.any(Number) })
  expect(outcome.kind === 'limited' && outcome.retryAfterSeconds).toBeGreaterThan(800)
  expect(await limiter().guard(who, address(), right)).toEqual({ kind: 'ok', value: 'value' })
})

test('an address may fail five times over all names', async () => {
  const from = address()
  expect(await fail(7, () => limiter().guard(name(), from, wrong))).toEqual(refusedThen(5, 2))
})

test('a name may fail seven times over all addresses', async () => {
  const who = name()
  expect(await fail(9, () => limiter().guard(who, address(), wrong))).toEqual(refusedThen(7, 2))
})

test('one address cannot use up the failures of others, however long it continues', async () => {
  const [who, from] = [name(), address()]
  const attacker = limiter()
  expect(await fail(20, () => attacker.guard(who, from, wrong))).toEqual(refusedThen(3, 17))
  expect(await limiter().guard(who, address(), right)).toEqual({ kind: 'ok', value: 'value' })
  expect((await limiter().guard(name(), from, right)).kind).toBe('ok')
})

test('the addresses of one IPv6 network count as one, those of IPv4 and its mapped form too', async () => {
  const who = name()
  const froms = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:2:0:0:0:3', '2001:db8:1:2::4']
  const kinds = [] as string[]
  for (const from of froms) kinds.push((await limiter().guard(who, from, wrong)).kind)
  expect(kinds).toEqual(refusedThen(3, 1))
  const plain = address()
  await fail(3, () => limiter().guard(who, plain, wrong))
  expect((await limiter().guard(who, `::ffff:${plain}`, wrong)).kind).toBe('limited')
})

test('a success forgives what failed before from there', async () => {
  const [who, from] = [name(), address()]
  const one = limiter()
  await fail(2, () => one.guard(who, from, wrong))
  expect(await one.guard(who, from, right)).toEqual({ kind: 'ok', value: 'value' })
  expect(await fail(3, () => one.guard(who, from, wrong))).toEqual(refusedThen(3, 0))
})

describe('an address from which a name logged in lately', () => {
  const known = async (channel: LoginChannel = 'smtp') => {
    const [who, from] = [name(), address()]
    expect((await limiter(channel).guard(who, from, right)).kind).toBe('ok')
    return { who, from }
  }

  test('keeps its way in while others fail with the name, in every process', async () => {
    const { who, from } = await known()
    expect(await fail(20, () => limiter('smtp').guard(who, address(), wrong))).toEqual(refusedThen(7, 13))
    for (let n = 0; n < 3; n++) expect((await limiter('smtp').guard(who, from, right)).kind).toBe('ok')
    expect((await limiter('smtp').guard(who, address(), right)).kind).toBe('limited')
  })

  test('keeps its way in while others fail with other names from there', async () => {
    const { who, from } = await known()
    expect(await fail(8, () => limiter('smtp').guard(name(), from, wrong))).toEqual(refusedThen(5, 3))
    expect((await limiter('smtp').guard(who, from, right)).kind).toBe('ok')
    expect((await limiter('smtp').guard(name(), from, right)).kind).toBe('limited')
  })

  test('that many names know may fail a number of times, then each name that failed waits', async () => {
    const from = address()
    const names = Array.from({ length: 20 }, name)
    for (const who of names) await limiter('smtp').guard(who, from, right)
    const quiet = names.pop() ?? ''
    const kinds: string[] = []
    for (const who of names) kinds.push(...(await fail(3, () => limiter('smtp').guard(who, from, wrong))))
    // 20 failures, and one more of each of the 12 names that had not failed yet; 57 without the limit.
    expect(kinds.filter(kind => kind === 'refused')).toHaveLength(32)
    expect(await limiter('smtp').guard(names.at(-1) ?? '', from, right)).toMatchObject({ kind: 'limited' })
    for (let n = 0; n < 5; n++) expect((await limiter('smtp').guard(quiet, from, right)).kind).toBe('ok')
    expect((await limiter('smtp').guard(name(), address(), right)).kind).toBe('ok')
  })

  test('is not limited by right passwords of many names, and neither by guesses in parallel more than one by one', async () => {
    const from = address()
    const names = Array.from({ length: 20 }, name)
    const [one, two] = [limiter('smtp'), limiter('smtp')]
    for (let n = 0; n < 2; n++) for (const who of names) expect((await one.guard(who, from, right)).kind).toBe('ok')
    const guesses = [one, two, one].flatMap(each => names.map(who => each.guard(who, from, wrong)))
    const refused = (await Promise.all(guesses)).filter(({ kind }) => kind === 'refused')
    expect(refused.length).toBeLessThanOrEqual(40)
  })

  test('is an IPv6 /64', async () => {
    const who = name()
    await limiter().guard(who, '2001:db8:7:7::1', right)
    await fail(8, () => limiter().guard(who, address(), wrong))
    expect((await limiter().guard(who, '2001:db8:7:7:ffff::2', right)).kind).toBe('ok')
    expect((await limiter().guard(who, '2001:db8:7:8::1', right)).kind).toBe('limited')
  })

  test('may guess no more often than before, and what fails there counts against the name', async () => {
    const { who, from } = await known()
    expect(await fail(20, () => limiter('smtp').guard(who, from, wrong))).toEqual(refusedThen(3, 17))
    expect((await limiter('smtp').guard(who, from, right)).kind).toBe('limited')
    expect(await fail(6, () => limiter('smtp').guard(who, address(), wrong))).toEqual(refusedThen(4, 2))
  })

  test('is not known to another channel, for another name, or after a week', async () => {
    const { who, from } = await known()
    await fail(8, () => limiter('panel').guard(who, address(), wrong))
    expect((await limiter('panel').guard(who, from, right)).kind).toBe('limited')
    const second = name()
    await fail(8, () => limiter('smtp').guard(second, address(), wrong))
    expect((await limiter('smtp').guard(second, from, right)).kind).toBe('limited')
    await fail(8, () => limiter('smtp').guard(who, address(), wrong))
    const week = new Date(Date.now() - 7 * 86_400_000)
    await collectionOf(mongo.db, knownNetworks).updateOne({ _id: `smtp ${who}` }, { $set: { 'from.0.at': week } })
    expect((await limiter('smtp').guard(who, from, right)).kind).toBe('limited')
  })

  test('is one of 20, of which the oldest is dropped, and costs one write an hour', async () => {
    const [who, first] = [name(), address()]
    const one = limiter('panel', createMetrics('test'), { ...limits, account: 100 })
    await one.guard(who, first, right)
    const stored = () => collectionOf(mongo.db, knownNetworks).findOne({ _id: `panel ${who}` })
    const before = await stored()
    await one.guard(who, first, right)
    expect(await stored()).toEqual(before)
    for (let n = 0; n < 20; n++) await one.guard(who, address(), right)
    const { from = [], expire } = (await stored()) ?? {}
    expect(from).toHaveLength(20)
    expect(from.map(({ network }) => network)).not.toContain(first)
    const days = ((expire?.getTime() ?? 0) - Date.now()) / 86_400_000
    expect(Math.abs(days - 7)).toBeLessThan(0.01)
  })
})

test('many successes from one address never limit it', async () => {
  const from = address()
  const one = limiter()
  for (let i = 0; i < 20; i++) expect((await one.guard(name(), from, right)).kind).toBe('ok')
})

test('a check that cannot be made is not counted', async () => {
  const [who, from] = [name(), address()]
  const away = () => Promise.reject(new Error('the database is away'))
  for (let i = 0; i < 5; i++) await expect(limiter().guard(who, from, away)).rejects.toThrow('away')
  expect((await limiter().guard(who, from, right)).kind).toBe('ok')
})

test('parallel guesses in two processes pass no more than the limit', async () => {
  const [who, from] = [name(), address()]
  const process = () => limiter('panel', createMetrics('test'), { ...limits, address: 100, account: 100 })
  const [one, two] = [process(), process()]
  const guesses = Array.from({ length: 15 }, () => [one, two].map(each => each.guard(who, from, wrong)))
  const outcomes = await Promise.all(guesses.flat())
  expect(outcomes.filter(({ kind }) => kind === 'refused')).toHaveLength(3)
})

test('channels are counted apart', async () => {
  const [who, from] = [name(), address()]
  await fail(4, () => limiter('panel').guard(who, from, wrong))
  expect((await limiter('smtp').guard(who, from, right)).kind).toBe('ok')
})

test('outcomes are counted by channel', async () => {
  const metrics = createMetrics('test')
  const [who, from] = [name(), address()]
  const one = limiter('admin', metrics)
  await one.guard(who, from, right)
  await fail(4, () => one.guard(who, from, wrong))
  const { values } = await metrics.logins.get()
  expect(values.map(({ labels, value }) => [labels.channel, labels.outcome, value])).toEqual([
    ['admin', 'ok', 1],
    ['admin', 'refused', 3],
    ['admin', 'limited', 1],
  ])
})

test.each(['__proto__', 'constructor', '', 'a b', '$where', 'ann\0', '名前', 'x'.repeat(256)])(
  'the name %j is counted like others, and for itself',
  async who => {
    const from = address()
    expect(await fail(4, () => limiter().guard(who, from, wrong))).toEqual(refusedThen(3, 1))
    expect((await limiter().guard(`${who}.`, address(), right)).kind).toBe('ok')
  },
)

test.each([
  ['an IPv6 address of this link', 'fe80::1%eth0', 'fe80::2%eth1'],
  ['no address, of a client that is gone', '', ''],
])('%s is one to count', async (_, first, second) => {
  const who = name()
  expect(await fail(3, () => limiter().guard(who, first, wrong))).toEqual(refusedThen(3, 0))
  expect((await limiter().guard(who, second, right)).kind).toBe('limited')
})

test('while the database is away each process counts for itself, and still lets the right ones in', async () => {
  const away = await freshDatabase()
  await away.stop() // every command fails from here on
  const process = () => createLoginLimiter({ db: away.db, metrics: createMetrics('test'), channel: 'panel' }, limits)
  for (const one of [process(), process()]) {
    const [who, from] = [name(), address()]
    expect(await fail(5, () => one.guard(who, from, wrong))).toEqual(refusedThen(3, 2))
    expect(await one.guard(who, address(), right)).toEqual({ kind: 'ok', value: 'value' })
  }
})
