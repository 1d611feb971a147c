/** Lists, counts and exports of the delivery log over HTTP. */
import { finished } from 'node:stream'
import type Router from '@koa/router'
import type { z } from 'zod'
import { createFairLimiter } from '../../../platform/concurrency/fair-limiter.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { sendCsv } from '../../../platform/http/csv-download.ts'
import { type Authorise, bind, type WebContext } from '../../../platform/http/web-app.ts'
import { cursorOf, orderedPage } from '../../../platform/ordered-pages.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { csvLine } from '../../../platform/tables/rules/csv.ts'
import type { Access } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { EXPORT_COLUMNS, exportRows } from '../rules/export-rows.ts'
import { countMessages, idsToExport, listMessages, messagesOf } from '../store/list-messages.ts'
import type { LogFilters } from '../store/log-filters.ts'
import { toSummary } from './email-views.ts'
import {
  countEmails,
  EMAIL_ORDERS,
  exportEmails,
  listEmails,
  type messageFilters,
  NEXT_HEADER,
} from './list-contract.ts'

/**
 * Searches in parallel in one process: more would take the database's cores from acceptance, and end no sooner. Pages,
 * counts and exports have places of their own, since an export searches for seconds; accounts take turns.
 */
const PAGES = { atOnce: 2, perKey: 2 }
const COUNTS = { atOnce: 1, perKey: 1, waiting: 2 }
const EXPORTS = { atOnce: 1, perKey: 1 }
/** Seconds after which an account may try again that has an export already. */
const EXPORT_RETRY = 5

/** Adds the operations to a router; before those of one message, whose paths they would match. */
export function addListRoutes(
  router: Router,
  { authorise, mongo: { db } }: { authorise: Authorise<Access, Principal>; mongo: Mongo },
): void {
  const inTurn = {
    pages: createFairLimiter(PAGES),
    counts: createFairLimiter(COUNTS),
    exports: createFairLimiter(EXPORTS),
  }
  const startExport = oneForEachAccount()
  bind(router, authorise, listEmails, async ({ query }, principal) => {
    const { limit, after: _after, sort, order: _order, ...given } = query
    const { id } = principal.account
    const filters = toFilters(given, principal)
    const { order, position: [after] = [] } = orderedPage(EMAIL_ORDERS, query)
    const list = () => listMessages(db, id, filters, { limit, after, order })
    const page = await (isNarrowed(given) ? inTurn.pages(id, list) : list())
    return {
      object: 'list' as const,
      data: page.messages.map(toSummary),
      has_more: page.next !== null,
      next: page.next === null ? null : cursorOf(EMAIL_ORDERS, { sort, order }, [page.next]),
    }
  })

  bind(router, authorise, countEmails, async ({ query }, principal) => {
    const { id } = principal.account
    const counted = await inTurn.counts(id, () => countMessages(db, id, toFilters(query, principal)))
    return { object: 'count' as const, ...counted }
  })

  bind(router, authorise, exportEmails, async ({ query }, principal, context) => {
    const { limit, after, ...given } = query
    const { id } = principal.account
    startExport(id, context)
    const filters = toFilters(given, principal)
    const { ids, next } = await inTurn.exports(id, () => idsToExport(db, id, filters, { limit, after }))
    if (next !== null) context.set(NEXT_HEADER, next)
    async function* lines() {
      if (after === undefined) yield csvLine(EXPORT_COLUMNS)
      for await (const message of messagesOf(db, id, ids)) yield exportRows(message).map(csvLine).join('')
    }
    sendCsv(context, 'messages', lines(), { continued: after !== undefined })
  })
}

/** Refuses an export of an account while another one runs: from its search to the end of its answer. */
function oneForEachAccount(): (userId: string, context: WebContext) => void {
  const running = new Set<string>()
  return (userId, { res }) => {
    if (running.has(userId))
      throw new ProblemError('rate_limited', sentence('detail.export_running'), { retryAfter: EXPORT_RETRY })
    running.add(userId)
    finished(res, () => running.delete(userId))
  }
}

type Given = z.output<typeof messageFilters>

/** `since` and `until` are ranges of ids, which need no search. */
function isNarrowed({ since: _since, until: _until, ...filters }: Given): boolean {
  return Object.values(filters).some(value => value !== undefined)
}

function toFilters({ since, until, ...filters }: Given, { token }: Principal): LogFilters {
  const period = { since: since ? new Date(since) : undefined, until: until ? new Date(until) : undefined }
  return { ...filters, ...period, domains: token?.domains }
}
