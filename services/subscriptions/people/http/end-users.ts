/** Operations on users and their statistics. */
import type Router from '@koa/router'
import { sendCsv } from '../../../platform/http/csv-download.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { csvLine } from '../../../platform/tables/rules/csv.ts'
import type { Subscriptions } from '../../context.ts'
import { countersOf } from '../../counters/running-counters.ts'
import { bindAdmin, type HttpDeps } from '../../http/shared/bind.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { userStatisticsOperation } from '../../reports/http/reports-contract.ts'
import { userStatistics, usersByPlatform, userTrend } from '../../reports/statistics.ts'
import { fieldError } from '../../rules/field-errors.ts'
import { type DateRange, dateRange, pageOf, pagination } from '../../rules/paging.ts'
import { viewUser } from '../../rules/record-views.ts'
import type { EndUserDoc } from '../../store/documents.ts'
import type { Total } from '../../store/list-totals.ts'
import { eraseUser, setUserStatus } from '../manage-end-users.ts'
import { findNamedUsers, findUser, listUsers, streamUsers, type UserFilter } from '../store/end-users.ts'
import {
  eraseUserOperation,
  exportUsers,
  getUserOperation,
  listUsersOperation,
  updateUserOperation,
} from './end-users-contract.ts'

/** The range of two date fields. Throws `validation_failed` when it starts after it ends. */
export function rangeOf(
  context: Subscriptions,
  { start_date, end_date }: { start_date?: string | undefined; end_date?: string | undefined },
): DateRange {
  const range = dateRange(start_date, end_date, context.zone)
  if (!range)
    throw new ProblemError('validation_failed', undefined, { errors: [fieldError('start_date', 'date_order')] })
  return range
}

interface UserQuery {
  search?: string | undefined
  status?: EndUserDoc['status'] | undefined
  platform?: string | undefined
  start_date?: string | undefined
  end_date?: string | undefined
}

function echo({ search, status, platform, start_date, end_date }: UserQuery) {
  return {
    search: search ?? '',
    status: status ?? '',
    platform: platform ?? '',
    start_date: start_date ?? '',
    end_date: end_date ?? '',
  }
}

/** Shortest search text: one letter matches too much, but one digit may be an id. */
const SEARCHED = /^(?:\d|.{2,})$/s

async function filterOf(
  context: Subscriptions,
  appKey: string,
  { search = '', status, platform, ...dates }: UserQuery,
): Promise<UserFilter> {
  const wanted = SEARCHED.test(search) ? search : undefined
  return {
    search: wanted,
    named: wanted === undefined ? undefined : await findNamedUsers(context.collections, appKey, wanted),
    status,
    platform: platform || undefined,
    created: rangeOf(context, dates),
  }
}

/** The total from the running counters: all users, or all active ones. */
function knownTotal(context: Subscriptions, appKey: string, filter: UserFilter): Promise<Total> | undefined {
  if (filter.search || filter.platform || filter.created?.from || filter.created?.to) return undefined
  if (filter.status !== undefined && filter.status !== '1') return undefined
  const field = filter.status === '1' ? 'users_active' : 'users_total'
  return countersOf(context, [appKey]).then(counters => ({ total: counters[field] }))
}

/** Mounts the operations on users. */
export function mountUsers(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  const requireOne = async (appKey: string, id: number) => {
    const user = await findUser(subscriptions.collections, appKey, id)
    if (!user) throw new ProblemError('end_user_not_found')
    return user
  }
  bindAdmin(router, deps, listUsersOperation, async ({ query }, { appKey }) => {
    const page = requestedPage(query)
    const filter = await filterOf(subscriptions, appKey, query)
    const total = knownTotal(subscriptions, appKey, filter)
    const found = await listUsers(subscriptions.collections, subscriptions.count, subscriptions.clock.now(), {
      appKey,
      filter,
      page,
      oldestFirst: query.order === 'asc',
      knownTotal: total,
    })
    return {
      users: found.items.map(user => viewUser(user, subscriptions.zone)),
      pagination: pagination(page, found),
      filters: echo(query),
    }
  })
  bindAdmin(router, deps, exportUsers, async ({ query }, { appKey, context }) => {
    const filter = await filterOf(subscriptions, appKey, query)
    sendCsv(context, 'users', userRows(subscriptions, streamUsers(subscriptions.collections, appKey, filter)))
    return undefined
  })
  bindAdmin(router, deps, getUserOperation, async ({ params }, { appKey }) => {
    const user = await requireOne(appKey, params.id)
    return {
      users: [viewUser(user, subscriptions.zone)],
      pagination: pagination(pageOf({}), { total: 1 }),
      filters: echo({}),
    }
  })
  bindAdmin(router, deps, updateUserOperation, async ({ params, body }, { appKey, actor }) =>
    viewUser(await setUserStatus(subscriptions, actor, { appKey, id: params.id }, body.status), subscriptions.zone),
  )
  bindAdmin(router, deps, eraseUserOperation, async ({ params }, { appKey, actor }) => {
    await eraseUser(subscriptions, actor, { appKey, id: params.id })
    return {}
  })
  bindAdmin(router, deps, userStatisticsOperation, async ({ query }, { appKeys }) => {
    if (query.type === 'trend') return userTrend(subscriptions, appKeys, query.days)
    return query.type === 'platform' ? usersByPlatform(subscriptions, appKeys) : userStatistics(subscriptions, appKeys)
  })
}

const COLUMNS = [
  'id',
  'nickname',
  'phone',
  'email',
  'openid',
  'unionid',
  'huawei_openid',
  'huawei_unionid',
  'platform',
  'status',
  'login_count',
  'last_login_time',
  'created_at',
] as const

async function* userRows(context: Subscriptions, users: AsyncIterable<EndUserDoc>): AsyncIterable<string> {
  yield csvLine(COLUMNS)
  for await (const user of users) {
    const view = viewUser(user, context.zone)
    yield csvLine(COLUMNS.map(column => view[column]))
  }
}
