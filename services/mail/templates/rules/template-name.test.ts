import { expect, test } from 'vitest'
import { isTemplateName } from './template-name.ts'

test.each([
  ['welcome', true],
  ['a', true],
  ['2026.order_paid-v2', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['', false],
  ['-a', false],
  ['Welcome', false],
  ['a b', false],
  ['tpl_1', false],
  ['preview', false],
  ['previews', true],
])('%j: %s', (name, expected) => {
  expect(isTemplateName(name)).toBe(expected)
})
