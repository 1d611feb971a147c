/** The DNS side of a MailDomain: which account writes, what was written, and what stands in the way. */
import { createHash } from 'node:crypto'
import type { UserDoc } from '../../../services/accounts/find-account.ts'
import { type DnsDeps, sendingHost } from '../../../services/mail/dns/dns-context.ts'
import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { guidance } from '../../../services/mail/dns/records/guidance.ts'
import { askForCheck } from '../../../services/mail/domains/declare-domain.ts'
import { shareDnsAccount } from '../../../services/mail/domains/dns-accounts/declare-dns-account.ts'
import { currentDomain, type DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import {
  type Published,
  policyAbove,
  publishDns,
  unpublishDns,
} from '../../../services/mail/domains/publish-records.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { DNSProvider } from '../../resources/dns-provider.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { isPermanent, pauseAfter, reasonOf } from '../mail/dns-provider-access.ts'
import { bad, type ConditionState, conditionOf, good, toSeconds, unknown } from '../shared/conditions.ts'
import { managedBy, type OperatorContext, sibling } from '../shared/operator-context.ts'
import type { Removal } from '../shared/reconcile.ts'

/** What the DNS side adds to the outcome. */
export interface DnsOutcome {
  conditions: ConditionState[]
  status: object
  events: EventInput[]
  requeueAfterMs?: number
}

const CONFLICTS = { Fail: 'fail', Adopt: 'adopt', Overwrite: 'overwrite' } as const
/** Conflicts are looked at again after so long: somebody may have cleared them at the provider. */
const CONFLICT_MS = 15 * 60_000
/** Public DNS that does not answer is asked again at least so often: it usually comes back within minutes. */
const LOOKUP_MS = 60_000
/** Credentials that are good for one account are tried for another one again after so long. */
const SHARE_MS = 30_000
/** Records that cannot be removed are left behind after so long. */
const GIVE_UP_MS = 3_600_000

/** The DNS account to write with for this owner, none when none is wanted, or why there is none yet. */
export async function dnsAccountFor(
  context: OperatorContext,
  dns: DnsDeps,
  { spec, metadata }: MailDomain,
  owner: UserDoc,
): Promise<{ use: { id: string } | 'none' } | { condition: ConditionState; requeueAfterMs?: number }> {
  const { managementPolicy, providerRef } = spec.dns
  if (managementPolicy !== 'Manage' || !providerRef) return { use: 'none' }
  const missing = (message: string) => ({ condition: bad('DNSSynced', 'DependencyNotReady', message) })
  const provider = sibling(context, DNSProvider, metadata, providerRef.name)
  if (!provider) return missing(`There is no DNSProvider ${providerRef.name} in this namespace.`)
  const account = await shareDnsAccount(dns, managedBy(provider), owner._id).catch((error: unknown) => {
    if (error instanceof DnsProviderError) return undefined
    throw error
  })
  if (account) return { use: { id: account._id } }
  const why = conditionOf(provider.status?.conditions, 'Ready')?.message
  if (why === undefined)
    return {
      condition: unknown('DNSSynced', 'DependencyNotReady', `DNSProvider ${providerRef.name} was not tried yet.`),
    }
  // One that is ready for its own account was not to be had for this owner's just now: nothing will tell when it is.
  const isReady = conditionOf(provider.status?.conditions, 'Ready')?.status === 'True'
  return {
    ...missing(`DNSProvider ${providerRef.name} is not ready: ${why}`),
    ...(isReady ? { requeueAfterMs: SHARE_MS } : {}),
  }
}

/** Writes the records if they are to be managed and something changed since they were last written. */
export async function writeDns(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domain: DomainDoc,
): Promise<DnsOutcome> {
  const { spec, status } = resource
  const { managementPolicy, conflictPolicy } = spec.dns
  if (managementPolicy === 'None') return { conditions: [], status: {}, events: [] }
  if (managementPolicy === 'Observe') return { conditions: [observed(domain)], status: {}, events: [] }
  const revision = revisionOf(context, resource, domain)
  const settled = await unchanged(context, dns, resource, domain, revision)
  if (settled) return settled
  const failures = status?.dnsRevision === revision ? (status.failedAttempts ?? 0) : 0
  const published = await publishDns(dns, domain, { conflicts: CONFLICTS[conflictPolicy] })
  const outcome = judge(context, published, revision, failures)
  if (published.items.some(item => item.status === 'done')) await askForCheck(dns, domain._id)
  return outcome
}

/** What was found out before, where nothing changed since or the next try is not due; undefined when it is. */
async function unchanged(
  context: OperatorContext,
  dns: DnsDeps,
  { status }: MailDomain,
  { name }: DomainDoc,
  revision: string,
): Promise<DnsOutcome | undefined> {
  const before = conditionOf(status?.conditions, 'DNSSynced')
  if (status?.dnsRevision !== revision || !before) return undefined
  const condition: ConditionState = {
    type: 'DNSSynced',
    status: before.status,
    reason: before.reason,
    message: before.message,
  }
  if (before.status === 'True') return { conditions: [condition], status: { dnsRevision: revision }, events: [] }
  const { failedAttempts = 0, nextAttemptTime } = status
  const waitMs = Date.parse(nextAttemptTime ?? '') - context.clock.now().getTime()
  if (waitMs > 0)
    return {
      conditions: [condition],
      status: { dnsRevision: revision, failedAttempts, nextAttemptTime },
      events: [],
      requeueAfterMs: waitMs,
    }
  if (before.reason !== 'LookupFailed') return undefined
  // All else is written: as long as public DNS does not answer there is nothing to ask the provider.
  const policy = await policyAbove(dns, name)
  return policy.kind === 'temporary' ? later(context, revision, failedAttempts, condition, LOOKUP_MS) : undefined
}

/** The next try, after a pause that grows with the failures up to `longestMs`, in the status for everybody to see. */
function later(
  context: OperatorContext,
  revision: string,
  failures: number,
  condition: ConditionState,
  longestMs = Number.POSITIVE_INFINITY,
  retryAfter?: number,
): DnsOutcome {
  const ms = Math.min(longestMs, pauseAfter(failures + 1, retryAfter))
  const at = new Date(context.clock.now().getTime() + ms)
  return {
    conditions: [condition],
    status: { dnsRevision: revision, failedAttempts: failures + 1, nextAttemptTime: toSeconds(at) },
    events: [],
    requeueAfterMs: ms,
  }
}

/** Not the provider's fault and nobody's conflict: whether a record would weaken a policy cannot be told now. */
function lookupFailed(message: string): ConditionState {
  return unknown('DNSSynced', 'LookupFailed', message)
}

/** Turns what happened at the provider into conditions, with the next try in the status for everybody to see. */
function judge(context: OperatorContext, published: Published, revision: string, failures: number): DnsOutcome {
  const { items, stopped, warnings } = published
  const written = items.filter(item => item.status === 'done')
  const events: EventInput[] =
    written.length === 0
      ? []
      : [
          {
            type: 'Normal',
            reason: 'DNSWritten',
            action: 'PublishDNS',
            note: `Written: ${written.map(({ name, type }) => `${name} ${type}`).join(', ')}.`,
          },
        ]
  const retry = (condition: ConditionState, longestMs?: number, retryAfter?: number) => ({
    ...later(context, revision, failures, condition, longestMs, retryAfter),
    events,
  })
  if (stopped) {
    const make = isPermanent(stopped.kind) ? bad : unknown
    return retry(make('DNSSynced', reasonOf(stopped.kind), stopped.message), undefined, stopped.retryAfter)
  }
  const stuck = items.filter(item => item.status === 'conflict' || item.status === 'failed')
  const message = stuck.map(({ name, type, message: fault, reason }) => `${name} ${type}: ${fault ?? reason}`).join(' ')
  if (stuck.length > 0 && stuck.every(({ code }) => code === 'policy_unknown'))
    return retry(lookupFailed(message), LOOKUP_MS)
  if (stuck.length > 0) {
    // A write that failed may go through soon; a conflict waits for somebody's decision.
    if (stuck.some(item => item.status === 'failed')) return retry(bad('DNSSynced', 'ProviderError', message))
    const ways = stuck.some(({ acceptable }) => acceptable)
      ? ', or set spec.dns.conflictPolicy to Adopt or Overwrite'
      : ''
    const hint = `Clear what stands in the way at the DNS provider${ways}; it is looked at again every 15 minutes.`
    return retry(bad('DNSSynced', 'Conflict', `${message} ${hint}`), undefined, CONFLICT_MS / 1000)
  }
  const homeless = items.find(item => item.status === 'skipped' && item.zone === undefined && !isAddress(item))
  if (homeless) {
    const hint = 'Add the zone at the provider, name another DNSProvider, or set spec.dns.managementPolicy to Observe.'
    return retry(bad('DNSSynced', 'ZoneNotFound', `${homeless.reason} ${hint}`))
  }
  const note = warnings.length > 0 ? ` ${warnings.join(' ')}` : ''
  return {
    conditions: [good('DNSSynced', 'InSync', `All records are written.${note}`)],
    status: { dnsRevision: revision },
    events,
  }
}

/** Addresses of the sending host lie wherever its owner has them; that hinders nobody. */
function isAddress({ row }: { row: string }): boolean {
  return row.startsWith('address:')
}

/** With Observe, what public DNS shows of the required records. */
function observed({ check }: DomainDoc): ConditionState {
  if (!check) return unknown('DNSSynced', 'Progressing', 'Public DNS was not looked up yet.')
  const missing = check.records.filter(
    ({ status }) => status === 'failed' || status === 'conflict' || status === 'pending',
  )
  if (missing.length === 0) return good('DNSSynced', 'InSync', 'Public DNS shows all records.')
  const list = missing.map(({ row }) => row).join(', ')
  return bad(
    'DNSSynced',
    'Guidance',
    `Add these records at your DNS provider; status.records has their values: ${list}.`,
  )
}

/** Changes when other records are wanted, or another account is to write them, or another policy holds. */
function revisionOf(context: OperatorContext, { spec, metadata }: MailDomain, domain: DomainDoc): string {
  const rows = guidance(domain, sendingHost(context.config)).map(({ name, type, value }) => [name, type, value])
  const facts = [rows, domain.dns_account_id, spec.dns.conflictPolicy, metadata.generation]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16)
}

/**
 * Takes the records back. A provider that is down is tried for an hour; credentials that are refused, a zone or an
 * account that is gone are not waited for: a namespace must be able to go.
 */
export async function removeDns(
  context: OperatorContext,
  dns: DnsDeps,
  { spec, metadata, status }: MailDomain,
  domainId: string,
): Promise<Removal> {
  const domain = await currentDomain(context.mongo.db, domainId)
  if (!domain || spec.deletionPolicy.dns === 'Retain') return { done: true }
  const left = (why: string): Removal => ({
    done: true,
    events: [
      {
        type: 'Warning',
        reason: 'RecordsLeftBehind',
        action: 'RemoveDNS',
        note: `The records of ${domain.name} stay at the provider: ${why}`,
      },
    ],
  })
  const { stopped, items } = await unpublishDns(dns, domain)
  if (!stopped) {
    const stuck = items.filter(item => item.status === 'conflict' || item.status === 'failed')
    if (stuck.length > 0) return left(stuck.map(({ name, type, reason }) => `${name} ${type}: ${reason}`).join(' '))
    return domain.dns_owned?.length && !domain.dns_account_id ? left('the DNS account is gone.') : { done: true }
  }
  const age = context.clock.now().getTime() - Date.parse(metadata.deletionTimestamp ?? '')
  if (isPermanent(stopped.kind) || age > GIVE_UP_MS) return left(stopped.message)
  const message = `The records cannot be removed yet: ${stopped.message} Trying for an hour. ${FORCE_HINT}`
  const ms = pauseAfter((status?.failedAttempts ?? 0) + 1, stopped.retryAfter)
  return {
    done: false,
    condition: bad('DNSRemoved', reasonOf(stopped.kind), message),
    requeueAfterMs: Math.min(ms, 60_000),
  }
}

/** The way out, for messages. */
export const FORCE_HINT = 'The annotation postwright.dev/force-delete: "true" lets it go at once.'
