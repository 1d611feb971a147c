/**
 * Deletes a MailDomain: transfers the domain to another resource, or drains accepted mail and removes records and
 * domain.
 */

import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import {
  closeDomain,
  type ResourceDeps,
  releaseDomain,
  suspendDomain,
  transferDomain,
} from '../../../services/mail/domains/declare-domain.ts'
import { currentDomain, type DomainDoc, findDomainOfResource } from '../../../services/mail/domains/find-domains.ts'
import { type Applied, stoppedBy } from '../../../services/mail/domains/publishing/plan-outcome.ts'
import { forgetEndpoint } from '../../../services/mail/domains/publishing/publish-endpoint.ts'
import { unpublishDns } from '../../../services/mail/domains/publishing/unpublish-records.ts'
import { HOUR_MS } from '../../../services/platform/durations.ts'
import { inEnglish, sentence } from '../../../services/platform/sentences/sentence.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { isPermanent, pauseAfter, reasonOf } from '../mail/dns-provider-access.ts'
import { bad } from '../shared/conditions.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import type { Removal } from '../shared/reconcile.ts'
import { deleteEndpoint, releaseEndpoint } from './dns-endpoint-store.ts'
import { ownerName, returnLostDomains, successorOf } from './mail-domain-owner.ts'

/** Grace period for delivering accepted mail before the domain's records and DKIM key are deleted. */
const DRAIN_MS = 5 * 60_000
/** Processes learn within this time that a domain is closed. */
const DRAIN_POLL_MS = 5_000
/** A provider that does not answer is tried for this long; then the records stay. */
const REMOVE_RECORDS_MS = HOUR_MS
const REMOVE_RECORDS_RETRY_MS = 60_000
const FORCE_HINT = sentence('resource.force_delete')

/** Undoes what the resource declared. With `retain` records and domain stay, whatever the spec. */
export async function removeMailDomain(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  retain: boolean,
): Promise<Removal> {
  const events = await returnLostDomains(context, resource)
  // By the owner on the record: the status may not have been written yet, and others may write it.
  const domain = await findDomainOfResource(context.mongo.db, resource.spec.domainName, resource.metadata.uid)
  if (!domain) {
    // It is another account's or resource's by now: its records stay.
    await abandonEndpoint(context, resource)
    return { done: true, events }
  }
  const { db } = context.mongo
  const deps = { db, clock: context.clock, secrets: context.secrets, resource: managedBy(resource) }
  const successor = await successorOf(context, resource, ownerName(resource))
  if (successor) {
    await transferDomain(deps, domain._id, managedBy({ kind: 'MailDomain', metadata: successor.metadata }))
    return { done: true, events }
  }
  const draining = retain ? undefined : await drain(deps, context, resource, domain._id)
  if (draining) return draining
  if (retain) await abandonEndpoint(context, resource)
  const records: Removal = retain ? { done: true } : await removeRecords(context, dns, resource, domain._id)
  if (!records.done) return records
  await release(deps, resource, domain._id, retain)
  return records
}

/** Returns the domain to its account. A paused resource leaves it as it is. */
async function release(deps: ResourceDeps, { spec }: MailDomain, id: string, retain: boolean): Promise<void> {
  const { deletionPolicy, suspended } = spec
  const suspends = !retain && deletionPolicy.domain === 'Retain' && deletionPolicy.sending === 'Suspend'
  if (suspends) await suspendDomain(deps, id, { keepsProof: !losesRecords(spec) })
  await releaseDomain(deps, id, retain ? 'Retain' : deletionPolicy.domain, suspended || suspends)
}

/** Records were written by an account that is gone, or may not write any more. */
function isUnowned({ dns }: MailDomain['spec'], { dns_owned = [], dns_account_id }: DomainDoc): boolean {
  return dns.managementPolicy !== 'DNSEndpoint' && dns_owned.length > 0 && dns_account_id === undefined
}

function losesRecords({ deletionPolicy, dns }: MailDomain['spec']): boolean {
  return deletionPolicy.dns === 'Delete' && isWriting({ dns })
}

/** True when the operator writes records, at a provider or for external-dns. */
export function isWriting({ dns: { managementPolicy } }: Pick<MailDomain['spec'], 'dns'>): boolean {
  return managementPolicy === 'Manage' || managementPolicy === 'DNSEndpoint'
}

/** Leaves the DNSEndpoint of a MailDomain that ends without undoing anything: it would be deleted with its owner. */
export async function abandonEndpoint(context: OperatorContext, resource: MailDomain): Promise<void> {
  if (!context.config.DNS_ENDPOINTS || resource.spec.dns.managementPolicy !== 'DNSEndpoint') return
  try {
    await releaseEndpoint(context, resource)
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    context.log.warn({ err: error, name: resource.metadata.name }, 'the DNSEndpoint could not be released')
  }
}

/** Accepted mail is signed with the key that will be deleted: the domain closes, and queued mail gets some time. */
async function drain(
  deps: ResourceDeps,
  { clock }: OperatorContext,
  { spec, metadata }: MailDomain,
  id: string,
): Promise<Removal | undefined> {
  const { deletionPolicy, domainName } = spec
  if (deletionPolicy.domain !== 'Delete' && !losesRecords(spec)) return undefined
  const leftMs = DRAIN_MS - (clock.now().getTime() - Date.parse(metadata.deletionTimestamp ?? ''))
  if (leftMs <= 0) return undefined
  const { wasOpen, waiting } = await closeDomain(deps, id)
  if (waiting === 0 && !wasOpen) return undefined
  const message =
    waiting === undefined
      ? sentence('resource.draining_unknown', { domain: domainName, hint: FORCE_HINT })
      : sentence('resource.draining', { domain: domainName, count: waiting, hint: FORCE_HINT })
  const requeueAfterMs = Math.min(DRAIN_POLL_MS, leftMs)
  return { done: false, condition: bad('QueueDrained', 'Draining', message), requeueAfterMs }
}

/**
 * Removes the records at the provider. A provider that is down is tried for an hour. Refused credentials and missing zones
 * or accounts are not retried: the deletion of a namespace must end.
 */
async function removeRecords(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domainId: string,
): Promise<Removal> {
  const { spec, metadata, status } = resource
  const domain = await currentDomain(context.mongo.db, domainId)
  if (!domain) return { done: true }
  if (spec.deletionPolicy.dns === 'Retain') {
    await abandonEndpoint(context, resource)
    return { done: true }
  }
  const { stopped, items } =
    spec.dns.managementPolicy === 'DNSEndpoint'
      ? await removeEndpoint(context, dns, resource, domainId)
      : await unpublishDns(dns, domain)
  if (!stopped) {
    const left = items.filter(item => item.status === 'conflict' || item.status === 'failed')
    if (left.length > 0)
      return recordsLeft(
        domain.name,
        left.map(({ name, type, reason }) => `${name} ${type}: ${inEnglish(reason)}`).join(' '),
      )
    const isAccountGone = isUnowned(spec, domain)
    return isAccountGone ? recordsLeft(domain.name, 'there is no DNS account that may write them.') : { done: true }
  }
  const ageMs = context.clock.now().getTime() - Date.parse(metadata.deletionTimestamp ?? '')
  if (isPermanent(stopped.kind) || ageMs > REMOVE_RECORDS_MS)
    return recordsLeft(domain.name, inEnglish(stopped.message))
  const message = sentence('resource.dns_not_removed', { reason: stopped.message, hint: FORCE_HINT })
  const pauseMs = pauseAfter((status?.failedAttempts ?? 0) + 1, stopped.retryAfter)
  return {
    done: false,
    condition: bad('DNSRemoved', reasonOf(stopped.kind), message),
    requeueAfterMs: Math.min(pauseMs, REMOVE_RECORDS_RETRY_MS),
  }
}

/** Deletes the object; external-dns removes the records. */
async function removeEndpoint(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domainId: string,
): Promise<Pick<Applied, 'items' | 'stopped'>> {
  // Without the rights it is deleted with its owner, by Kubernetes.
  if (!context.config.DNS_ENDPOINTS) return { items: [] }
  try {
    await deleteEndpoint(context, resource)
    await forgetEndpoint(dns, domainId)
    return { items: [] }
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return { items: [], stopped: stoppedBy(error) }
  }
}

function recordsLeft(domainName: string, why: string): Removal {
  const note = `The records of ${domainName} stay at the provider: ${why}`
  return { done: true, events: [{ type: 'Warning', reason: 'RecordsLeftBehind', action: 'RemoveDNS', note }] }
}
