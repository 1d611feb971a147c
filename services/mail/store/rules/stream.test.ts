import { expect, test } from 'vitest'
import { LIST_NAME, streamName } from './stream.ts'

test.each([
  [{ lane: 'transactional' }, 'transactional'],
  [{ lane: 'bulk' }, 'bulk'],
  [{ lane: 'bulk', list: 'weekly' }, 'bulk/weekly'],
  [{ lane: 'system' }, 'system'],
] as const)('%j is %s', (message, name) => expect(streamName(message)).toBe(name))

test.each<[string, boolean]>([
  ['weekly', true],
  ['0', true],
  ['a.b-c_d', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['', false],
  ['.a', false],
  ['A', false],
  ['a b', false],
  ['a/b', false],
  ['a\nb', false],
  ['ä', false],
])('the name %j is valid: %s', (name, valid) => expect(LIST_NAME.test(name)).toBe(valid))
