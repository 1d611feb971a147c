/** Shared by all sending operations: errors between fields, the submitter, the idempotency key, the response. */
import type { z } from 'zod'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { readIdempotencyKey } from '../../../platform/http/idempotency-key.ts'
import { type Authorise, factsOf, type WebContext } from '../../../platform/http/web-app.ts'
import { isTrustedProxy } from '../../../platform/network/ip-networks.ts'
import { type ProblemCode, ProblemError, refuseFields } from '../../../platform/problems.ts'
import type { Config } from '../../../platform/process/config.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { Access } from '../../http/shared/access.ts'
import { type Principal, submitterOf } from '../../http/shared/authorise.ts'
import { setRateHeaders, type TakeRequest } from '../../http/shared/rate-limit.ts'
import type { RenderPublished } from '../../templates/render-published.ts'
import { type EmailRequest, findRequestErrors, type RequestError, type Warning } from '../rules/email-request.ts'
import type { Caller, SendDeps } from '../send-email.ts'
import type { Accepted, Refused, Submission, Submitter } from '../submission.ts'
import { type emailAccepted, IDEMPOTENCY_KEY } from './send-contract.ts'

/** Dependencies that all sending operations share. */
export interface SendRoutesDeps extends SendDeps {
  mongo: Mongo
  authorise: Authorise<Access, Principal>
  /** Validates an envelope sender, and what is to be tracked of its mail, alone, before anything is stored. */
  validateSender(submitter: Submitter, mailFrom: string, track: Submission['track']): Promise<Refused | undefined>
  takeSend: TakeRequest
  renderPublished: RenderPublished
  config: Pick<Config, 'MAX_MESSAGE_BYTES' | 'TRUSTED_PROXIES' | 'RETENTION_LOG_DAYS' | 'RETENTION_BODY_DAYS'>
}

/** The durable answer as JSON. */
export type EmailAccepted = z.input<typeof emailAccepted>

/** Seconds that a client should wait after a refusal that passes. */
const RETRY_AFTER: Partial<Record<ProblemCode, number>> = {
  idempotency_in_progress: 1,
  queue_unavailable: 5,
  unavailable: 5,
  rate_limited: 60,
  quota_exceeded: 300,
}

/** Throws the errors between fields of a parsed message. */
export function validateRequest(request: EmailRequest, now: Date): void {
  refuseErrors(findRequestErrors(request, now))
}

/** Throws `validation_failed` when there is an error. */
export function refuseErrors(errors: readonly RequestError[]): void {
  if (errors.length > 0) throw refuseFields(errors)
}

/** A refusal of acceptance as a problem. */
export function toRefusal({ code, detail, quota }: Refused): ProblemError {
  const retryAfter = quota?.resetSeconds ?? RETRY_AFTER[code]
  return new ProblemError(code, detail, retryAfter === undefined ? {} : { retryAfter })
}

/** The answer to an accepted message. */
export function toAnswer(accepted: Accepted, warnings: readonly Warning[]): EmailAccepted {
  return {
    object: 'email',
    id: accepted.id,
    message_id: accepted.messageId,
    status: accepted.recipients.some(({ status }) => status === 'scheduled') ? 'scheduled' : 'queued',
    created_at: accepted.createdAt.toISOString(),
    recipients: accepted.recipients,
    warnings: [...warnings],
  }
}

/** Answers one message: 202 with its address, or the refusal. */
export function answerOne(
  context: WebContext,
  result: Accepted | Refused,
  warnings: readonly Warning[],
): EmailAccepted {
  if (result.kind === 'refused') {
    if (result.quota) setRateHeaders(context, result.quota)
    throw toRefusal(result)
  }
  context.set('Location', `/api/v1/emails/${result.id}`)
  if (result.replayed) context.set('Idempotency-Replayed', 'true')
  return toAnswer(result, warnings)
}

/**
 * The caller of this request. `operation` is part of the idempotency key: equal keys of two operations are two keys. So
 * are those of a token that sends nothing out and a live one, or a rehearsal would be the answer to what was meant to go out.
 */
export function callerOf(
  context: WebContext,
  principal: Principal,
  operation: string,
  trusted: readonly string[],
): Caller {
  const idem = idempotencyOf(context, `${keySpaceOf(principal)}${operation}`)
  return {
    submitter: submitterOf(principal),
    received: receivedFrom(context, trusted),
    ...(idem && { idem }),
  }
}

/** Before the operation in its key; a live token has none. */
function keySpaceOf({ token }: Principal): string {
  if (token?.mode === 'test') return 'test '
  return token?.capture ? 'capture ' : ''
}

/** The key of the operation and the hash of the request, or undefined without the header. */
function idempotencyOf(context: WebContext, operation: string): Caller['idem'] {
  const known = readIdempotencyKey(
    context,
    IDEMPOTENCY_KEY,
    () => new ProblemError('invalid_request', sentence('detail.idempotency_key')),
  )
  return known && { key: `${operation}:${known.key}`, hash: known.digest.toString('base64url') }
}

function receivedFrom(context: WebContext, trusted: readonly string[]): Submission['received'] {
  const peer = context.req.socket.remoteAddress ?? ''
  const forwarded = isTrustedProxy(peer, trusted)
  const scheme = forwarded ? context.get('x-forwarded-proto') : context.protocol
  return { from: 'api', ip: factsOf(context).ip, protocol: scheme === 'https' ? 'HTTPS' : 'HTTP' }
}
