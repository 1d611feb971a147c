/** The sender that an App asks for its reminders: whether it can be had, and what its conditions say. */
import type { FindSystemSender } from '../../../services/mail/submission/system-sender.ts'
import type { App } from '../../resources/app.ts'
import { bad, type ConditionState, good } from '../shared/conditions.ts'
import { mayOwn, OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { type OperatorContext, ownersOf } from '../shared/operator-context.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'

/** Whether a domain may send also depends on other accounts' domains: check again after this time. */
const USABLE_MS = 5 * 60_000

/** The result for `mailFrom`. */
export interface AppSender {
  /** The sender to store; empty: reminders come from the platform's own. */
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
  const refused = (reason: string, why: string): AppSender => ({
    mailFrom: '',
    conditions: [bad('SenderUsable', reason, `${why} Until then reminders come from the platform's own sender.`)],
    requeueAfterMs: REFUSED_MS,
  })
  const sender = await findSender(mailFrom)
  if (!sender)
    return refused(
      'DomainNotUsable',
      `${mailFrom} is in no verified domain of an active administrator. Verify its domain in an account with the role admin, or take mailFrom away.`,
    )
  if (!(await mayOwn(namespace, sender.owner, ownersOf(context, namespace))))
    return refused(
      'OwnerNotAllowed',
      `Namespace ${namespace} may not act for the administrator who owns the domain of ${mailFrom}. Whoever may change the Namespace can list the account in the annotation ${OWNERS_ANNOTATION}.`,
    )
  const condition = good('SenderUsable', 'Available', `Reminders come from ${sender.from}.`)
  return { mailFrom, conditions: [condition], requeueAfterMs: USABLE_MS }
}
