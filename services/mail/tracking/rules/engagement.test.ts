import { expect, test } from 'vitest'
import { type Engagement, mostEvents } from './engagement.ts'

test.each<[Engagement['kind'], number, number]>([
  ['opened', 1, 50],
  ['clicked', 1, 200],
  ['clicked', 25, 200],
  ['clicked', 50, 100],
  ['opened', 100, 50],
  ['opened', 500, 10],
  ['clicked', 500, 10],
  ['clicked', 10_000, 2],
])('%s events of one of %i recipients: at most %i', (kind, recipients, most) => {
  expect(mostEvents(kind, recipients)).toBe(most)
})
