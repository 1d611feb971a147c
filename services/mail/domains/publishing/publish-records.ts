/** Plans and writes the records of a domain through its DNS account. */
import { ProblemError } from '../../../platform/problems.ts'
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type DnsDeps, providerOf, sendingHost } from '../../dns/dns-context.ts'
import { planDns, questionsOf, vanished } from '../../dns/plan/dns-plan.ts'
import type { OwnedRecord, PlanInput, PlanItem } from '../../dns/plan/plan-item.ts'
import { type DnsProvider, DnsProviderError, type Question, type Zone } from '../../dns/providers/provider.ts'
import { type DmarcDiscovery, discoverDmarc } from '../../dns/records/dmarc.ts'
import { guidance, isReturnPathRow, returnPathTerm, type SendingHost, spfTerms } from '../../dns/records/guidance.ts'
import { inboundHosts } from '../../dns/records/inbound-hosts.ts'
import { isWithin } from '../../dns/records/names.ts'
import { servesDomain } from '../dns-accounts/rules/account-scope.ts'
import type { DnsAccountDoc } from '../dns-accounts/store/dns-accounts.ts'
import { findWritingAccount } from '../dns-accounts/store/dns-accounts.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import { type ApplyOptions, applyDnsPlan, type DnsPlanner, dnsPlanId } from './apply-dns-plan.ts'
import { DomainGone, type LedgerAccount, ledgerOf, noteOf, readLedger } from './domain-ledger.ts'
import { type Applied, type AppliedItem, stoppedBy } from './plan-outcome.ts'
import { removeWritten } from './unpublish-records.ts'
import { readState } from './zone-state.ts'

/** Conflicting records are left (`fail`), replaced and restored by the removal (`adopt`), or replaced (`overwrite`). */
export type ConflictPolicy = 'fail' | 'adopt' | 'overwrite'

/** How to publish. */
export interface PublishOptions {
  /** Rows whose conflict the owner resolved in our favour. */
  accept?: readonly string[]
  /** For all rows; default `fail`. */
  conflicts?: ConflictPolicy
  /** Id of the DNS plan that the owner saw; another plan is not written. */
  expect?: string
  /** Writes with this provider instead of the domain's DNS account; the ledger gets the id. */
  through?: { account: LedgerAccount; provider: DnsProvider }
}

/** A DNS plan with its id. */
export interface DomainDnsPlan {
  id: string
  items: PlanItem[]
  /** What keeps written records from being served. */
  warnings: Sentence[]
}

/** The outcome of a publication. */
export interface Published extends Applied {
  items: AppliedItem[]
  warnings: Sentence[]
}

/**
 * The DNS plan of a domain; writes nothing. Throws ProblemError: 409 `conflict` without a DNS account, and the
 * provider's errors as {@link asProblem} translates them.
 */
export async function planDomainDns(
  deps: DnsDeps,
  domain: DomainDoc,
  options: PublishOptions = {},
): Promise<DomainDnsPlan> {
  return asProblem(async () => {
    const target = await targetOf(deps, domain, options)
    const owned = await readLedger(deps, domain, target.account)
    const state = await readState(target.provider, target.questions, owned)
    const items = target.planner(state, owned)
    return { id: dnsPlanId(items), items, warnings: await warningsOf(deps, state.zones) }
  })
}

/**
 * Plans and writes the records of a domain. Errors of the provider and its account are in the result; 409 `conflict`
 * when the domain has no DNS account, or when the DNS plan is no longer the one in `expect`.
 */
export async function publishDns(deps: DnsDeps, domain: DomainDoc, options: PublishOptions = {}): Promise<Published> {
  let target: Target
  try {
    target = await targetOf(deps, domain, options)
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    return { items: [], zones: [], warnings: [], stopped: stoppedBy(error) }
  }
  const written: OwnedRecord[] = []
  const applied = await applyDnsPlan(target.provider, target.planner, ledgerOf(deps, domain, target.account, written), {
    questions: target.questions,
    note: noteOf(domain),
    replaced: options.conflicts === 'overwrite' ? 'own' : 'restore',
    expect: options.expect,
    vanished: target.vanished,
  }).catch(async (error: unknown) => {
    if (error instanceof DomainGone) await removeWritten(deps, domain, target.provider, written)
    throw error
  })
  const { items, stopped, zones } = applied
  if (stopped?.kind === 'changed') throw new ProblemError('conflict', stopped.message)
  const count = (status: AppliedItem['status']) => items.filter(item => item.status === status).length
  deps.log.info(
    {
      domain: domain._id,
      provider: target.provider.type,
      outcome: stopped?.kind ?? 'ok',
      done: count('done') + count('pending'),
      kept: count('kept'),
      conflicts: count('conflict'),
      failed: count('failed'),
    },
    'dns published',
  )
  return { ...applied, warnings: stopped ? [] : await warningsOf(deps, zones) }
}

interface Target {
  account: LedgerAccount
  provider: DnsProvider
  planner: DnsPlanner
  vanished: NonNullable<ApplyOptions['vanished']>
  questions: Question[]
}

async function targetOf(deps: DnsDeps, domain: DomainDoc, options: PublishOptions): Promise<Target> {
  const { account, provider } = options.through ?? (await accountOf(deps, domain, options))
  const host = sendingHost(deps.config)
  const rows = guidance(domain, host)
  const terms = spfTerms(domain, host)
  const inheritedDmarc = await policyAbove(deps, domain.name)
  const returnPath = rows.some(({ id }) => isReturnPathRow(id)) ? await returnPathFacts(deps, host) : undefined
  const everything = options.conflicts === 'adopt' || options.conflicts === 'overwrite'
  const accepted = new Set(everything ? rows.map(({ id }) => id) : options.accept)
  return {
    account,
    provider,
    questions: questionsOf(rows),
    planner: (state, owned) =>
      planDns({
        ...{ ...state, rows, owned, accepted, spfTerms: terms, inheritedDmarc },
        ...(returnPath ? { returnPath } : {}),
      }),
    vanished: (state, owned) => vanished({ ...state, rows, owned }),
  }
}

/** The DNS account that the domain is bound to. */
async function accountOf(
  deps: DnsDeps,
  domain: DomainDoc,
  options: PublishOptions,
): Promise<NonNullable<PublishOptions['through']>> {
  const account = domain.dns_account_id
    ? await findWritingAccount(deps.db, domain.user_id, domain.dns_account_id)
    : undefined
  if (!account) throw new ProblemError('conflict', sentence('detail.dns_account_missing'))
  if (!servesDomain(account, domain)) throw new ProblemError('conflict', sentence('detail.dns_account_not_usable'))
  refuseReplacing(account, options)
  return { account, provider: providerOf(deps, account) }
}

/** Other namespaces write with a shared account as well: its administrator decides whether existing records are replaced. */
function refuseReplacing({ shared }: DnsAccountDoc, { accept = [], conflicts = 'fail' }: PublishOptions): void {
  const wanted = accept.length > 0 && conflicts === 'fail' ? 'adopt' : conflicts
  if (shared && wanted !== 'fail' && !shared.conflicts.includes(wanted))
    throw new ProblemError('conflict', sentence('detail.dns_account_no_replacing'))
}

async function returnPathFacts({ resolver }: DnsDeps, { bounceDomain }: SendingHost): Promise<PlanInput['returnPath']> {
  if (bounceDomain === undefined) return undefined
  const { hosts } = await inboundHosts(bounceDomain, resolver.session().lookup)
  return { hosts, term: returnPathTerm(bounceDomain) }
}

/** The DMARC policy of the parent domains; the domain's own record is read at the provider. */
export function policyAbove({ resolver }: DnsDeps, name: string): Promise<DmarcDiscovery> {
  const { lookup } = resolver.session()
  return discoverDmarc(name, async (owner, type) =>
    // A lookup of the own record before it is written would leave "no such name" in the resolver's cache.
    owner === `_dmarc.${name}` ? { kind: 'missing', reason: 'nodata' } : lookup(owner, type),
  )
}

/** Any account may hold a zone of this name: only the public delegation shows which servers are authoritative. */
async function warningsOf(deps: DnsDeps, zones: readonly Zone[]): Promise<Sentence[]> {
  const session = deps.resolver.session()
  const warnings: Sentence[] = []
  for (const { name, nameServers, warnings: own } of zones) {
    warnings.push(...own)
    const publicly = nameServers.length > 0 ? await session.nameServers(name) : []
    const expected = nameServers.map(server => server.replace(/\.$/, '').toLowerCase())
    if (publicly.length > 0 && !publicly.some(server => expected.includes(server) || isWithin(server, name)))
      warnings.push(sentence('dns_plan.not_served', { zone: name, servers: publicly, expected }))
  }
  return warnings
}

/**
 * Translates a provider's error into a ProblemError: 429 `rate_limited` with the wait, 503 `unavailable` when the outcome
 * is open, 409 `conflict` for what the owner of the account can correct.
 */
export async function asProblem<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DnsProviderError)) throw error
    const { kind, sentence: detail, retryAfter } = error
    const wait = retryAfter === undefined ? {} : { retryAfter }
    if (kind === 'rate_limited') throw new ProblemError('rate_limited', detail, { ...wait, cause: error })
    if (kind === 'unavailable' || kind === 'unknown_outcome')
      throw new ProblemError('unavailable', detail, { ...wait, cause: error })
    throw new ProblemError('conflict', detail, { cause: error })
  }
}
