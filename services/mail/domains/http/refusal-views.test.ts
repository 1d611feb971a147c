import { expect, test } from 'vitest'
import { DAY_MS } from '../../../platform/durations.ts'
import { addRefusals } from '../rules/authentication-refusals.ts'
import { showRefusals } from './refusal-views.ts'

const now = new Date('2026-11-21T10:00:00Z')
const refusals = addRefusals(
  [],
  [
    { site: 'google', code: 550, enhanced: '5.7.26', text: '550 5.7.26 DMARC policy', last_at: now, count: 2 },
    { site: 'b.example', text: 'SPF failed', last_at: new Date(now.getTime() - 2 * DAY_MS), count: 1 },
  ],
  now,
)

test('refusals are shown with counts and advice, latest first', () => {
  expect(showRefusals({ authentication: { revision: 'r', last_at: now, refusals } }, now)).toMatchObject([
    {
      site: 'google',
      smtp_code: 550,
      enhanced_code: '5.7.26',
      reply: '550 5.7.26 DMARC policy',
      advice_code: 'authentication.fix_alignment',
      last_24_hours: 2,
      last_7_days: 2,
      last_at: '2026-11-21T10:00:00.000Z',
    },
    { site: 'b.example', smtp_code: null, enhanced_code: null, last_24_hours: 0, last_7_days: 1 },
  ])
})

test('a domain without refusals, and one with old ones only, shows none', () => {
  expect(showRefusals({}, now)).toEqual([])
  const later = new Date(now.getTime() + 8 * DAY_MS)
  expect(showRefusals({ authentication: { revision: 'r', last_at: now, refusals } }, later)).toEqual([])
})
