/** What differs between two states of a record. */

/** A field that changed. `from` is null where it was not set. */
export interface FieldChange {
  field: string
  from: string | null
  to: string
}

/** Fields that change with every edit and say nothing. */
const NOISE: ReadonlySet<string> = new Set(['version', 'edits', 'updated_at', 'updated_by', 'created_at', 'created_by'])

/** The changed fields by name. */
export function changesOf(before: object, after: object): FieldChange[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>]
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter(field => !NOISE.has(field) && !field.startsWith('_'))
    .toSorted()
    .map(field => ({ field, from: shown(old[field]), to: shown(now[field]) ?? '–' }))
    .filter(({ from, to }) => (from ?? '–') !== to)
}

function shown(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
}
