import { expect, test } from 'vitest'
import { changesOf } from './revision-changes.ts'

test.each([
  ['a changed field', { price: '1.00' }, { price: '2.00' }, [{ field: 'price', from: '1.00', to: '2.00' }]],
  ['a field that came', {}, { title: 'New' }, [{ field: 'title', from: null, to: 'New' }]],
  ['a field that went', { title: 'Old' }, { title: '' }, [{ field: 'title', from: 'Old', to: '–' }]],
  ['a number beside its text', { rollout: 5 }, { rollout: 50 }, [{ field: 'rollout', from: '5', to: '50' }]],
  ['what changes always', { version: 1, updated_at: 'a', _id: 1 }, { version: 2, updated_at: 'b', _id: 2 }, []],
  ['equal lists', { logs: [{ a: 1 }] }, { logs: [{ a: 1 }] }, []],
  ['two empty words', { a: null }, { a: '' }, []],
])('%s', (_, before, after, changes) => {
  expect(changesOf(before, after)).toEqual(changes)
})

test('fields stand in the order of their names, whichever side has them', () => {
  expect(changesOf({ b: '1', c: '1' }, { a: '2', b: '2' }).map(({ field }) => field)).toEqual(['a', 'b', 'c'])
})
