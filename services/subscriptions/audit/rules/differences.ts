/** Differences between two states of a record, for the audit log. */

/** Fields that change with every write and carry no information. */
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
/** Longest value in the log, in UTF-16 code units; longer ones are cut. */
const MAX_TEXT = 500
/** First half of a surrogate pair that a cut leaves at the end: not valid text. */
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
