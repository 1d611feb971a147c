/** Times in the user's time zone: relative in the text, exact in a tooltip and in the `datetime` attribute. */
import { Tooltip } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { type Preferences, usePreferences } from '../../state/preferences.ts'

/** Units with the number of them that makes one of the next larger unit. */
const STEPS: readonly [most: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [60, 'second', 1],
  [60, 'minute', 60],
  [24, 'hour', 3600],
  [30, 'day', 86_400],
  [12, 'month', 30 * 86_400],
]
const YEARS = [Number.POSITIVE_INFINITY, 'year', 365 * 86_400] as const

/** "3 minutes ago" for `at` relative to `now`, both in milliseconds. */
export function relativeTime(at: number, now: number, language: string): string {
  const seconds = (at - now) / 1000
  const whole = (size: number) => Math.round(seconds / size)
  const [, unit, size] = STEPS.find(([most, , each]) => Math.abs(whole(each)) < most) ?? YEARS
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(whole(size), unit)
}

/** Date and time with time zone, localised: `Nov 21, 2026, 10:20:03 AM GMT+8`. The zone is last in each language. */
export function exactTime(at: string | number, { language, timeZone }: Preferences): string {
  const parts = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(timeZone ? { timeZone: timeZone } : {}),
  }).formatToParts(new Date(at))
  const zone = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  // Chinese puts the zone between the date and the time, with a blank on each side; parts have a narrow one before AM and PM.
  const time = parts.map(({ type, value }) => (type === 'timeZoneName' ? '' : value)).join('')
  return `${time.replaceAll(/[ \u202f]+/g, ' ').trim()} ${zone}`.trim()
}

/** Date without time, localised: `Nov 21, 2026`. */
function dateOf(at: string, { language, timeZone }: Preferences): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', ...(timeZone ? { timeZone } : {}) }).format(
    new Date(at),
  )
}

/** The date of a time, with the relative time below it and the exact one in a tooltip; a dash for null. */
export function DateAndTime({ at }: { at: string | null | undefined }) {
  const { t } = useTranslation()
  const chosen = usePreferences()
  if (!at) return <span title={t('ui.never')}>–</span>
  const moment = new Date(at)
  return (
    <Tooltip label={exactTime(at, chosen)}>
      <time dateTime={moment.toISOString()} className="pw-moment">
        {dateOf(at, chosen)}
        <span className="pw-sub">{relativeTime(moment.getTime(), Date.now(), chosen.language)}</span>
      </time>
    </Tooltip>
  )
}

/** Both forms of a time, each on a line of its own that does not wrap; a dash for null. */
export function Moment({ at }: { at: string | null | undefined }) {
  const { t } = useTranslation()
  const chosen = usePreferences()
  if (!at) return <span title={t('ui.never')}>–</span>
  const moment = new Date(at)
  return (
    <time dateTime={moment.toISOString()} className="pw-moment">
      {exactTime(at, chosen)}
      <span className="pw-sub">{relativeTime(moment.getTime(), Date.now(), chosen.language)}</span>
    </time>
  )
}

/** Relative unless `short`; a dash for null. */
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
