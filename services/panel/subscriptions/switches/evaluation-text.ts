/** The evaluation of a switch for one user in words. */
import type { TFunction } from 'i18next'
import type { SubOutput } from '../shared/subscriptions-api.ts'

export type Evaluated = SubOutput<'evaluateSwitches'>['switches'][number]

/** What the program of the user gets. */
export function evaluationValue(result: Evaluated, t: TFunction): string {
  if (result.outcome === 'value') return result.display_value
  if (result.outcome === 'undecided') return t('subs.outcomes.undecided', { value: result.display_value })
  return t(result.outcome === 'default' ? 'subs.outcomes.default' : 'subs.outcomes.needsKey')
}

/** Why: the rule, and the side of a share. */
export function evaluationReason(result: Evaluated, t: TFunction): string {
  const { outcome, reason, rollout } = result
  if (reason === 'DISABLED') return t('subs.reasons.disabled')
  const source = sourceOf(result, t)
  if (outcome === 'undecided') return t('subs.reasons.undecided', { source, rollout })
  if (outcome === 'needs_key') return t('subs.reasons.needsKey', { source, rollout })
  if (reason !== 'SPLIT') return source
  return t(result.in_rollout ? 'subs.reasons.inShare' : 'subs.reasons.outOfShare', { source, rollout })
}

function sourceOf({ rule, rule_name }: Evaluated, t: TFunction): string {
  if (rule === undefined) return t('subs.reasons.noRule')
  return rule_name === '' ? t('subs.reasons.rule', { rule }) : t('subs.reasons.namedRule', { rule, name: rule_name })
}
