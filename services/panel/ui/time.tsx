/** Times in the reader's zone: relative to read, exact on hover and for machines. */
import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { type Preferences, usePreferences } from '../app/preferences.ts'

const STEPS: readonly [limit: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [60, 'second', 1],
  [3600, 'minute', 60],
  [86_400, 'hour', 3600],
  [30 * 86_400, 'day', 86_400],
  [365 * 86_400, 'month', 30 * 86_400],
  [Number.POSITIVE_INFINITY, 'year', 365 * 86_400],
]

/** "3 minutes ago" for a time, seen from `now` (both in milliseconds). */
export function relative(at: number, now: number, language: string): string {
  const seconds = (at - now) / 1000
  const [, unit, size] = STEPS.find(([limit]) => Math.abs(seconds) < limit) ?? ['', 'year' as const, 365 * 86_400]
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.round(seconds / size), unit)
}

/** The exact time with its zone, as `2026-11-21 10:20:03 GMT+8` in the order of the language. */
export function exact(at: string | number, { language, zone }: Preferences): string {
  return new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(zone ? { timeZone: zone } : {}),
  }).format(new Date(at))
}

/** A time, or a dash when there is none yet. */
export function Time({ at, short }: { at: string | null | undefined; short?: boolean }) {
  const { t } = useTranslation()
  const chosen = usePreferences()
  if (!at) return <span title={t('ui.never')}>–</span>
  const moment = new Date(at)
  const full = exact(at, chosen)
  return (
    <Tooltip label={full}>
      <time dateTime={moment.toISOString()}>
        {short ? full : relative(moment.getTime(), Date.now(), chosen.language)}
      </time>
    </Tooltip>
  )
}
