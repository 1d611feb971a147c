/** Decides the condition Accepted of a MailDomain: its account, duplicates, and the registration of the domain. */
import type { UserDoc } from '../../../services/accounts/find-account.ts'
import {
  type AppliedDomain,
  applyDomain,
  returnDomain,
  transferDomain,
  type WantedDomain,
} from '../../../services/mail/domains/declare-domain.ts'
import {
  type DomainDoc,
  findDomainOfAccount,
  listDomainsOfResource,
} from '../../../services/mail/domains/find-domains.ts'
import { ProblemError } from '../../../services/platform/problems.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import type { KubeObject } from '../../kube/object-cache.ts'
import type { Kind } from '../../resources/kind.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'
import { accountOf } from '../shared/declared-account.ts'
import { currentOwner, successor } from '../shared/duplicate-resources.ts'
import { entitlementOf, withdrawnEvent } from '../shared/namespace-entitlement.ts'
import { ADOPT_ANNOTATION, mayAdopt, mayOwn, namespaceAccount, OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { cacheOf, managedBy, type OperatorContext, ownersOf } from '../shared/operator-context.ts'
/** Index of the cache: account and domain name. Two resources with one key are duplicates. */
export const DECLARED_DOMAIN_INDEX = 'declaredDomain'

/** Name of the account that a MailDomain acts for. */
export function ownerName({ spec, metadata }: Pick<MailDomain, 'spec' | 'metadata'>): string {
  return spec.owner?.username ?? namespaceAccount(metadata.namespace)
}

/** Keys for {@link DECLARED_DOMAIN_INDEX}; none for a resource that cannot be parsed. */
export function declaredDomains(object: unknown): string[] {
  try {
    const resource = MailDomain.parse(object)
    return [declarationKey(ownerName(resource), resource.spec.domainName)]
  } catch {
    return []
  }
}

const declarationKey = (owner: string, domainName: string) => `${owner} ${domainName}`

/**
 * All resources that declare the domain for the account and are allowed to: naming another account is not enough to block
 * its resources, or to receive their domains.
 */
async function entitledResources(context: OperatorContext, owner: string, domainName: string): Promise<KubeObject[]> {
  const cache = cacheOf(context, MailDomain as unknown as Kind)
  const keys = cache.find(DECLARED_DOMAIN_INDEX, declarationKey(owner, domainName))
  const all = keys.flatMap(key => cache.get(key) ?? [])
  const entitled = await Promise.all(
    all.map(({ metadata: { namespace = '' } }) => mayOwn(namespace, owner, ownersOf(context, namespace))),
  )
  return all.filter((_, index) => entitled[index])
}

/** The resource that takes over the account's domain when this one is deleted, or loses its right to the account. */
export async function successorOf(
  context: OperatorContext,
  { spec, metadata }: MailDomain,
  owner: string,
): Promise<KubeObject | undefined> {
  return successor(await entitledResources(context, owner, spec.domainName), metadata.uid)
}

/** A MailDomain with its record, or the reason why it has none. */
export type Registration =
  | { kind: 'registered'; user: UserDoc; applied: AppliedDomain }
  | { kind: 'refused'; condition: ConditionState }

type Refused = Extract<Registration, { kind: 'refused' }>

function refused(reason: string, message: Sentence): Refused {
  return { kind: 'refused', condition: bad('Accepted', reason, message) }
}

/** Registers the domain for the account and updates the record as declared, or refuses. */
export async function registerDeclaredDomain(
  context: OperatorContext,
  resource: MailDomain,
  wantedFor: (owner: UserDoc) => Promise<WantedDomain>,
): Promise<Registration> {
  const { domainName } = resource.spec
  const user = await accountOf(context, resource.metadata.namespace, ownerName(resource))
  if ('condition' in user) return { kind: 'refused', ...user }
  const known = await findDomainOfAccount(context.mongo.db, user._id, domainName)
  const candidates = await entitledResources(context, ownerName(resource), domainName)
  const owner = currentOwner(candidates, known?.managed_by)
  if (owner && owner.metadata.uid !== resource.metadata.uid) {
    const { namespace, name } = owner.metadata
    return refused(
      'DomainTaken',
      sentence('resource.domain_duplicate', { namespace: namespace ?? '', name, domain: domainName }),
    )
  }
  const deps = resourceDeps(context, resource)
  const adopt = await isOursOrAdoptable(known, resource, user, ownersOf(context, resource.metadata.namespace))
  try {
    return { kind: 'registered', user, applied: await applyDomain(deps, user._id, await wantedFor(user), adopt) }
  } catch (error) {
    if (error instanceof ProblemError) return refusedBy(error, user, domainName)
    throw error
  }
}

function refusedBy(error: ProblemError, { username }: UserDoc, domainName: string): Refused {
  if (error.code === 'conflict')
    return refused(
      'Conflict',
      sentence('resource.domain_exists', {
        account: username,
        domain: domainName,
        adopt: ADOPT_ANNOTATION,
        annotation: OWNERS_ANNOTATION,
      }),
    )
  if (error.code === 'managed_by_resource') return refused('Conflict', error.sentence)
  if (error.code === 'validation_failed') return refused('InvalidSpec', error.sentence)
  throw error
}

/**
 * True for a domain that is new, is or was ours, belongs to the namespace's own account, or may be adopted. Reads the
 * Namespace only when that decides.
 */
async function isOursOrAdoptable(
  known: DomainDoc | undefined,
  { metadata }: MailDomain,
  user: UserDoc,
  listed: () => Promise<readonly string[]>,
): Promise<boolean> {
  if (!known || known.managed_by || known.formerly_managed_by === metadata.uid) return true
  // No other namespace or person acts for this account: a domain that a deleted resource retained is taken over.
  if (user.username === namespaceAccount(metadata.namespace)) return true
  return mayAdopt(metadata.annotations, user.username, listed)
}

/**
 * Releases the domains of accounts that the namespace may no longer act for, or that the resource no longer names.
 * Their records stay; another entitled resource that declares the domain takes over.
 */
export async function returnLostDomains(context: OperatorContext, resource: MailDomain): Promise<EventInput[]> {
  const { spec, metadata } = resource
  const deps = resourceDeps(context, resource)
  const events: EventInput[] = []
  for (const { _id, user_id } of await listDomainsOfResource(context.mongo.db, spec.domainName, metadata.uid)) {
    const { username, allowed } = await entitlementOf(context, metadata.namespace, user_id)
    if (allowed && username === ownerName(resource)) continue
    const next = username === undefined ? undefined : await successorOf(context, resource, username)
    if (next) await transferDomain(deps, _id, managedBy({ kind: 'MailDomain', metadata: next.metadata }))
    else await returnDomain(deps, _id, spec.suspended)
    const to = next
      ? `MailDomain ${next.metadata.namespace}/${next.metadata.name}`
      : `the account ${username ?? user_id}`
    events.push(withdrawnEvent(`${spec.domainName} was given back to ${to}; its DNS records stay as they are.`))
  }
  return events
}

/** Dependencies of the use cases that act for this resource. */
export function resourceDeps({ mongo, clock, secrets }: OperatorContext, resource: MailDomain) {
  return { db: mongo.db, clock, secrets, resource: managedBy(resource) }
}
