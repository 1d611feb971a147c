/** Statistics of an account over HTTP: by day, by hour, and the destinations that fail. */
import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import { createFairLimiter } from '../../../platform/concurrency/fair-limiter.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { type Authorise, bind } from '../../../platform/http/web-app.ts'
import { refuseFields } from '../../../platform/problems.ts'
import type { Config } from '../../../platform/process/config.ts'
import { FAILURE_KINDS } from '../../delivery/rules/failure-kinds.ts'
import type { Access } from '../../http/shared/access.ts'
import { type Principal, requireUnrestricted } from '../../http/shared/authorise.ts'
import { explanationOf } from '../../store/rules/explanation.ts'
import { reasonOf } from '../rules/failure-reason.ts'
import { lastHours, periodOf } from '../rules/stats-days.ts'
import { type PeriodCounts, type StatusCounts, sumCounts } from '../rules/sum-counts.ts'
import { type FailingDestination, failingDestinations } from '../store/failing-destinations.ts'
import { statsOfDays, statsOfHours } from '../store/stats.ts'
import { getHourlyStats, getStats, listFailingDestinations } from './stats-contract.ts'

/** Values of each dimension that a report names. */
const NAMED = 20
const WAITING = ['queued', 'scheduled', 'deferred'] as const
const FINAL = ['delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained'] as const

/** Days that failing destinations are looked for. */
const FAILING_DAYS = 30
/** One search for failing destinations at a time: each reads the recipients of hundreds of messages. */
const FAILING_TURNS = { atOnce: 1, perKey: 1, waiting: 5 }

/** Adds the operations to a router. Statistics cover the account: a token that is limited to domains gets none. */
export function addStatsRoute(
  router: Router,
  deps: { authorise: Authorise<Access, Principal>; mongo: Mongo; clock: Clock; config: Config },
): void {
  const { db } = deps.mongo
  const authorise: typeof deps.authorise = async (context, access) => {
    const principal = await deps.authorise(context, access)
    requireUnrestricted(principal)
    return principal
  }
  const inTurn = createFairLimiter(FAILING_TURNS)
  const optionsAt = (now: Date) => ({ now, logDays: deps.config.RETENTION_LOG_DAYS })

  bind(router, authorise, getStats, async ({ query }, { account }) => {
    const now = deps.clock.now()
    const period = periodOf(query, now)
    if ('error' in period) throw refuseFields([{ pointer: '/since', reason: period.error }])
    const counted = await statsOfDays(db, account.id, period.days, optionsAt(now))
    const days = counted.map((counts, index) => ({ date: period.days[index] ?? '', ...totalsOf([counts]) }))
    return {
      object: 'stats' as const,
      since: period.since,
      until: period.until,
      totals: totalsOf(counted),
      days,
      ...dimensionsOf(counted),
    }
  })

  bind(router, authorise, getHourlyStats, async ({ query }, { account }) => {
    const now = deps.clock.now()
    const hours = lastHours(2 * query.hours, now)
    const counted = await statsOfHours(db, account.id, hours, optionsAt(now))
    const shown = counted.slice(query.hours)
    const starts = hours.slice(query.hours).map(({ start }) => start.toISOString())
    return {
      object: 'hourly_stats' as const,
      since: starts[0] ?? now.toISOString(),
      until: now.toISOString(),
      totals: totalsOf(shown),
      previous: totalsOf(counted.slice(0, query.hours)),
      hours: shown.map((counts, index) => ({ start: starts[index] ?? '', ...totalsOf([counts]) })),
      ...dimensionsOf(shown),
    }
  })

  bind(router, authorise, listFailingDestinations, async ({ query }, { account }) => {
    const earliest = deps.clock.now().getTime() - FAILING_DAYS * DAY_MS
    const since = new Date(Math.max(earliest, query.since ? Date.parse(query.since) : earliest))
    const found = await inTurn(account.id, () => failingDestinations(db, account.id, since))
    return { object: 'list' as const, data: found.map(showDestination), has_more: false }
  })
}

function showDestination({ domain, counts, messageId, state, at, event }: FailingDestination) {
  return {
    object: 'failing_destination' as const,
    domain,
    ...counts,
    email_id: messageId,
    reason: reasonOf(state) ?? null,
    at: (event?.at ?? at).toISOString(),
    ...sentenceFields('last_reply', event && explanationOf(event)),
  }
}

function totalsOf(parts: readonly PeriodCounts[]) {
  return {
    messages: parts.reduce((sum, { messages }) => sum + messages, 0),
    ...countsOf(parts.map(({ recipients }) => recipients)),
  }
}

/** The busiest values of each dimension, in the words of the API. */
function dimensionsOf(parts: readonly PeriodCounts[]) {
  const { domains, by } = sumCounts(parts, NAMED)
  const { reasons = [], senders = [], submitters = [], tags = [] } = by ?? {}
  return {
    domains: domains.map(({ domain, recipients }) => ({ domain, ...countsOf([recipients]) })),
    reasons: reasons.flatMap(({ name, recipients: { deferred = 0, bounced = 0, failed = 0 } }) => {
      const reason = FAILURE_KINDS.find(known => known === name)
      return reason ? [{ reason, deferred, bounced, failed }] : []
    }),
    senders: senders.map(({ name, recipients }) => ({ domain: name, ...countsOf([recipients]) })),
    submitters: submitters.map(({ name, recipients }) => ({ id: name, ...countsOf([recipients]) })),
    tags: tags.map(({ name, recipients }) => ({ tag: name, ...countsOf([recipients]) })),
  }
}

/** The sum of some counts, in the words of the API. */
function countsOf(given: readonly StatusCounts[]) {
  const sum = (statuses: readonly (keyof StatusCounts)[]) =>
    given.reduce((total, counts) => total + statuses.reduce((part, status) => part + (counts[status] ?? 0), 0), 0)
  const final = Object.fromEntries(FINAL.map(status => [status, sum([status])])) as Record<
    (typeof FINAL)[number],
    number
  >
  return { recipients: sum([...WAITING, ...FINAL]), ...final, waiting: sum(WAITING) }
}
