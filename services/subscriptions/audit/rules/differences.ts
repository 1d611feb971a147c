/** Differences between two states of a record, for the audit log. */

/** Fields that tell nothing: they change with every write. */
const SILENT = new Set([
  '_id',
  'version',
  'updated_at',
  'updated_by',
  'created_at',
  'created_by',
  'search_keys',
  'edits',
])
/** Longest value that the log repeats; longer ones are cut. */
const MAX_TEXT = 500
/** What a cut leaves of a character beyond the basic plane; it is no text by itself. */
const HALF_PAIR = /[\uD800-\uDBFF]$/

/** `field: [old, new]` for every field that differs; an absent side is null. */
export function differences(before: object | undefined, after: object | undefined): Record<string, [unknown, unknown]> {
  const left = new Map(Object.entries(before ?? {}))
  const right = new Map(Object.entries(after ?? {}))
  const changed = [...new Set([...left.keys(), ...right.keys()])].filter(
    field => !SILENT.has(field) && JSON.stringify(left.get(field)) !== JSON.stringify(right.get(field)),
  )
  return Object.fromEntries(changed.map(field => [field, [short(left.get(field)), short(right.get(field))]]))
}

function short(value: unknown): unknown {
  if (value === undefined) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= MAX_TEXT ? value : `${text.slice(0, MAX_TEXT).replace(HALF_PAIR, '')}…`
}
