/** Splitting the text of a field into a list. Entries are trimmed, empty ones are dropped. */

/** Splits at line ends and commas. */
export function splitList(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(Boolean)
}

/** Splits at line ends only, for entries that may contain commas. */
export function splitLines(lines: string): string[] {
  return lines
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean)
}
