/**
 * Cells: the parts into which the mail of an installation is divided, so that a sharded MongoDB can keep each on one
 * shard. A message has its cell in its id, so that everything that names it (deliveries, parts of its body, events, return
 * paths) is found without asking all cells, and it stays in its cell for life.
 *
 * The first cell is 0. Its ids have the form of releases without cells; in those of cell n the last three characters are
 * `u` and n in two digits of base 32. No other id has `u` there: Crockford's alphabet leaves it out.
 */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const MARK = 'u'
/** Characters of an id of a message: `em_`, ten of time, sixteen of chance. */
const LENGTH = 29
/** Place of the mark in an id. */
const MARK_AT = LENGTH - 3
/** Slots have four digits in the names of flows. */
const MOST_SLOTS = 9_999
/** Two digits of base 32. */
const MOST_CELLS = 32 ** 2

/** How many cells an installation with this many slots a cell may have. */
export function mostCells(slots: number): number {
  return Math.min(MOST_CELLS, Math.floor(MOST_SLOTS / slots))
}

/** A new id of a message, made one of this cell. */
export function idInCell(id: string, cell: number): string {
  if (cell === 0) return id
  return id.slice(0, MARK_AT) + MARK + ALPHABET.charAt(Math.floor(cell / 32)) + ALPHABET.charAt(cell % 32)
}

/** The cell of a message, or of anything whose id begins with that of its message; 0 for every other text. */
export function cellOf(id: string): number {
  if (id.charAt(MARK_AT) !== MARK) return 0
  const cell = ALPHABET.indexOf(id.charAt(MARK_AT + 1)) * 32 + ALPHABET.indexOf(id.charAt(MARK_AT + 2))
  return cell > 0 ? cell : 0
}

/** The cell of a slot: each cell has `slots` of its own, side by side. */
export function cellOfSlot(slot: number, slots: number): number {
  return Math.floor(slot / slots)
}

/** The different cells of these, in order. */
export function distinct(cells: Iterable<number>): number[] {
  return [...new Set(cells)].toSorted((a, b) => a - b)
}
