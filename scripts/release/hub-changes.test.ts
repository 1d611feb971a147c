/** Changes of a release in the format of Artifact Hub. */
import { expect, test } from 'vitest'
import type { Category } from './changelog.ts'
import { changesOf } from './hub-changes.ts'

const entry = (text: string, category: Category = 'Added') => ({ category, lines: text.split('\n') })

test.each([
  ['one sentence.', 'one sentence.'],
  ['The first. The second.', 'The first.'],
  ['A file e.g. x.ts, version 1.2.3 and more. `next` follows.', 'A file e.g. x.ts, version 1.2.3 and more.'],
  ['Without an end', 'Without an end'],
  ['Over two\nlines. More.', 'Over two lines.'],
])('%j is described as %j', (text, description) => {
  expect(changesOf([entry(text)])).toEqual([{ kind: 'added', description }])
})

test('a long sentence ends at a word', () => {
  const [change] = changesOf([entry(`${'word '.repeat(80)}end.`)])
  expect(change?.description).toMatch(/^(word )+…$/)
  expect(change?.description.length).toBeLessThanOrEqual(202)
})

test('kinds are those of Artifact Hub', () => {
  const categories = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'] as const
  const kinds = changesOf(categories.map(category => entry('A.', category))).map(({ kind }) => kind)
  expect(kinds).toEqual(['added', 'changed', 'deprecated', 'removed', 'fixed', 'security'])
})

test('a hundred changes are listed, and the number of the others', () => {
  expect(changesOf(Array.from({ length: 100 }, () => entry('A.')))).toHaveLength(100)
  const changes = changesOf(Array.from({ length: 103 }, () => entry('A.')))
  expect(changes).toHaveLength(101)
  expect(changes.at(-1)?.description).toBe('3 more changes: see the changelog')
})
