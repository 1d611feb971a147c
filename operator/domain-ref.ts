/** The MailDomain that a login or token belongs to, as far as it is taken on. */
import { findUserByName } from '../services/accounts/store/users.ts'
import { type Aspect, bad, conditionOf, unknown } from './conditions.ts'
import { type OperatorContext, sibling } from './context.ts'
import type { Metadata } from './resources/kind.ts'
import { MailDomain } from './resources/mail-domain.ts'

/** The account and the domain name, or why there is none yet. */
export type DomainRef = { userId: string; domain: string } | { aspect: Aspect }

/** Follows a domainRef. A MailDomain that was refused lends its account to nobody. */
export async function domainOf(
  context: OperatorContext,
  metadata: Pick<Metadata, 'namespace'>,
  name: string,
): Promise<DomainRef> {
  const domain = sibling(context, MailDomain, metadata, name)
  if (!domain)
    return { aspect: bad('Accepted', 'DependencyNotReady', `There is no MailDomain ${name} in this namespace.`) }
  const { status, spec } = domain
  const taken = conditionOf(status?.conditions, 'Accepted')
  if (taken?.status === 'False')
    return { aspect: bad('Accepted', 'DependencyNotReady', `MailDomain ${name} is not accepted: ${taken.message}`) }
  const user = status?.owner === undefined ? undefined : await findUserByName(context.mongo.db, status.owner)
  if (!user) return { aspect: unknown('Accepted', 'DependencyNotReady', `MailDomain ${name} is not registered yet.`) }
  return { userId: user._id, domain: spec.domainName }
}
