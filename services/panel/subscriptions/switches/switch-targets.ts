/** Conversion between rules and schedules of the API and of the form. `key` is the React key of an entry. */

/** Comparators of conditions, in the order of the menu. */
export const COMPARATORS = [
  'eq',
  'ne',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'version_gte',
] as const

type Comparator = (typeof COMPARATORS)[number]

/** Values are separated by commas; a value that contains a comma is in double quotes. */
export interface ConditionFields {
  key: number
  attribute: string
  operator: Comparator
  values: string
}

/** An empty value or rollout means that of the switch. */
export interface RuleFields {
  key: number
  name: string
  conditions: ConditionFields[]
  value: string
  rollout: string
}

/** `at` is a time in the browser's time zone (`2026-12-24T18:00`); empty fields stay unchanged. */
export interface ScheduleFields {
  key: number
  at: string
  value: string
  enabled: '' | '0' | '1'
  rollout: string
}

/** An unused key. */
export function nextKey(entries: readonly { key: number }[]): number {
  return Math.max(-1, ...entries.map(({ key }) => key)) + 1
}

export function newCondition(key: number): ConditionFields {
  return { key, attribute: '', operator: 'eq', values: '' }
}

export function newRule(key: number): RuleFields {
  return { key, name: '', conditions: [newCondition(0)], value: '', rollout: '' }
}

export function moveEntry<T>(list: readonly T[], index: number, step: -1 | 1): T[] {
  const copy = [...list]
  const [entry] = copy.splice(index, 1)
  if (entry !== undefined) copy.splice(index + step, 0, entry)
  return copy
}

/** The schema of the API does not describe rules, so each field is checked. */
export function rulesOf(rules: readonly object[]): RuleFields[] {
  return rules.map((rule, key) => {
    const { name, conditions, value, rollout } = rule as Record<string, unknown>
    return {
      key,
      name: textOf(name),
      conditions: (Array.isArray(conditions) ? conditions : []).map((one: Record<string, unknown>, inner) => ({
        key: inner,
        attribute: textOf(one.attribute),
        operator: COMPARATORS.find(known => known === one.operator) ?? 'eq',
        values: valuesText((Array.isArray(one.values) ? one.values : []).map(textOf)),
      })),
      value: textOf(value),
      rollout: textOf(rollout),
    }
  })
}

export function ruleBodies(rules: readonly RuleFields[]) {
  return rules.map(({ name, conditions, value, rollout }) => ({
    name: name.trim(),
    conditions: conditions.map(({ attribute, operator, values }) => ({
      attribute: attribute.trim(),
      operator,
      values: valuesOf(values),
    })),
    ...(value === '' ? {} : { value }),
    ...(rollout === '' ? {} : { rollout: Number(rollout) }),
  }))
}

/** Times of the API are Unix timestamps in seconds. */
export function schedulesOf(schedules: readonly { at: string }[]): ScheduleFields[] {
  return schedules.map((schedule, key) => {
    const { at, value, enabled, rollout } = schedule as { at: string } & Record<string, unknown>
    return {
      key,
      at: exactTime(new Date(Number(at) * 1000)),
      value: textOf(value),
      enabled: enabled === '0' || enabled === '1' ? enabled : '',
      rollout: textOf(rollout),
    }
  })
}

/** Schedules without a time are omitted. */
export function scheduleBodies(schedules: readonly ScheduleFields[]) {
  return schedules
    .filter(({ at }) => at !== '')
    .map(({ at, value, enabled, rollout }) => ({
      at: Math.floor(new Date(at).getTime() / 1000),
      ...(value === '' ? {} : { value }),
      ...(enabled === '' ? {} : { enabled }),
      ...(rollout === '' ? {} : { rollout: Number(rollout) }),
    }))
}

/** Empty schedule in one hour. */
export function newSchedule(key: number, now: number): ScheduleFields {
  return { key, at: localTime(new Date(now + 3_600_000)), value: '', enabled: '', rollout: '' }
}

/** Format of `<input type="datetime-local">`. */
export function localTime(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Includes seconds if they are not 0, so that times of the API are not changed by the form. */
function exactTime(date: Date): string {
  const seconds = date.getSeconds()
  return seconds === 0 ? localTime(date) : `${localTime(date)}:${String(seconds).padStart(2, '0')}`
}

/** A value in double quotes (doubled inside), or up to the next comma. */
const VALUE = /\s*(?:"(?<quoted>(?:[^"]|"")*)"\s*(?=,|$)|(?<plain>[^,]*))(?:,|$)/g

function valuesOf(text: string): string[] {
  if (text.trim() === '') return ['']
  return [...text.matchAll(VALUE)].flatMap(({ groups }) => {
    if (groups?.quoted !== undefined) return [groups.quoted.replaceAll('""', '"')]
    return groups?.plain?.trim() || []
  })
}

/** Inverse of {@link valuesOf}. */
function valuesText(values: readonly string[]): string {
  const needsQuotes = (value: string) => /[",]/.test(value) || (value === '' && values.length > 1)
  return values.map(value => (needsQuotes(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(', ')
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}
