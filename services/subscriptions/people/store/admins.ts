/** Administrators of the subscription module and their sessions in the database. */
import { countActive } from '../../../accounts/store/users.ts'
import type { Db, Session } from '../../../platform/database/mongo.ts'
import { findPage } from '../../../platform/database/read-page.ts'
import { forceConflict } from '../../../platform/database/transaction-guard.ts'
import type { Found, Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { AdminDoc, AdminSessionDoc } from '../../store/models.ts'

/** The administrator of a panel account. */
export async function findAdminOf(collections: Collections, accountId: string): Promise<AdminDoc | undefined> {
  return (await collections.admins.findOne({ account_id: accountId }).lean()) ?? undefined
}

/** The administrator with this id. */
export async function findAdmin(collections: Collections, id: number, session: Session): Promise<AdminDoc | undefined> {
  return (await collections.admins.findById(id).session(session).lean()) ?? undefined
}

/** A page of administrators, oldest first. */
export function listAdmins(collections: Collections, page: Page): Promise<Found<AdminDoc>> {
  return findPage(collections.admins, {}, { _id: 1 }, page)
}

/** Changes fields of an administrator and returns the new record. */
export async function changeAdmin(
  collections: Collections,
  id: number,
  change: Partial<Omit<AdminDoc, '_id' | 'account_id'>>,
  session?: Session,
): Promise<AdminDoc | undefined> {
  return (
    (await collections.admins
      .findByIdAndUpdate(id, change)
      .session(session ?? null)
      .lean()) ?? undefined
  )
}

/**
 * Number of other active super administrators whose account can log in. Read in the transaction that removes the rights
 * of one; two that demote each other conflict.
 */
export async function otherActiveSupers(
  collections: Collections,
  db: Db,
  id: number,
  session: Session,
): Promise<number> {
  await forceConflict(db, 'super-admins', session)
  const filter = { role: 'super', status: '1', _id: { $ne: id } } as const
  const others = await collections.admins.find(filter, { account_id: 1 }, { session }).lean()
  return countActive(
    db,
    others.map(other => other.account_id),
    session,
  )
}

/** The open session with one of these ids. */
export async function findAdminSession(
  collections: Collections,
  ids: string[],
  now: Date,
): Promise<AdminSessionDoc | undefined> {
  return (await collections.adminSessions.findOne({ _id: { $in: ids }, expires_at: { $gt: now } }).lean()) ?? undefined
}

/** Stores a session and drops the oldest of the account beyond `keep`. */
export async function insertAdminSession(
  collections: Collections,
  session: AdminSessionDoc,
  keep: number,
): Promise<void> {
  await collections.adminSessions.insertOne(session)
  const surplus = await collections.adminSessions
    .find({ account_id: session.account_id }, { _id: 1 })
    .sort({ created_at: -1, _id: -1 })
    .skip(keep)
    .lean()
  if (surplus.length > 0) await collections.adminSessions.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } })
}

/** Moves the idle end of a session. */
export async function slideAdminSession(
  collections: Collections,
  id: string,
  seenAt: Date,
  expiresAt: Date,
): Promise<void> {
  await collections.adminSessions.updateOne({ _id: id }, { seen_at: seenAt, expires_at: expiresAt })
}

/** Ends the session with one of these ids. */
export async function dropAdminSession(collections: Collections, ids: string[]): Promise<void> {
  await collections.adminSessions.deleteOne({ _id: { $in: ids } })
}

/** Ends all sessions of an account. */
export async function dropAdminSessions(collections: Collections, accountId: string): Promise<void> {
  await collections.adminSessions.deleteMany({ account_id: accountId })
}
