import { splitLines } from '../../ui/forms/split-text.ts'

/** The features of a plan: on the wire a JSON text with a list, for people one a line. */

/** The list in the text; empty for what is none. */
export function featuresOf(text: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    const list = typeof value === 'object' && value !== null && 'features' in value ? value.features : []
    return Array.isArray(list) ? list.filter(item => typeof item === 'string') : []
  } catch {
    return []
  }
}

/** The text for the lines that somebody typed; only line ends part them, because a feature may have commas. */
export function featuresText(lines: string): string {
  return JSON.stringify({ features: splitLines(lines) })
}
