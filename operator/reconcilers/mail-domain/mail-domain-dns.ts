/** Writes the DNS records of a MailDomain when they, the account or a policy changed, and when a retry is due. */
import { createHash } from 'node:crypto'
import { type DnsDeps, sendingHost } from '../../../services/mail/dns/dns-context.ts'
import { guidance } from '../../../services/mail/dns/records/guidance.ts'
import { requestCheck } from '../../../services/mail/domains/declare-domain.ts'
import type { DomainDoc } from '../../../services/mail/domains/find-domains.ts'
import { policyAbove, publishDns } from '../../../services/mail/domains/publishing/publish-records.ts'
import { isPolicyChanged } from '../../../services/mail/domains/rules/changed-policy.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import type { MailDomain } from '../../resources/mail-domain.ts'
import { type ConditionState, conditionOf, good } from '../shared/conditions.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import { type DnsOutcome, retryLater, writtenEvents } from './dns-outcome.ts'
import { DRIFTED, LOOKUP_RETRY_MS, observedCondition, syncOfWrite } from './dns-synced-condition.ts'
import { withdrawEndpoint, writeEndpoint } from './mail-domain-endpoint.ts'

const CONFLICTS = { Fail: 'fail', Adopt: 'adopt', Overwrite: 'overwrite' } as const

/** Writes the records if managementPolicy is Manage and something changed since the last write. */
export async function writeDns(
  context: OperatorContext,
  dns: DnsDeps,
  resource: MailDomain,
  domain: DomainDoc,
): Promise<DnsOutcome> {
  const { spec, status } = resource
  const { managementPolicy, conflictPolicy } = spec.dns
  if (managementPolicy === 'DNSEndpoint') return writeEndpoint(context, dns, resource, domain)
  await withdrawEndpoint(context, dns, resource, domain)
  if (managementPolicy === 'None') return { conditions: [], status: {}, events: [] }
  if (managementPolicy === 'Observe') return { conditions: [observedCondition(domain)], status: {}, events: [] }
  const revision = revisionOf(context, resource, domain)
  const unchanged = await outcomeOfLastWrite(context, dns, resource, domain, revision)
  if (unchanged) return unchanged
  const failures = status?.dnsRevision === revision ? (status.failedAttempts ?? 0) : 0
  const published = await publishDns(dns, domain, { conflicts: CONFLICTS[conflictPolicy] })
  const { condition, retry } = syncOfWrite(published)
  const events = writtenEvents(published)
  if (events.length > 0) await requestCheck(dns, domain._id)
  if (retry) return { ...retryLater(context, revision, failures, condition, retry), events }
  return { conditions: [condition], status: { dnsRevision: revision }, events }
}

/** The outcome of the last write while nothing changed and no retry is due; undefined when a write is due. */
async function outcomeOfLastWrite(
  context: OperatorContext,
  dns: DnsDeps,
  { status }: MailDomain,
  { name, k8s, dns_owned, check }: DomainDoc,
  revision: string,
): Promise<DnsOutcome | undefined> {
  const last = lastWrite(status)
  if (status?.dnsRevision !== revision || !last) return undefined
  const condition: ConditionState = { ...last }
  // Kubernetes keeps the English text only; the record has its sentence.
  const known = k8s?.conditions.find(({ type, message }) => type === 'DNSSynced' && message === last.message)
  if (known?.sentence) condition.sentence = known.sentence
  if (last.status === 'True' && isPolicyChanged(dns_owned, check?.records)) return undefined
  if (last.status === 'True') return { conditions: [condition], status: { dnsRevision: revision }, events: [] }
  const { failedAttempts = 0, nextAttemptTime } = status
  const waitMs = Date.parse(nextAttemptTime ?? '') - context.clock.now().getTime()
  if (waitMs > 0)
    return {
      conditions: [condition],
      status: { dnsRevision: revision, failedAttempts, nextAttemptTime },
      events: [],
      requeueAfterMs: waitMs,
    }
  if (last.reason !== 'LookupFailed') return undefined
  // All other records are written: while public DNS does not answer, a call to the provider would change nothing.
  const policy = await policyAbove(dns, name)
  if (policy.kind !== 'temporary') return undefined
  return retryLater(context, revision, failedAttempts, condition, { longestMs: LOOKUP_RETRY_MS })
}

/** How the last write ended. Records that went missing afterwards are repaired by the worker: no reason to write again. */
function lastWrite(status: MailDomain['status']): ConditionState | undefined {
  const last = conditionOf(status?.conditions, 'DNSSynced')
  if (!last || last.reason === DRIFTED) return last && good('DNSSynced', 'InSync', sentence('resource.dns_written'))
  return { type: 'DNSSynced', status: last.status, reason: last.reason, message: last.message }
}

/** Changes with the wanted records, the account that writes them, the conflict policy and the spec. */
function revisionOf(context: OperatorContext, { spec, metadata }: MailDomain, domain: DomainDoc): string {
  const rows = guidance(domain, sendingHost(context.config)).map(({ name, type, value }) => [name, type, value])
  const facts = [rows, domain.dns_account_id, spec.dns.conflictPolicy, metadata.generation]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16)
}
