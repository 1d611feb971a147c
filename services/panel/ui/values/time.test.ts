/** Relative times in both languages, at the limits of units. */
import { expect, test } from 'vitest'
import { exactTime, relativeTime } from './time.tsx'

const now = Date.parse('2026-11-21T12:00:00Z')
const MINUTE = 60_000
const DAY = 86_400_000

test.each([
  [0, 'en', 'now'],
  [-59_000, 'en', '59 seconds ago'],
  [-MINUTE, 'en', '1 minute ago'],
  [-59 * MINUTE, 'en', '59 minutes ago'],
  [-60 * MINUTE, 'en', '1 hour ago'],
  [-DAY, 'en', 'yesterday'],
  [-29 * DAY, 'en', '29 days ago'],
  [-60 * DAY, 'en', '2 months ago'],
  [-800 * DAY, 'en', '2 years ago'],
  [5 * MINUTE, 'en', 'in 5 minutes'],
  [-3 * MINUTE, 'zh-CN', '3分钟前'],
  [-DAY, 'zh-CN', '昨天'],
  // Rounds up to the next unit instead of "60 minutes" or "24 hours".
  [-59_499, 'en', '59 seconds ago'],
  [-59_501, 'en', '1 minute ago'],
  [59_999, 'en', 'in 1 minute'],
  [-59.4 * MINUTE, 'en', '59 minutes ago'],
  [-59.9 * MINUTE, 'en', '1 hour ago'],
  [-23.4 * 60 * MINUTE, 'en', '23 hours ago'],
  [-23.9 * 60 * MINUTE, 'en', 'yesterday'],
  [23.9 * 60 * MINUTE, 'zh-CN', '明天'],
  [-29.9 * DAY, 'en', 'last month'],
  [-350 * DAY, 'en', 'last year'],
  [-364 * DAY, 'zh-CN', '去年'],
])('%i ms from now is, in %s, "%s"', (offset, language, words) => {
  expect(relativeTime(now + offset, now, language)).toBe(words)
})

test('the exact time is in the chosen time zone and names it', () => {
  expect(exactTime(now, { language: 'en', timeZone: 'Asia/Shanghai' })).toMatch(/Nov 21, 2026.* 8:00:00\sPM GMT\+8/)
  expect(exactTime(now, { language: 'en', timeZone: 'UTC' })).toMatch(/12:00:00\sPM UTC$/)
  expect(exactTime(now, { language: 'zh-CN', timeZone: 'Asia/Shanghai' })).toBe('2026年11月21日 20:00:00 GMT+8')
  expect(exactTime(now, { language: 'zh-CN', timeZone: 'UTC' })).toBe('2026年11月21日 12:00:00 UTC')
})
