/** The inbox of capture mode: what would have gone out, as the receiving server would have got it. */

import type Router from '@koa/router'
import { toPage } from '../../../platform/cursor-pages.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type Principal, requireUnrestricted } from '../../http/shared/authorise.ts'
import { listCaptured, readCaptured } from '../../store/captured.ts'
import { subjectsOf } from '../store/message-log.ts'
import { answerPreview, answerRaw, type LogRoutesDeps } from './emails.ts'
import { getInboxRaw, listInbox, previewInbox } from './reports-contract.ts'

/** Adds the operations to a router. */
export function addInboxRoutes(router: Router, { authorise, mongo }: LogRoutesDeps): void {
  bind(router, authorise, listInbox, async ({ query }, principal) => {
    requireUnrestricted(principal)
    const { account } = principal
    const found = await listCaptured(mongo, account.id, query.limit + 1, query.after)
    const subjects = await subjectsOf(mongo.db, account.id, new Set(found.map(({ m }) => m)))
    return toPage(found, query.limit, ({ _id, m, mail_from, rcpts, size, at }) => ({
      object: 'captured' as const,
      id: _id,
      email_id: m,
      from: mail_from,
      to: rcpts,
      subject: subjects.get(m) ?? '',
      size,
      received_at: at.toISOString(),
    }))
  })
  bind(router, authorise, getInboxRaw, async ({ params }, principal, context) => {
    answerRaw(context, await rawOf(mongo, principal, params.id), params.id)
  })
  bind(router, authorise, previewInbox, async ({ params }, principal, context) => {
    await answerPreview(context, await rawOf(mongo, principal, params.id))
  })
}

async function rawOf(mongo: Mongo, principal: Principal, id: string): Promise<Buffer> {
  requireUnrestricted(principal)
  const [messageId = ''] = id.split('.')
  const found = (await readCaptured(mongo, principal.account.id, messageId)).find(({ _id }) => _id === id)
  if (!found) throw new ProblemError('not_found', sentence('detail.no_captured_message'))
  return found.raw
}
