/** `POST /api/send`, `/api/v1/emails`, `/emails/raw`: one message in, one durable answer out. */

import type Router from '@koa/router'
import { createBodyRoom } from '../../../platform/http/body-room.ts'
import { parse, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type Principal, submitterOf } from '../../http/shared/authorise.ts'
import { opening } from '../../http/shared/opening.ts'
import { readMime, splitHead } from '../../message/mime-reader.ts'
import {
  type EmailRequest,
  emailRequest,
  findCommonErrors,
  lenient,
  recipientsOf,
  type Warning,
} from '../rules/email-request.ts'
import { composeEmail, sendEmail, sendRawEmail } from '../send-email.ts'
import { handleBatch } from './send-batch.ts'
import { sendBatch as batchEndpoint, sendEmail as emailEndpoint, sendLegacy, sendRaw } from './send-contract.ts'
import { answerOne, callerOf, refuseErrors, type SendRoutesDeps, toRefusal, validateRequest } from './sending.ts'

const MIB = 1024 * 1024
/** For bodies before acceptance; a message takes up to four times its body's size until it is stored. */
const ROOM_MIB = 160

/** Adds the sending operations to a router. */
export function addSendRoutes(router: Router, deps: SendRoutesDeps): void {
  // Base64 in JSON takes a third more, and text and html come on top.
  const mostMib = Math.ceil((deps.config.MAX_MESSAGE_BYTES * 4) / 3 / MIB) + 5
  const room = createBodyRoom(Math.max(ROOM_MIB, mostMib * 2) * MIB, mostMib * MIB, sentence('detail.messages_busy'))
  const add = opening(router, { authorise: deps.authorise, take: deps.takeSend, bodyBytes: mostMib * MIB, room })
  add(sendLegacy, async ({ body, query }, principal, context) => {
    const { body: known, warnings } = lenient(body)
    const request = parse(emailRequest, known, '') as EmailRequest
    return handleOne({ request, warnings, dryRun: query.dry_run }, principal, context, deps)
  })
  add(emailEndpoint, ({ body, query }, principal, context) =>
    handleOne({ request: body, warnings: [], dryRun: query.dry_run }, principal, context, deps),
  )
  add(batchEndpoint, async ({ body, query }, principal, context) => {
    const caller = callerOf(context, principal, 'batch', deps.config.TRUSTED_PROXIES)
    const { list, replayed } = await handleBatch(body, query.mode, caller, deps)
    if (replayed) context.set('Idempotency-Replayed', 'true')
    return list
  })
  add(sendRaw, async ({ body }, principal, context) => {
    refuseErrors(findCommonErrors(body, deps.clock.now()))
    const caller = callerOf(context, principal, 'raw', deps.config.TRUSTED_PROXIES)
    return answerOne(context, await sendRawEmail(body, caller, deps), [])
  })
}

async function handleOne(
  { request, warnings, dryRun }: { request: EmailRequest; warnings: readonly Warning[]; dryRun: boolean },
  principal: Principal,
  context: WebContext,
  deps: SendRoutesDeps,
) {
  validateRequest(request, deps.clock.now())
  if (dryRun) return previewOf(request, warnings, principal, context, deps)
  // `/api/send` and `/api/v1/emails` are one operation under two addresses.
  const caller = callerOf(context, principal, 'send', deps.config.TRUSTED_PROXIES)
  return answerOne(context, await sendEmail(request, caller, deps), warnings)
}

/** Everything that acceptance would find, without storing anything. */
async function previewOf(
  request: EmailRequest,
  warnings: readonly Warning[],
  principal: Principal,
  context: WebContext,
  deps: SendRoutesDeps,
) {
  const refused = await deps.validateSender(submitterOf(principal), request.from.email)
  if (refused) throw toRefusal(refused)
  const raw = await composeEmail(request, deps.clock)
  const limit = deps.config.MAX_MESSAGE_BYTES
  if (raw.length > limit) throw new ProblemError('message_too_large', sentence('detail.message_limit', { limit }))
  const { html = null, text = null } = readMime(raw)
  context.status = 200
  return {
    object: 'email_preview' as const,
    from: request.from.email,
    size: raw.length,
    recipients: recipientsOf(request),
    headers: splitHead(raw.toString()).head,
    text,
    html,
    warnings: [...warnings],
  }
}
