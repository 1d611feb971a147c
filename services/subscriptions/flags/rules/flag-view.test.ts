import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { zoneOf } from '../../rules/time-zone.ts'
import type { SwitchDoc } from '../../store/models.ts'
import { NEW_SWITCH } from './flag-spec.ts'
import { SWITCH_TYPES, type SwitchType, typedValue } from './flag-value.ts'
import { describeTypes, type ViewContext, viewSwitch } from './flag-view.ts'

const context: ViewContext = { lang: 'en', zone: zoneOf('Asia/Shanghai'), now: new Date('2026-11-21T10:00:00Z') }
const stored = (change: Partial<SwitchDoc> = {}): SwitchDoc => ({
  ...NEW_SWITCH,
  _id: 7,
  app_key: 'shop',
  name: 'dark',
  version: 3,
  created_by: 'ann',
  updated_by: 'ben',
  created_at: new Date('2026-01-01T00:00:00Z'),
  updated_at: new Date('2026-11-20T18:30:00Z'),
  ...change,
})
const view = (change?: Partial<SwitchDoc>, more?: Partial<ViewContext>) =>
  viewSwitch(stored(change), { ...context, ...more })
const shown = (type: SwitchType, value: string, lang: ViewContext['lang'] = 'en') =>
  view({ type, value }, { lang }).display_value

const notes = (...versions: string[]) =>
  JSON.stringify({ title: 'News', logs: versions.map(version => ({ version, date: '2026-01-31' })) })

describe('what people read of a value', () => {
  test.each<[SwitchType, string, string, string]>([
    ['boolean', '1', 'On', '开启'],
    ['boolean', 'false', 'Off', '关闭'],
    ['boolean', 'neither', 'Off', '关闭'],
    ['number', '-1.5e3', '-1.5e3', '-1.5e3'],
    ['json', '{}', 'JSON (0)', 'JSON (0)'],
    ['json', '{"a":1,"b":[]}', 'JSON (2)', 'JSON (2)'],
    ['json', '[1,2]', 'JSON (0)', 'JSON (0)'],
    ['changelog', notes(), 'No versions', '暂无版本'],
    ['changelog', 'no JSON', 'No versions', '暂无版本'],
    ['changelog', notes('1.9.0', '1.10.0'), '1.10.0 (2)', '1.10.0 (2)'],
    ['string', '', '', ''],
  ])('%s %s: %s', (type, value, en, zh) => {
    expect([shown(type, value, 'en'), shown(type, value, 'zh')]).toEqual([en, zh])
  })

  test.each([
    ['64 letters are complete', 'x'.repeat(64), 'x'.repeat(64)],
    ['of 65 the last two make room', 'x'.repeat(65), `${'x'.repeat(63)}…`],
    ['64 signs of two units each are complete', '😀'.repeat(64), '😀'.repeat(64)],
    ['and of 65 none is cut in half', '😀'.repeat(65), `${'😀'.repeat(63)}…`],
    [
      'a few of them after letters are complete',
      `${'x'.repeat(33)}${'😀'.repeat(16)}`,
      `${'x'.repeat(33)}${'😀'.repeat(16)}`,
    ],
  ])('of a text %s', (_, value, display) => expect(shown('string', value)).toBe(display))

  test('is the text itself, or a marked beginning of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 90 }), value => {
        const display = shown('string', value)
        expect([...display].length).toBeLessThanOrEqual(64)
        if (display !== value) {
          expect(display.endsWith('…')).toBe(true)
          expect(value.startsWith(display.slice(0, -1))).toBe(true)
          expect([...display].length).toBeLessThan([...value].length)
        }
      }),
    )
  })
})

describe('a switch on the wire', () => {
  test('has text for numbers and both forms of its times', () => {
    expect(view({ value: '1', rollout: 12.5 })).toEqual({
      id: '7',
      name: 'dark',
      description: '',
      type: 'boolean',
      value: { title: '', logs: [], test_json: 'true' },
      raw_value: '1',
      enabled: '1',
      client_visible: '0',
      rollout: '12.5',
      rules: [],
      schedules: [],
      version: '3',
      created_at: '1767225600',
      updated_at: '1795199400',
      created_by: 'ann',
      updated_by: 'ben',
      display_value: 'On',
      status_class: 'warning',
      status_text: 'Partial',
      created_at_formatted: '2026-01-01 08:00:00',
      updated_at_formatted: '2026-11-21 02:30:00',
    })
  })

  test('shows what its schedules have made of it, and those to come', () => {
    const seconds = context.now.getTime() / 1000
    const schedules = [
      { at: seconds + 1, value: '0' },
      { at: seconds, rollout: 5 },
      { at: seconds - 60, value: '1', rollout: 50 },
    ]
    expect(view({ value: '0', schedules })).toMatchObject({
      raw_value: '1',
      rollout: '5',
      status_text: 'Partial',
      schedules: [{ at: String(seconds + 1), value: '0' }],
    })
  })

  test.each<[string, Partial<SwitchDoc>, object]>([
    ['of a changelog its own title and notes', { type: 'changelog', value: notes('1.0.0') }, { title: 'News' }],
    ['of a broken changelog those beside it', { type: 'changelog', value: 'no JSON', title: 'Old' }, { title: 'Old' }],
    ['of another type those beside it', { type: 'string', value: notes('1.0.0'), title: 'Old' }, { title: 'Old' }],
    ['null where the value does not fit the type', { type: 'number', value: 'many' }, { test_json: 'null' }],
    ['the parsed value', { type: 'json', value: ' { "a" : 1 } ' }, { test_json: '{"a":1}' }],
  ])('has %s', (_, change, value) => expect(view(change).value).toMatchObject(value))

  test.each<[string, Partial<SwitchDoc>, string, string]>([
    ['killed', { enabled: '0' }, 'danger', '已熔断'],
    ['off', { value: '0' }, 'secondary', '已关闭'],
    ['off until its time', { value: '0', schedules: [{ at: 9_999_999_999, value: '1' }] }, 'warning', '待生效'],
    ['on for some', { value: '1', rollout: 99.999 }, 'warning', '灰度中'],
    ['on for all', { value: '1' }, 'success', '已启用'],
  ])('has the colour of one that is %s', (_, change, status_class, status_text) => {
    expect(view(change, { lang: 'zh' })).toMatchObject({ status_class, status_text })
  })

  test('names the resource that manages it, if one does', () => {
    const managed_by = { kind: 'FeatureSwitch', namespace: 'n', name: 'dark', uid: 'u' }
    expect(view({ managed_by })).toMatchObject({ managed_by: 'k8s:n/dark' })
    expect(view()).not.toHaveProperty('managed_by')
  })
})

test.each(['zh', 'en'] as const)('lists each type once, with an example and a default that fit it (%s)', lang => {
  const described = describeTypes(lang)
  expect(described.map(({ type }) => type)).toEqual(SWITCH_TYPES)
  expect(new Set(described.map(({ name }) => name)).size).toBe(SWITCH_TYPES.length)
  for (const { type, example, default: start } of described) {
    expect(typedValue(type, example), type).toBeDefined()
    expect(typedValue(type, start), type).toBeDefined()
  }
})
