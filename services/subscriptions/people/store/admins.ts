/** Administrators of the subscription half and their sessions in the database. */
import { countActive } from '../../../accounts/store/users.ts'
import type { Db, Session } from '../../../platform/database/mongo.ts'
import { takeGuard } from '../../../platform/database/transaction-guard.ts'
import type { Found, Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { AdminDoc, AdminSessionDoc } from '../../store/documents.ts'

/** The administrator of a panel account. */
export async function findAdminOf(c: Collections, accountId: string): Promise<AdminDoc | undefined> {
  return (await c.admins.findOne({ account_id: accountId })) ?? undefined
}

/** The administrator with this id. */
export async function findAdmin(c: Collections, id: number, session: Session): Promise<AdminDoc | undefined> {
  return (await c.admins.findOne({ _id: id }, { session })) ?? undefined
}

/** A page of administrators, oldest first. */
export async function listAdmins(c: Collections, page: Page): Promise<Found<AdminDoc>> {
  const [items, total] = await Promise.all([
    c.admins.find().sort({ _id: 1 }).skip(page.offset).limit(page.size).toArray(),
    c.admins.countDocuments(),
  ])
  return { items, total }
}

/** Stores an administrator. Throws the duplicate-key error when the account has one. */
export async function insertAdmin(c: Collections, admin: AdminDoc, session?: Session): Promise<void> {
  await c.admins.insertOne(admin, session ? { session } : {})
}

/** Changes fields of an administrator and gives it back as it is then. */
export async function changeAdmin(
  c: Collections,
  id: number,
  change: Partial<Omit<AdminDoc, '_id' | 'account_id'>>,
  session?: Session,
): Promise<AdminDoc | undefined> {
  const options = { returnDocument: 'after' as const, ...(session ? { session } : {}) }
  return (await c.admins.findOneAndUpdate({ _id: id }, { $set: change }, options)) ?? undefined
}

/**
 * Number of other active super administrators whose account can log in, read inside a transaction that then takes the
 * rights of one; two who demote each other conflict.
 */
export async function otherActiveSupers(c: Collections, db: Db, id: number, session: Session): Promise<number> {
  await takeGuard(db, 'super-admins', session)
  const filter = { role: 'super', status: '1', _id: { $ne: id } } as const
  const others = await c.admins.find(filter, { session, projection: { account_id: 1 } }).toArray()
  return countActive(
    db,
    others.map(other => other.account_id),
    session,
  )
}

/** The session with one of these ids when it has not ended. */
export async function findAdminSession(c: Collections, ids: string[], now: Date): Promise<AdminSessionDoc | undefined> {
  return (await c.adminSessions.findOne({ _id: { $in: ids }, expires_at: { $gt: now } })) ?? undefined
}

/** Stores a session and drops the oldest of the account beyond `keep`. */
export async function insertAdminSession(c: Collections, session: AdminSessionDoc, keep: number): Promise<void> {
  await c.adminSessions.insertOne(session)
  const surplus = await c.adminSessions
    .find({ account_id: session.account_id }, { projection: { _id: 1 } })
    .sort({ created_at: -1, _id: -1 })
    .skip(keep)
    .toArray()
  if (surplus.length > 0) await c.adminSessions.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } })
}

/** Moves the idle end of a session. */
export async function slideAdminSession(c: Collections, id: string, seenAt: Date, expiresAt: Date): Promise<void> {
  await c.adminSessions.updateOne({ _id: id }, { $set: { seen_at: seenAt, expires_at: expiresAt } })
}

/** Ends the session with one of these ids. */
export async function dropAdminSession(c: Collections, ids: string[]): Promise<void> {
  await c.adminSessions.deleteOne({ _id: { $in: ids } })
}

/** Ends all sessions of an account. */
export async function dropAdminSessions(c: Collections, accountId: string): Promise<void> {
  await c.adminSessions.deleteMany({ account_id: accountId })
}
