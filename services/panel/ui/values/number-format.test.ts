/** Number formats of both languages, at the limits of units. */
import { describe, expect, test } from 'vitest'
import { formatters } from './number-format.ts'

const en = formatters('en')
const zh = formatters('zh-CN')

test.each([
  [0, '0'],
  [999, '999'],
  [12_345, '12,345'],
  [-1200, '-1,200'],
])('%d is the number %s', (value, text) => {
  expect(en.number(value)).toBe(text)
  expect(zh.number(value)).toBe(text)
})

test.each([
  [0, '0%'],
  [0.000_04, '0%'],
  [0.0312, '3.12%'],
  [0.0999, '9.99%'],
  // One decimal from 10 % on.
  [0.1234, '12.3%'],
  [1, '100%'],
])('%d is %s', (share, text) => {
  expect(en.percent(share)).toBe(text)
  expect(zh.percent(share)).toBe(text)
})

test.each([
  [0, '0 byte', '0 byte'],
  [999, '999 byte', '999 byte'],
  [1000, '1 kB', '1 kB'],
  [34_560, '34.6 kB', '34.6 kB'],
  [999_999, '1,000 kB', '1,000 kB'],
  [1_000_000, '1 MB', '1 MB'],
  [26_214_400, '26.2 MB', '26.2 MB'],
])('%d bytes are %s', (value, english, chinese) => {
  expect(en.bytes(value)).toBe(english)
  expect(zh.bytes(value).replace(' ', ' ')).toBe(chinese.replace('byte', zh.bytes(1).replace(/[\d\s]/g, '')))
})

describe('days are in UTC, whatever the time zone of the machine', () => {
  test.each([
    ['2026-11-21', 'Nov 21', '11月21日'],
    ['2026-01-01', 'Jan 1', '1月1日'],
    ['2028-02-29', 'Feb 29', '2月29日'],
  ])('%s', (date, english, chinese) => {
    expect(en.day(date)).toBe(english)
    expect(zh.day(date)).toBe(chinese)
  })
})

test.each([
  [0.0312, '+3.1'],
  [-0.5, '-50'],
  [0, '0'],
  [0.0001, '0'],
])('the change %d is %s', (change, text) => {
  expect(en.signed(change)).toBe(text)
  expect(zh.signed(change)).toBe(text)
})

test('hours are in the chosen time zone', () => {
  expect(formatters('en', 'Asia/Shanghai').hour('2026-11-21T20:00:00Z')).toBe('Nov 22, 04:00 AM')
  expect(formatters('zh-CN', 'UTC').hour('2026-11-21T20:00:00Z')).toBe('11月21日 20:00')
})
