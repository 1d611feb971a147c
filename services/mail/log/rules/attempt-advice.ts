/** What to do about an attempt that failed. */
import type { Sentence } from '../../../platform/sentences/sentence.ts'
import { classifyReply } from '../../delivery/rules/classify-reply.ts'
import { parseReply } from '../../delivery/rules/smtp-reply.ts'
import { authenticationAdvice } from '../../domains/rules/authentication-advice.ts'
import { domainOf } from '../../message/address.ts'
import { siteOf } from '../../store/rules/assign-slot.ts'
import type { Explained } from '../../store/rules/explanation.ts'

/** What the log has of an attempt. */
interface Attempt extends Explained {
  type: string
  rcpt: string
}

/** Advice on a refusal for failed authentication, also of attempts that older releases recorded; undefined for others. */
export function adviceOn({ type, text, explanation, rcpt }: Attempt): Sentence | undefined {
  if (explanation || (type !== 'deferred' && type !== 'bounced')) return undefined
  const reply = parseReply([text])
  if (!reply || classifyReply(reply, 'rcpt', siteOf(domainOf(rcpt))).kind !== 'authentication') return undefined
  return authenticationAdvice(reply)
}
