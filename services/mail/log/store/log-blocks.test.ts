import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { failCommands } from '../../../../test/support/database/fail-commands.ts'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { startTestMongod } from '../../../../test/support/database/test-mongod.ts'
import { collectionOf, connectMongo, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { firstIdAt, MESSAGES } from '../../store/messages.ts'
import { blocksWithAll } from './find-blocks.ts'
import { listMessages } from './list-messages.ts'
import { indexLog, keysOf, LOG_BLOCKS, type LogBlockDoc } from './log-blocks.ts'
import { filterTerms, idBounds, type LogFilters, toMatch, toRange } from './log-filters.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 21, 10)
const minute = (minutes: number) => new Date(START + minutes * MINUTE)
const never = new AbortController().signal

async function database(): Promise<Mongo> {
  const mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, LOG_BLOCKS])
  return mongo
}

/** Message number n, a second after the one before; odd ones belong to another account unless `user` is set. */
function message(n: number, change: Partial<MessageDoc> = {}): MessageDoc {
  const _id = change._id ?? newId('em', START + n * 1_000)
  return {
    _id,
    user_id: 'usr_1',
    from: 'shop@example.com',
    subject: `Your order ${n}${n % 10 === 0 ? ' 已发货' : ''}`,
    message_id: `<${n}.x@mailer.example>`,
    rcpts: [{ email: `user${n}@d${n % 7}.example`, type: 'to', status: n % 2 ? 'delivered' : 'bounced' }],
    via: { channel: 'smtp' },
    ...(n % 100 === 3 && { tags: [{ name: 'campaign', value: 'spring' }] }),
    ...change,
  } as MessageDoc
}
const store = (mongo: Mongo, messages: readonly MessageDoc[]) =>
  collectionOf(mongo.db, MESSAGES).insertMany([...messages])
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const run = (mongo: Mongo, now: Date, signal = never) => indexLog(mongo.db, { now, signal, mostMs: 60_000 })
const blocksOf = (mongo: Mongo) => collectionOf(mongo.db, LOG_BLOCKS).find().sort({ _id: 1 }).toArray()

/** Numbers of all messages that a search of blocks finds, over all its pages; from the oldest on it finds the same. */
async function search(mongo: Mongo, filters: LogFilters, limit = 100, pageMs = 60_000): Promise<number[]> {
  const found = await searchInOrder(mongo, filters, 'desc', limit, pageMs)
  expect(await searchInOrder(mongo, filters, 'asc', limit, pageMs)).toEqual(found.toReversed())
  return found
}

async function searchInOrder(
  mongo: Mongo,
  filters: LogFilters,
  order: 'asc' | 'desc',
  limit: number,
  pageMs: number,
): Promise<number[]> {
  const found: number[] = []
  let cursor: string | undefined
  for (;;) {
    const page = await listMessages(mongo.db, 'usr_1', filters, { limit, after: cursor, order }, { pageMs, few: 0 })
    found.push(...page.messages.map(({ message_id: id }) => Number.parseInt(id.slice(1), 10)))
    if (page.next === null) return found
    expect(cursor === undefined || (order === 'asc' ? page.next > cursor : page.next < cursor)).toBe(true)
    cursor = page.next
  }
}

describe('making blocks', () => {
  let mongo: Mongo
  beforeAll(async () => {
    mongo = await database()
  })
  afterAll(() => mongo.stop())

  test('of 250 messages, side by side, without what is too young; a further run goes on', async () => {
    const first = numbers(0, 620).map(n => message(n))
    await store(mongo, first)
    expect(await run(mongo, minute(9))).toBe(2) // the 540 messages of nine minutes, without the youngest ten seconds
    expect(await run(mongo, minute(9))).toBe(0)
    await store(
      mongo,
      numbers(620, 760).map(n => message(n)),
    )
    expect(await run(mongo, minute(60))).toBe(1)
    const blocks = await blocksOf(mongo)
    expect(blocks.map(({ messages }) => messages)).toEqual([250, 250, 250])
    expect(blocks.map(({ above }) => above)).toEqual(['', blocks[0]?.last, blocks[1]?.last])
    expect(blocks[0]?.first).toBe(first[0]?._id)
    expect(blocks[1]?.last).toBe(first[499]?._id)
  })

  test('by several processes in parallel makes each of them once', async () => {
    await store(
      mongo,
      numbers(4_000, 5_000).map(n => message(n)),
    )
    await Promise.all([run(mongo, minute(120)), run(mongo, minute(120)), run(mongo, minute(120))])
    const blocks = await blocksOf(mongo)
    expect(blocks).toHaveLength(7)
    for (const [index, { above }] of blocks.entries()) expect(above).toBe(blocks[index - 1]?.last ?? '')
  })
})

test('a run that is aborted or has no time ends, and the next one goes on', async () => {
  const mongo = await database()
  await store(
    mongo,
    numbers(0, 500).map(n => message(n)),
  )
  expect(await run(mongo, minute(60), AbortSignal.abort())).toBe(0)
  expect(await indexLog(mongo.db, { now: minute(60), signal: never, mostMs: 0 })).toBe(0)
  expect(await run(mongo, minute(60))).toBe(2)
  await mongo.stop()
})

test('messages with many recipients end a block early', async () => {
  const mongo = await database()
  const rcpts = numbers(0, 2_000).map(
    n => ({ email: `r${n}.x@many.example`, type: 'to', status: 'delivered' }) as const,
  )
  await store(mongo, [
    message(0, { rcpts }),
    ...numbers(1, 20).map(n => message(n, { rcpts: rcpts.map(one => ({ ...one, email: `${n}${one.email}` })) })),
  ])
  await run(mongo, minute(60))
  const blocks = await blocksOf(mongo)
  expect(blocks.length).toBeGreaterThan(3)
  for (const { terms } of blocks) expect(terms.length).toBeLessThan(20_000)
  expect(await search(mongo, { to: '7r1999.x@many.example' })).toEqual([7])
  await mongo.stop()
})

describe('checks of blocks', () => {
  let mongo: Mongo
  beforeAll(async () => {
    mongo = await database()
    await store(
      mongo,
      numbers(0, 600).map(n => message(n)),
    )
    await run(mongo, minute(12))
  })
  afterAll(() => mongo.stop())

  test('find messages that were added to a block later, with a slow clock', async () => {
    await store(mongo, [message(7, { subject: 'Latecomer', message_id: '<9007.x@late.example>' })])
    expect(await search(mongo, { q: 'latecomer' })).toEqual([])
    expect(await run(mongo, minute(13))).toBe(0)
    expect(await run(mongo, minute(15))).toBe(1)
    expect(await search(mongo, { q: 'latecomer' })).toEqual([9007])
    await store(mongo, [message(-5, { subject: 'Latest', message_id: '<9008.x@late.example>' })])
    expect(await run(mongo, minute(29))).toBe(0)
    expect(await run(mongo, minute(31))).toBe(1) // a large message may come in for so long after its id was made
    expect(await search(mongo, { q: 'latest' })).toEqual([9008])
    await store(mongo, [message(9, { subject: 'Very last', message_id: '<9009.x@late.example>' })])
    expect(await run(mongo, minute(150))).toBe(0)
    expect(await run(mongo, minute(152))).toBe(1)
    expect(await search(mongo, { q: 'very' })).toEqual([9009])
  })

  test('leave blocks alone whose messages become fewer, and remove them when none is left', async () => {
    const [first, second] = await blocksOf(mongo)
    const messages = collectionOf(mongo.db, MESSAGES)
    await messages.deleteMany({ _id: { $gt: '', $lt: first?.last ?? '' } })
    await run(mongo, minute(60 * 24 * 2))
    expect((await blocksOf(mongo)).map(({ _id }) => _id)).toEqual([first?._id, second?._id])
    await messages.deleteMany({ _id: { $lte: first?.last ?? '' } })
    await run(mongo, minute(60 * 24 * 4))
    expect((await blocksOf(mongo)).map(({ _id }) => _id)).toEqual([second?._id])
    expect(await search(mongo, { to: 'user300@d6.example' })).toEqual([300])
  })
})

describe('searching', () => {
  let mongo: Mongo
  beforeAll(async () => {
    mongo = await database()
    await store(
      mongo,
      numbers(0, 3_000).map(n => message(n, n % 5 === 4 ? { user_id: 'usr_2' } : {})),
    )
    await run(mongo, minute(45)) // the newest 300 and more are not indexed yet
    expect(await blocksOf(mongo)).toHaveLength(10)
  })
  afterAll(() => mongo.stop())

  const mine = (test: (n: number) => boolean) =>
    numbers(0, 3_000)
      .toReversed()
      .filter(n => n % 5 !== 4 && test(n))

  test.each<[LogFilters, (n: number) => boolean]>([
    [{ q: 'order 17' }, n => String(n).includes('17') && (n >= 2_500 || n < 250)],
    [{ q: 'user42@d0.example' }, n => n === 42],
    [{ q: '2345.x@mailer.example' }, n => n === 2_345],
    [{ message_id: '<2345.x@mailer.example>' }, n => n === 2_345],
    [{ message_id: '2345.x@mailer.example' }, n => n === 2_345],
    [{ to: 'user1001@d0.example' }, n => n === 1_001],
    [{ to: 'USER1001@d0.example' }, () => false], // local parts are compared exactly
    [{ to: 'user42' }, n => String(n).startsWith('42')], // the beginning of an address
    [{ to: 'USER42@' }, n => n === 42],
    [{ to: 'user42@d0' }, n => n === 42],
    [{ to: 'user42@d0.ex' }, () => false], // a complete address
    [{ to: '@d3.example' }, n => n % 7 === 3], // a domain, and the beginning of one
    [{ to: 'd3.exam' }, n => n % 7 === 3],
    [{ to: 'example', since: minute(48) }, n => n >= 2_880],
    [{ to: 'xample' }, () => false],
    [{ to: 'ser42' }, () => false],
    [{ to: '.*' }, () => false],
    [{ recipient_domain: 'd3.example' }, n => n % 7 === 3], // exactly
    [{ recipient_domain: 'D3.EXAMPLE' }, n => n % 7 === 3],
    [{ recipient_domain: 'd3.exam' }, () => false],
    [{ recipient_domain: 'example' }, () => false],
    [{ recipient_domain: 'd3.example', status: 'bounced' }, n => n % 7 === 3 && n % 2 === 0],
    [{ q: '发货' }, n => n % 10 === 0],
    [{ q: '@d3.example', status: 'bounced' }, n => n % 7 === 3 && n % 2 === 0],
    [{ q: 'd3.example 发货' }, n => n % 7 === 3 && n % 10 === 0],
    [{ tag: 'campaign' }, n => n % 100 === 3],
    [{ tag: 'campaign:spring', source: 'smtp' }, n => n % 100 === 3],
    [{ tag: 'campaign:autumn' }, () => false],
    [{ from: 'Shop@example.com', q: 'order' }, () => true],
    [{ domain: 'example.com', status: 'bounced' }, n => n % 2 === 0],
    [{ q: 'd3.example', since: minute(10), until: minute(20) }, n => n % 7 === 3 && n >= 600 && n < 1_200],
    [{ q: 'd3.example', since: minute(48) }, n => n % 7 === 3 && n >= 2_880],
    [{ q: 'nothing' }, () => false],
    [{ q: 'order', domains: ['other.example'] }, () => false],
  ])('%j', async (filters, expected) => {
    const wanted = mine(expected)
    expect(await search(mongo, filters)).toEqual(wanted)
    expect(await search(mongo, filters, 70, 0)).toEqual(wanted) // short pages lead to the same
  })

  test('by the id of a message and by its beginning', async () => {
    const found = await collectionOf(mongo.db, MESSAGES).findOne({ message_id: '<1230.x@mailer.example>' })
    const foreign = await collectionOf(mongo.db, MESSAGES).findOne({ message_id: '<1234.x@mailer.example>' })
    expect(await search(mongo, { q: ` ${found?._id} ` })).toEqual([1_230])
    expect(await search(mongo, { q: found?._id.slice(0, 16) ?? '' })).toEqual([1_230])
    expect(await search(mongo, { q: foreign?._id ?? '' })).toEqual([])
    expect(await search(mongo, { q: found?._id.toUpperCase() ?? '' })).toEqual([1_230])
    expect(await search(mongo, { q: `${found?._id}.0` })).toEqual([1_230]) // the id of a delivery, as logs have it
    // The first characters are those of the time, which these messages share.
    expect((await search(mongo, { q: found?._id.slice(0, 5) ?? '' })).length).toBe(2_400)
    expect(await search(mongo, { q: 'em_zz' })).toEqual([])
  })

  test.each([5, 29])('the first %i characters of an id are a range of the index of ids', async length => {
    const q = firstIdAt(minute(20)).slice(0, length)
    const range = { user_id: 'usr_1', ...toRange(idBounds({ q }, undefined)) }
    const plan = await mongo.db.collection('messages').find(range).sort({ _id: -1 }).limit(10).explain('executionStats')
    const { nReturned, totalDocsExamined, totalKeysExamined } = plan.executionStats
    expect(nReturned).toBe(length === 5 ? 10 : 1)
    expect([totalDocsExamined, Math.max(0, totalKeysExamined - 1) <= nReturned]).toEqual([nReturned, true])
    expect(toMatch({ q })).toEqual({})
  })

  test.each(['user42@', 'user42@d0'])('a part of an address (%s) leads by the index to few blocks', async to => {
    const [term] = filterTerms('usr_1', { to })
    const blocks = await blocksOf(mongo)
    const keys = blocks.flatMap(({ _id }) => keysOf(_id, [term ?? 0]))
    const query = collectionOf(mongo.db, LOG_BLOCKS).find({ terms: { $in: keys } }, { hint: { terms: 1, _id: -1 } })
    const { executionStats } = await query.explain('executionStats')
    expect(executionStats.totalDocsExamined).toBeLessThanOrEqual(2)
    expect(executionStats.totalKeysExamined).toBeLessThanOrEqual(4)
  })

  test('reads keys of blocks and the messages of few blocks, however many there are', async () => {
    await mongo.db.command({ profile: 2 })
    await searchInOrder(mongo, { to: 'user42@d0.exam' }, 'desc', 100, 60_000)
    await mongo.db.command({ profile: 0 })
    const commands = await mongo.db
      .collection('system.profile')
      .find({ op: { $in: ['query', 'command', 'getmore'] }, ns: /\.(messages|log_blocks)$/ })
      .project<{ ns: string; docsExamined?: number; planSummary?: string }>({ ns: 1, docsExamined: 1, planSummary: 1 })
      .toArray()
    const examined = (name: string) =>
      commands.filter(({ ns }) => ns.endsWith(name)).reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0)
    // What is not indexed yet, and one block; of blocks the newest, twice, the oldest, the last and the one with the term.
    expect(examined('.messages')).toBeLessThanOrEqual(500 + 250)
    expect(examined('.log_blocks')).toBeLessThanOrEqual(5)
    expect(commands.map(({ planSummary }) => planSummary)).toContain('IXSCAN { terms: 1, _id: -1 }')
    expect(commands.map(({ planSummary }) => planSummary)).not.toContain('COLLSCAN')
  })
})

describe('without terms in the blocks', () => {
  test.each([
    ['500 messages of an account are searched', 500, {}, [7]],
    ['501 are not', 501, {}, []],
    ['501 are within a period that has fewer', 501, { since: minute(0), until: minute(8) }, [7]],
  ])('%s', async (_, count, period, expected) => {
    const mongo = await database()
    onTestFinished(() => mongo.stop())
    await store(
      mongo,
      numbers(0, count).map(n => message(n)),
    )
    await store(
      mongo,
      numbers(0, 600).map(n => message(n, { user_id: 'usr_2', _id: newId('em', START + n * 1_000) })),
    )
    await run(mongo, minute(60))
    await collectionOf(mongo.db, LOG_BLOCKS).updateMany({}, { $set: { terms: [] } })
    const filters = { to: 'user7@d0.example', ...period }
    for (const order of ['asc', 'desc'] as const) {
      const { messages, next } = await listMessages(mongo.db, 'usr_1', filters, { limit: 10, order })
      expect([messages.map(({ subject }) => subject), next]).toEqual([expected.map(n => `Your order ${n}`), null])
    }
  })
})

test('blocks of an earlier release get the terms of this one when they are compared', async () => {
  const mongo = await database()
  await store(
    mongo,
    numbers(0, 260).map(n => message(n)),
  )
  expect(await run(mongo, minute(9))).toBe(1)
  const blocks = collectionOf(mongo.db, LOG_BLOCKS)
  const [made] = await blocksOf(mongo)
  await blocks.updateOne({ _id: made?._id ?? 0 }, { $set: { terms: [] }, $unset: { version: '' } })
  expect(await search(mongo, { to: 'user42@d0' })).toEqual([])
  expect(await run(mongo, minute(12))).toBe(1)
  expect(await search(mongo, { to: 'user42@d0' })).toEqual([42])
  expect((await blocksOf(mongo))[0]?.terms.toSorted()).toEqual(made?.terms.toSorted())
  expect(await run(mongo, minute(60 * 24))).toBe(0)
  await mongo.stop()
})

test.each(['desc', 'asc'] as const)('a block that is made during a search, %s, shows no message twice', async order => {
  const mongod = await startTestMongod({ enableTestCommands: '1' })
  const [writer, reader] = await Promise.all(
    ['', '&appName=reader&monitorCommands=true'].map(more => connectMongo(mongod.uri + more, silentLog)),
  )
  if (!writer || !reader) throw new Error('no connections')
  onTestFinished(async () => {
    await Promise.all([writer.stop(), reader.stop()])
    await mongod.stop()
  })
  await ensureIndexes(writer.db, [MESSAGES, LOG_BLOCKS])
  await store(
    writer,
    numbers(0, 760).map(n => message(n)),
  )
  expect(await run(writer, minute(9))).toBe(2)
  // The search has read which block is the newest; the next command of it waits until there is another one.
  let indexed: Promise<number> | undefined
  reader.connection.getClient().on('commandSucceeded', ({ commandName }) => {
    if (commandName === 'find') indexed ??= run(writer, minute(60))
  })
  const delay = { failCommands: ['find', 'aggregate'], appName: 'reader', blockConnection: true, blockTimeMS: 2_000 }
  await failCommands(writer.db, delay, { times: 2 })
  const found = await searchInOrder(reader, { q: 'order' }, order, 1_000, 60_000)
  expect(await indexed).toBe(1)
  expect(order === 'asc' ? found : found.toReversed()).toEqual(numbers(0, 760))
})

test.each(['desc', 'asc'] as const)(
  'a message that several words and blocks lead to is on one page, %s',
  async order => {
    const mongo = await database()
    const subject = 'Invoice of the invoice order order 发货 发货'
    await store(
      mongo,
      numbers(0, 600).map(n => message(n, { subject, tags: [{ name: 'kind', value: 'order' }] })),
    )
    await run(mongo, minute(15))
    const all = order === 'asc' ? numbers(0, 600) : numbers(0, 600).toReversed()
    for (const limit of [97, 250])
      for (const pageMs of [0, 60_000]) {
        expect(await searchInOrder(mongo, { q: 'invoice order' }, order, limit, pageMs)).toEqual(all)
        expect(await searchInOrder(mongo, { q: '发货 order', tag: 'kind:order' }, order, limit, pageMs)).toEqual(all)
      }
    await mongo.stop()
  },
)

test('two terms that are never in one message end their page in time and lead to the end', async () => {
  const mongo = await database()
  const half = numbers(0, 40_000).map(n => message(n, { subject: n < 20_000 ? 'alpha' : 'beta', user_id: 'usr_1' }))
  await store(mongo, half)
  await run(mongo, minute(24 * 60))
  expect((await blocksOf(mongo)).length).toBe(160)
  expect(await search(mongo, { q: 'alpha beta' }, 20, 0)).toEqual([])
  await mongo.stop()
})

test('blocks are found over all spans of the index, the newest first, from any bound', async () => {
  const mongo = await database()
  const id = (n: number) => `em_${String(n).padStart(6, '0')}`
  const [rare, common] = [-7, 12]
  const all = numbers(1, 20_001).map(n => ({
    ...{ _id: n, above: id(n - 1), first: id(n), last: id(n), messages: 1, checks: 9, check_at: minute(0) },
    terms: keysOf(n, [common, ...(n % 9_000 === 1 ? [rare] : [])]),
  }))
  await collectionOf(mongo.db, LOG_BLOCKS).insertMany(all.slice(100) satisfies LogBlockDoc[])
  const found = async (terms: number[], bounds = {}, order: 'asc' | 'desc' = 'desc') => {
    const result: number[] = []
    let rounds = 0
    for await (const { places } of blocksWithAll(mongo.db, terms, bounds, order)) {
      result.push(...places.map(({ _id }) => _id))
      if (++rounds === 10) break
    }
    return { result, rounds }
  }
  expect(await found([rare])).toEqual({ result: [18_001, 9_001], rounds: 3 })
  expect(await found([common, rare])).toEqual({ result: [18_001, 9_001], rounds: 3 })
  expect(await found([rare], { below: id(18_001) })).toEqual({ result: [9_001], rounds: 3 })
  expect(await found([rare], { from: id(10_000) })).toEqual({ result: [18_001], rounds: 2 })
  expect((await found([common], { below: id(300) })).result.slice(0, 3)).toEqual([299, 298, 297])
  expect((await found([common])).result).toEqual(numbers(19_361, 20_001).toReversed())
  expect(await found([rare], {}, 'asc')).toEqual({ result: [9_001, 18_001], rounds: 3 })
  expect(await found([common, rare], { above: id(9_001) }, 'asc')).toEqual({ result: [18_001], rounds: 2 })
  expect(await found([rare], { below: id(9_002) }, 'asc')).toEqual({ result: [9_001], rounds: 2 })
  expect(await found([rare], { from: id(30_000) }, 'asc')).toEqual({ result: [], rounds: 0 })
  expect((await found([common], {}, 'asc')).result).toEqual(numbers(101, 741))
  await mongo.stop()
})
