/** Resolves the MailDomain that a login or token belongs to. */

import { findDomainOfResource } from '../../../services/mail/domains/find-domains.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { Metadata } from '../../resources/kind.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState, conditionOf, sentenceOf, unknown } from '../shared/conditions.ts'
import { entitlementOf, withdrawnCondition } from '../shared/namespace-entitlement.ts'
import { type OperatorContext, sibling } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'

/** The account and the domain name, or why there is none yet. */
export type DomainRef =
  | { userId: string; domain: string; domainId: string }
  | { condition: ConditionState; requeueAfterMs?: number }

/** A change of the MailDomain's status reports its registration; this covers a record that is written later. */
const UNREGISTERED_MS = 60_000

/**
 * Resolves a domainRef. A refused MailDomain gives no access to its account. The owner is read from the record, not
 * from the status, which users with all permissions on resources in a namespace can write.
 */
export async function domainOf(
  context: OperatorContext,
  metadata: Pick<Metadata, 'namespace'>,
  name: string,
): Promise<DomainRef> {
  const domain = sibling(context, MailDomain, metadata, name)
  if (!domain)
    return { condition: bad('Accepted', 'DependencyNotReady', sentence('resource.domain_missing', { name })) }
  const { status, spec } = domain
  const taken = conditionOf(status?.conditions, 'Accepted')
  if (taken?.status === 'False')
    return {
      condition: bad(
        'Accepted',
        'DependencyNotReady',
        sentence('resource.domain_not_accepted', { name, reason: sentenceOf(taken) }),
      ),
    }
  const record = await findDomainOfResource(context.mongo.db, spec.domainName, domain.metadata.uid)
  if (record) {
    const entitlement = await entitlementOf(context, domain.metadata.namespace, record.user_id)
    if (entitlement.allowed) return { userId: record.user_id, domain: record.name, domainId: record._id }
    return {
      condition: withdrawnCondition(
        domain.metadata.namespace,
        entitlement,
        sentence('resource.domain_unusable', { name }),
      ),
    }
  }
  const condition = unknown('Accepted', 'DependencyNotReady', sentence('resource.domain_not_registered', { name }))
  return { condition, requeueAfterMs: UNREGISTERED_MS }
}

/** What a login or token reports while its MailDomain is not taken on. */
export function waiting({ condition, requeueAfterMs }: Extract<DomainRef, { condition: ConditionState }>): Outcome {
  return { conditions: [condition], ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) }
}
