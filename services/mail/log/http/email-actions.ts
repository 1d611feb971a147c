/** What can be done with a message after it was accepted: stop it, try it now, another time, a new copy. */

import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { ProblemError, refuseFields } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { cancel, retryNow } from '../../delivery/queue-control.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { opening } from '../../http/shared/opening.ts'
import type { MessageDoc } from '../../store/documents.ts'
import { answerOne, callerOf, type SendRoutesDeps } from '../../submission/http/sending.ts'
import { resend } from '../../submission/resend.ts'
import { EMAIL_LIMITS } from '../../submission/rules/email-parts.ts'
import { reschedule } from '../store/reschedule.ts'
import { detailOf, type LogRoutesDeps, ownMessage, rawOf } from './emails.ts'
import { cancelEmail, rescheduleEmail, resendEmail, retryEmail } from './emails-contract.ts'

/** Adds the operations to a router. */
export function addActionRoutes(router: Router, deps: LogRoutesDeps & SendRoutesDeps & { clock: Clock }): void {
  const { mongo, clock, config } = deps
  const add = opening(router, { authorise: deps.authorise, take: deps.takeSend, bodyBytes: 4 * 1024 })
  add(rescheduleEmail, async ({ params, body }, principal) => {
    const message = await messageToChange(mongo, principal, params.id)
    const at = new Date(body.scheduled_at)
    validateTime(at, clock.now())
    const times = { now: clock.now(), bodyDays: config.RETENTION_BODY_DAYS }
    if (!(await reschedule(mongo, message, at, times)))
      throw new ProblemError('conflict', sentence('detail.not_scheduled'))
    return detailOf(mongo, await ownMessage(mongo, principal, params.id))
  })
  const control = { mongo, clock, logDays: config.RETENTION_LOG_DAYS }
  add(cancelEmail, async ({ params }, principal) => {
    await messageToChange(mongo, principal, params.id)
    await cancel(control, principal.account.id, params.id)
    return detailOf(mongo, await ownMessage(mongo, principal, params.id))
  })
  add(retryEmail, async ({ params }, principal) => {
    await messageToChange(mongo, principal, params.id)
    if ((await retryNow(control, principal.account.id, params.id)) === 0)
      throw new ProblemError('conflict', sentence('detail.nothing_to_retry'))
    return detailOf(mongo, await ownMessage(mongo, principal, params.id))
  })
  add(resendEmail, async ({ params, body }, principal, context) => {
    const message = await messageToChange(mongo, principal, params.id)
    const caller = callerOf(context, principal, `resend ${params.id}`, config.TRUSTED_PROXIES)
    const result = await resend(message, await rawOf(mongo, message), body.to, caller, deps)
    if (!result) throw new ProblemError('conflict', sentence('detail.nothing_failed'))
    return answerOne(context, result, [])
  })
}

/** The caller's message, to change what becomes of it; a token that sends nothing out changes nothing that goes out. */
async function messageToChange(mongo: Mongo, principal: Principal, id: string): Promise<MessageDoc> {
  const message = await ownMessage(mongo, principal, id)
  if (principal.token?.mode === 'test' && !message.test)
    throw new ProblemError('forbidden', sentence('detail.test_token_messages'))
  if (principal.token?.capture && !message.test && !message.capture)
    throw new ProblemError('forbidden', sentence('detail.capture_token_messages'))
  return message
}

function validateTime(at: Date, now: Date): void {
  const latest = now.getTime() + EMAIL_LIMITS.scheduleDays * DAY_MS
  if (at > now && at.getTime() <= latest) return
  throw refuseFields([
    {
      pointer: '/scheduled_at',
      reason: sentence('field.reschedule', { days: EMAIL_LIMITS.scheduleDays }),
      code: 'out_of_range',
    },
  ])
}
