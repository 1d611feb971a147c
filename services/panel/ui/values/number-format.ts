/** Localised formatting of numbers. */
import { usePreferences } from '../../state/preferences.ts'

/** Formatters of the current language. */
export function useFormat() {
  const { language, timeZone } = usePreferences()
  return formatters(language, timeZone)
}

/** `timeZone`: IANA name; the default is that of the browser. */
export function formatters(language: string, timeZone?: string) {
  return {
    /** 12,345 */
    number: (value: number) => new Intl.NumberFormat(language).format(value),
    /** 0.0312 → 3.1 % */
    percent: (share: number) =>
      new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: share < 0.1 ? 2 : 1 }).format(share),
    /** A share or a difference of two with its sign, in percent without the sign of it: 0.0312 → +3.1 */
    signed: (difference: number) =>
      new Intl.NumberFormat(language, { maximumFractionDigits: 1, signDisplay: 'exceptZero' }).format(100 * difference),
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
    /** 2026-11-21T09:00:00Z → 21 Nov, 10:00 in the given time zone */
    hour: (date: string) =>
      new Intl.DateTimeFormat(language, {
        ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
        ...(timeZone ? { timeZone } : {}),
      }).format(new Date(date)),
  }
}
