import { beforeEach, describe, expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { type TestClock, testClock } from '../../../test/support/time/test-clock.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { addSuppressions, type ObservedSuppression } from './add-suppressions.ts'
import { createFindSuppressed, type FindSuppressed, shareQueries } from './find-suppressed.ts'
import { importSuppressions } from './import-suppressions.ts'
import { changeSuppressions, deleteSuppression, getSuppression, putSuppression } from './manage-suppressions.ts'
import { SUPPRESSIONS } from './store/suppressions.ts'

let mongo: Mongo
let clock: TestClock
let find: FindSuppressed
beforeEach(async () => {
  mongo = await databaseForThisTest()
  await ensureIndexes(mongo.db, [SUPPRESSIONS])
  clock = testClock(new Date('2026-11-23T12:00:00Z'))
  find = createFindSuppressed(mongo.db, clock)
})

const deps = () => ({ db: mongo.db, clock })
/** Whether the database takes an entry, by its address. */
const refuse = (email: string | RegExp) =>
  mongo.db.command({ collMod: 'suppressions', validator: { email: { $not: { $in: [email] } } } })
const accept = () => mongo.db.command({ collMod: 'suppressions', validator: {} })
const stored = () => collectionOf(mongo.db, SUPPRESSIONS).find().sort({ email: 1 }).toArray()
const observed = (email: string, more: Partial<ObservedSuppression> = {}): ObservedSuppression => ({
  ...{ userId: 'usr_1', email, reason: 'hard_bounce', origin: 'delivery', emailId: 'em_1', detail: '550 5.1.1 gone' },
  ...more,
})
const input = (email: string, more: object = {}) => ({ email, stream: '', reason: 'manual' as const, ...more }) as never

describe('what the service adds', () => {
  test('is stored once, with the first reason', async () => {
    expect(await addSuppressions(deps(), [observed('Ann@x.example'), observed('bob@x.example')])).toBe(2)
    clock.advance(1_000)
    expect(await addSuppressions(deps(), [observed('ann@X.example', { reason: 'complaint' })])).toBe(0)
    expect(await stored()).toMatchObject([
      { email: 'ann@x.example', stream: '', reason: 'hard_bounce', email_id: 'em_1', detail: '550 5.1.1 gone' },
      { email: 'bob@x.example' },
    ])
  })

  test('is of one account and one stream', async () => {
    const one = observed('ann@x.example')
    await addSuppressions(deps(), [one, { ...one, userId: 'usr_2' }, { ...one, stream: 'bulk' }, one])
    expect((await stored()).map(({ user_id, stream }) => [user_id, stream])).toEqual(
      expect.arrayContaining([
        ['usr_1', ''],
        ['usr_2', ''],
        ['usr_1', 'bulk'],
      ]),
    )
    expect(await stored()).toHaveLength(3)
  })

  test('takes the place of an entry that has ended, which the database may not have removed yet', async () => {
    await putSuppression(deps(), 'usr_1', input('ann@x.example', { expires_at: new Date('2026-11-23T12:00:01Z') }))
    clock.advance(1_000)
    expect(await addSuppressions(deps(), [observed('ann@x.example')])).toBe(1)
    const [entry, ...others] = await stored()
    expect([entry?.reason, entry?.expires_at, others]).toEqual(['hard_bounce', undefined, []])
  })

  test.each<['complaint' | 'unsubscribe', string]>([
    ['complaint', ''],
    ['unsubscribe', 'bulk/news'],
  ])('outlasts an entry with an end: %s', async (reason, stream) => {
    const paused = { stream, expires_at: new Date('2026-11-30T12:00:00Z'), detail: 'on holiday' }
    const { _id } = await putSuppression(deps(), 'usr_1', input('ann@x.example', paused))
    await putSuppression(deps(), 'usr_1', input('ann@x.example', { ...paused, stream: 'bulk/other' }))
    const given = observed('ann@x.example', { reason, stream, detail: 'they asked' })
    expect(await addSuppressions(deps(), [given])).toBe(0)
    expect(await addSuppressions(deps(), [{ ...given, reason: 'hard_bounce' }])).toBe(0)
    clock.advance(8 * 86_400_000)
    const [found] = await find([{ userId: 'usr_1', stream: 'bulk/news', emails: ['ann@x.example'] }])
    expect(found?.get('ann@x.example')).toMatchObject({ reason })
    const [entry] = (await stored()).filter(one => one.stream === stream)
    expect(entry).toMatchObject({ _id, detail: 'they asked', origin: 'delivery' })
    expect(entry).not.toHaveProperty('expires_at')
    expect((await stored()).find(one => one.stream === 'bulk/other')).toHaveProperty('expires_at')
  })

  test('of ten processes at once is stored once', async () => {
    const many = Array.from({ length: 50 }, (_, n) => observed(`u${n}@x.example`))
    const added = await Promise.all(Array.from({ length: 10 }, () => addSuppressions(deps(), many)))
    expect(added.reduce((sum, one) => sum + one, 0)).toBe(50)
    expect(await stored()).toHaveLength(50)
  })

  test('has words of a receiver of bounded length', async () => {
    await addSuppressions(deps(), [observed('ann@x.example', { detail: 'x'.repeat(10_000) })])
    expect((await stored())[0]?.detail).toHaveLength(500)
  })

  test('rejects when an entry was not stored, and a repetition stores what is missing', async () => {
    const both = [observed('ann@x.example'), observed('bob@x.example')]
    await refuse('bob@x.example')
    await expect(addSuppressions(deps(), both)).rejects.toThrow('Document failed validation')
    await accept()
    expect(await addSuppressions(deps(), both)).toBe(1)
    expect(await stored()).toHaveLength(2)
  })
})

describe('a look-up', () => {
  test('answers for several messages of several accounts with one query', async () => {
    await addSuppressions(deps(), [
      observed('ann@x.example'),
      observed('bob@x.example', { stream: 'bulk', reason: 'unsubscribe' }),
      observed('ann@x.example', { userId: 'usr_2', reason: 'complaint' }),
    ])
    await mongo.db.command({ profile: 2 })
    const answers = await find([
      { userId: 'usr_1', emails: ['Ann@x.example', 'bob@x.example', 'eve@x.example'] },
      { userId: 'usr_1', stream: 'bulk', emails: ['bob@x.example'] },
      { userId: 'usr_2', emails: ['ann@x.example', 'bob@x.example'] },
      { userId: 'usr_3', emails: ['ann@x.example'] },
      { userId: 'usr_1', emails: [] },
    ])
    expect(answers.map(answer => [...answer].map(([email, { reason }]) => [email, reason]))).toEqual([
      [['Ann@x.example', 'hard_bounce']],
      [['bob@x.example', 'unsubscribe']],
      [['ann@x.example', 'complaint']],
      [],
      [],
    ])
    await mongo.db.command({ profile: 0 })
    const ran = await mongo.db.collection('system.profile').find().toArray()
    expect(ran.map(({ op, docsExamined }) => [op, docsExamined])).toEqual([['query', 3]])
  })

  test('scans an index alone, however many entries there are', async () => {
    await addSuppressions(
      deps(),
      Array.from({ length: 500 }, (_, n) => observed(`u${n}@x.example`)),
    )
    const explained = await collectionOf(mongo.db, SUPPRESSIONS)
      .find({ $or: [{ user_id: 'usr_1', email: { $in: ['u7@x.example', 'none@x.example'] } }] })
      .explain('executionStats')
    expect(explained.executionStats).toMatchObject({ nReturned: 1, totalDocsExamined: 1 })
  })

  test('of those that ask at once is shared', async () => {
    const batches: number[] = []
    const ask = shareQueries(async questions => {
      batches.push(questions.length)
      return find(questions)
    })
    await addSuppressions(deps(), [observed('u3@x.example')])
    const asked = Array.from({ length: 100 }, (_, n) => ask({ userId: 'usr_1', emails: [`u${n}@x.example`] }))
    const answers = await Promise.all(asked)
    expect(answers.map(({ size }) => size).indexOf(1)).toBe(3)
    expect(batches.reduce((sum, one) => sum + one, 0)).toBe(100)
    expect(batches.length).toBeLessThan(10)
  })

  test('of no recipients asks nothing', async () => {
    const noDatabase = createFindSuppressed({} as never, clock)
    expect(await noDatabase([{ userId: 'usr_1', emails: [] }])).toEqual([new Map()])
    expect(await noDatabase([])).toEqual([])
  })
})

describe('what people change', () => {
  test('replaces an entry with all its parts', async () => {
    await addSuppressions(deps(), [observed('ann@x.example')])
    const end = new Date('2026-12-01T00:00:00Z')
    const changed = await putSuppression(deps(), 'usr_1', input('ann@x.example', { expires_at: end }))
    expect(changed).toMatchObject({ reason: 'manual', origin: 'api', expires_at: end })
    expect([changed.email_id, changed.detail]).toEqual([undefined, undefined])
    const again = await putSuppression(deps(), 'usr_1', input('ann@x.example'))
    expect([again._id, again.expires_at]).toEqual([changed._id, undefined])
    expect(await stored()).toHaveLength(1)
  })

  test('has an end that is not past', async () => {
    const past = { expires_at: clock.now() }
    await expect(putSuppression(deps(), 'usr_1', input('a@x.example', past))).rejects.toMatchObject({
      errors: [{ pointer: '/expires_at' }],
    })
    const change = { add: [input('a@x.example'), input('b@x.example', past)], remove: [] }
    await expect(changeSuppressions(deps(), 'usr_1', change)).rejects.toMatchObject({
      errors: [{ pointer: '/add/1/expires_at' }],
    })
    expect(await stored()).toEqual([])
  })

  test('a batch adds and removes, of every stream', async () => {
    await addSuppressions(deps(), [observed('ann@x.example'), observed('ann@x.example', { stream: 'bulk' })])
    const change = { add: [input('bob@x.example')], remove: ['ann@x.example', 'none@x.example'] }
    expect(await changeSuppressions(deps(), 'usr_1', change)).toMatchObject({
      ...{ added: 1, updated: 0, removed: [{ email: 'ann@x.example' }, { email: 'ann@x.example' }] },
    })
    expect((await stored()).map(({ email }) => email)).toEqual(['bob@x.example'])
  })

  test('is of the own account', async () => {
    await addSuppressions(deps(), [observed('ann@x.example')])
    const [entry] = await stored()
    for (const key of [{ id: entry?._id ?? '' }, { email: 'ann@x.example', stream: '' }]) {
      await expect(getSuppression(deps(), 'usr_2', key)).rejects.toMatchObject({ code: 'not_found' })
      await expect(deleteSuppression(deps(), 'usr_2', key)).rejects.toMatchObject({ code: 'not_found' })
    }
    await changeSuppressions(deps(), 'usr_2', { add: [], remove: ['ann@x.example'] })
    expect(await stored()).toHaveLength(1)
  })
})

describe('an import', () => {
  const run = (text: string | Buffer, charset = '') =>
    importSuppressions(deps(), 'usr_1', { bytes: Buffer.from(text as string), charset })

  test.each<[string, string, string[]]>([
    [
      'our own export',
      'email,reason,stream\r\na@x.example,complaint,bulk/news\r\n',
      ['a@x.example complaint bulk/news'],
    ],
    ['addresses alone', 'a@x.example\nB@X.example\n\n', ['a@x.example manual ', 'b@x.example manual ']],
    ['address and reason without a heading', 'a@x.example,bounce\n', ['a@x.example hard_bounce ']],
    [
      'an export of another service, with more columns',
      'EmailAddress;Server;SuppressionReason\na@x.example;s1;HardBounce\nb@x.example;s1;SpamComplaint',
      ['a@x.example hard_bounce ', 'b@x.example complaint '],
    ],
    ['a file of Excel', '\uFEFF"邮箱"\t"原因"\r\n"a@x.example"\t""\r\n', ['a@x.example manual ']],
  ])('takes %s', async (_, file, expected) => {
    expect(await run(file)).toEqual({ ...{ total: expected.length, added: expected.length }, ...NOTHING_WRONG })
    expect((await stored()).map(({ email, reason, stream }) => `${email} ${reason} ${stream}`)).toEqual(expected)
  })
  const NOTHING_WRONG = { listed: 0, invalid: 0, errors: [] }

  test('keeps the time of an entry where the file has one', async () => {
    await run('email,created\na@x.example,1700000000\nb@x.example,2026-01-02\nc@x.example,2090-01-01\nd@x.example,soon')
    expect((await stored()).map(({ created_at }) => created_at.toISOString().slice(0, 10))).toEqual([
      ...['2023-11-14', '2026-01-02', '2026-11-23', '2026-11-23'],
    ])
  })

  test('reports rows that are not valid, and takes the others', async () => {
    const result = await run('email,reason,stream\nnobody,,\na@x.example,bored,\nb@x.example,,nowhere\nc@x.example,,\n')
    expect(result).toMatchObject({ total: 4, added: 1, invalid: 3 })
    expect(result.errors.map(({ row, reason }) => [row, reason.params?.field])).toEqual([
      [2, 'email'],
      [3, 'reason'],
      [4, 'stream'],
    ])
  })

  test('lists fifty of many errors', async () => {
    const result = await run('nobody\n'.repeat(2_000))
    expect([result.invalid, result.errors.length, result.errors[49]?.row]).toEqual([2_000, 50, 50])
  })

  test.each<[string, string | Buffer, string, number]>([
    ['a spreadsheet', Buffer.from('504b0304', 'hex'), '', 1],
    ['an unknown charset', 'a@x.example', 'koi8-r', 1],
    ['a quote that is not closed', 'a@x.example\n"b@x.example\n', '', 2],
    ['a row without end', `a@x.example\n${'x'.repeat(70_000)}`, '', 2],
  ])('ends at %s', async (_, file, charset, row) => {
    expect((await run(file, charset)).errors).toMatchObject([{ row }])
  })

  test('of the same file again changes nothing', async () => {
    const file = Array.from({ length: 2_500 }, (_, n) => `u${n}@x.example,bounce`).join('\n')
    expect(await run(file)).toMatchObject({ total: 2_500, added: 2_500, listed: 0 })
    const before = await stored()
    expect(await run(file)).toMatchObject({ total: 2_500, added: 0, listed: 2_500 })
    expect(await stored()).toEqual(before)
  })

  test('that breaks off can be repeated', async () => {
    const file = Array.from({ length: 2_500 }, (_, n) => `u${n}@x.example`).join('\n')
    await refuse(/^u1500@/)
    await expect(run(file)).rejects.toThrow('Document failed validation')
    await accept()
    const { added, listed } = await run(file)
    expect([added + listed, (await stored()).length]).toEqual([2_500, 2_500])
  })
})
