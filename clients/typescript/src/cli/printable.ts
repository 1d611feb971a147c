/** Text for terminals. */

/**
 * Subjects, addresses and replies come from other people: control characters could move the cursor or change the title of
 * the terminal, and direction marks could show another order. Line feeds stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it replaces
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The text with a mark in place of characters that a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, '\ufffd')
}

/** The value as JSON, in which these characters are escapes: programs read the same text, and terminals obey nothing. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(UNSAFE, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The text on one line. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Rows with aligned columns; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(row => row.map(cell => printable(oneLine(cell))))
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map(line => (line[column] ?? '').length)))
  const padded = lines.map(line =>
    line.map((cell, column) => (column === line.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))),
  )
  return padded.map(line => line.join('  ').trimEnd()).join('\n')
}
