/** Registers sending domains for accounts, changes and removes them. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { createFairLimiter } from '../../platform/concurrency/fair-limiter.ts'
import type { Db } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { ProblemError } from '../../platform/problems.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { type ActingResource, refuseManaged } from '../managed.ts'
import { createDkimKey, newSelector } from './dkim-keys.ts'
import { servesDomain } from './dns-accounts/rules/account-scope.ts'
import { findDnsAccount } from './dns-accounts/store/dns-accounts.ts'
import { changeDelivery, type WantedDelivery } from './rules/delivery-mode.ts'
import { normaliseDomain } from './rules/domain-name.ts'
import { checkSoon, replaceKeys } from './store/dns-checks.ts'
import type { DkimKeyDoc, DnsSettingsDoc, DomainDoc } from './store/domain-model.ts'
import {
  countDomains,
  deleteDomain,
  findDomain,
  findDomainById,
  insertDomain,
  keysOfName,
  updateSettings,
  verifyDomain,
} from './store/domains.ts'

/** Dependencies of the use cases on domains. */
export interface DomainDeps extends ActingResource {
  db: Db
  clock: Clock
  secrets: Secrets
}

/** Registrations of an account are done one after the other, so that their number is right. */
const registrations = createFairLimiter({ perKey: 1, waiting: 10 })
/** Those of resources wait as long as they must: the operator asks for few at once. */
const declared = createFairLimiter({ perKey: 1 })

/**
 * Registers a name for an account. 422 `validation_failed` for what is no name or a public suffix, 409 `conflict` when
 * the account has it already, 409 `too_many_domains` when it has `most` domains (0 = no limit), 429 `rate_limited` while
 * ten others of the account wait. Several processes may exceed `most` by one each. The first DKIM key is `active` at once,
 * since there is no older one to sign with; its selector differs from those of other accounts that registered the name, because
 * all of them live in one zone.
 */
export async function registerDomain(deps: DomainDeps, userId: string, typed: string, most = 0): Promise<DomainDoc> {
  const result = normaliseDomain(typed)
  if (!result.ok) {
    const { reason } = result
    throw new ProblemError('validation_failed', sentence('detail.domain_name', { reason }), {
      errors: [{ pointer: '/name', reason: sentence('field.invalid_domain', { reason }) }],
    })
  }
  const { name } = result
  const limiter = deps.resource ? declared : registrations
  return limiter(userId, async () => {
    const taken = new ProblemError('conflict', sentence('detail.domain_exists', { name }))
    // Both before a key is made: that costs 100 ms of CPU.
    if (await findDomain(deps.db, userId, name)) throw taken
    if (most > 0 && (await countDomains(deps.db, userId, most)) >= most) throw tooMany(most)
    const domain = await newDomain(deps, userId, name)
    if (!(await insertDomain(deps.db, domain))) throw taken
    return withOwnSelector(deps, domain)
  })
}

function tooMany(most: number): ProblemError {
  return new ProblemError('too_many_domains', sentence('detail.domain_limit', { limit: most }))
}

/** Tries for a selector that no other account took while the key was made. */
const MAX_TRIES = 5

/** Replaces the first key while another account registered the name with the same selector at the same time. */
async function withOwnSelector(deps: DomainDeps, domain: DomainDoc): Promise<DomainDoc> {
  let { dkim } = domain
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const all = await keysOfName(deps.db, domain.name)
    if (all.filter(({ selector }) => selector === dkim[0]?.selector).length < 2) break
    const fresh = [await firstKey(deps, domain)]
    if (!(await replaceKeys(deps.db, domain._id, dkim, fresh))) break // another process replaced them
    dkim = fresh
  }
  return { ...domain, dkim }
}

async function firstKey(
  { db, clock, secrets }: DomainDeps,
  domain: Pick<DomainDoc, '_id' | 'user_id' | 'name'>,
): Promise<DkimKeyDoc> {
  const now = clock.now()
  const selector = newSelector(await keysOfName(db, domain.name), now)
  const key = await createDkimKey(secrets, domain._id, selector, 'rsa-sha256', now, domain.user_id)
  return { ...key, state: 'active' }
}

/** A domain with its key, not stored yet. */
export async function newDomain(deps: DomainDeps, userId: string, name: string): Promise<DomainDoc> {
  const { clock, resource } = deps
  const now = clock.now()
  const place = { _id: newId('dom', now.getTime()), user_id: userId, name }
  return {
    ...place,
    status: 'pending',
    verification_token: randomBytes(20).toString('hex'),
    dkim: [await firstKey(deps, place)],
    // At once: SPF and DMARC records that exist have to be known before ours are shown.
    next_check_at: now,
    ...(resource ? { managed_by: resource } : {}),
    created_at: now,
    updated_at: now,
  }
}

/** A domain of the account by id or name in any writing, or 404. */
export async function getDomain({ db }: Pick<DomainDeps, 'db'>, userId: string, idOrName: string): Promise<DomainDoc> {
  const name = normaliseDomain(idOrName)
  const domain = await findDomain(db, userId, name.ok ? name.name : idOrName)
  if (!domain) throw new ProblemError('not_found', sentence('detail.domain_unknown'))
  return domain
}

/** What a person may change of a domain; absent stays. */
export interface DomainSettings extends WantedDelivery {
  /** Account at a DNS provider that the records are written through; null = none. */
  dns_account_id?: string | null | undefined
  /** How the records are kept; fields that are left out stay as they are. */
  dns?: { [K in keyof DnsSettingsDoc]?: DnsSettingsDoc[K] | undefined } | undefined
  /** What of its mail is tracked; likewise. */
  tracking?: { opens?: boolean | undefined; clicks?: boolean | undefined } | undefined
}

/**
 * Changes a domain and makes a DNS check due. 422 when the DNS account is not the account's own, when records are
 * to be kept without one, or when mail is to be redirected without an address. Without an account records are no longer kept.
 */
export async function changeDomain(
  deps: DomainDeps,
  userId: string,
  idOrName: string,
  { dns_account_id: account, dns: settings, tracking, delivery, redirect_to }: DomainSettings,
): Promise<DomainDoc> {
  const domain = await getDomain(deps, userId, idOrName)
  refuseManaged(domain, deps)
  const routed = routeChange(domain, { delivery, redirect_to })
  if ([account, settings, tracking, routed].every(one => one === undefined)) return domain
  if (typeof account === 'string') await assertUsable(deps, domain, account)
  const bound = account === undefined ? domain.dns_account_id !== undefined : account !== null
  if (settings?.manage && !bound) throw needsDnsAccount()
  const given = withoutUndefined(settings ?? {})
  const now = deps.clock.now()
  const changed = await updateSettings(
    deps.db,
    domain._id,
    { ...given, ...(bound ? {} : { manage: false }) },
    { ...routed?.set, updated_at: now, ...(typeof account === 'string' ? { dns_account_id: account } : {}) },
    [...(account === null ? (['dns_account_id'] as const) : []), ...(routed?.remove ?? [])],
    withoutUndefined(tracking ?? {}),
  )
  if (!changed) throw new ProblemError('not_found', sentence('detail.domain_unknown'))
  await checkSoon(deps.db, domain._id, now)
  return changed
}

/** Undefined: nothing is to change. */
function routeChange(domain: DomainDoc, wanted: WantedDelivery) {
  if (wanted.delivery === undefined && wanted.redirect_to === undefined) return undefined
  const change = changeDelivery(domain, wanted)
  if (change.kind === 'change') return change
  const { reason } = change
  throw new ProblemError('validation_failed', reason, { errors: [{ pointer: '/redirect_to', reason }] })
}

function withoutUndefined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

function needsDnsAccount(): ProblemError {
  const reason = sentence('field.needs_dns_account')
  return new ProblemError('validation_failed', reason, { errors: [{ pointer: '/dns/manage', reason }] })
}

async function assertUsable({ db }: DomainDeps, domain: DomainDoc, accountId: string): Promise<void> {
  const account = await findDnsAccount(db, domain.user_id, accountId)
  if (!account) throw wrongDnsAccount(sentence('detail.dns_account_unknown'), sentence('field.not_found'))
  if (!servesDomain(account, domain)) throw wrongDnsAccount(sentence('field.not_usable'), sentence('field.not_usable'))
}

function wrongDnsAccount(detail: Sentence, reason: Sentence): ProblemError {
  return new ProblemError('validation_failed', detail, { errors: [{ pointer: '/dns_account_id', reason }] })
}

/** Removes a domain with its keys. */
export async function removeDomain(deps: DomainDeps, userId: string, idOrName: string): Promise<DomainDoc> {
  const domain = await getDomain(deps, userId, idOrName)
  refuseManaged(domain, deps)
  await deleteDomain(deps.db, userId, domain._id)
  return domain
}

/**
 * Marks a domain verified by an admin, and schedules checks of its records; 404, or 409 `conflict` when
 * another account has verified the name.
 */
export async function verifyByAdmin({ db, clock }: DomainDeps, id: string): Promise<DomainDoc> {
  const domain = await findDomainById(db, id)
  if (!domain) throw new ProblemError('not_found', sentence('detail.domain_unknown'))
  if (domain.status === 'verified') return domain
  const now = clock.now()
  const verified = await verifyDomain(db, id, 'admin', now)
  if (verified === 'gone') throw new ProblemError('not_found', sentence('detail.domain_unknown'))
  if (verified === 'taken')
    throw new ProblemError('conflict', sentence('detail.domain_verified_elsewhere', { name: domain.name }))
  // A registration that expired has no next check.
  await checkSoon(db, id, now)
  return verified
}
