import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvLine, csvRows } from '../../platform/tables/rules/csv.ts'
import { differences } from '../audit/rules/differences.ts'
import { canonicalRequest, parseSignature } from '../catalogue/rules/request-signature.ts'
import { tallyChange } from '../counters/rules/counter-changes.ts'
import { growth, share } from '../reports/rules/growth.ts'
import { prefixPattern, searchKeys } from './end-user.ts'
import { formatCents, money } from './field-schemas.ts'
import { langOf } from './language.ts'
import { dateRange, pageOf, pagination } from './paging.ts'
import { STATUS } from './subscription-lifecycle.ts'
import { zoneOf } from './time-zone.ts'

describe('growth', () => {
  test.each([
    [0, 0, 0],
    [5, 0, 100],
    [0, 5, -100],
    [15, 10, 50],
    [1, 3, -66.67],
  ])('from %i to %i', (current, previous, percent) => {
    expect(growth(current, previous)).toBe(percent)
  })

  test('is always a finite number', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        expect(Number.isFinite(growth(a, b)) && Number.isFinite(share(a, b))).toBe(true)
      }),
    )
  })
})

describe('money', () => {
  test.each([
    [19.9, 1990],
    ['19.90', 1990],
    ['0', 0],
    [999_999.99, 99_999_999],
    [1.005, undefined],
    [-1, undefined],
    ['1e3', undefined],
    ['1,50', undefined],
    [1_000_000, undefined],
    [Number.NaN, undefined],
  ])('%s is %s cents', (given, cents) => {
    const parsed = money.safeParse(given)
    expect(parsed.success ? parsed.data : undefined).toBe(cents)
  })

  test('is written as it was read', () => {
    fc.assert(fc.property(fc.nat(99_999_999), cents => money.parse(formatCents(cents)) === cents))
    expect(formatCents(-5)).toBe('-0.05')
  })
})

describe('pages', () => {
  test('defaults, the alias, and the largest size', () => {
    expect(pageOf({})).toEqual({ number: 1, size: 20, offset: 0 })
    expect(pageOf({ page: 3, page_size: 10 })).toEqual({ number: 3, size: 10, offset: 20 })
    expect(pageOf({ pageSize: 10_000 }).size).toBe(100)
    expect(pagination(pageOf({}), { total: 0 }).total_pages).toBe(0)
    expect(pagination(pageOf({}), { total: 21, capped: true })).toMatchObject({ total_pages: 2, total_is_capped: true })
  })

  test('a range of one day is that day; one that starts after it ends is none', () => {
    const zone = zoneOf('Asia/Shanghai')
    const range = dateRange('2026-01-02', '2026-01-02', zone)
    expect(range?.from?.toISOString()).toBe('2026-01-01T16:00:00.000Z')
    expect(range?.to?.toISOString()).toBe('2026-01-02T16:00:00.000Z')
    expect(dateRange('2026-01-03', '2026-01-02', zone)).toBeUndefined()
    expect(dateRange('100', '100', zone)).toEqual({ from: new Date(100_000), to: new Date(101_000) })
  })
})

describe('CSV', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['@x', "'@x"],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
  ])('%s is written as %s', (cell, written) => {
    expect(csvLine([cell])).toBe(`${written}\r\n`)
  })

  test('what is written is read back', () => {
    const cell = fc.string().filter(text => !/^[=+\-@\t\r]/.test(text))
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 }), rows => {
        expect([...csvRows(rows.map(row => csvLine(row)).join(''))]).toEqual(rows)
      }),
    )
  })
})

test('search keys are lower case and unique, and a pattern takes all characters literally', () => {
  expect(searchKeys({ nickname: 'Ann ', phone: '138', email: 'ANN' })).toEqual(['ann', '138'])
  fc.assert(fc.property(fc.string(), text => prefixPattern(text).test(`${text.toLowerCase()}x`)))
  expect(prefixPattern('.*').test('abc')).toBe(false)
})

test('only English is English', () => {
  expect(['en', 'en-US', 'EN', 'zh', '', 'fr', 'english'].map(langOf)).toEqual([
    'en',
    'en',
    'en',
    'zh',
    'zh',
    'zh',
    'zh',
  ])
})

test('differences list changed fields, shortened, without fields that carry no information', () => {
  const changes = differences({ a: 1, b: [1], version: 1, c: 'x' }, { a: 2, b: [1], version: 2, d: 'y'.repeat(600) })
  expect(changes).toEqual({ a: [1, 2], c: ['x', null], d: [null, `${'y'.repeat(500)}…`] })
})

test('a signature header is parsed strictly', () => {
  const good = 'SUB-HMAC-SHA256 key_id=0123456789abcdef, timestamp=1, nonce=abcdefgh, signature="a+/="'
  expect(parseSignature(good)).toEqual({
    keyId: '0123456789abcdef',
    timestamp: '1',
    nonce: 'abcdefgh',
    signature: 'a+/=',
  })
  expect(parseSignature('Bearer x')).toBeUndefined()
  expect(parseSignature(good.replace('timestamp=1', 'timestamp=x'))).toBeUndefined()
  const signed = canonicalRequest({ method: 'POST', target: '/a?b=1', timestamp: '1', nonce: 'n', body: '' })
  expect(signed.split('\n')).toHaveLength(6)
})

test('increments of a subscription sum up to zero', () => {
  const base = { auto_renew: true, plan_id: 7, plan: { duration: 30 }, payment_method: 'alipay', paid_cents: 1990 }
  const active = { ...base, status: 1 as const, end: 5 }
  const over = { ...base, status: 2 as const, end: 5 }
  expect(tallyChange(undefined, active)).toEqual({
    subs_total: 1,
    'by_status.1': 1,
    subs_active: 1,
    subs_auto_renew: 1,
    mrr: 199_000,
    'by_plan.7': 1,
    'by_method.alipay': 1,
  })
  expect(tallyChange(active, active)).toEqual({})
  expect(tallyChange(active, over)).toMatchObject({ subs_active: -1, mrr: -199_000, 'by_status.2': 1 })
})

test('the running counters equal the last state, whatever states came before', () => {
  const state = fc.record({
    status: fc.constantFrom(...Object.values(STATUS)),
    end: fc.constantFrom(0, 1_800_000_000),
    auto_renew: fc.boolean(),
    plan_id: fc.integer({ min: 1, max: 3 }),
    plan: fc.record({ duration: fc.constantFrom(0, 7, 30, 365) }),
    payment_method: fc.constantFrom('alipay', 'wechat'),
    paid_cents: fc.nat(99_999_999),
  })
  fc.assert(
    fc.property(fc.array(state, { minLength: 1, maxLength: 10 }), states => {
      const sum = new Map<string, number>()
      for (const [index, after] of states.entries())
        for (const [field, amount] of Object.entries(tallyChange(states[index - 1], after)))
          sum.set(field, (sum.get(field) ?? 0) + amount)
      const left = Object.fromEntries([...sum].filter(([, amount]) => amount !== 0))
      expect(left).toEqual(tallyChange(undefined, states.at(-1)))
    }),
  )
})

test('money adds up to the cent, as text and as a number', () => {
  const cents = fc.nat(99_999_999)
  fc.assert(
    fc.property(cents, cents, (a, b) => {
      const text = (value: number) => formatCents(value)
      expect(money.parse(text(a)) + money.parse(Number(text(b)))).toBe(a + b)
      expect(formatCents(a - b)).toBe(a >= b ? text(a - b) : `-${text(b - a)}`)
    }),
  )
})
