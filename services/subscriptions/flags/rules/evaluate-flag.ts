/** Evaluation of a switch for one caller: pure, so that all processes return the same result. */
import { createHash } from 'node:crypto'
import { effective, type SwitchRule, type SwitchSpec } from './flag-spec.ts'
import { compareVersions, numberOf, type TypedValue, typedValue } from './flag-value.ts'

/** Evaluation context of OpenFeature, sent by the caller. */
export interface EvaluationContext {
  targetingKey?: string | undefined
  attributes: Readonly<Record<string, unknown>>
}

/** The result: a value (absent = the caller uses the default in its code), or the error. */
export type Evaluation =
  | { ok: true; reason: 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED'; variant: string; value?: TypedValue }
  | { ok: false; error: 'TARGETING_KEY_MISSING' }

/** A switch to evaluate; the id salts the buckets, so that two switches do not always select the same users. */
export interface Evaluable extends SwitchSpec {
  _id: number
}

/** The first rule whose conditions all hold decides; without one, the switch's own value and rollout. */
export function evaluate(stored: Evaluable, context: EvaluationContext, nowSeconds: number): Evaluation {
  const current = effective(stored, nowSeconds)
  if (current.enabled === '0') return off(current, 'DISABLED')
  const rule = current.rules[matchingRule(current, context)]
  if (!rule) return split(current, current.value, current.rollout, context, 'STATIC')
  return split(current, rule.value ?? current.value, rule.rollout ?? 100, context, 'TARGETING_MATCH')
}

/** The index of the rule that decides for a caller, the first whose conditions all hold; -1 without one. */
export function matchingRule({ rules }: Pick<SwitchSpec, 'rules'>, context: EvaluationContext): number {
  return rules.findIndex(rule => rule.conditions.every(condition => holds(condition, context)))
}

function split(
  { _id, type }: Evaluable,
  raw: string,
  percent: number,
  context: EvaluationContext,
  reason: 'STATIC' | 'TARGETING_MATCH',
): Evaluation {
  const on: Evaluation = { ok: true, reason, variant: 'on', value: typedValue(type, raw) ?? raw }
  if (percent >= 100) return on
  if (context.targetingKey === undefined) return { ok: false, error: 'TARGETING_KEY_MISSING' }
  return inRollout(_id, context.targetingKey, percent) ? { ...on, reason: 'SPLIT' } : off({ type }, 'SPLIT')
}

/**
 * A boolean that is off evaluates to false; any other type returns no value, so the default in the caller's code
 * applies.
 */
function off({ type }: Pick<SwitchSpec, 'type'>, reason: 'SPLIT' | 'DISABLED'): Evaluation {
  return type === 'boolean' ? { ok: true, reason, variant: 'off', value: false } : { ok: true, reason, variant: 'off' }
}

/**
 * True when the key is in the rollout share: the first 32 bits of a hash compared with one boundary. Raising the share
 * never removes a user, and there is no modulo bias.
 */
export function inRollout(switchId: number, targetingKey: string, percent: number): boolean {
  const bucket = createHash('sha256').update(`${switchId}:${targetingKey}`).digest().readUInt32BE(0)
  return bucket < (percent * 2 ** 32) / 100
}

type Condition = SwitchRule['conditions'][number]

function holds({ attribute, operator, values }: Condition, context: EvaluationContext): boolean {
  const actual = attributeOf(context, attribute)
  const negative = operator === 'ne' || operator === 'not_in'
  if (actual === undefined) return negative
  const any = values.some(expected => compare(operator, actual, expected))
  return negative ? !any : any
}

function compare(operator: Condition['operator'], actual: string, expected: string): boolean {
  switch (operator) {
    case 'eq':
    case 'ne':
    case 'in':
    case 'not_in':
      return actual === expected
    case 'contains':
      return actual.includes(expected)
    case 'starts_with':
      return actual.startsWith(expected)
    case 'ends_with':
      return actual.endsWith(expected)
    case 'gt':
      return difference(actual, expected) > 0
    case 'lt':
      return difference(actual, expected) < 0
    case 'version_gte':
      return compareVersions(actual, expected) >= 0
  }
}

/** NaN, which is neither greater nor less, unless both are numbers: empty and blank text is not zero. */
function difference(actual: string, expected: string): number {
  return (numberOf(actual.trim()) ?? Number.NaN) - (numberOf(expected.trim()) ?? Number.NaN)
}

/** Own attributes only: a name such as `constructor` must not reach the prototype. */
function attributeOf({ targetingKey, attributes }: EvaluationContext, name: string): string | undefined {
  if (name === 'targetingKey') return targetingKey
  if (!Object.hasOwn(attributes, name)) return undefined
  const value = attributes[name]
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}
