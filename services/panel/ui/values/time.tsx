/** Times in the reader's zone: relative to read, exact on hover and for machines. */
import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { type Preferences, usePreferences } from '../../state/preferences.ts'

/** Each unit with the number of it that is one of the next. */
const STEPS: readonly [most: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [60, 'second', 1],
  [60, 'minute', 60],
  [24, 'hour', 3600],
  [30, 'day', 86_400],
  [12, 'month', 30 * 86_400],
]
const YEARS = [Number.POSITIVE_INFINITY, 'year', 365 * 86_400] as const

/** "3 minutes ago" for a time, seen from `now` (both in milliseconds). */
export function relativeTime(at: number, now: number, language: string): string {
  const seconds = (at - now) / 1000
  const whole = (size: number) => Math.round(seconds / size)
  const [, unit, size] = STEPS.find(([most, , each]) => Math.abs(whole(each)) < most) ?? YEARS
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(whole(size), unit)
}

/** The exact time with its zone, as `2026-11-21 10:20:03 GMT+8` in the order of the language. */
export function exactTime(at: string | number, { language, timeZone }: Preferences): string {
  return new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(timeZone ? { timeZone: timeZone } : {}),
  }).format(new Date(at))
}

/** A time, or a dash when there is none yet. */
export function Time({ at, short }: { at: string | null | undefined; short?: boolean }) {
  const { t } = useTranslation()
  const chosen = usePreferences()
  if (!at) return <span title={t('ui.never')}>–</span>
  const moment = new Date(at)
  const full = exactTime(at, chosen)
  return (
    <Tooltip label={full}>
      <time dateTime={moment.toISOString()}>
        {short ? full : relativeTime(moment.getTime(), Date.now(), chosen.language)}
      </time>
    </Tooltip>
  )
}
