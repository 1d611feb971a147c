import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { giveMessage } from '../../../../test/support/mail/stored-messages.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../../platform/database/mongo.ts'
import { newId } from '../../../platform/ids.ts'
import { FAILURE_KINDS } from '../../delivery/rules/failure-kinds.ts'
import type { MessageDoc, RecipientState } from '../../store/documents.ts'
import { INDEXED_STATUSES, MESSAGES, STATUS_INDEX } from '../../store/messages.ts'
import { countMessages, idsToExport, listMessages, messagesOf } from './list-messages.ts'
import { LOG_BLOCKS } from './log-blocks.ts'
import { indexedRecipient, type LogFilters } from './log-filters.ts'

/** Of 6,000 messages every hundredth has failed, each time for another class. */
const MANY = 6_000
const START = Date.UTC(2026, 10, 1)
let mongo: Mongo
let template: MessageDoc
const ids: string[] = []
const stateOf = (n: number): Partial<RecipientState> => {
  const kind = FAILURE_KINDS[(n / 100) % FAILURE_KINDS.length] ?? 'other'
  if (n % 100 === 0) return { status: n % 200 === 0 ? 'bounced' : 'deferred', kind }
  if (n % 501 === 0) return { status: 'suppressed' }
  // Delivered after an attempt that failed: the class is still in the document.
  return n % 7 === 0 ? { status: 'delivered', kind: 'greylisted' } : { status: 'delivered' }
}
const failed = (which: (state: Partial<RecipientState>) => boolean) =>
  ids.flatMap((id, n) => (which(stateOf(n)) ? [id] : [])).toReversed()

beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, LOG_BLOCKS])
  template = await giveMessage(mongo.db, 'usr_2', { created_at: new Date(START) })
  const docs = Array.from({ length: MANY }, (_, n): MessageDoc => {
    const created_at = new Date(START + n * 60_000)
    const _id = newId('em', created_at.getTime())
    ids.push(_id)
    const rcpts = [
      { email: `p${n}@example.net`, type: 'to' as const, status: 'delivered' as const, ...stateOf(n) },
      { email: `q${n}@example.net`, type: 'cc' as const, status: 'delivered' as const },
    ]
    const via =
      n % 2 === 0 ? { channel: 'http' as const, id: 'key_even' } : { channel: 'smtp' as const, id: 'smtp_odd' }
    return { ...template, _id, user_id: 'usr_1', created_at, rcpts, via }
  })
  await collectionOf(mongo.db, MESSAGES).insertMany(docs)
}, 60_000)
afterAll(() => mongo.stop())

const found = async (filters: LogFilters, limit = 100) =>
  (await listMessages(mongo.db, 'usr_1', filters, { limit })).messages.map(({ _id }) => _id)

describe('status and class of failures', () => {
  test.each<[LogFilters, (state: Partial<RecipientState>) => boolean]>([
    [{ status: 'bounced' }, ({ status }) => status === 'bounced'],
    [{ status: 'suppressed' }, ({ status }) => status === 'suppressed'],
    [{ status: ['bounced'] }, ({ status }) => status === 'bounced'],
    [{ status: ['suppressed', 'bounced'] }, ({ status }) => status === 'bounced' || status === 'suppressed'],
    [{ status: ['canceled', 'bounced'], source: 'api' }, ({ status }) => status === 'bounced'],
    [
      { status: ['deferred', 'bounced'], reason: 'throttled' },
      ({ status, kind }) => status !== 'delivered' && kind === 'throttled',
    ],
    [
      { status: ['deferred', 'delivered'], reason: 'tls' },
      ({ status, kind }) => status === 'deferred' && kind === 'tls',
    ],
    [{ status: ['delivered', 'suppressed'], reason: 'address' }, () => false],
    [{ reason: 'greylisted' }, ({ status, kind }) => status !== 'delivered' && kind === 'greylisted'],
    [{ reason: 'tls' }, ({ kind }) => kind === 'tls'],
    [{ status: 'deferred', reason: 'throttled' }, ({ status, kind }) => status === 'deferred' && kind === 'throttled'],
    // A class says nothing about what was delivered or suppressed.
    [{ status: 'delivered', reason: 'greylisted' }, () => false],
    [{ status: 'suppressed', reason: 'address' }, () => false],
    [{ status: 'canceled' }, () => false],
    [{ status: 'bounced', source: 'smtp' }, () => false],
    [{ status: 'deferred', submitted_with: 'key_even' }, ({ status }) => status === 'deferred'],
    [{ status: 'deferred', submitted_with: 'smtp_odd' }, () => false],
    [{ status: 'bounced', domain: 'example.com' }, ({ status }) => status === 'bounced'],
    [{ status: 'bounced', domain: 'other.example' }, () => false],
  ])('%j finds exactly its messages, newest first', async (filters, expected) => {
    expect(await found(filters)).toEqual(failed(expected))
  })

  test.each<LogFilters>([
    ...INDEXED_STATUSES.map(status => ({ status })),
    ...FAILURE_KINDS.map(reason => ({ reason })),
    { status: 'bounced', reason: 'address' },
    { status: ['bounced', 'deferred'] },
    { status: [...INDEXED_STATUSES] },
    { status: ['bounced', 'deferred', 'failed'], reason: 'address' },
  ])('%j reads as many documents as it shows, in the order of the index', async filters => {
    const query = { user_id: 'usr_1', ...indexedRecipient(filters) }
    const plan = await collectionOf(mongo.db, MESSAGES)
      .find(query, { hint: STATUS_INDEX })
      .sort({ _id: -1 })
      .limit(5)
      .explain('executionStats')
    const { nReturned, totalDocsExamined, totalKeysExamined } = plan.executionStats
    expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toMatch(/"stage":"(SORT|COLLSCAN)"/)
    expect(totalDocsExamined).toBe(nReturned)
    const ranges = Math.max(3, [filters.status ?? []].flat().length) * (FAILURE_KINDS.length + 1)
    expect(totalKeysExamined).toBeLessThanOrEqual(nReturned + ranges)
  })

  test('the index has no key of a message that was delivered', async () => {
    const keys = await collectionOf(mongo.db, MESSAGES).countDocuments({}, { hint: STATUS_INDEX })
    expect(keys).toBe(failed(({ status }) => status !== 'delivered').length)
  })

  test('a status that is not indexed, and a reader with a domain, are searched', async () => {
    expect(await found({ status: 'delivered' }, 3)).toHaveLength(3)
    expect(await found({ status: ['delivered', 'queued'] }, 3)).toHaveLength(3)
    expect(await found({ status: 'bounced', domains: ['other.example'] })).toEqual([])
    expect(await found({ status: 'bounced', domains: ['example.com'] }, 2)).toHaveLength(2)
  })

  test.each<LogFilters>([
    { status: ['bounced', 'failed', 'deferred'] },
    { status: ['bounced', 'deferred', 'delivered'] },
    { status: ['bounced', 'failed'], domain: 'example.com' },
  ])('%j shows a message with recipients of several of them once', async filters => {
    const states = ['bounced', 'deferred', 'failed', 'delivered'] as const
    const created = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        giveMessage(mongo.db, 'usr_3', {
          created_at: new Date(START + n * 1_000),
          rcpts: states.map((status, index) => ({ email: `${index}@example.net`, type: 'to', status, kind: 'tls' })),
        }),
      ),
    )
    const walked: string[] = []
    let after: string | undefined
    do {
      const page = await listMessages(mongo.db, 'usr_3', filters, { limit: 2, after })
      walked.push(...page.messages.map(({ _id }) => _id))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(walked).toEqual(created.map(({ _id }) => _id).toReversed())
    expect(await countMessages(mongo.db, 'usr_3', filters)).toEqual({ count: 5, more: false })
    await collectionOf(mongo.db, MESSAGES).deleteMany({ user_id: 'usr_3' })
  })

  test('pages go on where the last one ended', async () => {
    const all = failed(({ status }) => status === 'bounced')
    const walked: string[] = []
    let after: string | undefined
    do {
      const page = await listMessages(mongo.db, 'usr_1', { status: 'bounced' }, { limit: 7, after })
      walked.push(...page.messages.map(({ _id }) => _id))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(walked).toEqual(all)
  })

  test('a filter beside the index looks at a bounded number of messages and goes on', async () => {
    const filters: LogFilters = { status: 'bounced', source: 'smtp' }
    const first = await listMessages(mongo.db, 'usr_1', filters, { limit: 5 }, { scan: 10 })
    expect(first).toEqual({ messages: [], next: failed(({ status }) => status === 'bounced')[9] })
  })
})

describe('a count', () => {
  test.each<[string, LogFilters, { count: number; more: boolean }]>([
    ['of more than a thousand ends there', {}, { count: 1_000, more: true }],
    ['of a status is exact', { status: 'bounced' }, { count: 30, more: false }],
    ['of nothing is zero', { reason: 'size', status: 'failed' }, { count: 0, more: false }],
    ['keeps to the period', { since: new Date(START), until: new Date(START + 600_000) }, { count: 10, more: false }],
  ])('%s', async (_what, filters, counted) => {
    expect(await countMessages(mongo.db, 'usr_1', filters)).toEqual(counted)
  })

  test('that could not look at everything says that there may be more', async () => {
    expect(await countMessages(mongo.db, 'usr_1', { source: 'system' }, { scan: 100 })).toEqual({
      count: 0,
      more: true,
    })
  })
})

describe('an export', () => {
  test('has each message once, over several parts', async () => {
    const filters: LogFilters = { submitted_with: 'key_even' }
    const seen: string[] = []
    let after: string | undefined
    do {
      const { ids: part, next } = await idsToExport(mongo.db, 'usr_1', filters, { limit: 1_100, after })
      for await (const { _id } of messagesOf(mongo.db, 'usr_1', part)) seen.push(_id)
      after = next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(ids.filter((_, n) => n % 2 === 0).toReversed())
  })

  test('leaves out what was removed in the meantime, and messages of others', async () => {
    const wanted = [ids[9] ?? '', newId('em', START), template._id, ids[3] ?? '']
    const read: string[] = []
    for await (const { _id } of messagesOf(mongo.db, 'usr_1', wanted)) read.push(_id)
    expect(read).toEqual([ids[9], ids[3]])
  })
})
