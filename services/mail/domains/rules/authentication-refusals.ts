/** The refusals for failed authentication that a sending domain got lately: the latest of each site, with counts. Pure. */
import { DAY_MS, HOUR_MS } from '../../../platform/durations.ts'

/** Attempts within an hour, or a day, that begins at `at`. */
export interface Count {
  at: Date
  count: number
}

/** What a site refused lately. */
export interface AuthenticationRefusal {
  /** Destination site: a provider's name, or a domain. */
  site: string
  code?: number
  enhanced?: string
  /** The latest reply. */
  text: string
  last_at: Date
  /** Of the last 24 hours, oldest first. */
  hours: Count[]
  /** Of the last 7 days (UTC), oldest first. */
  days: Count[]
}

/** Refusals of one site that came since the last write. */
export interface NewRefusals extends Pick<AuthenticationRefusal, 'site' | 'code' | 'enhanced' | 'text' | 'last_at'> {
  count: number
}

/** After this time a refusal is no news any more. */
export const REFUSAL_MS = 7 * DAY_MS
/** Sites of a domain that are kept: those with the latest refusals. */
const MAX_SITES = 20
const MAX_TEXT = 500

/** Adds refusals; what is older than a week, or of more sites than are kept, goes. */
export function addRefusals(
  known: readonly AuthenticationRefusal[],
  added: readonly NewRefusals[],
  now: Date,
): AuthenticationRefusal[] {
  const bySite = new Map(known.map(refusal => [refusal.site, refusal]))
  for (const one of added) bySite.set(one.site, merge(bySite.get(one.site), one, now))
  return currentRefusals([...bySite.values()], now)
}

function merge(before: AuthenticationRefusal | undefined, added: NewRefusals, now: Date): AuthenticationRefusal {
  const { site, code, enhanced, text, last_at, count } = added
  const isLatest = !before || before.last_at <= last_at
  return {
    ...(isLatest
      ? { site, ...(code && { code }), ...(enhanced && { enhanced }), text: text.slice(0, MAX_TEXT), last_at }
      : before),
    hours: addCount(before?.hours ?? [], last_at, count, HOUR_MS, new Date(now.getTime() - DAY_MS - HOUR_MS)),
    days: addCount(before?.days ?? [], last_at, count, DAY_MS, new Date(now.getTime() - REFUSAL_MS - DAY_MS)),
  }
}

function addCount(counts: readonly Count[], time: Date, count: number, unit: number, since: Date): Count[] {
  const at = new Date(Math.floor(time.getTime() / unit) * unit)
  const same = counts.find(one => one.at.getTime() === at.getTime())
  const others = counts.filter(one => one !== same && one.at > since)
  return [...others, { at, count: count + (same?.count ?? 0) }].sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** Without the sites that took a message after their last refusal. */
export function withoutDelivered(
  known: readonly AuthenticationRefusal[],
  delivered: ReadonlyMap<string, Date>,
): AuthenticationRefusal[] {
  return known.filter(({ site, last_at }) => last_at > (delivered.get(site) ?? new Date(0)))
}

/** The refusals of the last week, latest first. */
export function currentRefusals(known: readonly AuthenticationRefusal[], now: Date): AuthenticationRefusal[] {
  return known
    .filter(({ last_at }) => now.getTime() - last_at.getTime() < REFUSAL_MS)
    .sort((a, b) => b.last_at.getTime() - a.last_at.getTime())
    .slice(0, MAX_SITES)
}

/** Refused attempts of the last 24 hours, and of today and the six days before (UTC). */
export function refusalCounts({ hours, days }: AuthenticationRefusal, now: Date): { day: number; week: number } {
  const sum = (counts: readonly Count[], ms: number) =>
    counts.reduce((total, { at, count }) => (now.getTime() - at.getTime() < ms ? total + count : total), 0)
  return { day: sum(hours, DAY_MS), week: sum(days, REFUSAL_MS) }
}
