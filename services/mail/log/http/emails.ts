/** Reading the delivery log: lists, one message, its history, its bytes. */

import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import { runInTurns } from '../../../platform/concurrency/event-loop-turns.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { type Authorise, bind, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { findHoldsOf } from '../../delivery/control/store/holds.ts'
import type { Access } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { isFrom } from '../../message/address.ts'
import { findParts, readMime } from '../../message/mime-reader.ts'
import { readBody } from '../../store/bodies.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { explainMessage } from '../explain-message.ts'
import { PREVIEW_POLICY, previewPage } from '../rules/preview.ts'
import { deliveriesOf, eventsOf, findMessage, hasBody } from '../store/message-log.ts'
import { toAttempt, toDetail, toTimeline } from './email-views.ts'
import { getEmail, getEmailRaw, listEmailAttempts, listEmailEvents, previewEmail } from './emails-contract.ts'
import { explainEmail } from './explain-contract.ts'
import { toExplanation } from './explain-view.ts'
import { addListRoutes } from './list.ts'

/** Dependencies of the operations that read messages. */
export interface LogRoutesDeps {
  authorise: Authorise<Access, Principal>
  mongo: Mongo
  clock: Clock
}

/** Adds the reads of the delivery log to a router. */
export function addLogRoutes(router: Router, { authorise, mongo, clock }: LogRoutesDeps): void {
  const { db } = mongo
  addListRoutes(router, { authorise, mongo })
  const message = (principal: Principal, id: string) => ownMessage(mongo, principal, id)
  bind(router, authorise, getEmail, async ({ params }, principal) =>
    detailOf(mongo, await message(principal, params.id)),
  )
  bind(router, authorise, listEmailEvents, async ({ params }, principal) => {
    const found = await message(principal, params.id)
    return listOf(toTimeline(found, await eventsOf(db, found._id)))
  })
  bind(router, authorise, listEmailAttempts, async ({ params }, principal) => {
    const { _id } = await message(principal, params.id)
    return listOf((await eventsOf(db, _id)).map(toAttempt))
  })
  bind(router, authorise, explainEmail, async ({ params }, principal) => {
    const found = await message(principal, params.id)
    const explained = await explainMessage(mongo, found, clock.now())
    return { object: 'explanation' as const, email_id: found._id, recipients: explained.map(toExplanation) }
  })
  bind(router, authorise, getEmailRaw, async ({ params }, principal, context) => {
    answerRaw(context, await rawOf(mongo, await message(principal, params.id)), params.id)
  })
  bind(router, authorise, previewEmail, async ({ params }, principal, context) => {
    await answerPreview(context, await rawOf(mongo, await message(principal, params.id)))
  })
}

/** A list without further pages. */
function listOf<T>(data: T[]) {
  return { object: 'list' as const, data, has_more: false }
}

/** The caller's message; another's, or one from a domain that the token is not for, is as unknown as one that never was. */
export async function ownMessage({ db }: Mongo, { account, token }: Principal, id: string): Promise<MessageDoc> {
  const found = await findMessage(db, account.id, id)
  if (!found || !isFrom(found.from, token?.domains ?? []))
    throw new ProblemError('not_found', sentence('detail.no_message'))
  return found
}

/** Everything about one message. */
export async function detailOf({ db }: Mongo, message: MessageDoc) {
  const [waiting, hasRaw] = await Promise.all([deliveriesOf(db, message._id), hasBody(db, message._id)])
  return toDetail(message, waiting, hasRaw, await findHoldsOf(db, waiting))
}

/** The bytes of a message while they are kept. */
export async function rawOf(mongo: Mongo, { _id, parts }: MessageDoc): Promise<Buffer> {
  const raw = await readBody(mongo, _id, parts)
  if (!raw) throw new ProblemError('not_found', sentence('detail.body_expired'))
  return raw
}

/** Answers the bytes of a message, as a download: a browser must never take them for a page of ours. */
export function answerRaw(context: WebContext, raw: Buffer, name: string): void {
  context.set('Content-Disposition', `attachment; filename="${name}.eml"`)
  context.type = 'message/rfc822'
  context.body = raw
}

/** Answers the page of a preview. */
export async function answerPreview(context: WebContext, raw: Buffer): Promise<void> {
  answerPage(context, previewPage(readMime(raw, await runInTurns(findParts(raw.toString('latin1'))))))
}

/** Answers HTML that is not trusted, for a sandboxed frame. */
export function answerPage(context: WebContext, html: string): void {
  context.set('Content-Security-Policy', PREVIEW_POLICY)
  context.remove('X-Frame-Options') // the policy's frame-ancestors decides who may frame it
  context.remove('Origin-Agent-Cluster') // a sandboxed page has an opaque origin, and Chromium warns of the contradiction
  context.set('Referrer-Policy', 'no-referrer')
  context.type = 'text/html; charset=utf-8'
  context.body = html
}
