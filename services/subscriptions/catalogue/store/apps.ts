/** Apps and their credentials in the database. */
import type { QueryFilter, Session } from '../../../platform/database/models.ts'
import { findPage } from '../../../platform/database/read-page.ts'
import { prefixPattern } from '../../rules/end-user.ts'
import type { Found, Page } from '../../rules/paging.ts'
import { STATUS } from '../../rules/subscription-lifecycle.ts'
import type { Collections } from '../../store/collections.ts'
import type { AppDoc, CredentialDoc } from '../../store/models.ts'

/** Filter of the list of apps. */
export interface AppFilter {
  search?: string | undefined
  status?: AppDoc['status'] | undefined
  /** Apps in scope; undefined for all. */
  appKeys?: readonly string[] | undefined
}

/** A page of apps, oldest first. A prefix search reads all names: installations have few apps. */
export async function listApps(collections: Collections, filter: AppFilter, page: Page): Promise<Found<AppDoc>> {
  const query: QueryFilter<AppDoc> = {
    live: true,
    ...(filter.appKeys ? { app_key: { $in: [...filter.appKeys] } } : {}),
    ...(filter.status ? { status: filter.status } : {}),
    ...(filter.search
      ? {
          $or: [
            { app_name: new RegExp(prefixPattern(filter.search).source, 'i') },
            { app_key: prefixPattern(filter.search) },
          ],
        }
      : {}),
  }
  return findPage(collections.apps, query, { _id: 1 }, page)
}

/** The live app with this key. */
export async function findApp(collections: Collections, appKey: string): Promise<AppDoc | undefined> {
  return (await collections.apps.findOne({ app_key: appKey, live: true }).lean()) ?? undefined
}

/** The live app with this id. */
export async function findAppById(collections: Collections, id: number): Promise<AppDoc | undefined> {
  return (await collections.apps.findOne({ _id: id, live: true }).lean()) ?? undefined
}

/** True when the key was ever used. */
export async function isAppKeyUsed(collections: Collections, appKey: string): Promise<boolean> {
  return (await collections.apps.countDocuments({ app_key: appKey }, { limit: 1 })) > 0
}

/** Keys of all live apps. */
export async function liveAppKeys(collections: Collections): Promise<string[]> {
  const apps = await collections.apps.find({ live: true }, { app_key: 1 }).lean()
  return apps.map(app => app.app_key)
}

/** True while an app has a subscription that gives access or is waiting for payment. */
export async function hasLiveSubscriptions(collections: Collections, appKey: string): Promise<boolean> {
  const query = { app_key: appKey, status: { $in: [STATUS.pending, STATUS.active] } }
  return (await collections.subscriptions.countDocuments(query, { limit: 1 })) > 0
}

/** Apps deleted before a time whose data is still there. */
export async function appsToPurge(collections: Collections, before: Date): Promise<AppDoc[]> {
  return collections.apps.find({ deleted_at: { $lte: before }, purged_at: { $exists: false } }).lean()
}

/** Marks a deleted app as emptied; its key stays reserved. */
export async function markPurged(collections: Collections, appKey: string, at: Date, session: Session): Promise<void> {
  const blank = { app_name: '', app_description: '', purged_at: at }
  const rest = { mail_from: '', require_signature: '', managed_by: '', k8s: '', released_by: '' } as const
  await collections.apps.updateOne({ app_key: appKey }, { $set: blank, $unset: rest }, { session })
}

/** Credentials of an app, oldest first, revoked ones included. */
export async function listCredentials(collections: Collections, appKey: string): Promise<CredentialDoc[]> {
  return collections.credentials.find({ app_key: appKey }).sort({ created_at: 1, _id: 1 }).lean()
}

/** A credential that is not revoked, by the key id inside it. */
export async function findCredential(collections: Collections, id: string): Promise<CredentialDoc | undefined> {
  return (await collections.credentials.findOne({ _id: id, revoked_at: { $exists: false } }).lean()) ?? undefined
}

/** A publishable key that is not revoked. */
export async function findPublishable(collections: Collections, key: string): Promise<CredentialDoc | undefined> {
  return (await collections.credentials.findOne({ key, revoked_at: { $exists: false } }).lean()) ?? undefined
}

/** Stores credentials. */
export async function insertCredentials(
  collections: Collections,
  credentials: readonly CredentialDoc[],
  session: Session,
): Promise<void> {
  await collections.credentials.insertMany([...credentials], { session })
}

/**
 * Raises the version of an app and returns the app: of two parallel transactions one is repeated and sees the change of
 * the other.
 */
export async function raiseAppVersion(
  collections: Collections,
  appKey: string,
  session: Session,
): Promise<AppDoc | undefined> {
  const match = { app_key: appKey, live: true }
  return (await collections.apps.findOneAndUpdate(match, { $inc: { version: 1 } }, { session }).lean()) ?? undefined
}

/** True while an app has a live signing key. */
export async function hasSigner(collections: Collections, appKey: string, session?: Session): Promise<boolean> {
  const query = { app_key: appKey, kind: 'hmac' as const, revoked_at: { $exists: false } }
  return (await collections.credentials.countDocuments(query, { limit: 1, ...(session ? { session } : {}) })) > 0
}

/** Revokes one credential of an app, or all; returns how many were live. */
export async function revokeCredentials(
  collections: Collections,
  match: { app_key: string; _id?: string },
  at: Date,
  session: Session,
): Promise<number> {
  const query = { ...match, revoked_at: { $exists: false } }
  return (await collections.credentials.updateMany(query, { $set: { revoked_at: at } }, { session })).modifiedCount
}

/** Removes the sealed copies of an app's secrets once its Kubernetes Secret holds them. */
export async function forgetUndelivered(collections: Collections, appKey: string): Promise<void> {
  const query = { app_key: appKey, undelivered: { $exists: true } }
  await collections.credentials.updateMany(query, { $unset: { undelivered: 1 } })
}
