import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineKind, immutable, listOf, setOf, time, withRules } from './kind.ts'
import { describeKinds } from './reference-document.ts'

const Thing = defineKind({
  kind: 'Thing',
  plural: 'things',
  shortNames: ['th'],
  description: 'A thing.',
  spec: withRules(
    z.object({
      key: immutable(z.string().max(9), 'key').describe('One | two.'),
      mode: z.enum(['On', 'Off']).default('On').describe('How.'),
      size: z.int().min(1).max(5).optional().describe('How big.'),
      tags: setOf(z.string().max(9), 3).prefault([]).describe('Tags.'),
      parts: listOf(z.object({ weight: z.int().describe('Grams.') }), 2)
        .optional()
        .describe('Parts.'),
    }),
    { rule: "self.mode != 'Off' || !has(self.size)", message: 'what is off has no size' },
  ),
  status: z.object({ seen: time.optional().describe('When.') }),
  columns: [],
})

const page = describeKinds([Thing])
const rowOf = (field: string) => page.split('\n').find(line => line.startsWith(`| \`${field}\``))

test.each([
  ['spec.key', '| `spec.key` (required) | string, at most 9 |  | One \\| two. Cannot be changed. |'],
  ['spec.mode', '| `spec.mode` | On, Off | `"On"` | How. |'],
  ['spec.size', '| `spec.size` | integer 1 to 5 |  | How big. |'],
  ['spec.tags', '| `spec.tags` | list, at most 3 | `[]` | Tags. |'],
  ['spec.parts', '| `spec.parts` | list, at most 2 |  | Parts. |'],
  ['spec.parts[].weight', '| `spec.parts[].weight` (required) | integer |  | Grams. |'],
  ['status.seen', '| `status.seen` | time |  | When. |'],
])('%s has its row', (field, row) => {
  expect(rowOf(field)).toBe(row)
})

test('rules of the API server beyond the types are listed below, unless the rows contain them', () => {
  expect(page).toContain('The API server also checks:\n\n- what is off has no size\n')
  expect(page).not.toContain('- key cannot be changed')
})

test('kinds are listed with their short names', () => {
  expect(page).toContain('[Thing](#thing) (`th`)')
})
