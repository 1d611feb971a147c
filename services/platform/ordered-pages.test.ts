import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { databaseForThisTest } from '../../test/support/database/test-database.ts'
import * as field from './database/fields.ts'
import { defineModel, modelOf } from './database/models.ts'
import { readOrdered } from './database/read-page.ts'
import { cursorOf, listOrders, orderedPage, orderedPageOf, orderedPageQuery, toOrderedPage } from './ordered-pages.ts'

const ORDERS = listOrders('desc', { created_at: ['_id'], email: ['email', 'stream'] })
const query = orderedPageQuery(ORDERS, { reason: z.string().optional() }, /^[a-z@.0-9]*$/)

describe('the query', () => {
  test.each([
    [{}, { limit: 20, sort: 'created_at' }],
    [{ sort: 'email' }, { limit: 20, sort: 'email' }],
    [
      { order: 'asc', limit: '5', reason: 'x' },
      { limit: 5, sort: 'created_at', order: 'asc', reason: 'x' },
    ],
  ])('%j is read', (given, read) => {
    expect(query.parse(given)).toEqual(read)
  })

  const named = (sort: 'created_at' | 'email', order: 'asc' | 'desc', ...values: string[]) =>
    cursorOf(ORDERS, { sort, order }, values)

  test.each<[string, object, string, string]>([
    ['an unknown column', { sort: 'size' }, 'sort', ''],
    ['an unknown direction', { order: 'up' }, 'order', ''],
    ['an unknown filter', { from: 'x' }, '', ''],
    ['an id in the other direction', { order: 'asc', after: 'a1' }, 'after', 'field.cursor_order'],
    ['an id in another column', { sort: 'email', after: 'a1' }, 'after', 'field.cursor_order'],
    ['a cursor without its order', { after: named('created_at', 'asc', 'a1') }, 'after', 'field.cursor_order'],
    [
      'a cursor of the other direction',
      { sort: 'email', order: 'desc', after: named('email', 'asc', 'a', '') },
      'after',
      'field.cursor_order',
    ],
    ['a cursor of no column', { after: 'size.asc.WyJhIl0' }, 'after', 'field.cursor'],
    ['too few values', { sort: 'email', after: named('email', 'asc', 'a') }, 'after', 'field.cursor'],
    ['no JSON', { sort: 'email', after: 'email.asc.AAAA' }, 'after', 'field.cursor'],
    ['an operator', { sort: 'email', after: `email.asc.${encode([{ $gt: '' }, 'x'])}` }, 'after', 'field.cursor'],
    ['a long value', { sort: 'email', after: `email.asc.${encode(['x'.repeat(513), ''])}` }, 'after', 'field.cursor'],
    ['a value of another form', { after: 'A1' }, 'after', 'field.cursor'],
  ])('%s is refused', (_, given, path, message) => {
    const { error } = query.safeParse(given)
    expect(error?.issues[0]?.path.join('.')).toBe(path)
    if (message !== '') expect(error?.issues[0]?.message).toBe(message)
  })
})

function encode(values: unknown): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

const ROWS = defineModel('ordered_rows', { _id: field.text, email: field.text, stream: field.text })
ROWS.schema.index({ email: 1, stream: 1 }, { unique: true })

/** By time: a b c d e f; by address and stream: c a f b e d. */
const ROW_DATA = [
  ['a', 'ada@x', ''],
  ['b', 'bob@x', ''],
  ['c', 'ada', ''],
  ['d', 'eve@x', ''],
  ['e', 'bob@x', 'news'],
  ['f', 'ada@x', 'news'],
].map(([_id = '', email = '', stream = '']) => ({ _id, email, stream }))

test.each([
  [{}, 'fedcba'],
  [{ order: 'asc' }, 'abcdef'],
  [{ sort: 'email' }, 'cafbed'],
  [{ sort: 'email', order: 'desc' }, 'debfac'],
] as const)('pages of every length in the order %j have each row once', async (wanted, expected) => {
  const { db } = await databaseForThisTest()
  const rows = modelOf(db, ROWS)
  await rows.insertMany(ROW_DATA)
  for (const limit of [1, 2, 5, 6, 7]) {
    const seen: string[] = []
    let after: string | null | undefined
    do {
      const asked = query.parse({ ...wanted, limit, ...(after && { after }) })
      const found = await readOrdered(rows, {}, orderedPage(ORDERS, asked))
      const page = orderedPageOf(z.string()).parse(toOrderedPage(ORDERS, asked, found, ({ _id }) => _id))
      expect(page.has_more).toBe(page.next !== null)
      seen.push(...page.data)
      after = page.next
    } while (after)
    expect(seen.join('')).toBe(expected)
  }
})

test('a cursor whose row was removed keeps its place', async () => {
  const { db } = await databaseForThisTest()
  const rows = modelOf(db, ROWS)
  await rows.insertMany(ROW_DATA.filter(({ _id }) => _id !== 'f'))
  const after = cursorOf(ORDERS, { sort: 'email', order: 'asc' }, ['ada@x', 'news'])
  const found = await readOrdered(rows, {}, orderedPage(ORDERS, query.parse({ sort: 'email', after })))
  expect(found.map(({ _id }) => _id)).toEqual(['b', 'e', 'd'])
})

test('in the default order the cursor is the id of the last item', () => {
  expect(cursorOf(ORDERS, { sort: 'created_at' }, ['key_1'])).toBe('key_1')
})
