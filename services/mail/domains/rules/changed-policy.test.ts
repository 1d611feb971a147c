import { expect, test } from 'vitest'
import { isPolicyChanged } from './changed-policy.ts'

const ours = [{ row: 'dmarc', value: 'v=DMARC1; p=none' }]

test.each<[string, { row: string; value: string }[] | undefined, string[] | undefined, boolean]>([
  ['as it was written', ours, ['v=DMARC1; p=none'], false],
  ['with another policy', ours, ['v=DMARC1; p=reject'], true],
  ['next to a second one', ours, ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], true],
  ['next to a text of another kind', ours, ['v=DMARC1; p=none', 'site-verification=1'], false],
  ['that is gone', ours, [], false],
  ['that was never checked', ours, undefined, false],
  ['that we did not write', [{ row: 'spf', value: 'v=spf1 ~all' }], ['v=DMARC1; p=reject'], false],
  ['of a domain without records of ours', undefined, ['v=DMARC1; p=reject'], false],
])('a DMARC record %s', (_what, owned, observed, expected) => {
  expect(isPolicyChanged(owned, observed && [{ row: 'dmarc', observed }])).toBe(expected)
})
