import { describe, expect, test } from 'vitest'
import { endingDay, REMINDERS, type ReminderFacts, type ReminderKind, reminderText } from './reminder.ts'

const kind = (name: ReminderKind['name']): ReminderKind => {
  const found = REMINDERS.find(one => one.name === name)
  if (!found) throw new Error(`no reminder ${name}`)
  return found
}
const facts: ReminderFacts = {
  appName: 'Shop',
  planName: 'Pro',
  nickname: 'Ann',
  end: '2026-11-29 00:00:00',
  price: '19.90',
}

test.each([
  ['ends_in_7', '2026-11-22', '2026-11-29'],
  ['ends_in_3', '2026-02-27', '2026-03-02'],
  ['ends_in_3', '2028-02-27', '2028-03-01'],
  ['ends_in_1', '2026-12-31', '2027-01-01'],
  ['renews_in_5', '2026-11-30', '2026-12-05'],
] as const)('%s: on %s those are reminded who end on %s', (name, today, day) => {
  expect(endingDay(today, kind(name))).toBe(day)
})

test('those who renew themselves hear once, five days before; the others three times', () => {
  expect(REMINDERS.filter(({ autoRenew }) => autoRenew).map(({ days }) => days)).toEqual([5])
  expect(REMINDERS.filter(({ autoRenew }) => !autoRenew).map(({ days }) => days)).toEqual([7, 3, 1])
  expect(new Set(REMINDERS.map(({ name }) => name)).size).toBe(REMINDERS.length)
})

describe('the text of a reminder', () => {
  test.each(REMINDERS)('$name: in both languages the plan, the end and, of a renewal, the price', reminder => {
    const { subject, text } = reminderText(reminder, facts)
    const [zh = '', en = ''] = text.split('--')
    for (const part of [zh, en]) {
      expect(part).toContain('Pro')
      expect(part).toContain('2026-11-29 00:00:00')
      expect(part).toContain('Ann')
      expect(part.includes('19.90')).toBe(reminder.autoRenew)
    }
    expect(subject).toMatch(/^\[Shop\] /)
  })

  test('how to end such mail, where that can be', () => {
    const stopUrl = 'https://example.com/stop?t=1'
    expect(reminderText(kind('ends_in_7'), { ...facts, stopUrl }).text).toContain(`\n${stopUrl}\n`)
    expect(reminderText(kind('ends_in_7'), facts).text).not.toContain('No more reminders')
  })

  test('has no placeholder for a user without a name', () => {
    const { text } = reminderText(kind('ends_in_7'), { ...facts, nickname: '' })
    expect(text).toContain('您好，\n')
    expect(text).toContain('Hello,\n')
  })

  test.each(['Shop\r\nBcc: all@example.com', 'Shop\nX: y', 'Shop\rX', 'a\tb'])(
    'in one line of subject: %j',
    appName => {
      expect(reminderText(kind('renews_in_5'), { ...facts, appName }).subject).not.toMatch(/[\r\n\t]/)
    },
  )
})
