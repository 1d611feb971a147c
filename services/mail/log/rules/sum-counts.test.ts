import { expect, test } from 'vitest'
import { breakdownOf, type PeriodCounts, sumCounts } from './sum-counts.ts'

const period = (change: Partial<PeriodCounts>): PeriodCounts => ({
  messages: 0,
  recipients: {},
  domains: [],
  ...change,
})
const by = (tags: Record<string, number>) => ({
  ...{ reasons: [], senders: [], submitters: [] },
  tags: Object.entries(tags).map(([name, delivered]) => ({ name, recipients: { delivered } })),
})

test('periods are added by status and by name', () => {
  const sum = sumCounts(
    [
      period({ messages: 2, recipients: { delivered: 2 }, domains: [{ domain: 'a', recipients: { delivered: 2 } }] }),
      period({ messages: 1, recipients: { bounced: 3 }, domains: [{ domain: 'a', recipients: { bounced: 3 } }] }),
    ],
    5,
  )
  expect(sum).toEqual({
    messages: 3,
    recipients: { delivered: 2, bounced: 3 },
    domains: [{ domain: 'a', recipients: { delivered: 2, bounced: 3 } }],
    by: { reasons: [], senders: [], submitters: [], tags: [] },
  })
})

test.each([
  ['the busiest come first', [{ a: 1, b: 5 }, { a: 2 }], 9, ['b', 'a']],
  ['equal ones are in the order of their names', [{ b: 1 }, { a: 1 }], 9, ['a', 'b']],
  ['at most so many are kept, after the addition', [{ a: 2, b: 3, c: 1 }, { c: 9 }], 2, ['c', 'b']],
  ['nothing is nothing', [], 2, []],
])('%s', (_what, tags, most, names) => {
  const parts = tags.map(counts => period({ by: by(counts as Record<string, number>) }))
  expect(breakdownOf(parts, most).tags.map(({ name }) => name)).toEqual(names)
})

test('counts of earlier releases have no other dimensions', () => {
  expect(breakdownOf([period({}), period({ by: by({ a: 1 }) })], 5).tags).toEqual([
    { name: 'a', recipients: { delivered: 1 } },
  ])
})
