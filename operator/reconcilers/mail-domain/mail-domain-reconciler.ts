/** Makes a MailDomain true: registered for its owner, with its key, its records written or observed, verified. */

import { type DnsDeps, sendingHost } from '../../../services/mail/dns/dns-context.ts'
import { guidance } from '../../../services/mail/dns/records/guidance.ts'
import {
  type AppliedDomain,
  closeDomain,
  giveBackDomain,
  handOver,
  type ResourceDeps,
  type WantedDomain,
  withdrawDomain,
} from '../../../services/mail/domains/declare-domain.ts'
import {
  currentDomain,
  type DomainDoc,
  findDomainOfResource,
  listDomainsOfResource,
} from '../../../services/mail/domains/find-domains.ts'
import { mirrorState } from '../../../services/mail/mirror-state.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState } from '../shared/conditions.ts'
import { entitlementOf, withdrawnEvent } from '../shared/namespace-entitlement.ts'
import { managedBy, type OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler, type Removal } from '../shared/reconcile.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'
import { type DnsOutcome, dnsAccountFor, FORCE_HINT, removeDns, writeDns } from './mail-domain-dns.ts'
import { claimDomain, ownerName, successorOf } from './mail-domain-owner.ts'
import { dkimCondition, statusFields, verifiedCondition } from './mail-domain-status.ts'

/** Accepted mail gets so long to leave before a domain's records and key go. */
const DRAIN_MS = 5 * 60_000
/** As long as processes may take to learn that a domain is closed. */
const DRAIN_AGAIN_MS = 5_000

type Spec = MailDomain['spec']
type Status = NonNullable<MailDomain['status']>

/** The reconciler of MailDomains. */
export function mailDomainReconciler(context: OperatorContext, dns: DnsDeps): Reconciler<Spec, Status> {
  const told: Told = new Map()
  return {
    kind: MailDomain,
    ensure: resource => ensure(context, dns, resource, told),
    async remove(resource, retain) {
      told.delete(resource.metadata.uid)
      return remove(context, dns, resource, retain)
    },
    mirror: (id, uid, state) => mirrorState(context.mongo.db, 'MailDomain', uid, id, state),
  }
}

/** Until when the repairs of a resource were told, by uid, in milliseconds: the status knows seconds only. */
type Told = Map<string, number>

async function ensure(context: OperatorContext, dns: DnsDeps, resource: MailDomain, told: Told): Promise<Outcome> {
  const givenBack = await giveBackLost(context, resource)
  let missing: { condition: ConditionState; requeueAfterMs?: number } | undefined
  const claim = await claimDomain(context, resource, async owner => {
    const account = await dnsAccountFor(context, dns, resource, owner)
    if ('condition' in account) missing = account
    // What cannot be used now is still what wrote the records, and has to remove them one day.
    return wantedOf(resource, 'condition' in account ? 'keep' : account.use)
  })
  if (claim.kind === 'refused') {
    // What is known of a domain that is this resource's no more is forgotten.
    const status = givenBack.length > 0 ? { status: {} } : {}
    return { conditions: [claim.condition], message: '', requeueAfterMs: REFUSED_MS, events: givenBack, ...status }
  }
  const { user, applied } = claim
  const written: DnsOutcome = missing
    ? {
        conditions: [missing.condition],
        status: {},
        events: [],
        ...(missing.requeueAfterMs ? { requeueAfterMs: missing.requeueAfterMs } : {}),
      }
    : await writeDns(context, dns, resource, applied.domain)
  // Writing asks for a check, and the worker may have looked meanwhile.
  const domain = (await currentDomain(context.mongo.db, applied.domain._id)) ?? applied.domain
  return {
    conditions: [
      accepted(`${domain.name} belongs to the account ${user.username}.`),
      ...written.conditions,
      dkimCondition(domain),
      verifiedCondition(domain),
    ],
    message: `${domain.name} is verified and may send.`,
    status: {
      ...statusFields(domain, user.username, guidance(domain, sendingHost(context.config))),
      ...written.status,
    },
    events: [
      ...givenBack,
      ...driftEvents(context, resource, applied),
      ...repairEvents(context, resource, domain, told),
      ...written.events,
    ],
    recordId: domain._id,
    reported: () => void told.set(resource.metadata.uid, lastTold(resource, domain, told)),
    ...(written.requeueAfterMs === undefined ? {} : { requeueAfterMs: written.requeueAfterMs }),
  }
}

/**
 * Gives back the domains of accounts that the namespace may not act for any more, or that the resource names no more:
 * their records stay, and a resource that declares them rightly takes over.
 */
async function giveBackLost(context: OperatorContext, resource: MailDomain): Promise<EventInput[]> {
  const { spec, metadata } = resource
  const deps = resourceDeps(context, resource)
  const events: EventInput[] = []
  for (const { _id, user_id } of await listDomainsOfResource(context.mongo.db, spec.domainName, metadata.uid)) {
    const { username, allowed } = await entitlementOf(context, metadata.namespace, user_id)
    if (allowed && username === ownerName(resource)) continue
    const next = username === undefined ? undefined : await successorOf(context, resource, username)
    if (next) await handOver(deps, _id, managedBy({ kind: 'MailDomain', metadata: next.metadata }))
    else await giveBackDomain(deps, _id, spec.suspended)
    const to = next
      ? `MailDomain ${next.metadata.namespace}/${next.metadata.name}`
      : `the account ${username ?? user_id}`
    events.push(withdrawnEvent(`${spec.domainName} was given back to ${to}; its DNS records stay as they are.`))
  }
  return events
}

function resourceDeps({ mongo, clock, secrets }: OperatorContext, resource: MailDomain): ResourceDeps {
  return { db: mongo.db, clock, secrets, resource: managedBy(resource) }
}

function wantedOf({ spec }: MailDomain, dnsAccount: WantedDomain['dnsAccount']): WantedDomain {
  return {
    name: spec.domainName,
    suspended: spec.suspended,
    dns: {
      manage: spec.dns.managementPolicy === 'Manage',
      address: spec.dns.records.address === 'Managed',
      dmarc: spec.dmarc,
      spf: spec.spf.includes.map(name => `include:${name}`),
      // Defaults are left out: a release that brings new ones changes no record.
      spf_all: spec.spf.all === '~all' ? undefined : spec.spf.all,
      ttl: spec.dns.ttlSeconds === 600 ? undefined : spec.dns.ttlSeconds,
      by_hand: byHand(spec.dns.records),
      dkim_rotation_days: spec.dkim.rotationIntervalDays,
    },
    dnsAccount,
  }
}

function byHand({ verification, dkim, spf, dmarc }: Spec['dns']['records']) {
  const rows = { ownership: verification, dkim, spf, dmarc }
  const list = (['ownership', 'dkim', 'spf', 'dmarc'] as const).filter(row => rows[row] === 'Guidance')
  return list.length > 0 ? list : undefined
}

/** A change of the record that did not come from a new spec came from somebody else. */
function driftEvents(context: OperatorContext, { status, metadata }: MailDomain, applied: AppliedDomain): EventInput[] {
  const settled = status?.domainId === applied.domain._id && status.observedGeneration === metadata.generation
  // A DNSProvider that became ready only now is no drift.
  const changed = applied.changed.filter(field => field !== 'dns_account_id' || status?.dnsRevision !== undefined)
  if (!settled || changed.length === 0) return []
  context.metrics.operator.driftReverted.inc({ kind: 'MailDomain', place: 'database' })
  const note = `The record was changed behind this resource (${changed.join(', ')}); it is as declared again.`
  return [{ type: 'Warning', reason: 'DriftReverted', action: 'Apply', note }]
}

function seenUntil({ metadata, status }: Pick<MailDomain, 'metadata' | 'status'>, told: Told): number {
  return told.get(metadata.uid) ?? Date.parse(status?.lastCheckTime ?? '1970-01-01T00:00:00Z') + 999
}

function lastTold(resource: MailDomain, { dns }: DomainDoc, told: Told): number {
  return Math.max(seenUntil(resource, told), ...(dns?.repairs ?? []).map(at => at.getTime()))
}

/** The worker looks at DNS and repairs; here it is counted and told. */
function repairEvents(
  context: OperatorContext,
  { metadata, status }: MailDomain,
  { name, dns }: DomainDoc,
  told: Told,
): EventInput[] {
  const seen = seenUntil({ metadata, status }, told)
  const fresh = dns?.repairs?.filter(at => at.getTime() > seen) ?? []
  if (fresh.length === 0) return []
  context.metrics.operator.driftReverted.inc({ kind: 'MailDomain', place: 'provider' }, fresh.length)
  const note = `Records of ${name} were changed at the DNS provider; they are as declared again.`
  return [{ type: 'Warning', reason: 'DriftReverted', action: 'PublishDNS', note }]
}

async function remove(context: OperatorContext, dns: DnsDeps, resource: MailDomain, retain: boolean): Promise<Removal> {
  const events = await giveBackLost(context, resource)
  // The mark on the record, not the status: that may not have been written yet, and others may write it.
  const domain = await findDomainOfResource(context.mongo.db, resource.spec.domainName, resource.metadata.uid)
  if (!domain) return { done: true, events }
  const id = domain._id
  const deps = resourceDeps(context, resource)
  const successor = await successorOf(context, resource, ownerName(resource))
  if (successor) {
    await handOver(deps, id, managedBy({ kind: 'MailDomain', metadata: successor.metadata }))
    return { done: true, events }
  }
  const waiting = retain ? undefined : await drain(deps, context, resource, id)
  if (waiting) return waiting
  const cleaned = retain ? { done: true as const } : await removeDns(context, dns, resource, id)
  if (!cleaned.done) return cleaned
  const { deletionPolicy, suspended } = resource.spec
  await withdrawDomain(deps, id, retain ? 'Retain' : deletionPolicy.domain, suspended)
  return cleaned
}

/** What is accepted already is signed with the key that is about to go: nothing new comes in, the rest gets some time. */
async function drain(
  deps: ResourceDeps,
  { clock }: OperatorContext,
  { spec, metadata }: MailDomain,
  id: string,
): Promise<Removal | undefined> {
  const { deletionPolicy, domainName } = spec
  const losesRecords = deletionPolicy.dns === 'Delete' && spec.dns.managementPolicy === 'Manage'
  if (deletionPolicy.domain !== 'Delete' && !losesRecords) return undefined
  const left = DRAIN_MS - (clock.now().getTime() - Date.parse(metadata.deletionTimestamp ?? ''))
  if (left <= 0) return undefined
  const { wasOpen, waiting } = await closeDomain(deps, id)
  if (waiting === 0 && !wasOpen) return undefined
  const mail = waiting === undefined ? 'Accepted mail' : `${waiting} accepted message${waiting === 1 ? '' : 's'}`
  const message = `Nothing new is accepted for ${domainName}. ${mail} may still be delivered, for at most five minutes. ${FORCE_HINT}`
  return {
    done: false,
    condition: bad('QueueDrained', 'Draining', message),
    requeueAfterMs: Math.min(DRAIN_AGAIN_MS, left),
  }
}
