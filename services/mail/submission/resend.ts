/** Sends a new copy of a stored message, to the recipients that failed or to all. */

import type { MessageDoc } from '../store/documents.ts'
import { freshCopy } from './rules/resent-copy.ts'
import type { Caller, SendDeps } from './send-email.ts'
import type { Accepted, Refused } from './submission.ts'

/** Submits the copy; undefined when no recipient is meant. */
export async function resend(
  message: MessageDoc,
  raw: Buffer,
  to: 'failed' | 'all',
  caller: Caller,
  { accept }: SendDeps,
): Promise<Accepted | Refused | undefined> {
  const meant = message.rcpts.filter(({ status }) => to === 'all' || status === 'bounced' || status === 'failed')
  if (meant.length === 0) return undefined
  // A redirect replaced the recipients that the message is for; it does so again while the domain is set to it.
  const recipients = (message.redirected_from ?? meant).map(({ email, type }) => ({ email, type }))
  const { submitter, received, idem } = caller
  return accept({
    submitter: message.test ? { ...submitter, test: true } : submitter,
    mailFrom: message.mail_from,
    recipients,
    raw: freshCopy(raw),
    received,
    ...(message.smtputf8 && { smtputf8: true }),
    ...(message.body8bit && { body8bit: true }),
    ...(message.lane !== 'system' && { lane: message.lane }),
    ...(message.list !== undefined && { list: message.list }),
    ...(message.track && { track: message.track }),
    ...(message.tags && { tags: message.tags }),
    ...(message.metadata && { metadata: message.metadata }),
    ...(message.template && { template: message.template }),
    ...(idem && { idem }),
  })
}
