/** Representation of a switch in the API: the value object, the displayed text, and the status class. */

import { managedText } from '../../../platform/managed/rules/managed-by.ts'
import { type Lang, type TextKey, translate } from '../../rules/language.ts'
import { secondsOf, type Zone } from '../../rules/time-zone.ts'
import type { SwitchDoc } from '../../store/models.ts'
import { effective, type SwitchSpec } from './flag-spec.ts'
import { changelogOf, SWITCH_TYPES, type SwitchType, typedValue } from './flag-value.ts'

/** Inputs of the view other than the record. */
export interface ViewContext {
  lang: Lang
  zone: Zone
  now: Date
}

/** A switch as the API shows it. */
export function viewSwitch(stored: SwitchDoc, { lang, zone, now }: ViewContext) {
  const current = effective(stored, secondsOf(now))
  const state = stateOf(current)
  const notes = current.type === 'changelog' ? changelogOf(current.value) : undefined
  return {
    id: String(stored._id),
    name: stored.name,
    description: stored.description,
    type: stored.type,
    value: {
      title: notes?.title ?? stored.title,
      logs: notes?.logs ?? stored.logs,
      test_json: JSON.stringify(typedValue(current.type, current.value) ?? null),
    },
    raw_value: current.value,
    enabled: current.enabled,
    client_visible: current.client_visible,
    rollout: String(current.rollout),
    rules: current.rules,
    schedules: current.schedules.map(entry => ({ ...entry, at: String(entry.at) })),
    version: String(stored.version),
    created_at: String(secondsOf(stored.created_at)),
    updated_at: String(secondsOf(stored.updated_at)),
    created_by: stored.created_by,
    updated_by: stored.updated_by,
    display_value: displayValue(current, lang),
    status_class: CLASSES[state],
    status_text: translate(`status_${state}`, lang),
    created_at_formatted: zone.format(stored.created_at),
    updated_at_formatted: zone.format(stored.updated_at),
    ...(stored.managed_by ? { managed_by: managedText(stored.managed_by) } : {}),
  }
}

type State = 'enabled' | 'partial' | 'scheduled' | 'off' | 'killed'

const CLASSES = {
  enabled: 'success',
  partial: 'warning',
  scheduled: 'warning',
  off: 'secondary',
  killed: 'danger',
} as const satisfies Record<State, string>

/** Precedence: killed, off, partial, scheduled, on. */
export function stateOf(spec: SwitchSpec): State {
  if (spec.enabled === '0') return 'killed'
  if (spec.type === 'boolean' && typedValue('boolean', spec.value) === false && spec.rules.length === 0)
    return spec.schedules.length > 0 ? 'scheduled' : 'off'
  if (spec.rollout < 100 || spec.rules.length > 0) return 'partial'
  return spec.schedules.length > 0 ? 'scheduled' : 'enabled'
}

/** In characters, not code units, so that no surrogate pair is cut. */
const MAX_DISPLAY = 64

/** The value as people read it, at most 64 characters. */
export function displayValue({ type, value }: Pick<SwitchSpec, 'type' | 'value'>, lang: Lang): string {
  const typed = typedValue(type, value)
  if (type === 'boolean') return translate(typed === true ? 'switch_on' : 'switch_off', lang)
  if (type === 'json') return `JSON (${Object.keys((typed ?? {}) as object).length})`
  if (type === 'changelog') {
    const logs = changelogOf(value)?.logs ?? []
    return logs[0] ? `${logs[0].version} (${logs.length})` : translate('changelog_empty', lang)
  }
  const characters = [...value]
  return characters.length > MAX_DISPLAY ? `${characters.slice(0, MAX_DISPLAY - 1).join('')}…` : value
}

const EXAMPLES: Record<SwitchType, { example: string; default: string; client_kind: string }> = {
  boolean: { example: '1', default: '0', client_kind: 'boolean' },
  number: { example: '42', default: '0', client_kind: 'number' },
  string: { example: 'hello', default: '', client_kind: 'string' },
  json: { example: '{"limit":10}', default: '{}', client_kind: 'object' },
  changelog: {
    example:
      '{"title":"1.2.0","logs":[{"version":"1.2.0","date":"2026-01-31","title":"","features":["…"],"improvements":[],"fixes":[]}]}',
    default: '{"title":"","logs":[]}',
    client_kind: 'object',
  },
}

/** The types that a switch may have, for forms. */
export function describeTypes(lang: Lang) {
  return SWITCH_TYPES.map(type => ({
    type,
    name: translate(`type_${type}` satisfies TextKey, lang),
    value_format: translate(`format_${type}` satisfies TextKey, lang),
    ...EXAMPLES[type],
  }))
}
