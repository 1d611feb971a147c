import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sentence } from '../sentences/sentence.ts'
import { boundOf, MAX_ERRORS, validate } from './bounded-validation.ts'
import { LargeText } from './json-text.ts'

const record = z.record(z.string(), z.string().max(3)).meta({ maxProperties: 20 })
const schema = z.strictObject({
  name: z.string().optional(),
  words: z.array(z.string().max(3)).max(2_000).optional(),
  notes: record.transform(given => Object.keys(given).length).optional(),
  rows: z
    .array(z.strictObject({ cells: z.array(z.number()).max(100) }))
    .max(100)
    .default([]),
  either: z.union([z.string(), z.array(z.number()).max(10)]).nullish(),
})

/** Paths and codes of the errors. */
function errorsOf(value: unknown): string[] {
  const result = validate(schema, value)
  return result.ok ? [] : result.issues.map(({ path, reason }) => `${path.join('.')} ${reason.code}`)
}

const numbered = (count: number, value: unknown = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, value]))

test('a valid value is parsed by its schema', () => {
  const value = { words: Array(2_000).fill('abc'), notes: numbered(20), rows: [{ cells: Array(100).fill(1) }] }
  expect(validate(schema, value)).toEqual({ ok: true, data: { ...value, notes: 20 } })
  expect(validate(schema, { either: [1, 2] })).toEqual({ ok: true, data: { either: [1, 2], rows: [] } })
})

describe('what is too much is found before its entries', () => {
  test.each<[string, unknown, string[]]>([
    ['a list', { words: Array(2_001).fill(0) }, ['words field.too_many']],
    ['a record', { notes: numbered(21, 0) }, ['notes field.too_many']],
    ['a list in a list', { rows: [{ cells: [1] }, { cells: Array(101).fill('x') }] }, ['rows.1.cells field.too_many']],
    ['several', { words: Array(2_001).fill(0), notes: numbered(21) }, ['words field.too_many', 'notes field.too_many']],
  ])('%s', (_, value, expected) => {
    expect(errorsOf(value)).toEqual(expected)
  })

  test.each([
    ['a list', { words: Array(2_001).fill(0) }, 2_000],
    ['a record', { notes: numbered(21) }, 20],
  ])('with the bound of %s', (_, value, count) => {
    const result = validate(schema, value)
    expect(result.ok ? undefined : result.issues[0]?.reason).toEqual(sentence('field.too_many', { count }))
  })

  test('a record of a million members is left at the first that is too much', () => {
    let seen = 0
    const counted = new Proxy(numbered(30), {
      getOwnPropertyDescriptor(target, name) {
        seen++
        return Reflect.getOwnPropertyDescriptor(target, name)
      },
    })
    expect(errorsOf({ notes: counted })).toEqual(['notes field.too_many'])
    expect(seen).toBeLessThan(70)
  })
})

describe('of many errors the first fifty are found', () => {
  test.each<[string, unknown, string, string]>([
    ['unknown members', numbered(100_000), 'k0 field.unknown_field', 'k49 field.unknown_field'],
    ['wrong entries', { words: Array(2_000).fill('long') }, 'words.0 field.too_long', 'words.49 field.too_long'],
    [
      'wrong entries of lists in a list',
      { rows: Array.from({ length: 100 }, () => ({ cells: Array(100).fill('x') })) },
      'rows.0.cells.0 field.type_number',
      'rows.0.cells.49 field.type_number',
    ],
  ])('%s', (_, value, first, last) => {
    const errors = errorsOf(value)
    expect([errors.length, errors[0], errors.at(-1)]).toEqual([MAX_ERRORS, first, last])
  })

  test('the search ends with them', () => {
    let looked = 0
    const costly = z.array(z.string().refine(() => ++looked < 0)).max(5_000)
    const result = validate(z.object({ list: costly }), { list: Array(5_000).fill('x') })
    expect(result.ok ? 0 : result.issues.length).toBe(MAX_ERRORS)
    expect(looked).toBe(MAX_ERRORS)
  })
})

test('few errors are found together, unknown members among them', () => {
  expect(errorsOf({ name: 1, more: 1, words: ['long'], rows: [{ cells: [], other: 1 }] })).toEqual([
    'name field.type_string',
    'words.0 field.too_long',
    'rows.0.other field.unknown_field',
    'more field.unknown_field',
  ])
  const wrong = { name: 1, words: [...Array(1_500).fill('abc'), 'long'] }
  expect(errorsOf(wrong)).toEqual(['name field.type_string', 'words.1500 field.too_long'])
})

test('a text that is too large to be one is too big wherever a text belongs', () => {
  const text = new LargeText([Buffer.alloc(5)], 5)
  expect(errorsOf({ name: text, words: [text] })).toEqual(['name field.text_too_large', 'words.0 field.text_too_large'])
  expect(errorsOf({ rows: text })).toEqual(['rows field.type_array'])
})

test('the bound of a schema is its maximum', () => {
  expect([boundOf(z.array(z.string()).min(1).max(7)), boundOf(z.array(z.string())), boundOf(record)]).toEqual([
    7,
    undefined,
    20,
  ])
})
