import { splitLines } from '../../ui/forms/split-text.ts'

/** Features of a plan: JSON in the API, one on each line in the form. */

/** Invalid JSON yields an empty list. */
export function featuresOf(text: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    const list = typeof value === 'object' && value !== null && 'features' in value ? value.features : []
    return Array.isArray(list) ? list.filter(item => typeof item === 'string') : []
  } catch {
    return []
  }
}

/** Only line ends separate features, because a feature may contain commas. */
export function featuresText(lines: string): string {
  return JSON.stringify({ features: splitLines(lines) })
}
