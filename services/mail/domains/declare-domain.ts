/** Makes a sending domain as its resource declares it, and releases it again. Applying is idempotent. */
import { isDeepStrictEqual } from 'node:util'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { refuseManaged } from '../managed.ts'
import type { ManagedBy } from '../store/documents.ts'
import { countWaiting } from '../store/waiting.ts'
import { sharedProviderOf } from './dns-accounts/declare-dns-account.ts'
import { type DomainDeps, registerDomain } from './register-domain.ts'
import { changeDelivery, type WantedDelivery } from './rules/delivery-mode.ts'
import type { DnsSettingsDoc, DomainDoc } from './store/domain-model.ts'
import {
  deleteDomain,
  findDomain,
  findDomainById,
  unreleasedDomains,
  updateDomain,
  verifyDomain,
} from './store/domains.ts'

type Settings = Omit<DnsSettingsDoc, 'manage' | 'repairs' | 'repairs_paused_until'>

/** Settings of the records; undefined takes a setting back to its default. */
type WantedDns = Pick<DnsSettingsDoc, 'manage'> & { [K in keyof Settings]: Settings[K] | undefined }

/** What a resource declares of a domain. */
export interface WantedDomain {
  name: string
  suspended: boolean
  dns: WantedDns
  /** Undefined: nothing is tracked. */
  tracking?: DomainDoc['tracking']
  /** Where its mail goes; undefined: as stored, which is to its recipients for a new domain. */
  delivery?: WantedDelivery | undefined
  /** The account that writes; `keep` leaves the present one, `none` takes it off. */
  dnsAccount: { id: string } | 'keep' | 'none'
}

/** What was found and done. `changed` names the fields that were not as declared. */
export interface AppliedDomain {
  domain: DomainDoc
  created: boolean
  changed: readonly string[]
}

/** Use cases run for a resource. */
export type ResourceDeps = DomainDeps & { resource: ManagedBy }

/**
 * Registers the domain for the account, or brings the registered one into line. 409 `managed_by_resource` when another
 * resource manages it, 409 `conflict` when none does and `adopt` is false.
 */
export async function applyDomain(
  deps: ResourceDeps,
  userId: string,
  wanted: WantedDomain,
  adopt: boolean,
): Promise<AppliedDomain> {
  const known = await findDomain(deps.db, userId, wanted.name)
  const before = known ?? (await registerDomain(deps, userId, wanted.name))
  refuseManaged(before, deps)
  if (!before.managed_by && !adopt)
    throw new ProblemError('conflict', sentence('detail.domain_unmanaged', { name: wanted.name }))
  const { change, remove } = difference(before, deps.resource, wanted)
  const fields = [...Object.keys(change), ...remove]
  let domain = before
  if (fields.length > 0) {
    const now = deps.clock.now()
    domain = found(await updateDomain(deps.db, before._id, { ...change, updated_at: now }, remove))
  }
  if (before.suspended_by === 'resource' && !wanted.suspended) domain = await resume(deps, domain)
  return { domain, created: known === undefined, changed: fields }
}

/** Makes a DNS check by the worker due now. */
export async function requestCheck({ db, clock }: Pick<DomainDeps, 'db' | 'clock'>, domainId: string): Promise<void> {
  await updateDomain(db, domainId, { next_check_at: clock.now() })
}

/** A domain before its removal. `waiting`: accepted messages that are not final; undefined: unknown for now. */
export interface Closing {
  /** It could send until now; other processes stop accepting its mail within 5 s. */
  wasOpen: boolean
  waiting: number | undefined
}

/** Stops accepting mail of a domain before its removal. A suspension by an admin stays one. */
export async function closeDomain(deps: ResourceDeps, domainId: string): Promise<Closing> {
  const domain = await findDomainById(deps.db, domainId)
  if (domain?.managed_by?.uid !== deps.resource.uid) return { wasOpen: false, waiting: 0 }
  if (domain.status !== 'suspended')
    await updateDomain(
      deps.db,
      domainId,
      { status: 'suspended', suspended_by: 'resource', updated_at: deps.clock.now() },
      lapsed(domain),
    )
  return { wasOpen: domain.status === 'verified', waiting: await countWaiting(deps.db, domain) }
}

/**
 * `Delete` removes a domain with its keys, `Retain` returns it to its account. `suspended`: it stays suspended until a
 * resource declares it again; otherwise it is open for mail. A missing domain is not an error.
 */
export async function releaseDomain(
  deps: ResourceDeps,
  domainId: string,
  how: 'Delete' | 'Retain',
  suspended: boolean,
): Promise<void> {
  const domain = await findDomainById(deps.db, domainId)
  if (domain?.managed_by?.uid !== deps.resource.uid) return
  if (how === 'Delete') await deleteDomain(deps.db, domain.user_id, domainId)
  else {
    const dns = { ...(domain.dns ?? {}), manage: false }
    // It was closed for the deletion only; its account may send from it again.
    if (domain.suspended_by === 'resource' && !suspended) await resume(deps, domain)
    await updateDomain(deps.db, domainId, { dns, updated_at: deps.clock.now() }, [
      'managed_by',
      'k8s',
      'dns_account_id',
    ])
  }
}

/**
 * Suspends what the account of a deleted namespace still holds and returns the number of domains. The names are free for
 * other accounts; a namespace that is created again under this name has to prove them again. `managed`: also those whose
 * resource was not deleted by the operator.
 */
export async function releaseDomainsOfAccount(
  deps: Pick<DomainDeps, 'db' | 'clock'>,
  userId: string,
  { managed }: { managed: boolean },
): Promise<number> {
  let released = 0
  for (const { _id, status, managed_by } of await unreleasedDomains(deps.db, userId)) {
    if (managed_by && !managed) continue
    const suspended = status === 'suspended' ? {} : { status: 'suspended' as const, suspended_by: 'resource' as const }
    const change = { ...suspended, updated_at: deps.clock.now() }
    await updateDomain(deps.db, _id, change, ['managed_by', 'k8s', 'dns_account_id', 'verified_by', 'verified_at'])
    released++
  }
  return released
}

/** Suspends a domain that its resource releases; its account may not send from it until a resource declares it again. */
export async function suspendDomain(
  deps: ResourceDeps,
  domainId: string,
  { keepsProof }: { keepsProof: boolean },
): Promise<void> {
  const domain = await findDomainById(deps.db, domainId)
  if (domain?.managed_by?.uid !== deps.resource.uid) return
  // Without its records the domain is verified again before it sends again.
  const proof = keepsProof ? lapsed(domain) : (['verified_by', 'verified_at'] as const)
  const suspended =
    domain.status === 'suspended' ? {} : { status: 'suspended' as const, suspended_by: 'resource' as const }
  await updateDomain(deps.db, domainId, { ...suspended, updated_at: deps.clock.now() }, proof)
}

/**
 * Returns a domain to its account because the resource may no longer act for it. With the right restored, the resource has
 * the domain again without adopting it.
 */
export async function returnDomain(deps: ResourceDeps, domainId: string, wasSuspended: boolean): Promise<void> {
  await updateDomain(deps.db, domainId, { formerly_managed_by: deps.resource.uid })
  await releaseDomain(deps, domainId, 'Retain', wasSuspended)
}

/**
 * Transfers a domain to another resource that declares it. A permission to write with a shared account is that of a namespace:
 * it does not go to another one.
 */
export async function transferDomain(deps: ResourceDeps, domainId: string, successor: ManagedBy): Promise<void> {
  const domain = await findDomainById(deps.db, domainId)
  if (domain?.managed_by?.uid !== deps.resource.uid) return
  const leavesNamespace = successor.namespace !== deps.resource.namespace
  const isShared = domain.dns_account_id !== undefined && (await sharedProviderOf(deps, domain.dns_account_id))
  const change = { managed_by: successor, updated_at: deps.clock.now() }
  await updateDomain(deps.db, domainId, change, leavesNamespace && isShared ? ['dns_account_id'] : [])
}

/** Fields that a suspension removes: a verification that was lost before does not count when the suspension ends. */
function lapsed({ status, verified_by }: DomainDoc): 'verified_by'[] {
  return verified_by !== undefined && status !== 'verified' ? ['verified_by'] : []
}

interface Difference {
  change: Partial<DomainDoc>
  remove: (
    | 'tracking'
    | 'delivery'
    | 'redirect_to'
    | 'dns_account_id'
    | 'suspended_by'
    | 'verified_by'
    | 'formerly_managed_by'
  )[]
}

function difference(domain: DomainDoc, resource: ManagedBy, wanted: WantedDomain): Difference {
  const change: Partial<DomainDoc> = {}
  const remove: Difference['remove'] = []
  if (!isDeepStrictEqual(domain.managed_by, resource)) change.managed_by = resource
  if (domain.formerly_managed_by !== undefined) remove.push('formerly_managed_by')
  // The state of the loop detector is part of the same object and stays.
  const settings = Object.entries({ ...domain.dns, ...wanted.dns }).filter(([, value]) => value !== undefined)
  const dns = Object.fromEntries(settings) as unknown as DnsSettingsDoc
  if (!isDeepStrictEqual(domain.dns, dns)) change.dns = dns
  if (!wanted.tracking && domain.tracking) remove.push('tracking')
  if (wanted.tracking && !isDeepStrictEqual(domain.tracking, wanted.tracking)) change.tracking = wanted.tracking
  if (wanted.delivery) {
    const routed = differentRoute(domain, wanted.delivery)
    Object.assign(change, routed.change)
    remove.push(...routed.remove)
  }
  if (wanted.dnsAccount === 'none') {
    if (domain.dns_account_id !== undefined) remove.push('dns_account_id')
  } else if (wanted.dnsAccount !== 'keep' && domain.dns_account_id !== wanted.dnsAccount.id)
    change.dns_account_id = wanted.dnsAccount.id
  // A suspension by an admin stays whatever the resource says.
  if (wanted.suspended && domain.status !== 'suspended') {
    change.status = 'suspended'
    change.suspended_by = 'resource'
    remove.push(...lapsed(domain))
  }
  return { change, remove }
}

/** Where mail is to go, where that is not as declared. */
function differentRoute(domain: DomainDoc, wanted: WantedDelivery): Pick<Difference, 'change' | 'remove'> {
  const routed = changeDelivery({}, wanted)
  if (routed.kind === 'wrong') throw new ProblemError('validation_failed', routed.reason)
  const { delivery, redirect_to } = routed.set
  const same = delivery === domain.delivery && redirect_to === domain.redirect_to
  return {
    change: same ? {} : routed.set,
    remove: routed.remove.filter(field => domain[field] !== undefined),
  }
}

/** Ends a suspension by the resource: verified again if it was and no other account is now; else pending, with a check at once. */
async function resume(deps: ResourceDeps, domain: DomainDoc): Promise<DomainDoc> {
  const now = deps.clock.now()
  const pending = found(
    await updateDomain(deps.db, domain._id, { status: 'pending', next_check_at: now, updated_at: now }, [
      'suspended_by',
    ]),
  )
  if (!domain.verified_by || !domain.verified_at) return pending
  const verified = await verifyDomain(deps.db, domain._id, domain.verified_by, domain.verified_at)
  return typeof verified === 'string' ? pending : verified
}

function found(domain: DomainDoc | undefined): DomainDoc {
  if (!domain) throw new ProblemError('not_found', sentence('detail.domain_gone'))
  return domain
}
