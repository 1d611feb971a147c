/** `POST /api/send`, `/api/v1/emails`, `/emails/raw`: one message in, one durable answer out. */

import type Router from '@koa/router'
import { withTimeout } from '../../../platform/concurrency/timeout.ts'
import { type BodyRoom, createBodyRoom } from '../../../platform/http/body-room.ts'
import { parse, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { type Principal, submitterOf } from '../../http/shared/authorise.ts'
import { opening } from '../../http/shared/opening.ts'
import { readMime, splitHead } from '../../message/mime-reader.ts'
import { fillTemplate, renderedSize } from '../fill-template.ts'
import { answerOfKey } from '../idempotency.ts'
import {
  type EmailRequest,
  emailRequest,
  findCommonErrors,
  lenient,
  recipientsOf,
  type Warning,
} from '../rules/email-request.ts'
import { type Caller, composeEmail, sendEmail, sendRawEmail } from '../send-email.ts'
import type { Accepted, Refused } from '../submission.ts'
import { LOOKUP_MS } from '../validate-submission.ts'
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
  const roomy = { ...deps, room }
  const add = opening(router, { authorise: deps.authorise, take: deps.takeSend, bodyBytes: mostMib * MIB, room })
  add(sendLegacy, async ({ body, query }, principal, context) => {
    const { body: known, warnings } = lenient(body)
    const request = parse(emailRequest, known, '') as EmailRequest
    return handleOne({ request, warnings, dryRun: query.dry_run }, principal, context, roomy)
  })
  add(emailEndpoint, ({ body, query }, principal, context) =>
    handleOne({ request: body, warnings: [], dryRun: query.dry_run }, principal, context, roomy),
  )
  add(batchEndpoint, async ({ body, query }, principal, context) => {
    const caller = callerOf(context, principal, 'batch', deps.config.TRUSTED_PROXIES)
    const { list, replayed } = await handleBatch(body, query.mode, caller, roomy)
    if (replayed) context.set('Idempotency-Replayed', 'true')
    return list
  })
  add(sendRaw, async ({ body }, principal, context) => {
    refuseErrors(findCommonErrors(body, deps.clock.now()))
    const caller = callerOf(context, principal, 'raw', deps.config.TRUSTED_PROXIES)
    return answerOne(context, await sendRawEmail(body, caller, deps), [])
  })
}

interface OneMessage {
  request: EmailRequest
  warnings: readonly Warning[]
  dryRun: boolean
}

async function handleOne(
  { request: given, warnings, dryRun }: OneMessage,
  principal: Principal,
  context: WebContext,
  deps: SendRoutesDeps & { room: BodyRoom },
) {
  validateRequest(given, deps.clock.now())
  // `/api/send` and `/api/v1/emails` are one operation under two addresses.
  const caller = callerOf(context, principal, 'send', deps.config.TRUSTED_PROXIES)
  const earlier = dryRun ? undefined : await earlierAnswer(given, caller, deps)
  if (earlier) return answerOne(context, earlier, warnings)
  const place = deps.room(principal.account.id, undefined)
  try {
    const filled = await fillTemplate(given, principal.account.id, deps.renderPublished)
    place.count(renderedSize(filled))
    const all = [...warnings, ...filled.warnings]
    if (dryRun) return await previewOf(filled.request, all, principal, context, deps)
    return answerOne(context, await sendEmail(filled.request, caller, deps, filled.template), all)
  } finally {
    place.release()
  }
}

/** A repeated request gets its answer although its template may be gone or require other values by now. */
async function earlierAnswer(
  { template }: EmailRequest,
  { idem, submitter }: Caller,
  { mongo, clock }: SendRoutesDeps,
): Promise<Accepted | Refused | undefined> {
  if (!template || !idem) return undefined
  return withTimeout(LOOKUP_MS, answerOfKey(mongo, { idem, user_id: submitter.userId, created_at: clock.now() }))
}

/** Everything that acceptance would find, without storing anything. */
async function previewOf(
  request: EmailRequest,
  warnings: readonly Warning[],
  principal: Principal,
  context: WebContext,
  deps: SendRoutesDeps,
) {
  const refused = await deps.validateSender(submitterOf(principal), request.from.email, request.track)
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
