import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import * as field from './fields.ts'
import { type DocumentOf, defineModel, modelOf } from './models.ts'
import { collectionOf } from './mongo.ts'
import { afterPosition, readPage } from './read-page.ts'

const ROWS = defineModel('rows', { _id: field.text, owner: field.text, at: field.date })

/** Rows a to e, of which c belongs to another owner; b and d are of one moment. */
async function withRows() {
  const { db } = await databaseForThisTest()
  const rows = modelOf(db, ROWS)
  const second = (n: number) => new Date(n * 1000)
  const moments = { d: 2, a: 1, e: 4, b: 2, c: 3 }
  const docs = Object.entries(moments).map(([_id, at]) => ({
    _id,
    owner: _id === 'c' ? 'other' : 'me',
    at: second(at),
  }))
  await rows.insertMany(docs)
  return { rows, collection: collectionOf(db, ROWS), second }
}

test.each<[string, string | undefined, number, 'oldest first' | 'newest first' | undefined, string]>([
  ['a page and one more', undefined, 2, undefined, 'abd'],
  ['all of them', undefined, 4, 'oldest first', 'abde'],
  ['what follows', 'b', 2, 'oldest first', 'de'],
  ['what follows an id that is gone', 'c', 2, 'oldest first', 'de'],
  ['nothing after the last', 'e', 2, 'oldest first', ''],
  ['the newest', undefined, 2, 'newest first', 'edb'],
  ['what is older', 'd', 2, 'newest first', 'ba'],
])('by id: %s', async (_, after, limit, order, expected) => {
  const { rows } = await withRows()
  const page = await readPage(rows, { owner: 'me' }, { after, limit }, order)
  expect(page.map(({ _id }) => _id).join('')).toBe(expected)
})

test.each([
  ['after the newest', 4, 'e', 'cdba'],
  ['amid rows of one moment', 2, 'd', 'ba'],
  ['after the last of a date', 2, 'b', 'a'],
  ['after a deleted row', 3, 'b', 'dba'],
  ['after the oldest', 1, 'a', ''],
])('by moment and id: %s', async (_, at, id, expected) => {
  const { collection, second } = await withRows()
  const found = await collection
    .find(afterPosition<DocumentOf<typeof ROWS>>({ at: second(at), id }, 'at'))
    .sort({ at: -1, _id: -1 })
    .toArray()
  expect(found.map(({ _id }) => _id).join('')).toBe(expected)
})
