/** A DNS check of a domain: look up, decide, save while the worker's claim is valid, repair, record. */
import { DAY_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { DnsDeps } from '../../dns/dns-context.ts'
import { type Repair, repairDns } from '../publishing/repair-records.ts'
import { reserveName } from '../reserve-name.ts'
import { advanceKeys } from '../rotate-dkim.ts'
import { changedRecords } from '../rules/changed-records.ts'
import { afterSettled, type CheckOutcome, type NextState, nextState } from '../rules/check-schedule.ts'
import { checkSoon, claimDue, claimNow, insertCheck, noteRepair, saveCheck } from '../store/dns-checks.ts'
import type { CheckSummaryDoc, DnsCheckDoc, DomainDoc } from '../store/domain-model.ts'
import { type Observation, observeDomain } from './check-records.ts'
import { isQuickDue, isSettled, isUnchanged } from './quick-check.ts'
import { saveCheckWithEvents } from './save-with-events.ts'

/** A check that ended without a result is repeated after this time, in milliseconds. */
const LEASE_MS = 5 * 60_000
/** A repaired record is checked again after this time, in milliseconds. */
const AFTER_REPAIR_MS = 60_000

/** Checks a domain now and saves what follows. 404 when there is none; 409 when it changes or is checked again in the meantime. */
export async function verifyDomain(
  deps: DnsDeps,
  domainId: string,
  by: DnsCheckDoc['by'] = 'request',
): Promise<DnsCheckDoc> {
  const lease = leaseOf(deps)
  const domain = await claimNow(deps.db, domainId, lease)
  if (!domain) throw new ProblemError('not_found', sentence('detail.domain_unknown'))
  const check = await checkClaimed(deps, domain, lease, by)
  if (!check) throw new ProblemError('conflict', sentence('detail.domain_changed'))
  return check
}

/** A domain that was due, with the lease of its check. */
export interface DueDomain {
  domain: DomainDoc
  lease: Date
}

/** Claims the domain that is due longest, of other accounts than `except`; undefined when none is due. */
export async function claimNextDue(deps: DnsDeps, except: readonly string[]): Promise<DueDomain | undefined> {
  const lease = leaseOf(deps)
  const domain = await claimDue(deps.db, deps.clock.now(), lease, except)
  return domain && { domain, lease }
}

/** Checks it. Never rejects: a check that fails is logged, and due again after its lease. */
export async function checkDue(deps: DnsDeps, { domain, lease }: DueDomain): Promise<void> {
  try {
    if (await passesQuickCheck(deps, domain, lease)) return
    await checkClaimed(deps, domain, lease, 'schedule')
  } catch (error) {
    deps.log.warn({ err: error, domain: domain._id }, 'dns check failed; it is repeated')
  }
}

/** True when only changes had to be looked for, and there are none: then the next run is planned. */
async function passesQuickCheck(deps: DnsDeps, domain: DomainDoc, lease: Date): Promise<boolean> {
  if (!(domain.check && isQuickDue(domain) && (await isUnchanged(deps, domain)))) return false
  const next = afterSettled(domain.check.at, deps.clock.now(), deps.random())
  await saveCheck(deps.db, domain, lease, next)
  deps.metrics.dnsChecks.inc({ outcome: 'unchanged' })
  return true
}

async function checkClaimed(
  deps: DnsDeps,
  domain: DomainDoc,
  lease: Date,
  by: DnsCheckDoc['by'],
): Promise<DnsCheckDoc | undefined> {
  const started = performance.now()
  const seen = await observeDomain(deps, domain)
  // A suspended domain stays suspended, and takes the name from no other account.
  const mayBeVerified = domain.status === 'pending' || domain.status === 'failed'
  const errors = mayBeVerified && seen.outcome === 'verified' ? await reserveName(deps, domain, seen.ownership) : []
  const decision = decide(deps, domain, seen, errors)
  const saved = await saveCheckWithEvents(deps, domain, lease, decision.change, decision.next)
  if (saved === 'lost') return undefined
  if (saved === 'taken') return recordTaken(deps, domain, lease, seen, by, started)
  const moved = await advanceKeys(deps, domain, seen.visibleSelectors, () =>
    seen.session.negativeTtl(`_domainkey.${domain.name}`),
  )
  const repair = await repairDns(deps, domain, seen.records, moved)
  if (repair.kind === 'repaired') {
    const at = deps.clock.now()
    await noteRepair(deps.db, domain._id, decision.change.check.at, { at, rows: repair.rows ?? [] })
    await checkSoon(deps.db, domain._id, new Date(at.getTime() + AFTER_REPAIR_MS))
  }
  const check = toCheck(deps, domain, seen, decision, repair, by, started)
  if (isNews(domain, check)) await insertCheck(deps.db, check)
  report(deps, check)
  return check
}

interface Decision {
  outcome: CheckOutcome
  next: NextState
  errors: Sentence[]
  change: Parameters<typeof saveCheck>[3] & { check: CheckSummaryDoc }
}

function decide({ clock, random }: DnsDeps, domain: DomainDoc, seen: Observation, errors: Sentence[]): Decision {
  const now = clock.now()
  const outcome = errors.length > 0 ? 'pending' : seen.outcome
  const { status, created_at, verified_at, verified_by, check } = domain
  const managed = isKept(domain)
  const next = nextState(
    {
      status,
      created_at,
      ...(verified_at ? { verified_at } : {}),
      pinned: verified_by === 'admin' || verified_by === 'sandbox',
      managed,
      attempts: check?.attempts ?? 0,
      failures: check?.failures ?? 0,
      ...(check?.failing_since ? { failing_since: check.failing_since } : {}),
      ...(check?.lost_at ? { lost_at: check.lost_at } : {}),
    },
    outcome,
    now,
    random(),
  )
  const summary: CheckSummaryDoc = {
    at: now,
    attempts: next.attempts,
    failures: next.failures,
    ...(next.failing_since ? { failing_since: next.failing_since } : {}),
    ...(next.lost_at ? { lost_at: next.lost_at } : {}),
    records: seen.records,
    ...surroundings(seen),
    errors,
  }
  const settled = managed && outcome === 'verified' && next.status === 'verified' && isSettled(domain, seen)
  const verified = next.status === 'verified' && status !== 'verified'
  const change = {
    status: next.status,
    check: summary,
    updated_at: now,
    ...(verified ? { verified_at: now, verified_by: 'dns' as const } : {}),
    ...(next.next_check_at ? { next_check_at: next.next_check_at } : {}),
    ...(settled ? afterSettled(now, now, random()) : {}),
  }
  return { outcome, next, errors, change }
}

/** True when its records are kept as wanted: by us, or by external-dns. */
function isKept({ dns, dns_account_id }: DomainDoc): boolean {
  return dns?.manage === true && (dns_account_id !== undefined || dns.endpoint === true)
}

/** What a check keeps of the DNS around the records. */
function surroundings({ zones, nameServers, dmarc, returnPath }: Observation) {
  return {
    ...(zones.length > 0 ? { zones } : {}),
    ...(nameServers.length > 0 ? { name_servers: nameServers } : {}),
    ...(dmarc ? { dmarc } : {}),
    ...(returnPath === undefined ? {} : { return_path: returnPath }),
  }
}

/** Another account verified the name between our lookup and our write: the domain stays pending. */
async function recordTaken(
  deps: DnsDeps,
  domain: DomainDoc,
  lease: Date,
  seen: Observation,
  by: DnsCheckDoc['by'],
  started: number,
): Promise<DnsCheckDoc | undefined> {
  const decision = decide(deps, domain, seen, [sentence('dns.verified_by_other')])
  if ((await saveCheck(deps.db, domain, lease, decision.change)) !== 'saved') return undefined
  const check = toCheck(deps, domain, seen, decision, { kind: 'none' }, by, started)
  await insertCheck(deps.db, check)
  return check
}

function toCheck(
  { clock, config }: DnsDeps,
  { _id, user_id, check: before }: DomainDoc,
  seen: Observation,
  { outcome, next, errors }: Decision,
  repair: Repair,
  by: DnsCheckDoc['by'],
  started: number,
): DnsCheckDoc {
  const now = clock.now()
  const event = next.event ?? (repair.kind === 'repaired' ? 'domain.repaired' : undefined)
  return {
    _id: newId('chk', now.getTime()),
    user_id,
    domain_id: _id,
    at: now,
    by,
    outcome,
    ...(event ? { event } : {}),
    records: seen.records,
    changes: changedRecords(before?.records ?? [], seen.records),
    errors: repair.message === undefined ? errors : [...errors, repair.message],
    ms: Math.round(performance.now() - started),
    queries: seen.session.queries(),
    exp: new Date(now.getTime() + config.RETENTION_LOG_DAYS * DAY_MS),
  }
}

/** History keeps requested checks and changes; a domain that stays verified adds no entry every six hours. */
function isNews(domain: DomainDoc, check: DnsCheckDoc): boolean {
  if (check.by === 'request' || check.event || check.errors.length > 0) return true
  return changedRecords(domain.check?.records ?? [], check.records).length > 0
}

function report({ metrics, log }: DnsDeps, { domain_id, outcome, event, ms, queries, by }: DnsCheckDoc): void {
  metrics.dnsChecks.inc({ outcome })
  log.info({ domain: domain_id, outcome, event, ms, queries, by }, 'dns check')
}

function leaseOf({ clock, random }: DnsDeps): Date {
  // The random part distinguishes two claims of one millisecond.
  return new Date(clock.now().getTime() + LEASE_MS + Math.floor(random() * 1_000))
}
