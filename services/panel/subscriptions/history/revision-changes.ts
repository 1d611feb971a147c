/** What putting a former state back would change: the API keeps states as they are stored, and shows records otherwise. */

/** A field that would change. `from` is null where nothing stands now. */
export interface FieldChange {
  field: string
  from: string | null
  to: string
}

/** The fields of a record as a former state has them. */
export type CurrentState = Readonly<Record<string, unknown>>

/** The fields of the present record that the former state has otherwise, by name. */
export function changesOnRestore(former: object, present: CurrentState): FieldChange[] {
  const state = former as Record<string, unknown>
  return Object.keys(present)
    .toSorted()
    .map(field => ({ field, from: formatValue(present[field]), to: formatValue(state[field]) ?? '–' }))
    .filter(({ from, to }) => (from ?? '–') !== to)
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
