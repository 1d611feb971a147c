/** What putting a former state back would change: the API keeps states as they are stored, and shows records otherwise. */

import { featuresOf } from '../plans/plan-features.ts'
import type { Plan } from '../plans/plan-fields.ts'
import type { SwitchRecord } from '../switches/switch-fields.ts'

/** A field that would change. `from` is null where nothing stands now. */
export interface FieldChange {
  field: string
  from: string | null
  to: string
}

/** The fields of a record as a former state has them. */
export type CurrentState = Readonly<Record<string, unknown>>

/** A plan as its former states are stored. */
export function currentPlanState(plan: Plan): CurrentState {
  return {
    name: plan.name,
    description: plan.description,
    price_cents: cents(plan.price),
    original_price_cents: cents(plan.original_price),
    duration: Number(plan.duration),
    features: featuresOf(plan.features),
    sort_order: Number(plan.sort_order),
    status: plan.status,
    trial_days: Number(plan.trial_days),
    grace_days: Number(plan.grace_days),
    auto_renew_allowed: plan.auto_renew_allowed === '1',
  }
}

/** A switch as its former states are stored. A changelog holds its title and notes in its value. */
export function currentSwitchState(record: SwitchRecord): CurrentState {
  const own = record.type === 'changelog' ? {} : { title: record.value.title, logs: record.value.logs }
  return {
    description: record.description,
    type: record.type,
    value: record.raw_value,
    ...own,
    enabled: record.enabled,
    client_visible: record.client_visible,
    rollout: Number(record.rollout),
    rules: record.rules,
    schedules: record.schedules.map(schedule => ({ ...schedule, at: Number(schedule.at) })),
  }
}

/** The fields of the present record that the former state has otherwise, by name. */
export function changesOnRestore(former: object, present: CurrentState): FieldChange[] {
  const state = former as Record<string, unknown>
  return Object.keys(present)
    .toSorted()
    .map(field => ({ field, from: formatValue(present[field]), to: formatValue(state[field]) ?? '–' }))
    .filter(({ from, to }) => (from ?? '–') !== to)
}

function cents(yuan: string): number {
  return Math.round(Number(yuan) * 100)
}

function formatValue(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  if (Array.isArray(value) && value.length === 0) return null
  return typeof value === 'string' ? value : JSON.stringify(sorted(value), undefined, 1)
}

/** Objects with their fields in one order, because the two sides come from different places. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, inner]) => [name, sorted(inner)]),
  )
}
