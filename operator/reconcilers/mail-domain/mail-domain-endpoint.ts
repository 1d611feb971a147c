/** Writes the records of a MailDomain into its DNSEndpoint object, and reports which of them external-dns has not published. */

import type { DnsDeps } from '../../../services/mail/dns/dns-context.ts'
import { DnsProviderError } from '../../../services/mail/dns/providers/provider.ts'
import { requestCheck } from '../../../services/mail/domains/declare-domain.ts'
import type { DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import {
  forgetEndpoint,
  publishEndpoint,
  type RecordName,
  unpublishedRecords,
  usesEndpoint,
} from '../../../services/mail/domains/publishing/publish-endpoint.ts'
import { MINUTE_MS } from '../../../services/platform/durations.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { bad, type ConditionState, good, toSeconds } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import { endpointRefusal } from './dns-endpoint-permission.ts'
import { deleteEndpoint, dnsEndpointStore, isReadByExternalDns } from './dns-endpoint-store.ts'
import { type DnsOutcome, retryLater, writtenEvents } from './dns-outcome.ts'
import { syncOfWrite } from './dns-synced-condition.ts'

/** Reason while external-dns has not published what the object has. */
const WAITING = 'WaitingForExternalDNS'

/** While records wait, public DNS is checked at this interval, for half an hour: external-dns works once a minute by default. */
const CHECK_EVERY_MS = MINUTE_MS
const CHECK_FOR_MS = 30 * MINUTE_MS

/** The outcome of a run with managementPolicy DNSEndpoint. */
export async function writeEndpoint(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domain: DomainDoc,
): Promise<DnsOutcome> {
  if (!context.config.DNS_ENDPOINTS)
    return outcome(bad('DNSSynced', 'DNSEndpointsDisabled', sentence('dns_endpoint.disabled')))
  const refusal = endpointRefusal(context.config, resource)
  if (refusal) return outcome(refusal)
  const { spec, status } = resource
  const txtFormat = spec.dns.dnsEndpoint?.txtFormat === 'Plain' ? 'plain' : 'quoted'
  const published = await publishEndpoint(dns, domain, dnsEndpointStore(context, resource), txtFormat)
  const events = writtenEvents(published)
  if (events.length > 0) await requestCheck(dns, domain._id)
  const { condition: found, retry } = syncOfWrite(published)
  // An object of others stays until a user removes it.
  const condition =
    published.stopped?.kind === 'conflict' ? bad('DNSSynced', found.reason, published.stopped.message) : found
  if (retry) {
    const failures = status?.failedAttempts ?? 0
    return { ...retryLater(context, undefined, failures, condition, retry), events }
  }
  return { ...outcome(condition), events }
}

/** The condition of a write that succeeded, as long as public DNS lacks some of the records; with the time of the next look. */
export async function untilPublished(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domain: DomainDoc,
  written: DnsOutcome,
): Promise<DnsOutcome> {
  const [condition] = written.conditions
  const waiting = unpublishedRecords(domain)
  const before = waiting.length === 0 ? undefined : resource.status?.waitingSince
  // Whether the object could be read and written is unknown now: the records go on waiting.
  if (condition?.status === 'Unknown') return before === undefined ? written : withWaiting(written, before)
  if (condition?.status !== 'True') return written
  if (waiting.length === 0)
    return { ...written, conditions: [good('DNSSynced', 'InSync', sentence('dns_endpoint.published'))] }
  const conditions = [await waitingCondition(context, resource, waiting)]
  const now = context.clock.now()
  // external-dns has to publish what was written just now.
  const isWritten = written.events.length > 0
  const since = isWritten || before === undefined ? toSeconds(now) : before
  const outcome = { ...withWaiting(written, since), conditions }
  if (now.getTime() - Date.parse(since) >= CHECK_FOR_MS) return outcome
  const checkedMs = now.getTime() - (domain.check?.at ?? now).getTime()
  if (checkedMs >= CHECK_EVERY_MS) await requestCheck(dns, domain._id)
  return { ...outcome, requeueAfterMs: CHECK_EVERY_MS }
}

/** Kept in the status: a condition keeps its time of transition when only its reason changes. */
function withWaiting(written: DnsOutcome, waitingSince: string): DnsOutcome {
  return { ...written, status: { ...written.status, waitingSince } }
}

async function waitingCondition(
  context: OperatorContext,
  resource: MailDomain,
  waiting: readonly RecordName[],
): Promise<ConditionState> {
  const records = waiting.map(({ name, type }) => `${name} ${type}`)
  const { name } = resource.metadata
  const isRead = await isReadByExternalDns(context, resource)
  const code = isRead ? 'dns_endpoint.waiting' : 'dns_endpoint.unread'
  return bad('DNSSynced', WAITING, sentence(code, { name, records }))
}

/** Deletes the object of a MailDomain that has another managementPolicy now. Its records go with it, by external-dns. */
export async function withdrawEndpoint(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domain: DomainDoc,
): Promise<void> {
  if (!usesEndpoint(domain) || !context.config.DNS_ENDPOINTS) return
  try {
    await deleteEndpoint(context, resource)
    await forgetEndpoint(dns, domain._id)
  } catch (error) {
    // The object belongs to the MailDomain, and is deleted with it at the latest.
    if (!(error instanceof DnsProviderError)) throw error
    context.log.warn({ err: error, domain: domain._id }, 'the DNSEndpoint could not be deleted')
  }
}

function outcome(condition: ConditionState): DnsOutcome {
  return { conditions: [condition], status: {}, events: [] }
}
