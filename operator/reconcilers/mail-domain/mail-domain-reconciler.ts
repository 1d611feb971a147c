/** Reconciles MailDomains: registered for their owner, with a DKIM key, records written or observed, and verified. */

import { type DnsDeps, sendingHost } from '../../../services/mail/dns/dns-context.ts'
import { guidance } from '../../../services/mail/dns/records/guidance.ts'
import { isMechanism } from '../../../services/mail/dns/records/spf-term.ts'
import type { AppliedDomain, WantedDomain } from '../../../services/mail/domains/declare-domain.ts'
import { currentDomain, type DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { ProblemError } from '../../../services/platform/problems.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { MailDomain } from '../../resources/mail-domain.ts'
import { type AppliedLimits, applyLimits } from '../mail/declared-limits.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'
import { authenticatedCondition } from './authenticated-condition.ts'
import type { DnsAccountChoice } from './dns-account-choice.ts'
import type { DnsOutcome } from './dns-outcome.ts'
import { unlessLost } from './dns-synced-condition.ts'
import { writeDns } from './mail-domain-dns.ts'
import { dnsAccountFor } from './mail-domain-dns-account.ts'
import { untilPublished } from './mail-domain-endpoint.ts'
import { registerDeclaredDomain, returnLostDomains } from './mail-domain-owner.ts'
import { abandonEndpoint, isWriting, removeMailDomain } from './mail-domain-removal.ts'
import { statusFields } from './mail-domain-status.ts'
import { dkimCondition, lostRecords, verifiedCondition } from './verification-conditions.ts'

type Spec = MailDomain['spec']
type Status = NonNullable<MailDomain['status']>

/** The reconciler of MailDomains. */
export function mailDomainReconciler(context: OperatorContext, dns: DnsDeps): Reconciler<Spec, Status> {
  const reported: ReportedRepairs = new Map()
  return {
    kind: MailDomain,
    ensure: resource => ensure(context, dns, resource, reported),
    async remove(resource, retain) {
      reported.delete(resource.metadata.uid)
      return removeMailDomain(context, dns, resource, retain)
    },
    abandon: resource => abandonEndpoint(context, resource),
    mirror: (id, uid, state) => mirrorState(context.mongo.db, 'MailDomain', uid, id, state),
  }
}

/** Time of the last repair that an event reported, by uid, in milliseconds: times in the status are in seconds. */
type ReportedRepairs = Map<string, number>

async function ensure(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  reported: ReportedRepairs,
): Promise<Outcome> {
  const returned = await returnLostDomains(context, resource)
  let missing: Extract<DnsAccountChoice, { condition: object }> | undefined
  const registration = await registerDeclaredDomain(context, resource, async owner => {
    const account = await dnsAccountFor(context, dns, resource, owner)
    if ('condition' in account) missing = account
    if (!('condition' in account)) return wantedOf(resource, account.use)
    // An account that is unusable now still wrote the records, and will have to remove them; unless it may not any more.
    return wantedOf(resource, account.unbind ? 'none' : 'keep')
  })
  if (registration.kind === 'refused') {
    // Status fields of a domain that the resource no longer has are removed.
    const status = returned.length > 0 ? { status: {} } : {}
    const conditions = [registration.condition]
    return { conditions, requeueAfterMs: REFUSED_MS, events: returned, ...status }
  }
  const { user, applied } = registration
  const first = missing ? withoutAccount(missing) : await writeDns(context, dns, resource, applied.domain)
  // Writing requests a check, which the worker may have finished by now.
  const domain = (await currentDomain(context.mongo.db, applied.domain._id)) ?? applied.domain
  const isEndpoint = resource.spec.dns.managementPolicy === 'DNSEndpoint'
  const written = isEndpoint ? await untilPublished(context, dns, resource, domain, first) : first
  const rows = guidance(domain, sendingHost(context.config))
  const { _id: id, name, limits_declared: isDeclared = false } = domain
  const limited = { scope: 'domain', id, name, isDeclared } as const
  const limits = await applyLimits(context, user._id, limited, resource.spec.sendingLimits)
  const again = earliest(written.requeueAfterMs, limits.refused?.requeueAfterMs)
  const acceptedAs = sentence('resource.domain_accepted', { domain: domain.name, account: user.username })
  return {
    conditions: [
      limits.refused?.condition ?? accepted(acceptedAs),
      ...written.conditions.map(condition => unlessLost(condition, lostRecords(domain, rows))),
      dkimCondition(domain),
      verifiedCondition(domain),
      authenticatedCondition(domain, context.clock.now()),
    ],
    message: sentence('resource.domain_ready', { domain: domain.name }),
    status: {
      ...statusFields(domain, user.username, rows),
      ...written.status,
    },
    events: [
      ...returned,
      ...driftEvents(context, resource, withLimits(applied, limits), missing?.unbind),
      ...repairEvents(context, resource, domain, reported),
      ...written.events,
    ],
    recordId: domain._id,
    reported: () => void reported.set(resource.metadata.uid, lastRepair(resource, domain, reported)),
    ...(again === undefined ? {} : { requeueAfterMs: again }),
  }
}

function earliest(...pauses: (number | undefined)[]): number | undefined {
  const given = pauses.filter(pause => pause !== undefined)
  return given.length === 0 ? undefined : Math.min(...given)
}

function withLimits(applied: AppliedDomain, { changed }: AppliedLimits): AppliedDomain {
  return changed ? { ...applied, changed: [...applied.changed, 'sending_limits'] } : applied
}

function withoutAccount({ condition, requeueAfterMs }: Extract<DnsAccountChoice, { condition: object }>): DnsOutcome {
  return {
    conditions: [condition],
    status: {},
    events: [],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  }
}

function wantedOf({ spec }: MailDomain, dnsAccount: WantedDomain['dnsAccount']): WantedDomain {
  return {
    name: spec.domainName,
    suspended: spec.suspended,
    dns: {
      manage: isWriting(spec),
      endpoint: spec.dns.managementPolicy === 'DNSEndpoint' ? true : undefined,
      address: spec.dns.records.address === 'Managed',
      dmarc: spec.dmarc,
      spf: spfOf(spec),
      // Defaults are omitted: a release with new defaults changes no record.
      spf_all: spec.spf.all === '~all' ? undefined : spec.spf.all,
      ttl: spec.dns.ttlSeconds === 600 ? undefined : spec.dns.ttlSeconds,
      by_hand: byHand(spec.dns.records),
      dkim_rotation_days: spec.dkim.rotationIntervalDays,
      return_path: spec.returnPath === 'Own' ? undefined : RETURN_PATHS[spec.returnPath],
      return_path_records: spec.returnPathRecords === 'MX' ? 'mx' : undefined,
    },
    // Off is the default of a domain, and omitted likewise.
    tracking: spec.tracking.opens || spec.tracking.clicks ? spec.tracking : undefined,
    delivery: spec.delivery && { delivery: DELIVERIES[spec.delivery], redirect_to: spec.redirectTo },
    dnsAccount,
  }
}

/** One term that receivers cannot read makes the whole record void. Throws ProblemError. */
function spfOf({ spf: { includes, mechanisms } }: Spec): string[] {
  const mechanism = mechanisms.find(text => !isMechanism(text))
  if (mechanism !== undefined)
    throw new ProblemError('validation_failed', sentence('resource.spf_mechanism', { mechanism }))
  return [...includes.map(name => `include:${name}`), ...mechanisms]
}

const DELIVERIES = { Live: 'live', Capture: 'capture', Redirect: 'redirect' } as const

const RETURN_PATHS = { Own: 'own', Shared: 'shared', Off: 'off' } as const

function byHand({ verification, dkim, spf, dmarc, returnPath, tracking }: Spec['dns']['records']) {
  const rows = { ownership: verification, dkim, spf, dmarc, return_path: returnPath, tracking }
  const all = ['ownership', 'dkim', 'spf', 'dmarc', 'return_path', 'tracking'] as const
  const list = all.filter(row => rows[row] === 'Guidance')
  return list.length > 0 ? list : undefined
}

/** A record that differs although the spec did not change was changed by something else. */
function driftEvents(
  context: OperatorContext,
  { status, metadata }: MailDomain,
  applied: AppliedDomain,
  isWithdrawn = false,
): EventInput[] {
  const settled = status?.domainId === applied.domain._id && status.observedGeneration === metadata.generation
  // A DNSProvider that became ready only now is no drift, and neither is the end of a permission.
  const isExpected = isWithdrawn || status?.dnsRevision === undefined
  const changed = applied.changed.filter(field => field !== 'dns_account_id' || !isExpected)
  if (!settled || changed.length === 0) return []
  context.metrics.operator.driftReverted.inc({ kind: 'MailDomain', place: 'database' })
  const note = `The record was changed outside of this resource (${changed.join(', ')}); it is as declared again.`
  return [{ type: 'Warning', reason: 'DriftReverted', action: 'Apply', note }]
}

function reportedUntil(
  { metadata, status }: Pick<MailDomain, 'metadata' | 'status'>,
  reported: ReportedRepairs,
): number {
  return reported.get(metadata.uid) ?? Date.parse(status?.lastCheckTime ?? '1970-01-01T00:00:00Z') + 999
}

function lastRepair(resource: MailDomain, { dns }: DomainDoc, reported: ReportedRepairs): number {
  return Math.max(reportedUntil(resource, reported), ...(dns?.repairs ?? []).map(at => at.getTime()))
}

/** Repairs by the worker since the last report: counted, and reported as one event. */
function repairEvents(
  context: OperatorContext,
  { metadata, status }: MailDomain,
  { name, dns }: DomainDoc,
  reported: ReportedRepairs,
): EventInput[] {
  const until = reportedUntil({ metadata, status }, reported)
  const fresh = dns?.repairs?.filter(at => at.getTime() > until) ?? []
  if (fresh.length === 0) return []
  context.metrics.operator.driftReverted.inc({ kind: 'MailDomain', place: 'provider' }, fresh.length)
  const note = `Records of ${name} were changed at the DNS provider; they are as declared again.`
  return [{ type: 'Warning', reason: 'DriftReverted', action: 'PublishDNS', note }]
}
