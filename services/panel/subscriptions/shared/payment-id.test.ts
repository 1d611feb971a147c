import { expect, test } from 'vitest'
import { isUnpaid } from './payment-id.ts'

test.each([
  ['0', true],
  ['0000000000000000', true],
  ['4200001', false],
  ['0000000000000001', false],
  ['', false],
])('%j is of what was not paid: %s', (id, unpaid) => expect(isUnpaid(id)).toBe(unpaid))
