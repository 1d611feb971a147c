/** The sender of an App for its reminders: whether it is allowed, and its conditions. */
import type { FindSystemSender } from '../../../services/mail/submission/system-sender.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import type { App } from '../../resources/app.ts'
import { bad, type ConditionState, good } from '../shared/conditions.ts'
import { mayOwn, OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { type OperatorContext, ownersOf } from '../shared/operator-context.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'

/** Whether a domain may send also depends on other accounts' domains: check again after this time. */
const USABLE_MS = 5 * 60_000

/** The result for `mailFrom`. */
export interface AppSender {
  /** The sender to store; empty: reminders are sent from the platform's own. */
  mailFrom: string
  conditions: ConditionState[]
  requeueAfterMs?: number
}

/**
 * Decides about `mailFrom`. Its domain belongs to an administrator of the platform; a namespace speaks for that account
 * only when the Namespace lists it, as with the owner of a MailDomain.
 */
export async function senderOf(
  context: Pick<OperatorContext, 'writer'>,
  findSender: FindSystemSender,
  { spec: { mailFrom }, metadata: { namespace } }: Pick<App, 'spec' | 'metadata'>,
): Promise<AppSender> {
  if (mailFrom === undefined) return { mailFrom: '', conditions: [] }
  const refused = (reason: string, why: Sentence): AppSender => ({
    mailFrom: '',
    conditions: [bad('SenderUsable', reason, sentence('resource.sender_fallback', { reason: why }))],
    requeueAfterMs: REFUSED_MS,
  })
  const sender = await findSender(mailFrom)
  if (!sender) return refused('DomainNotUsable', sentence('resource.sender_domain_unverified', { address: mailFrom }))
  if (!(await mayOwn(namespace, sender.owner, ownersOf(context, namespace))))
    return refused(
      'OwnerNotAllowed',
      sentence('resource.sender_not_allowed', { namespace, address: mailFrom, annotation: OWNERS_ANNOTATION }),
    )
  const condition = good('SenderUsable', 'Available', sentence('resource.sender_usable', { address: sender.from }))
  return { mailFrom, conditions: [condition], requeueAfterMs: USABLE_MS }
}
