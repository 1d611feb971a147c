/** The message log in both directions, with 100,000 messages of an account: what the database reads for a page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { giveMessage } from '../../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import type { MessageDoc, RecipientStatus } from '../../store/documents.ts'
import { MESSAGES } from '../../store/messages.ts'
import { listMessages } from './list-messages.ts'
import { indexLog, LOG_BLOCKS } from './log-blocks.ts'
import type { LogFilters } from './log-filters.ts'

const MANY = 100_000
const PART = 20_000
const START = Date.UTC(2026, 10, 1)
const LIMIT = 20
let mongo: Mongo
const ids: string[] = []

const statusOf = (n: number): RecipientStatus => (n % 1_000 === 0 ? 'bounced' : 'delivered')

beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, LOG_BLOCKS])
  const { _id: _, ...template } = await giveMessage(mongo.db, 'usr_2', { created_at: new Date(START) })
  for (let from = 0; from < MANY; from += PART) {
    const docs = Array.from({ length: PART }, (_, index): MessageDoc => {
      const n = from + index
      const created_at = new Date(START + n * 1_000)
      const _id = newId('em', created_at.getTime())
      ids.push(_id)
      const status = statusOf(n)
      const email = `p${n % 5_000}@d${n % 50}.example`
      const rcpts = [
        { email, type: 'to' as const, status, ...(status === 'bounced' ? { kind: 'address' as const } : {}) },
      ]
      return { ...template, _id, user_id: 'usr_1', created_at, rcpts }
    })
    await collectionOf(mongo.db, MESSAGES).insertMany(docs, { ordered: false })
  }
  await indexLog(mongo.db, {
    now: new Date(START + 2 * MANY * 1_000),
    signal: new AbortController().signal,
    mostMs: 60_000,
  })
}, 180_000)
afterAll(() => mongo.stop())

/** The commands that a page sends, as the database's profiler recorded them. */
async function profiled(run: () => Promise<unknown>) {
  await mongo.db.collection('system.profile').drop()
  await mongo.db.command({ profile: 2 })
  await run()
  await mongo.db.command({ profile: 0 })
  return mongo.db
    .collection('system.profile')
    .find({ ns: /\.(messages|log_blocks)$/, op: { $in: ['query', 'command', 'getmore'] } })
    .project<{ planSummary?: string; hasSortStage?: boolean; docsExamined?: number; keysExamined?: number }>({
      ...{ planSummary: 1, hasSortStage: 1, docsExamined: 1, keysExamined: 1 },
    })
    .toArray()
}

describe.each(['desc', 'asc'] as const)('in the order %s', order => {
  /** Indexes of the messages that a question must show, in the order of creation. */
  const expected: [string, LogFilters, (n: number) => boolean][] = [
    ['everything', {}, () => true],
    [
      'a period',
      { since: new Date(START + 7_000_000), until: new Date(START + 9_000_000) },
      n => n >= 7_000 && n < 9_000,
    ],
    ['a status', { status: 'bounced' }, n => statusOf(n) === 'bounced'],
    ['a class of failures', { reason: 'address' }, n => statusOf(n) === 'bounced'],
    ['a recipient', { to: 'p77@d27.example' }, n => n % 5_000 === 77],
    ['the beginning of a recipient', { to: 'p77@' }, n => n % 5_000 === 77],
    ['a recipient domain', { to: '@d9.example' }, n => n % 50 === 9],
  ]

  test.each(expected)(
    '%s: the first two pages, by indexes and without a blocking sort',
    async (_, filters, isWanted) => {
      const numbers = ids.flatMap((id, n) => (isWanted(n) ? [id] : []))
      const wanted = (order === 'asc' ? numbers : numbers.toReversed()).slice(0, 2 * LIMIT)
      const seen: string[] = []
      const commands = await profiled(async () => {
        let after: string | undefined
        for (let page = 0; page < 2; page++) {
          const found = await listMessages(
            mongo.db,
            'usr_1',
            filters,
            { limit: LIMIT, after, order },
            { pageMs: 60_000 },
          )
          seen.push(...found.messages.map(({ _id }) => _id))
          after = found.next ?? undefined
          if (after === undefined) break
        }
      })
      expect(seen).toEqual(wanted)
      expect(commands.filter(({ hasSortStage }) => hasSortStage)).toEqual([])
      expect(commands.map(({ planSummary = '' }) => planSummary).filter(plan => /COLLSCAN/.test(plan))).toEqual([])
      // A page reads its messages, and with a term at most a block for each of them: never all 100,000.
      const read = commands.reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0)
      expect(read).toBeLessThanOrEqual(2 * (LIMIT + 1) * 250 + 1_000)
    },
  )

  test('a page of everything reads as many documents and keys as it shows', async () => {
    const plan = await collectionOf(mongo.db, MESSAGES)
      .find({ user_id: 'usr_1' })
      .sort({ _id: order === 'asc' ? 1 : -1 })
      .limit(LIMIT)
      .explain('executionStats')
    expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toMatch(/"stage":"(SORT|COLLSCAN)"/)
    expect(plan.executionStats).toMatchObject({ nReturned: LIMIT, totalDocsExamined: LIMIT, totalKeysExamined: LIMIT })
  })
})
