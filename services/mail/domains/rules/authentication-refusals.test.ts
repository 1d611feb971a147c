import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'
import {
  addRefusals,
  currentRefusals,
  type NewRefusals,
  refusalCounts,
  withoutDelivered,
} from './authentication-refusals.ts'

const NOW = new Date('2026-11-21T10:30:00Z')
const ago = (ms: number) => new Date(NOW.getTime() - ms)
const refused = (site: string, last_at = NOW, more: Partial<NewRefusals> = {}): NewRefusals => ({
  ...{ site, text: '550 5.7.26 no', code: 550, enhanced: '5.7.26', last_at, count: 1 },
  ...more,
})

describe('addRefusals', () => {
  test('keeps the latest reply of a site and counts all', () => {
    const first = addRefusals([], [refused('google', ago(HOUR_MS), { count: 3 })], NOW)
    const second = addRefusals(first, [refused('google', NOW, { code: 421, enhanced: '4.7.27', text: 'spf' })], NOW)
    expect(second).toMatchObject([{ site: 'google', code: 421, enhanced: '4.7.27', text: 'spf', last_at: NOW }])
    expect(second.map(refusal => refusalCounts(refusal, NOW))).toEqual([{ day: 4, week: 4 }])
  })

  test('what another worker saw later is not replaced by what is written later', () => {
    const later = addRefusals([], [refused('google', NOW, { text: 'later' })], NOW)
    const both = addRefusals(later, [refused('google', ago(DAY_MS), { text: 'earlier', count: 2 })], NOW)
    expect(both).toMatchObject([{ text: 'later', last_at: NOW }])
    expect(both.map(refusal => refusalCounts(refusal, NOW))).toEqual([{ day: 1, week: 3 }])
  })

  test('counts of earlier days leave with time', () => {
    const known = addRefusals([], [refused('google', ago(6 * DAY_MS), { count: 5 })], ago(6 * DAY_MS))
    const now = addRefusals(known, [refused('google')], NOW)
    expect(now.map(refusal => refusalCounts(refusal, NOW))).toEqual([{ day: 1, week: 6 }])
    const tomorrow = new Date(NOW.getTime() + DAY_MS)
    expect(now.map(refusal => refusalCounts(refusal, tomorrow))).toEqual([{ day: 0, week: 1 }])
  })

  test('a long reply is cut', () => {
    expect(addRefusals([], [refused('google', NOW, { text: 'x'.repeat(5_000) })], NOW)[0]?.text).toHaveLength(500)
  })

  test('a refusal without codes has none', () => {
    const [refusal] = addRefusals([], [{ site: 'a.example', text: 'no', last_at: NOW, count: 1 }], NOW)
    expect(Object.keys(refusal ?? {})).not.toContain('code')
  })

  test('however many come, sites and counts are bounded, and nothing of the last day is lost from the counts of a site', () => {
    const time = fc.integer({ min: 0, max: 30 * DAY_MS }).map(ms => new Date(NOW.getTime() - 30 * DAY_MS + ms))
    const one = fc.tuple(fc.nat(40), time, fc.integer({ min: 1, max: 9 }))
    fc.assert(
      fc.property(fc.array(one, { maxLength: 200 }), given => {
        const sorted = given.toSorted(([, a], [, b]) => a.getTime() - b.getTime())
        let known = currentRefusals([], NOW)
        for (const [site, at, count] of sorted) known = addRefusals(known, [refused(`s${site}`, at, { count })], at)
        expect(known.length).toBeLessThanOrEqual(20)
        for (const refusal of known) {
          expect(refusal.hours.length).toBeLessThanOrEqual(26)
          expect(refusal.days.length).toBeLessThanOrEqual(9)
        }
        const [latest] = currentRefusals(known, NOW)
        if (!latest) return
        const day = sorted.filter(([site, at]) => `s${site}` === latest.site && at > ago(DAY_MS - HOUR_MS))
        expect(refusalCounts(latest, NOW).day).toBeGreaterThanOrEqual(day.reduce((sum, [, , count]) => sum + count, 0))
      }),
    )
  })
})

test('a delivery removes the earlier refusals of its site only', () => {
  const known = addRefusals([], [refused('google', ago(5)), refused('yahoo', ago(5)), refused('apple', NOW)], NOW)
  const delivered = new Map([
    ['google', ago(1)],
    ['apple', ago(1)],
  ])
  expect(withoutDelivered(known, delivered).map(({ site }) => site)).toEqual(['apple', 'yahoo'])
})

test('a refusal is shown for seven days', () => {
  const known = addRefusals([], [refused('google', NOW)], NOW)
  expect(currentRefusals(known, new Date(NOW.getTime() + 7 * DAY_MS - 1))).toHaveLength(1)
  expect(currentRefusals(known, new Date(NOW.getTime() + 7 * DAY_MS))).toEqual([])
})
