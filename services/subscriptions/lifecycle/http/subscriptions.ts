/** Subscriptions and the overview. */
import { createHash } from 'node:crypto'
import type Router from '@koa/router'
import { nextTurn, TURN_BYTES } from '../../../platform/concurrency/event-loop-turns.ts'
import { createBodyRoom, readInPlace } from '../../../platform/http/body-room.ts'
import { sendCsv } from '../../../platform/http/csv-download.ts'
import { readFile } from '../../../platform/http/uploaded-file.ts'
import { toProblem, type WebContext } from '../../../platform/http/web-app.ts'
import { type Problem, ProblemError, problems } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { csvLine } from '../../../platform/tables/rules/csv.ts'
import { findPlan } from '../../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../../context.ts'
import { bindAdmin, type Call, type HttpDeps } from '../../http/shared/bind.ts'
import { RefusalWithData } from '../../http/shared/envelope.ts'
import { requestedPage } from '../../http/shared/requested-page.ts'
import { rangeOf } from '../../people/http/end-users.ts'
import { requireUser } from '../../people/manage-end-users.ts'
import { overviewOperation } from '../../reports/http/reports-contract.ts'
import { overview } from '../../reports/statistics.ts'
import { type Lang, renderIn, translate } from '../../rules/language.ts'
import { pagination } from '../../rules/paging.ts'
import { runAdminAction } from '../admin-actions.ts'
import { importSubscriptions, type Upload } from '../import-subscriptions.ts'
import { pageOfSubscriptions, type SubscriptionView, streamViews, viewOne } from '../list-subscriptions.ts'
import { NO_PAYMENT_ID, subscribe } from '../start-or-renew.ts'
import { findSubscription } from '../store/subscriptions.ts'
import {
  actOnSubscription,
  actOnSubscriptions,
  exportSubscriptions,
  getSubscription,
  grantSubscription,
  importSubscriptionsOperation,
  listSubscriptionsOperation,
  subscriptionFilters,
} from './subscriptions-contract.ts'

/** The filters of the query as text, or an empty array without any, as in the reference. */
function echo(query: Readonly<Record<string, unknown>>): Record<string, string> | never[] {
  const given = Object.keys(subscriptionFilters).flatMap(name =>
    query[name] === undefined ? [] : [[name, String(query[name])] as const],
  )
  return given.length === 0 ? [] : Object.fromEntries(given)
}

/** The plan with this id in this app. Throws `plan_not_found`. */
export async function requirePlan(context: Subscriptions, appKey: string, id: number) {
  const plan = await findPlan(context.collections, appKey, id)
  if (!plan) throw new ProblemError('plan_not_found')
  return plan
}

/** Largest file of an import, in bytes. */
const MAX_IMPORT_BYTES = 20 * 1024 * 1024

/** Memory for files being read or imported, in bytes; one administrator gets half of it. */
const IMPORT_ROOM_BYTES = 4 * MAX_IMPORT_BYTES

/**
 * Reads the file first, so that a repeat with another file is not taken for the same request. Idempotency compares
 * `rawBody`, because the boundary of a form differs each time.
 */
function uploadReader() {
  const room = createBodyRoom(IMPORT_ROOM_BYTES, MAX_IMPORT_BYTES, sentence('detail.files_busy'))
  return (context: WebContext, { actor }: Call) =>
    readInPlace(context, room(actor.id, undefined), async ({ count }) => {
      const upload = await readFile(context, { bytes: MAX_IMPORT_BYTES, count })
      context.state.upload = upload
      const digest = createHash('sha256').update(upload.charset)
      for (let at = 0; at < upload.bytes.length; at += TURN_BYTES) {
        digest.update(upload.bytes.subarray(at, at + TURN_BYTES))
        await nextTurn()
      }
      context.request.rawBody = digest.digest('hex')
    })
}

/** Mounts the operations on subscriptions and the overview. */
export function mountSubscriptionOperations(router: Router, deps: HttpDeps): void {
  const { subscriptions } = deps
  bindAdmin(router, deps, listSubscriptionsOperation, async ({ query }, { appKey, lang }) => {
    const page = requestedPage(query)
    const given = { ...query, created: rangeOf(subscriptions, query) }
    const found = await pageOfSubscriptions(subscriptions, { appKey, given, page, lang })
    const { total_records, ...rest } = pagination(page, found)
    return {
      subscriptions: found.items,
      pagination: { ...rest, total_records: String(total_records) },
      filters: echo(query),
    }
  })
  bindAdmin(router, deps, exportSubscriptions, async ({ query }, { appKey, lang, context }) => {
    const given = { ...query, created: rangeOf(subscriptions, query) }
    sendCsv(context, 'subscriptions', subscriptionRows(streamViews(subscriptions, { appKey, given, lang })))
    return undefined
  })
  const importFile: Parameters<typeof bindAdmin<typeof importSubscriptionsOperation>>[3] = async (
    { query },
    { appKey, actor, lang, context },
  ) => {
    const file = context.state.upload as Upload
    const done = await importSubscriptions(subscriptions, actor, { appKey, file, dryRun: query.dry_run === '1', lang })
    // A dry run may report errors; an import that stored nothing because of them has failed.
    if (done.errors.length > 0 && !done.dry_run) throw new RefusalWithData('validation_failed', done)
    return done
  }
  bindAdmin(router, deps, importSubscriptionsOperation, importFile, uploadReader())
  bindAdmin(router, deps, getSubscription, async ({ params }, { appKey, lang }) => {
    const subscription = await findSubscription(subscriptions.collections, appKey, params.id)
    if (!subscription) throw new ProblemError('subscription_not_found')
    return viewOne(subscriptions, subscription, lang)
  })
  bindAdmin(router, deps, grantSubscription, async ({ body }, { appKey, actor, lang }) => {
    const user = await requireUser(subscriptions, appKey, { user_id: body.user_id })
    const plan = await requirePlan(subscriptions, appKey, body.plan_id)
    const grant = { method: 'manual', paymentId: NO_PAYMENT_ID, amountCents: 0, paidAt: subscriptions.clock.now() }
    const more = { userId: user._id, plan, days: body.days, clientRef: body.client_ref }
    return viewOne(
      subscriptions,
      (await subscribe(subscriptions, actor, { appKey, ...grant, ...more })).subscription,
      lang,
    )
  })
  bindAdmin(router, deps, actOnSubscription, async ({ params, body }, { appKey, actor, lang }) =>
    viewOne(subscriptions, await runAdminAction(subscriptions, actor, { appKey, id: params.id }, body), lang),
  )
  bindAdmin(router, deps, actOnSubscriptions, async ({ body }, { appKey, actor, lang }) => {
    const { ids, ...action } = body
    const results = []
    for (const id of new Set(ids))
      results.push(
        await actOnOne(subscriptions, lang, id, runAdminAction(subscriptions, actor, { appKey, id }, action)),
      )
    return { results }
  })
  bindAdmin(router, deps, overviewOperation, async ({ query }, { appKeys }) =>
    overview(subscriptions, appKeys, query.days),
  )
}

/** The result of one of many actions: a refusal is a result, any other error is thrown. */
async function actOnOne(context: Subscriptions, lang: Lang, id: number, work: Promise<unknown>) {
  try {
    await work
    return { id: String(id), code: context.config.SUCCESS_CODE, message: translate('ok', lang) }
  } catch (error) {
    const { code, sentence: reason } = toProblem(error)
    if (code === 'internal' || code === 'unavailable') throw error
    const { envelope, http }: Problem = problems[code]
    return { id: String(id), code: envelope ?? http * 100, message: renderIn(lang, reason) }
  }
}

const COLUMNS = [
  'id',
  'user_id',
  'user_nickname',
  'plan_id',
  'plan_name',
  'plan_price',
  'status',
  'payment_method',
  'payment_id',
  'start_date_formatted',
  'end_date_formatted',
  'auto_renew',
  'created_at',
] as const

async function* subscriptionRows(batches: AsyncIterable<SubscriptionView[]>): AsyncIterable<string> {
  yield csvLine(COLUMNS)
  for await (const batch of batches) yield batch.map(view => csvLine(COLUMNS.map(column => view[column]))).join('')
}
