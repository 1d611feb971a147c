/** Specification of a switch: the schema of its fields in requests and custom resources. */
import { z } from 'zod'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { decimal, flag, integer, text } from '../../rules/field-schemas.ts'
import { type LogEntry, logEntries, SWITCH_TYPES, type SwitchType, typedValue } from './flag-value.ts'

/** A letter, then letters, digits, `_`, `.` and `-`, 64 in all. A switch is never renamed. */
export const SWITCH_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
/** Such a name in a request, trimmed. */
export const switchName = z.string().trim().regex(SWITCH_NAME, reason('field.switch_name'))
/** Largest number of switches of one app. */
export const MAX_SWITCHES = 500

/** Comparators between an attribute of the context and the values of a condition. */
const OPERATORS = [
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

/** A raw value; numbers and booleans are converted to text. */
const rawValue = z.union([z.string(), z.number().transform(String), z.boolean().transform(on => (on ? '1' : '0'))])

const percent = decimal(0, 100)
  .refine(value => Math.abs(value * 1000 - Math.round(value * 1000)) < 1e-6, reason('field.decimals_three'))
  .meta({
    description: 'Percent, with three decimals at most.',
    anyOf: [
      { type: 'number', minimum: 0, maximum: 100 },
      { type: 'string', pattern: '^0{0,9}(?:100(?:[.]0{1,9})?|[0-9]{1,2}(?:[.][0-9]{1,3}0{0,9})?)$' },
    ],
  })

const condition = z.object({
  attribute: text(1, 64),
  operator: z.enum(OPERATORS),
  values: z
    .array(z.union([text(0, 200), z.number().transform(String), z.boolean().transform(String)]))
    .min(1)
    .max(100),
})

/** One targeting rule: when all conditions hold, its value or that of the switch applies to its share of the users. */
export const switchRule = z.object({
  name: text(0, 64).default(''),
  conditions: z.array(condition).min(1).max(10),
  value: rawValue.optional(),
  rollout: percent.optional(),
})

/** A change at a time: Unix seconds. */
const schedule = z
  .object({
    at: integer(1, 99_999_999_999),
    value: rawValue.optional(),
    enabled: flag.optional(),
    rollout: percent.optional(),
  })
  .refine(
    ({ value, enabled, rollout }) => value !== undefined || enabled !== undefined || rollout !== undefined,
    reason('field.at_least_one'),
  )
  // The same as JSON Schema: conditions do not disturb generated types.
  .meta({
    if: { anyOf: ['value', 'enabled', 'rollout'].map(name => ({ properties: { [name]: {} }, required: [name] })) },
    else: { properties: { value: {}, enabled: {}, rollout: {} }, required: ['value', 'enabled', 'rollout'] },
  })

/** Fields that creation and update share, all optional. */
export const switchFields = {
  description: text(0, 500).optional(),
  type: z.enum(SWITCH_TYPES).optional(),
  value: rawValue.optional(),
  title: text(0, 200).optional(),
  logs: logEntries.optional(),
  enabled: flag.optional(),
  client_visible: flag.optional(),
  rollout: percent.optional(),
  rules: z.array(switchRule).max(20).optional(),
  schedules: z.array(schedule).max(20).optional(),
}

/** The fields of a request, parsed. */
export type SwitchFields = z.output<z.ZodObject<typeof switchFields>>

/** One targeting rule, parsed. */
export type SwitchRule = z.output<typeof switchRule>

/** A switch as it is stored, without its name and history. */
export interface SwitchSpec {
  description: string
  type: SwitchType
  /** The raw text. */
  value: string
  title: string
  logs: LogEntry[]
  /** 0 = killed. */
  enabled: '0' | '1'
  /** Evaluated for publishable keys as well. */
  client_visible: '0' | '1'
  /** Share of the users in percent, three decimals. */
  rollout: number
  rules: SwitchRule[]
  schedules: { at: number; value?: string | undefined; enabled?: '0' | '1' | undefined; rollout?: number | undefined }[]
}

/** Specification of a new switch for fields that the request omits. */
export const NEW_SWITCH: SwitchSpec = {
  description: '',
  type: 'boolean',
  value: '0',
  title: '',
  logs: [],
  enabled: '1',
  // Values may be internal: publishable keys, which anyone can extract from an app, see only values that were made
  // visible.
  client_visible: '0',
  rollout: 100,
  rules: [],
  schedules: [],
}

/** Fields of a specification with a raw value that does not fit its type. */
export function misfits({ type, value, rules, schedules }: SwitchSpec): string[] {
  const fits = (raw: string | undefined) => raw === undefined || typedValue(type, raw) !== undefined
  return [
    ...(fits(value) ? [] : ['value']),
    ...rules.flatMap((rule, i) => (fits(rule.value) ? [] : [`rules.${i}.value`])),
    ...schedules.flatMap((entry, i) => (fits(entry.value) ? [] : [`schedules.${i}.value`])),
  ]
}

/** The specification after its due schedules, with the remaining ones. */
export function effective<S extends SwitchSpec>(spec: S, nowSeconds: number): S {
  const due = spec.schedules.filter(({ at }) => at <= nowSeconds).toSorted((a, b) => a.at - b.at)
  if (due.length === 0) return spec
  const merged = { ...spec, schedules: spec.schedules.filter(({ at }) => at > nowSeconds) }
  for (const { value, enabled, rollout } of due) {
    if (value !== undefined) merged.value = value
    if (enabled !== undefined) merged.enabled = enabled
    if (rollout !== undefined) merged.rollout = rollout
  }
  return merged
}
