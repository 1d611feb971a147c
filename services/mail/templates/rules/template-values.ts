/** The variables of a template, and the values that a rendering gets for them. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { TEMPLATE_LIMITS } from './template-limits.ts'

/** What a variable may hold. The entries of a list are of any type but a list: an object has a value under each key. */
export type VariableType = 'string' | 'number' | 'boolean' | 'list'

/** A declared variable. */
export interface TemplateVariable {
  key: string
  type: VariableType
  /** Used when no value is given. */
  default?: unknown
  /** A rendering without a value is refused. */
  required?: boolean | undefined
}

/** The values of a rendering: objects without a prototype. */
export type TemplateValues = Record<string, unknown>

/** An error of one value, at a JSON pointer below the values. */
export interface ValueError {
  pointer: string
  reason: Sentence
}

/** Names of variables. */
const VARIABLE_KEY = /^[A-Za-z][A-Za-z0-9_]{0,63}$/
/** Words that the template language reads differently. */
const WORDS: ReadonlySet<string> = new Set(
  'and blank contains continue empty false forloop in nil not null or true constructor prototype'.split(' '),
)

/** Whether a variable may have this name. */
export function isVariableKey(key: string): boolean {
  return VARIABLE_KEY.test(key) && !WORDS.has(key)
}

/**
 * The values for a rendering: the given ones and defaults, copied, so that nothing of a prototype is reachable. `unknown`
 * are given keys that no variable has.
 */
export function resolveValues(
  variables: readonly TemplateVariable[],
  given: Readonly<Record<string, unknown>>,
): { values: TemplateValues; errors: ValueError[]; unknown: string[] } {
  const values: TemplateValues = Object.create(null)
  const errors: ValueError[] = []
  const budget = { left: TEMPLATE_LIMITS.values }
  for (const variable of variables) {
    const { key } = variable
    const value = givenOrDefault(variable, given)
    if (value === undefined || value === null) {
      if (variable.required) errors.push({ pointer: `/${key}`, reason: sentence('field.template_value_missing') })
      values[key] = null
      continue
    }
    const found = checkValue(variable, value, budget)
    if ('reason' in found) errors.push({ pointer: `/${key}`, reason: found.reason })
    else values[key] = found.copy
  }
  const known = new Set(variables.map(({ key }) => key))
  return { values, errors, unknown: Object.keys(given).filter(key => !known.has(key)) }
}

function givenOrDefault({ key, default: preset }: TemplateVariable, given: Readonly<Record<string, unknown>>): unknown {
  return Object.hasOwn(given, key) && given[key] !== null ? given[key] : preset
}

/** What is wrong with the default of a variable. */
export function findDefaultError(variable: TemplateVariable): Sentence | undefined {
  if (variable.default === undefined) return undefined
  const found = checkValue(variable, variable.default, { left: TEMPLATE_LIMITS.values })
  return 'reason' in found ? found.reason : undefined
}

type Checked = { copy: unknown } | { reason: Sentence }

function checkValue({ type }: TemplateVariable, value: unknown, budget: { left: number }): Checked {
  const actual = Array.isArray(value) ? 'list' : typeof value
  if (actual !== type && isJson(value)) return { reason: sentence(TYPE_REASONS[type]) }
  return copyOf(value, 1, budget)
}

const TYPE_REASONS = {
  string: 'field.type_string',
  number: 'field.type_number',
  boolean: 'field.type_boolean',
  list: 'field.type_array',
} as const

function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** A copy made of texts, numbers, booleans, lists and objects without prototype. */
function copyOf(value: unknown, depth: number, budget: { left: number }): Checked {
  budget.left -= typeof value === 'string' ? value.length : 8
  // A text that was too long for the reader of the body is no string.
  const isLong = typeof value === 'string' ? Buffer.byteLength(value) > TEMPLATE_LIMITS.value : !isJson(value)
  if (isLong) return { reason: sentence('field.too_many_bytes', { count: TEMPLATE_LIMITS.value }) }
  if (budget.left < 0) return { reason: sentence('field.template_values', { count: TEMPLATE_LIMITS.values }) }
  if (value === null || typeof value !== 'object') return { copy: value }
  if (depth > TEMPLATE_LIMITS.depth)
    return { reason: sentence('field.template_value_depth', { count: TEMPLATE_LIMITS.depth }) }
  const entries = Object.entries(value)
  if (entries.length > TEMPLATE_LIMITS.entries)
    return { reason: sentence('field.too_many', { count: TEMPLATE_LIMITS.entries }) }
  const copy: Record<string, unknown> & unknown[] = Array.isArray(value) ? [] : Object.create(null)
  for (const [key, entry] of entries) {
    budget.left -= key.length
    const found = copyOf(entry, depth + 1, budget)
    if ('reason' in found) return found
    if (Array.isArray(copy)) copy.push(found.copy)
    else (copy as Record<string, unknown>)[key] = found.copy
  }
  return { copy }
}
