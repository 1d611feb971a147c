import { expect, test } from 'vitest'
import { type LabelSelector, selects } from './namespace-selector.ts'

const labels = { team: 'shop', mail: 'yes', empty: '' }
const expression = (key: string, operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
})

test.each<[string, LabelSelector, boolean]>([
  ['nothing is asked', {}, true],
  ['a label has the value', { matchLabels: { team: 'shop' } }, true],
  ['a label has another value', { matchLabels: { team: 'bank' } }, false],
  ['one of two labels is missing', { matchLabels: { team: 'shop', tier: 'gold' } }, false],
  ['a label is empty, as asked', { matchLabels: { empty: '' } }, true],
  ['a label is missing where an empty one is asked', { matchLabels: { absent: '' } }, false],
  ['a name of every object is asked', { matchLabels: { constructor: 'Object' } }, false],
  ['the value is listed', expression('team', 'In', 'bank', 'shop'), true],
  ['the value is not listed', expression('team', 'In', 'bank'), false],
  ['the label is missing for In', expression('tier', 'In', 'gold'), false],
  ['the value is excluded', expression('team', 'NotIn', 'shop'), false],
  ['the value is not excluded', expression('team', 'NotIn', 'bank'), true],
  ['the label is missing for NotIn', expression('tier', 'NotIn', 'gold'), true],
  ['the label exists', expression('mail', 'Exists'), true],
  ['the label does not exist', expression('tier', 'Exists'), false],
  ['the label exists and should not', expression('mail', 'DoesNotExist'), false],
  ['the label does not exist, as asked', expression('tier', 'DoesNotExist'), true],
  [
    'labels fit and an expression does not',
    { matchLabels: { team: 'shop' }, ...expression('mail', 'In', 'no') },
    false,
  ],
])('%s', (_, selector, expected) => {
  expect(selects(selector, labels)).toBe(expected)
})
