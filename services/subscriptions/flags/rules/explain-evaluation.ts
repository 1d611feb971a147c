/** How a switch evaluates for one caller, and why: the result of {@link evaluate} with the rule that decides. */
import type { Lang } from '../../rules/language.ts'
import { type EvaluationContext, evaluate, matchingRule } from './evaluate-flag.ts'
import { effective, type SwitchSpec } from './flag-spec.ts'
import { displayValue } from './flag-view.ts'

/** A stored switch, or an unsaved one with {@link UNSAVED_ID}. */
export interface Candidate extends SwitchSpec {
  _id: number
  name: string
}

/** Id of a switch that is not stored. The id salts the shares, so that they cannot be evaluated before it has one. */
export const UNSAVED_ID = 0

/** Evaluates a switch; `rule` counts from 1. */
export function explain(candidate: Candidate, context: EvaluationContext, nowSeconds: number, lang: Lang) {
  const current = effective(candidate, nowSeconds)
  const disabled = current.enabled === '0'
  const index = disabled ? -1 : matchingRule(current, context)
  const rule = current.rules[index]
  const rollout = rule ? (rule.rollout ?? 100) : current.rollout
  const shown = {
    name: current.name,
    description: current.description,
    type: current.type,
    ...(rule ? { rule: index + 1 } : {}),
    rule_name: rule?.name ?? '',
    rollout: String(rollout),
  }
  const value = displayValue({ type: current.type, value: rule?.value ?? current.value }, lang)
  if (!disabled && rollout < 100 && candidate._id === UNSAVED_ID)
    return { ...shown, outcome: 'undecided' as const, reason: '' as const, display_value: value }
  const result = evaluate(candidate, context, nowSeconds)
  if (!result.ok) return { ...shown, outcome: 'needs_key' as const, reason: '' as const, display_value: '' }
  const { reason, variant } = result
  const drawn = { ...shown, reason, ...(reason === 'SPLIT' ? { in_rollout: variant === 'on' } : {}) }
  if (result.value === undefined) return { ...drawn, outcome: 'default' as const, display_value: '' }
  // A boolean that is off for this caller has the value false, whatever value the switch has.
  const off = current.type === 'boolean' && result.value === false
  const display_value = off ? displayValue({ type: 'boolean', value: '0' }, lang) : value
  return { ...drawn, outcome: 'value' as const, display_value }
}
