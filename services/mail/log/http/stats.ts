/** `GET /api/v1/stats`: an account's messages by day and recipient domain. */
import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { type Authorise, bind } from '../../../platform/http/web-app.ts'
import { refuseFields } from '../../../platform/problems.ts'
import type { Config } from '../../../platform/process/config.ts'
import type { Access } from '../../http/shared/access.ts'
import { type Principal, requireUnrestricted } from '../../http/shared/authorise.ts'
import { periodOf } from '../rules/stats-days.ts'
import { type StatsDayDoc, type StatusCounts, statsOfDays } from '../store/stats.ts'
import { getStats } from './reports-contract.ts'

/** Recipient domains that a report names. */
const DOMAINS = 20
const WAITING = ['queued', 'scheduled', 'deferred'] as const
const FINAL = ['delivered', 'bounced', 'failed', 'suppressed', 'canceled', 'complained'] as const

/** Adds the operation to a router. */
export function addStatsRoute(
  router: Router,
  deps: { authorise: Authorise<Access, Principal>; mongo: Mongo; clock: Clock; config: Config },
): void {
  bind(router, deps.authorise, getStats, async ({ query }, principal) => {
    requireUnrestricted(principal)
    const { account } = principal
    const now = deps.clock.now()
    const period = periodOf(query, now)
    if ('error' in period) throw refuseFields([{ pointer: '/since', reason: period.error }])
    const logDays = deps.config.RETENTION_LOG_DAYS
    const counted = await statsOfDays(deps.mongo.db, account.id, period.days, { now, logDays })
    const days = counted.map((day, index) => ({
      date: period.days[index] ?? '',
      messages: day.messages,
      ...countsOf([day.recipients]),
    }))
    return {
      object: 'stats' as const,
      since: period.since,
      until: period.until,
      totals: {
        messages: counted.reduce((sum, day) => sum + day.messages, 0),
        ...countsOf(counted.map(day => day.recipients)),
      },
      days,
      domains: domainsOf(counted),
    }
  })
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

function domainsOf(days: readonly StatsDayDoc[]) {
  const byDomain = new Map<string, StatusCounts[]>()
  for (const { domain, recipients } of days.flatMap(day => day.domains))
    byDomain.set(domain, [...(byDomain.get(domain) ?? []), recipients])
  return [...byDomain]
    .map(([domain, counts]) => ({ domain, ...countsOf(counts) }))
    .toSorted((a, b) => b.recipients - a.recipients || (a.domain < b.domain ? -1 : 1))
    .slice(0, DOMAINS)
}
