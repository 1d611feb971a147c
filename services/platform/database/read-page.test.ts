import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { collectionOf, defineCollection } from './mongo.ts'
import { afterPosition, readPage } from './read-page.ts'

interface Row {
  _id: string
  owner: string
  at: Date
}

/** Rows a to e, of which c belongs to another owner; b and d are of one moment. */
async function withRows() {
  const { db } = await databaseForThisTest()
  const rows = collectionOf(db, defineCollection<Row>('rows'))
  const second = (n: number) => new Date(n * 1000)
  const moments = { d: 2, a: 1, e: 4, b: 2, c: 3 }
  const docs = Object.entries(moments).map(([_id, at]) => ({
    _id,
    owner: _id === 'c' ? 'other' : 'me',
    at: second(at),
  }))
  await rows.insertMany(docs)
  return { rows, second }
}

test.each<[string, string | undefined, number, 'oldest first' | 'newest first' | undefined, string]>([
  ['a page and one more', undefined, 2, undefined, 'abd'],
  ['all of them', undefined, 4, 'oldest first', 'abde'],
  ['what follows', 'b', 2, 'oldest first', 'de'],
  ['what follows an id that is gone', 'c', 2, 'oldest first', 'de'],
  ['nothing behind the last', 'e', 2, 'oldest first', ''],
  ['the newest', undefined, 2, 'newest first', 'edb'],
  ['what is older', 'd', 2, 'newest first', 'ba'],
])('by id: %s', async (_, after, limit, order, expected) => {
  const { rows } = await withRows()
  const page = await readPage(rows, { owner: 'me' }, { after, limit }, order)
  expect(page.map(({ _id }) => _id).join('')).toBe(expected)
})

test.each([
  ['behind the newest', 4, 'e', 'cdba'],
  ['amid rows of one moment', 2, 'd', 'ba'],
  ['behind the last of a moment', 2, 'b', 'a'],
  ['behind a row that is gone', 3, 'b', 'dba'],
  ['behind the oldest', 1, 'a', ''],
])('by moment and id: %s', async (_, at, id, expected) => {
  const { rows, second } = await withRows()
  const found = await rows
    .find(afterPosition<Row>({ at: second(at), id }, 'at'))
    .sort({ at: -1, _id: -1 })
    .toArray()
  expect(found.map(({ _id }) => _id).join('')).toBe(expected)
})
