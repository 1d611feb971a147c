import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { choice, decimal, flag, formatCents, id, integer, money, pathId, text } from './field-schemas.ts'

/** What comes out; undefined where it is refused. */
const read = (schema: z.ZodType, value: unknown) => schema.safeParse(value).data

test.each<[string, unknown, string | undefined]>([
  ['is trimmed', '  ab ', 'ab'],
  ['keeps line ends and tabs inside', 'a\r\n\tb', 'a\r\n\tb'],
  ['has its shortest', 'ab', 'ab'],
  ['is not shorter', 'a', undefined],
  ['is not shorter without its blanks', ' a ', undefined],
  ['has its longest', 'abcdef', 'abcdef'],
  ['is not longer', 'abcdefg', undefined],
  ['has no NUL', 'a\u0000b', undefined],
  ['has no escape', 'a\u001bb', undefined],
  ['has no delete', 'a\u007fb', undefined],
  ['is no number', 12, undefined],
  ['is not missing', undefined, undefined],
])('text of two to six characters %s', (_, value, expected) => expect(read(text(2, 6), value)).toBe(expected))

test.each<[unknown, number | undefined]>([
  [-2, -2],
  [20, 20],
  ['20', 20],
  [' +7 ', 7],
  ['-2', -2],
  ['007', 7],
  [-3, undefined],
  [21, undefined],
  ['21', undefined],
  [1.5, undefined],
  ['1.0', undefined],
  ['1e1', undefined],
  ['0x10', undefined],
  ['', undefined],
  [' ', undefined],
  ['1 2', undefined],
  ['1'.repeat(16), undefined],
  [true, undefined],
  [null, undefined],
  [[1], undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
])('an integer from -2 to 20: %j is %s', (value, expected) => expect(read(integer(-2, 20), value)).toBe(expected))

test.each<[unknown, number | undefined]>([
  [0, 0],
  [100, 100],
  ['12.5', 12.5],
  [' +0.125 ', 0.125],
  [-0.001, undefined],
  ['100.001', undefined],
  ['.5', undefined],
  ['5.', undefined],
  ['1,5', undefined],
  ['1e1', undefined],
  ['Infinity', undefined],
  [Number.NaN, undefined],
  [false, undefined],
])('a decimal from 0 to 100: %j is %s', (value, expected) => expect(read(decimal(0, 100), value)).toBe(expected))

test.each<[unknown, string | undefined]>([
  ['0', '0'],
  [1, '1'],
  [' 1 ', '1'],
  ['2', undefined],
  [true, undefined],
  ['', undefined],
  [1.5, undefined],
])('the on/off digit: %j is %s', (value, expected) => expect(read(flag, value)).toBe(expected))

test('a choice is one of its words, as text or as the number that it writes', () => {
  const words = choice(['0', '10', 'all'])
  expect(['all', 10, '0', 'ALL', 1].map(value => read(words, value))).toEqual(['all', '10', '0', undefined, undefined])
})

test.each<[unknown, number | undefined, number]>([
  [1, 1, 0],
  ['1', 1, 1],
  ['999999999999999', 999_999_999_999_999, 999_999_999_999_999],
  ['1000000000000000', undefined, 0],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 0],
  [2 ** 53, undefined, 0],
  ['0', undefined, 0],
  [0, undefined, 0],
  ['01', undefined, 0],
  ['-1', undefined, 0],
  ['1.0', undefined, 0],
  ['１', undefined, 0],
  ['abc', undefined, 0],
  ['', undefined, 0],
])('the id %j is %s, and in a path %d', (value, inBody, inPath) => {
  expect(read(id, value)).toBe(inBody)
  if (typeof value === 'string') expect(read(pathId, value)).toBe(inPath)
})

describe('money', () => {
  test.each<[number, string]>([
    [0, '0.00'],
    [5, '0.05'],
    [99, '0.99'],
    [100, '1.00'],
    [1990, '19.90'],
    [99_999_999, '999999.99'],
    [-5, '-0.05'],
    [-1990, '-19.90'],
  ])('of %d cents is %s', (cents, shown) => expect(formatCents(cents)).toBe(shown))

  test('is read as it is written, as text and as a number, whatever the cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), cents => {
        expect(read(money, formatCents(cents))).toBe(cents)
        expect(read(money, Number(formatCents(cents)))).toBe(cents)
      }),
    )
  })

  test('with a third decimal is refused, even when it is a zero', () => {
    expect(['19.901', '19.900', 0.001, 0.1 + 0.2].map(value => read(money, value))).toEqual(Array(4).fill(undefined))
  })
})

describe('the contract accepts the same values as the schema', () => {
  const keywords = (schema: z.ZodType) =>
    z.toJSONSchema(schema, { io: 'input' }) as { pattern?: string; anyOf?: object[] }
  const patternOf = (schema: z.ZodType) => {
    const { anyOf = [], pattern } = keywords(schema)
    return new RegExp([pattern, ...anyOf.map(one => (one as { pattern?: string }).pattern)].find(Boolean) ?? '$^', 'u')
  }

  test.each([
    [0, 9],
    [1, 90],
    [0, 365],
    [1, 500],
    [0, 36_500],
    [0, 9999],
    [1, 99_999_999_999],
    [1, Number.MAX_SAFE_INTEGER],
  ])('the text of an integer from %i to %i', (min, max) => {
    const [schema, pattern] = [integer(min, max), patternOf(integer(min, max))]
    const near = [0, 1, 9, 10, 89, 91, 99, 100, 364, 366, 499, 501, max - 1, max, max + 1, max * 10]
    const numbers = [...near, ...Array.from({ length: 500 }, (_, index) => Math.floor((max * 1.2 * index) / 500))]
    for (const text of numbers.map(String).filter(({ length }) => length < 17))
      expect([text, pattern.test(text)]).toEqual([text, read(schema, text) !== undefined])
    for (const text of ['', ' ', 'x', '1.5', '1e1', '0x1', '1'.repeat(17)]) expect(pattern.test(text)).toBe(false)
  })

  test.each([
    [0, '', true],
    [0, ' ', true],
    [1, ' ', false],
    [1, '', false],
    [1, ' a', true],
    [1, 'a\nb', true],
    [0, 'a\u0000', false],
    [1, 'a\u001bb', false],
    [1, '名 前', true],
    [1, '👩‍👩‍👧', true],
  ])('text of %i characters at least: %j', (min, value, taken) => {
    expect(patternOf(text(min, 10)).test(value)).toBe(taken)
    expect(read(text(min, 10), value) !== undefined).toBe(taken)
  })

  test('a digit is a text or a number', () =>
    expect(keywords(flag).anyOf).toEqual([
      { type: 'string', enum: ['0', '1'] },
      { type: 'integer', enum: [0, 1] },
    ]))
})
