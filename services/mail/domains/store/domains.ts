/** Sending domains. Several accounts may register a name; the index lets one of them have it verified. */

import type { Clock } from '../../../platform/clock.ts'
import { createGroupCommit } from '../../../platform/concurrency/group-commit.ts'
import { insertUnique, modelOf } from '../../../platform/database/models.ts'
import { type Db, isDuplicateKey } from '../../../platform/database/mongo.ts'
import { partOfName, readOrdered } from '../../../platform/database/read-page.ts'
import type { OrderedPage } from '../../../platform/ordered-pages.ts'
import { createTtlCache } from '../../../platform/ttl-cache.ts'
import { isAuthenticated } from '../rules/authenticated-domain.ts'
import { type Diversion, diversionOf } from '../rules/delivery-mode.ts'
import { normaliseDomain } from '../rules/domain-name.ts'
import { type DomainRegistration, maySend, parentNames, type SendPolicy } from '../rules/sending-account.ts'
import { type DnsSettingsDoc, type DomainDoc, domains } from './domain-model.ts'

/** Stores a new domain; false when the account has the name already. */
export function insertDomain(db: Db, domain: DomainDoc): Promise<boolean> {
  return insertUnique(modelOf(db, domains), domain)
}

/** How many domains an account has, whatever their state; counted up to `most`. */
export async function countDomains(db: Db, userId: string, most: number): Promise<number> {
  return modelOf(db, domains).countDocuments({ user_id: userId }, { limit: most })
}

/** A domain of this account, by its id or its stored name. */
export async function findDomain(db: Db, userId: string, idOrName: string): Promise<DomainDoc | undefined> {
  const key = idOrName.startsWith('dom_') ? { _id: idOrName } : { name: idOrName }
  return (
    (await modelOf(db, domains)
      .findOne({ ...key, user_id: userId })
      .lean()) ?? undefined
  )
}

/** Those of these ids that are domains of the account. */
export async function findOwnDomainIds(db: Db, userId: string, ids: readonly string[]): Promise<string[]> {
  const found = await modelOf(db, domains)
    .find({ _id: { $in: [...ids] }, user_id: userId }, { _id: 1 })
    .lean()
  return found.map(({ _id }) => _id)
}

/** A domain of any account by its id: for the worker, the operator and admins. */
export async function findDomainById(db: Db, id: string): Promise<DomainDoc | undefined> {
  return (await modelOf(db, domains).findById(id).lean()) ?? undefined
}

/** Where the mail of a domain goes instead of to its recipients; undefined: to them, or the domain is gone. */
export async function findDiversion(db: Db, id: string): Promise<Diversion | undefined> {
  const found = await modelOf(db, domains).findById(id, { delivery: 1, redirect_to: 1 }).lean()
  return found ? diversionOf(found) : undefined
}

/** Whether the domain is verified; false for one that is gone. */
export async function isVerifiedDomain(db: Db, id: string): Promise<boolean> {
  return (await modelOf(db, domains).exists({ _id: id, status: 'verified' })) !== null
}

/** The domain of this name that the resource with this uid manages. */
export async function findDomainOfResource(db: Db, name: string, uid: string): Promise<DomainDoc | undefined> {
  return (await modelOf(db, domains).findOne({ name, 'managed_by.uid': uid }).lean()) ?? undefined
}

/** The domains of this name that the resource manages: more than one after it named another account. */
export async function domainsOfResource(db: Db, name: string, uid: string): Promise<DomainDoc[]> {
  return modelOf(db, domains).find({ name, 'managed_by.uid': uid }).lean()
}

/** The DKIM keys of all accounts that registered a name: their records share a zone. */
export async function keysOfName(db: Db, name: string): Promise<DomainDoc['dkim']> {
  return (await modelOf(db, domains).find({ name }).lean()).flatMap(({ dkim }) => dkim)
}

/** The domain of this name that an account has verified. */
export async function findVerifiedDomain(db: Db, name: string): Promise<DomainDoc | undefined> {
  return (await modelOf(db, domains).findOne({ name, status: 'verified' }).lean()) ?? undefined
}

/** Which domains a list has: of an account, or (for admins) of all; with this part in their names. */
export interface DomainFilter {
  userId: string | undefined
  search?: string | undefined
}

/**
 * A page of domains; one more than `limit`, which shows whether more follow. A search compares the names in an index and
 * reads the domains that match.
 */
export function listDomains(db: Db, { userId, search }: DomainFilter, page: OrderedPage): Promise<DomainDoc[]> {
  const owned = userId === undefined ? {} : { user_id: userId }
  if (search === undefined) return readOrdered(modelOf(db, domains), owned, page)
  const read = normaliseDomain(search)
  const wanted = { ...owned, name: partOfName(read.ok ? read.name : search) }
  return readOrdered(modelOf(db, domains), wanted, page, userId === undefined ? BY_NAME : BY_OWNER)
}

const BY_NAME = { name: 1, created_at: 1 } as const
const BY_OWNER = { user_id: 1, name: 1 } as const

/** Fields that a change may set. */
export type DomainChange = Partial<Omit<DomainDoc, '_id' | 'user_id' | 'name' | 'created_at'>>

/**
 * Sets and removes fields of a domain and gives it back. Setting `status: 'verified'` fails with a duplicate key
 * while another account has verified the name; use {@link verifyDomain}.
 */
export async function updateDomain(
  db: Db,
  id: string,
  change: DomainChange,
  remove: readonly (keyof DomainChange)[] = [],
): Promise<DomainDoc | undefined> {
  const update = { $set: change, $unset: Object.fromEntries(remove.map(field => [field, ''])) }
  return (await modelOf(db, domains).findByIdAndUpdate(id, update).lean()) ?? undefined
}

/**
 * Changes single settings of the records and of tracking, so that changes of others at the same time hold, and sets other
 * fields.
 * Undefined when the domain is gone.
 */
export async function updateSettings(
  db: Db,
  id: string,
  settings: Partial<DnsSettingsDoc>,
  change: DomainChange = {},
  remove: readonly (keyof DomainChange)[] = [],
  tracking: Partial<NonNullable<DomainDoc['tracking']>> = {},
): Promise<DomainDoc | undefined> {
  const fields = Object.entries(settings).filter(([, value]) => value !== undefined)
  // Field by field in one pipeline: a path `dns.manage` cannot be set where `dns` is not there yet.
  const dns = { $mergeObjects: [{ manage: false }, '$dns', { $literal: Object.fromEntries(fields) }] }
  const set = Object.fromEntries(Object.entries(change).map(([field, value]) => [field, { $literal: value }]))
  const tracked = { $mergeObjects: [{ opens: false, clicks: false }, '$tracking', { $literal: tracking }] }
  const isTracked = Object.keys(tracking).length > 0
  const update = [
    { $set: { ...set, dns, ...(isTracked && { tracking: tracked }) } },
    ...(remove.length > 0 ? [{ $unset: [...remove] }] : []),
  ]
  return (await modelOf(db, domains).findByIdAndUpdate(id, update, { updatePipeline: true }).lean()) ?? undefined
}

/** Outcome of {@link verifyDomain}: the domain, `taken` when another account has verified the name, or `gone`. */
export type Verification = DomainDoc | 'taken' | 'gone'

/** Marks a domain verified. The unique index decides between two accounts that do so at once. */
export async function verifyDomain(
  db: Db,
  id: string,
  by: NonNullable<DomainDoc['verified_by']>,
  now: Date,
): Promise<Verification> {
  try {
    const change: DomainChange = { status: 'verified', verified_by: by, verified_at: now, updated_at: now }
    return (await updateDomain(db, id, change)) ?? 'gone'
  } catch (error) {
    if (isDuplicateKey(error)) return 'taken'
    throw error
  }
}

/** Domains of an account that may send, that still have to prove it, or that a resource manages. */
export async function unreleasedDomains(db: Db, userId: string): Promise<DomainDoc[]> {
  return modelOf(db, domains)
    .find({
      user_id: userId,
      $or: [{ status: { $ne: 'suspended' } }, { managed_by: { $exists: true } }, { verified_by: { $exists: true } }],
    })
    .lean()
}

/** Removes a domain of an account; false when there is none. */
export async function deleteDomain(db: Db, userId: string, id: string): Promise<boolean> {
  return (await modelOf(db, domains).deleteOne({ _id: id, user_id: userId })).deletedCount === 1
}

/** A sender's domain as submission needs it. */
export interface SenderDomain {
  id: string
  maySend: boolean
  /** Its SPF, DKIM and DMARC records were there at the last check. */
  isAuthenticated: boolean
  /** What of its mail is tracked; absent: nothing. */
  tracking?: DomainDoc['tracking']
  /** Where its mail goes instead; absent: to its recipients. */
  diversion?: Diversion | undefined
}

/** Finds an account's sender domain by its stored name; undefined when the account has no such domain. */
export type FindSenderDomain = (userId: string, name: string) => Promise<SenderDomain | undefined>

/** Milliseconds that a permission is cached; refusals are looked up each time. */
const ALLOWED_AGE_MS = 2_000

/** Sender domains that one query asks for at most; further ones wait for the next query. */
const LOOKUPS = { most: 200, mostBytes: Number.POSITIVE_INFINITY, flights: 2, sizeOf: () => 1 }

/**
 * Look-ups for acceptance, at most 2 s older than the database. Look-ups that begin at the same time, those of one message
 * for example, share one query.
 */
export function createSenderDomains(db: Db, clock: Clock, policy: SendPolicy): FindSenderDomain {
  const cache = createTtlCache<SenderDomain | undefined>({
    ttlMs: ALLOWED_AGE_MS,
    max: 10_000,
    clock,
    isCacheable: sender => sender?.maySend === true,
  })
  const load = createGroupCommit<DomainName, { sender: SenderDomain | undefined }>({
    ...LOOKUPS,
    write: names => loadSenderDomains(db, names, policy),
  })
  return (userId, name) => cache.get(`${userId} ${name}`, async () => (await load({ userId, name })).sender)
}

/** A name of an account. */
interface DomainName {
  userId: string
  name: string
}

/** Answers in the order of the names, with one query for the domains and at most one for other registrations. */
async function loadSenderDomains(
  db: Db,
  names: readonly DomainName[],
  policy: SendPolicy,
): Promise<{ sender: SenderDomain | undefined }[]> {
  const byUser = Map.groupBy(names, ({ userId }) => userId)
  const owned = [...byUser].map(([user_id, of]) => ({ user_id, name: { $in: of.map(({ name }) => name) } }))
  const found = await modelOf(db, domains).find({ $or: owned }).lean()
  const undecided = found.filter(domain => !isDecided(domain, policy))
  const registrations = await relatedRegistrations(db, undecided)
  return names.map(({ userId, name }) => {
    const domain = found.find(one => one.user_id === userId && one.name === name)
    if (!domain) return { sender: undefined }
    const diversion = diversionOf(domain)
    return {
      sender: {
        id: domain._id,
        maySend: maySend(toRegistration(domain), registrations, policy),
        isAuthenticated: isAuthenticated(domain.check?.records ?? []),
        ...(domain.tracking && { tracking: domain.tracking }),
        ...(diversion && { diversion }),
      },
    }
  })
}

/** True when the domain may send now. */
export async function domainMaySend(db: Db, domain: DomainDoc, policy: SendPolicy): Promise<boolean> {
  return maySend(
    toRegistration(domain),
    await relatedRegistrations(db, isDecided(domain, policy) ? [] : [domain]),
    policy,
  )
}

/** True when registrations of other accounts make no difference. */
function isDecided({ status, verified_by }: DomainDoc, policy: SendPolicy): boolean {
  return policy.requireVerified || (status === 'verified' && verified_by !== 'sandbox')
}

/** All registrations of the names of these domains, and verified ones above and below them. */
async function relatedRegistrations(db: Db, of: readonly DomainDoc[]): Promise<DomainRegistration[]> {
  if (of.length === 0) return []
  const names = of.map(({ name }) => name)
  const below = names.map(name => new RegExp(`\\.${name.replaceAll('.', '\\.')}$`))
  const found = await modelOf(db, domains)
    .find({
      $or: [{ name: { $in: names } }, { name: { $in: [...names.flatMap(parentNames), ...below] }, status: 'verified' }],
    })
    .lean()
  return found.map(toRegistration)
}

function toRegistration({
  _id,
  user_id,
  name,
  status,
  verified_by,
  delivery,
  created_at,
}: DomainDoc): DomainRegistration {
  const captures = delivery === 'capture'
  return {
    id: _id,
    user_id,
    name,
    status,
    created_at,
    ...(captures && { captures }),
    ...(verified_by && { verified_by }),
  }
}
