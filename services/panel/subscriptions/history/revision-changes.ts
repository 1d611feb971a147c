/** Changes that restoring a revision would make. Revisions contain stored fields, which differ from those of the API. */

/** `from` is null if the field is empty now. */
export interface FieldChange {
  field: string
  from: string | null
  to: string
}

/** Fields of the current record in the form of its revisions. */
export type CurrentState = Readonly<Record<string, unknown>>

/** Fields that differ between the current record and a revision, sorted by name. */
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

/** Sorts keys, so that equal objects have equal JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, inner]) => [name, sorted(inner)]),
  )
}
