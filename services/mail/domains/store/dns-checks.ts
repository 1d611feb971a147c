/** The schedule of DNS checks on the domains themselves, and their history. */

import type { PageRequest } from '../../../platform/cursor-pages.ts'
import { modelOf } from '../../../platform/database/models.ts'
import { collectionOf, type Db, isDuplicateKey, type Session } from '../../../platform/database/mongo.ts'
import { readPage } from '../../../platform/database/read-page.ts'
import { parentNames } from '../rules/sending-account.ts'
import { type DnsCheckDoc, type DomainDoc, dnsChecks, domains } from './domain-model.ts'
import type { DomainChange } from './domains.ts'

/**
 * Claims the domain that is due longest, of other accounts than `except`, and puts its time to the end of the lease;
 * undefined when none is due. Gives it as it was before: with the time for which it was planned.
 */
export async function claimDue(
  db: Db,
  now: Date,
  lease: Date,
  except: readonly string[] = [],
): Promise<DomainDoc | undefined> {
  const due = { next_check_at: { $lte: now }, ...(except.length > 0 && { user_id: { $nin: [...except] } }) }
  const options = { sort: { next_check_at: 1 }, returnDocument: 'before' } as const
  return (await modelOf(db, domains).findOneAndUpdate(due, { next_check_at: lease }, options).lean()) ?? undefined
}

/** Claims a domain whether or not it is due; a check that runs elsewhere loses its claim. */
export async function claimNow(db: Db, id: string, lease: Date): Promise<DomainDoc | undefined> {
  return (await modelOf(db, domains).findByIdAndUpdate(id, { next_check_at: lease }).lean()) ?? undefined
}

/** Outcome of {@link saveCheck}: `lost` when another check took over or the status changed, `taken` when another account verified the name. */
export type Saved = 'saved' | 'lost' | 'taken'

/**
 * Writes the result of a check while its claim holds and `status` is what the check began with: an admin or a resource
 * may have decided in the meantime. A missing `next_check_at` ends the schedule; a missing `quick_check_at` makes the next run a
 * full check.
 */
export async function saveCheck(
  db: Db,
  { _id, status }: Pick<DomainDoc, '_id' | 'status'>,
  lease: Date,
  change: DomainChange,
  session?: Session,
): Promise<Saved> {
  const { next_check_at, quick_check_at, ...rest } = change
  const times = { next_check_at, quick_check_at }
  const set = { ...rest, ...present(times) }
  try {
    const { matchedCount } = await modelOf(db, domains).updateOne(
      { _id, status, next_check_at: lease },
      { $set: set, $unset: absent(times) },
      session ? { session } : {},
    )
    return matchedCount === 1 ? 'saved' : 'lost'
  } catch (error) {
    if (isDuplicateKey(error)) return 'taken'
    throw error
  }
}

function present(times: Record<string, Date | undefined>): Record<string, Date> {
  return Object.fromEntries(Object.entries(times).flatMap(([name, at]) => (at ? [[name, at]] : [])))
}

function absent(times: Record<string, Date | undefined>): Record<string, ''> {
  return Object.fromEntries(Object.entries(times).flatMap(([name, at]) => (at ? [] : [[name, '' as const]])))
}

/** Notes which rows were written again after a check, unless another check has followed. */
export async function noteRepair(
  db: Db,
  id: string,
  checkedAt: Date,
  repaired: { at: Date; rows: string[] },
): Promise<void> {
  await modelOf(db, domains).updateOne({ _id: id, 'check.at': checkedAt }, { $set: { 'check.repaired': repaired } })
}

/** Makes a domain due at a time, when that is earlier than planned. */
export async function checkSoon(db: Db, id: string, at: Date): Promise<void> {
  await modelOf(db, domains).updateOne({ _id: id }, { $min: { next_check_at: at } })
}

/**
 * Replaces the keys unless another process changed them; then returns false. The filter bypasses the model, which would
 * put the members of each key into the order of the schema: equal objects have the same order.
 */
export async function replaceKeys(
  db: Db,
  id: string,
  before: DomainDoc['dkim'],
  after: DomainDoc['dkim'],
): Promise<boolean> {
  const { modifiedCount } = await collectionOf(db, domains).updateOne(
    { _id: id, dkim: before },
    { $set: { dkim: after } },
  )
  return modifiedCount === 1
}

/** Verified domains of other accounts with this name, above it or below it. */
export async function verifiedRivals(
  db: Db,
  { user_id, name }: Pick<DomainDoc, 'user_id' | 'name'>,
): Promise<DomainDoc[]> {
  const below = new RegExp(`\\.${name.replaceAll('.', '\\.')}$`)
  return modelOf(db, domains)
    .find({
      user_id: { $ne: user_id },
      status: 'verified',
      $or: [{ name: { $in: [name, ...parentNames(name)] } }, { name: below }],
    })
    .lean()
}

/** Takes the verification from a domain that another account has proven now; its keys never sign again. */
export async function revokeVerification(db: Db, domain: DomainDoc, now: Date): Promise<boolean> {
  const dkim = domain.dkim.map(key => ({ ...key, state: 'revoked' as const, revoked_at: now }))
  const { modifiedCount } = await modelOf(db, domains).updateOne(
    { _id: domain._id, status: 'verified', verified_by: 'dns' },
    { $set: { status: 'failed', dkim, updated_at: now }, $unset: { next_check_at: '' } },
  )
  return modifiedCount === 1
}

/** Checks of a domain that are kept, besides the retention of the log. */
export const CHECKS_MOST = 200

/** Stores a check, and removes the oldest ones of its domain beyond {@link CHECKS_MOST}. */
export async function insertCheck(db: Db, check: DnsCheckDoc): Promise<void> {
  const model = modelOf(db, dnsChecks)
  await model.insertOne(check)
  const { domain_id } = check
  const [oldest] = await model.find({ domain_id }, { _id: 1 }).sort({ _id: -1 }).skip(CHECKS_MOST).limit(1).lean()
  if (oldest) await model.deleteMany({ domain_id, _id: { $lte: oldest._id } })
}

/** A page of a domain's checks, newest first; one more than `limit`. */
export function listChecks(db: Db, domainId: string, page: PageRequest): Promise<DnsCheckDoc[]> {
  return readPage(modelOf(db, dnsChecks), { domain_id: domainId }, page, 'newest first')
}
