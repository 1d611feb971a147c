/** Localised formatting of numbers. */
import { usePreferences } from '../../state/preferences.ts'

/** Formatters of the current language. */
export function useFormat() {
  const { language } = usePreferences()
  return formatters(language)
}

export function formatters(language: string) {
  return {
    /** 12,345 */
    number: (value: number) => new Intl.NumberFormat(language).format(value),
    /** 0.0312 → 3.1 % */
    percent: (share: number) =>
      new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: share < 0.1 ? 2 : 1 }).format(share),
    /** 34,500 → 34.5 kB */
    bytes: (value: number) => {
      const [size, unit] =
        value >= 1e6 ? [value / 1e6, 'megabyte'] : value >= 1e3 ? [value / 1e3, 'kilobyte'] : [value, 'byte']
      return new Intl.NumberFormat(language, { style: 'unit', unit: String(unit), maximumFractionDigits: 1 }).format(
        Number(size),
      )
    },
    /** 2026-11-21 → 21 Nov */
    day: (date: string) =>
      new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' }).format(new Date(date)),
  }
}
