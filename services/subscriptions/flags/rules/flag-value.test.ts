import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { zoneOf } from '../../rules/time-zone.ts'
import { evaluate } from './evaluate-flag.ts'
import { misfits, NEW_SWITCH } from './flag-spec.ts'
import {
  changelogOf,
  compareVersions,
  logEntries,
  MAX_LOGS,
  numberOf,
  type SwitchType,
  typedValue,
} from './flag-value.ts'
import { viewSwitch } from './flag-view.ts'

/** An object that holds lists in lists, so many levels in all. */
const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
/** The same, of objects alone, which the size allows less of. */
const inside = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('an object that is nested too deep', () => {
  test.each<[string, string, boolean]>([
    ['one level', '{}', true],
    ['a hundred levels of lists', nested(100), true],
    ['one level more', nested(101), false],
    ['a hundred levels of objects', inside(100), true],
    ['one object more', inside(101), false],
    ['as many lists as the size allows', nested(32_760), false],
    ['as many objects as the size allows', inside(10_900), false],
    ['very many beside each other', `{"a":[${'[],'.repeat(20_000)}[]]}`, true],
    ['text that only looks so', JSON.stringify({ a: '['.repeat(60_000) }), true],
  ])('%s', (_, raw, fits) => {
    expect(typedValue('json', raw) !== undefined).toBe(fits)
    expect(misfits({ ...NEW_SWITCH, type: 'json', value: raw })).toEqual(fits ? [] : ['value'])
  })

  test.each<SwitchType>(['json', 'changelog', 'string'])(
    'stored as %s before that was a rule, it breaks no other switch',
    type => {
      const stored = {
        ...{ ...NEW_SWITCH, _id: 1, app_key: 'shop', name: 'deep', type, value: nested(32_000), version: 1 },
        ...{ created_by: '', updated_by: '', created_at: new Date(0), updated_at: new Date(0) },
      }
      const view = viewSwitch(stored, { lang: 'en', zone: zoneOf('UTC'), now: new Date(0) })
      expect(JSON.stringify(view)).toContain('"deep"')
      expect(JSON.stringify(evaluate(stored, { attributes: {} }, 0))).toContain('"ok":true')
    },
  )
})

test('any fitting value is returned as JSON and reads back the same', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
      const raw = JSON.stringify(value)
      expect(JSON.stringify(typedValue('json', raw))).toBe(raw)
    }),
  )
})

test.each(['__proto__', 'constructor', 'toString'])('an object may have a member that is called %s', name => {
  const raw = `{"${name}":{"polluted":"yes"}}`
  expect(JSON.stringify(typedValue('json', raw))).toBe(raw)
  expect('polluted' in {}).toBe(false)
})

describe('a number', () => {
  test.each<[string, number | undefined]>([
    ['0', 0],
    ['-0', -0],
    ['+1', 1],
    ['1.', 1],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['1E-3', 0.001],
    ['9007199254740993', 9_007_199_254_740_992],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['1.8e308', undefined],
    ['5e-324', Number.MIN_VALUE],
    ['1e-400', 0],
    ['.', undefined],
    ['+', undefined],
    ['e5', undefined],
    ['1e', undefined],
    ['1_000', undefined],
    ['1,5', undefined],
    ['0b1', undefined],
    ['Infinity', undefined],
    ['NaN', undefined],
    ['１', undefined],
    ['1\n', undefined],
    ['1 2', undefined],
  ])('%j is %s', (raw, value) => expect(numberOf(raw)).toBe(value))

  test('with blanks around it fits, and so does a boolean', () => {
    expect(['number', 'boolean'].map(type => typedValue(type as SwitchType, ' 1\n'))).toEqual([1, true])
  })

  test('is read back from its own text, whatever it is', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), value => {
        expect(numberOf(String(value))).toBe(value === 0 ? 0 : value)
      }),
    )
  })
})

describe('versions', () => {
  const version = fc
    .tuple(
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '-beta', '+7', '-rc+1'),
    )
    .map(([numbers, more]) => numbers.join('.') + more)

  test('have one order: of two the other way round, and of three without a circle', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0)
        expect(compareVersions(a, a)).toBe(0)
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })

  test.each([
    ['', '0', 0],
    ['abc', '0.0.0', 0],
    ['V1.2', 'v1.2.0', 0],
    ['1.2.3.4', '1.2.3.5', -1],
    ['1.2.3.4.5', '1.2.3.4.9', 0],
    ['1.0+a-b', '1.0', 0],
    ['1.0-a+b', '1.0', -1],
    ['1.x', '1.0', 0],
    ['01.2', '1.2', 0],
    ['999999999999999999999', '1', 1],
  ])('%j against %j', (a, b, sign) => expect(Math.sign(compareVersions(a, b))).toBe(sign))
})

describe('release notes', () => {
  const note = (version: string) => ({ version, date: '2028-02-29' })
  const parsed = (...versions: string[]) => logEntries.safeParse(versions.map(note)).data?.map(entry => entry.version)

  test('sort newest first; equal ones keep their order', () => {
    expect(parsed('1.9', '1.10', 'v2', '1.10-beta')).toEqual(['v2', '1.10', '1.10-beta', '1.9'])
    expect(parsed('1.0', '1.0.0', 'v1')).toEqual(['1.0', '1.0.0', 'v1'])
  })

  test.each([
    ['of no version', ['']],
    ['of a word', ['latest']],
    ['of five numbers', ['1.2.3.4.5']],
    ['of a duplicate version', ['1.0', '2.0', '1.0']],
    ['of a version in a hundred letters', [`1.0-${'x'.repeat(100)}`]],
    ['beyond the number that is kept', Array.from({ length: MAX_LOGS + 1 }, (_, n) => `1.${n}`)],
  ])('%s are refused', (_, versions) => expect(parsed(...versions)).toBeUndefined())

  test('up to the number that is kept are taken', () => {
    expect(parsed(...Array.from({ length: MAX_LOGS }, (_, n) => `1.${n}`))).toHaveLength(MAX_LOGS)
  })

  test.each(['2027-02-29', '2028-02-30', '2028-2-29', '0000-00-00', '2028-13-01', '', '2028-02-29T00:00:00Z'])(
    'of the day %j are none',
    date => expect(changelogOf(JSON.stringify({ logs: [{ version: '1', date }] }))).toBeUndefined(),
  )

  test('keep their own fields only, and fill in those that are silent', () => {
    const raw = '{"title":"T","x":1,"logs":[{"version":"1","date":"2028-02-29","__proto__":{"title":"evil"}}]}'
    expect(changelogOf(raw)).toEqual({
      title: 'T',
      logs: [{ ...note('1'), title: '', features: [], improvements: [], fixes: [] }],
    })
  })
})
