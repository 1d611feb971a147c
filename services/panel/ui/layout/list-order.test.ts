import { expect, test } from 'vitest'
import { NAMED_LIST, NEWEST_FIRST, type OrderedSearch, orderedSearch, tableOrder } from './list-order.ts'

test.each<[object, object]>([
  [{}, {}],
  [{ after: 'dom_1' }, { after: 'dom_1' }],
  [
    { sort: 'name', order: 'desc', after: 'x' },
    { sort: 'name', order: 'desc', after: 'x' },
  ],
  [{ sort: 'created_at', order: 'asc' }, {}],
  [{ sort: 'name', order: 'asc' }, { sort: 'name' }],
  [{ sort: 'size', order: 'up', other: 'x' }, {}],
  [{ order: ['asc'] }, {}],
])('the address %j is read as %j', (raw, read) => {
  expect(orderedSearch(NAMED_LIST)(raw as Record<string, unknown>)).toEqual(read)
})

test.each<[object, string, string]>([
  [{}, 'created_at', 'asc'],
  [{ order: 'desc' }, 'created_at', 'desc'],
  [{ sort: 'name' }, 'name', 'asc'],
  [{ sort: 'name', order: 'desc' }, 'name', 'desc'],
])('the order of %j', (search, column, direction) => {
  expect(tableOrder(NAMED_LIST, search as OrderedSearch<'name'>, () => undefined)).toMatchObject({ column, direction })
})

test.each<[string, 'asc' | 'desc', object]>([
  ['created_at', 'desc', { user: 'usr_1' }],
  ['created_at', 'asc', { user: 'usr_1', order: 'asc' }],
  ['unknown', 'asc', { user: 'usr_1', order: 'asc' }],
])('by %s, %s: the filters stay and the cursor goes', (column, direction, expected) => {
  const shown: object[] = []
  const search = { user: 'usr_1', after: 'dom_1', order: 'asc' as const }
  tableOrder(NEWEST_FIRST, search, next => shown.push(next)).set(column, direction)
  expect(shown).toEqual([expected])
})
