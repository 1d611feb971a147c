/** Whose a MailDomain is: duplicates, owner, the account, and the record in the database. */

import { findAccountByName, type UserDoc } from '../../../services/accounts/find-account.ts'
import { ensureNamespaceAccount } from '../../../services/accounts/namespace-account.ts'
import { type AppliedDomain, applyDomain, type WantedDomain } from '../../../services/mail/domains/declare-domain.ts'
import { type DomainDoc, findDomainOfAccount } from '../../../services/mail/domains/find-domains.ts'
import { ProblemError } from '../../../services/platform/problems.ts'
import type { KubeObject } from '../../kube/object-cache.ts'
import type { Kind } from '../../resources/kind.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'
import { currentOwner, successor } from '../shared/duplicate-resources.ts'
import { ADOPT_ANNOTATION, mayAdopt, mayOwn, namespaceAccount, OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { cacheOf, managedBy, type OperatorContext, ownersOf } from '../shared/operator-context.ts'

/** Index of the cache: account and domain name. Two resources under one name are duplicates. */
export const CLAIM_INDEX = 'claim'

/** Name of the account that a MailDomain acts for. */
export function ownerName({ spec, metadata }: Pick<MailDomain, 'spec' | 'metadata'>): string {
  return spec.owner?.username ?? namespaceAccount(metadata.namespace)
}

/** What a MailDomain claims, for {@link CLAIM_INDEX}; an unreadable one claims nothing. */
export function claimsOf(object: unknown): string[] {
  try {
    const resource = MailDomain.parse(object)
    return [claimOf(ownerName(resource), resource.spec.domainName)]
  } catch {
    return []
  }
}

const claimOf = (owner: string, domainName: string) => `${owner} ${domainName}`

/**
 * All resources that claim the same and may: naming the account of somebody else is not enough to stand in his way, or
 * to be given what he leaves.
 */
async function rivals(context: OperatorContext, owner: string, domainName: string): Promise<KubeObject[]> {
  const cache = cacheOf(context, MailDomain as unknown as Kind)
  const all = cache.find(CLAIM_INDEX, claimOf(owner, domainName)).flatMap(key => cache.get(key) ?? [])
  const entitled = await Promise.all(
    all.map(({ metadata: { namespace = '' } }) => mayOwn(namespace, owner, ownersOf(context, namespace))),
  )
  return all.filter((_, index) => entitled[index])
}

/** The resource that takes over the domain of an account when this one goes, or may have it no more. */
export async function successorOf(
  context: OperatorContext,
  { spec, metadata }: MailDomain,
  owner: string,
): Promise<KubeObject | undefined> {
  return successor(await rivals(context, owner, spec.domainName), metadata.uid)
}

/** A MailDomain with its record, or the reason why it has none. */
export type Claim =
  | { kind: 'held'; user: UserDoc; applied: AppliedDomain }
  | { kind: 'refused'; condition: ConditionState }

const refused = (reason: string, message: string): Claim => ({
  kind: 'refused',
  condition: bad('Accepted', reason, message),
})

/** Decides about the claim and brings the record into line. */
export async function claimDomain(
  context: OperatorContext,
  resource: MailDomain,
  wantedFor: (owner: UserDoc) => Promise<WantedDomain>,
): Promise<Claim> {
  const { domainName } = resource.spec
  const user = await ownerOf(context, resource)
  if ('condition' in user) return user
  const known = await findDomainOfAccount(context.mongo.db, user._id, domainName)
  const holder = currentOwner(await rivals(context, ownerName(resource), domainName), known?.managed_by)
  if (holder && holder.metadata.uid !== resource.metadata.uid) {
    const { namespace, name } = holder.metadata
    return refused(
      'DomainTaken',
      `MailDomain ${namespace}/${name} came first and declares ${domainName} for the same account. Delete one of them.`,
    )
  }
  const listed = ownersOf(context, resource.metadata.namespace)
  const deps = { db: context.mongo.db, clock: context.clock, secrets: context.secrets, resource: managedBy(resource) }
  const adopt = await isOursOrAdoptable(known, resource, user, listed)
  try {
    return { kind: 'held', user, applied: await applyDomain(deps, user._id, await wantedFor(user), adopt) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.code === 'conflict')
      return refused(
        'Conflict',
        `${user.username} has ${domainName} already, made in the panel or kept from an earlier resource. To take it over, set the annotation ${ADOPT_ANNOTATION}: "true" here and list ${user.username} in ${OWNERS_ANNOTATION} of the Namespace.`,
      )
    if (error.code === 'managed_by_resource') return refused('Conflict', error.detail)
    if (error.code === 'validation_failed') return refused('InvalidSpec', error.detail)
    throw error
  }
}

/** The account behind the owner, if this namespace may act for it. */
async function ownerOf(
  context: OperatorContext,
  resource: MailDomain,
): Promise<UserDoc | Extract<Claim, { kind: 'refused' }>> {
  const { namespace } = resource.metadata
  const username = ownerName(resource)
  const no = (reason: string, message: string) => refused(reason, message) as Extract<Claim, { kind: 'refused' }>
  if (!(await mayOwn(namespace, username, ownersOf(context, namespace))))
    return no(
      'OwnerNotAllowed',
      `Namespace ${namespace} may not act for the account ${username}. Whoever may change the Namespace can list it in the annotation ${OWNERS_ANNOTATION}.`,
    )
  if (username === namespaceAccount(namespace)) {
    try {
      return await ensureNamespaceAccount(context, username, namespace)
    } catch (error) {
      if (error instanceof ProblemError) return no('OwnerNotAllowed', error.detail)
      throw error
    }
  }
  return (
    (await findAccountByName(context.mongo.db, username)) ?? no('OwnerNotFound', `There is no account ${username}.`)
  )
}

/** True for a domain that is new, is or was ours, or may be taken over. Asks the Namespace only when it matters. */
async function isOursOrAdoptable(
  known: DomainDoc | undefined,
  { metadata }: MailDomain,
  user: UserDoc,
  listed: () => Promise<readonly string[]>,
): Promise<boolean> {
  if (!known || known.managed_by || known.formerly_managed_by === metadata.uid) return true
  return mayAdopt(metadata.annotations, user.username, listed)
}
