/** DNS facts as answers of the mail API. */
import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import { sentenceFields, sentenceListFields } from '../../../platform/http/sentence-fields.ts'
import type { PlanItem } from '../../dns/plan/plan-item.ts'
import { dnsHostOf } from '../../dns/records/dns-host.ts'
import { type GuidanceRow, guidance, type SendingHost, spfTerms, zoneFile } from '../../dns/records/guidance.ts'
import { publishValue } from '../../dns/records/publish-value.ts'
import { hostInZone, zoneHolding } from '../../dns/records/zone-names.ts'
import type { DnsAccountDoc } from '../dns-accounts/store/dns-accounts.ts'
import type { AppliedItem } from '../publishing/plan-outcome.ts'
import type { DomainDnsPlan, Published } from '../publishing/publish-records.ts'
import type { DkimKeyDoc, DnsCheckDoc, DomainDoc, RecordCheckDoc } from '../store/domain-model.ts'
import type { applyDnsOperation, dkimKey, dnsAccount, dnsCheck, planDnsOperation, planItem } from './dns-contract.ts'
import { type checkSummary, type dnsRecord, type dnsSettings, recordStatus } from './dns-records-contract.ts'

type Json<S extends z.ZodType> = z.input<S>

/** The records that a domain needs, with what the last check said of each. */
export function showRecords(doc: DomainDoc, host: SendingHost): Json<typeof dnsRecord>[] {
  const terms = spfTerms(doc, host)
  return guidance(doc, host).map(row => showRecord(row, doc, publishRow(row, doc, terms)))
}

/** The records as a zone file, each with the value to publish. */
export function showZoneFile(doc: DomainDoc, host: SendingHost): string {
  const terms = spfTerms(doc, host)
  return zoneFile(
    doc.name,
    guidance(doc, host).map(row => ({ ...row, value: publishRow(row, doc, terms) })),
  )
}

function publishRow(row: GuidanceRow, { name, check, dns_owned }: DomainDoc, terms: readonly string[]): string {
  const observed = check?.records.find(record => record.row === row.id)?.observed ?? []
  const inherited = check?.dmarc && check.dmarc.at !== name ? check.dmarc.policy : undefined
  return publishValue(row, observed, terms, dns_owned, inherited)
}

function showRecord({ note, ...row }: GuidanceRow, { check }: DomainDoc, publish: string): Json<typeof dnsRecord> {
  const found = check?.records.find(record => record.row === row.id)
  const zone = zoneHolding(row.name, check?.zones ?? [])
  return {
    ...row,
    zone,
    // The zone of an address belongs to whoever gives the address; it is named in full there.
    zone_host: row.purpose === 'ptr' ? row.name : hostInZone(row.name, zone),
    publish,
    ...sentenceFields('note', note),
    status: found?.status ?? 'not_started',
    observed: found?.observed ?? [],
    ...showFindings(found),
    checked_at: found ? (check?.at.toISOString() ?? null) : null,
  }
}

function showFindings(found: Pick<RecordCheckDoc, 'errors' | 'warnings' | 'instructions'> | undefined) {
  return {
    ...sentenceListFields('errors', found?.errors ?? []),
    ...sentenceListFields('warnings', found?.warnings ?? []),
    ...sentenceListFields('instructions', found?.instructions ?? []),
  }
}

/** The settings with their defaults. Unless it is set, the DMARC policy is the one that DNS has. */
export function showSettings({ dns, check }: DomainDoc): Json<typeof dnsSettings> {
  return {
    manage: dns?.manage ?? false,
    address: dns?.address ?? true,
    dmarc: dns?.dmarc ?? { policy: check?.dmarc?.policy ?? 'none', rua: [] },
    spf: dns?.spf ?? [],
    dkim_rotation_days: dns?.dkim_rotation_days ?? 0,
    return_path: dns?.return_path ?? 'own',
    return_path_records: dns?.return_path_records ?? 'cname',
  }
}

/** The last check as a whole. */
export function showSummary({ check, next_check_at }: DomainDoc): Json<typeof checkSummary> | null {
  if (!check) return null
  const { at, failing_since, errors } = check
  return {
    at: at.toISOString(),
    next_at: iso(next_check_at),
    dmarc_policy: check.dmarc?.policy ?? null,
    name_servers: check.name_servers ?? [],
    dns_host: dnsHostOf(check.name_servers ?? []) ?? null,
    failing_since: iso(failing_since),
    ...sentenceListFields('errors', errors),
  }
}

/** One check of the history. */
export function showCheck(check: DnsCheckDoc): Json<typeof dnsCheck> {
  const { _id, domain_id, at, by, outcome, event, records, changes = [], errors, ms, queries } = check
  return {
    object: 'dns_check',
    id: _id,
    domain_id,
    at: at.toISOString(),
    by,
    outcome,
    event: event ?? null,
    records: records.map(({ row, status, observed, ...found }) => ({
      id: row,
      status,
      observed,
      ...showFindings(found),
    })),
    changes: changes.flatMap(({ row, from, to }) => {
      const status = (given: string | undefined) => recordStatus.options.find(known => known === given)
      const now = to === 'removed' ? to : status(to)
      return now === undefined ? [] : [{ record: row, from: status(from) ?? null, to: now }]
    }),
    ...sentenceListFields('errors', errors),
    ms,
    queries,
  }
}

/** One step of a plan. */
function showItem(item: PlanItem): Json<typeof planItem> {
  const { row, action, type, name, value, ttl, before, reason, code, acceptable, warnings } = item
  return {
    record: row,
    action,
    type,
    name,
    // What stays is what is there, also where we would have written another value.
    value: action === 'keep' ? (before?.value ?? value) : value,
    ttl,
    before: before?.value ?? null,
    ...sentenceFields('reason', reason),
    code: code ?? null,
    acceptable: acceptable ?? false,
    ...sentenceListFields('warnings', warnings),
  }
}

/** A DNS plan. */
export function showPlan({ id, items, warnings }: DomainDnsPlan): Json<typeof planDnsOperation.response> {
  return { object: 'dns_plan', id, items: items.map(showItem), ...sentenceListFields('warnings', warnings) }
}

/** The outcome of one click. */
export function showPublished({ items, stopped, warnings }: Published): Json<typeof applyDnsOperation.response> {
  const show = (item: AppliedItem) => ({
    ...showItem(item),
    status: item.status,
    ...sentenceFields('message', item.message),
  })
  return {
    object: 'dns_result',
    items: items.map(show),
    stopped: stopped
      ? {
          fault: stopped.kind,
          ...sentenceFields('message', stopped.message),
          retry_after: stopped.retryAfter ?? null,
          permission: stopped.permission ?? null,
        }
      : null,
    ...sentenceListFields('warnings', warnings),
  }
}

/** A DKIM key without its private half. */
export function showKey(key: DkimKeyDoc): Json<typeof dkimKey> {
  const { selector, algorithm, state, public_key, created_at, seen_at, activated_at, retired_at, revoked_at } = key
  return {
    selector,
    algorithm,
    state,
    public_key,
    created_at: created_at.toISOString(),
    seen_at: iso(seen_at),
    activated_at: iso(activated_at),
    retired_at: iso(retired_at),
    revoked_at: iso(revoked_at),
  }
}

/** A DNS account without its credentials. */
export function showAccount({
  _id,
  provider,
  name,
  tested,
  managed_by,
  created_at,
  updated_at,
}: DnsAccountDoc): Json<typeof dnsAccount> {
  const { at, ok, zones, message } = tested
  return {
    object: 'dns_account',
    id: _id,
    provider,
    name,
    tested: { at: at.toISOString(), ok, zones, ...sentenceFields('message', message) },
    managed_by: showManagedBy(managed_by),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

function iso(date: Date | undefined): string | null {
  return date?.toISOString() ?? null
}
