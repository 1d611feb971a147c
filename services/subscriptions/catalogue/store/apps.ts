/** Apps, their credentials and their payment channels in the database. */
import type { mongo } from 'mongoose'
import type { Session } from '../../../platform/database/mongo.ts'
import { prefixPattern } from '../../rules/end-user.ts'
import type { Found, Page } from '../../rules/paging.ts'
import type { Collections } from '../../store/collections.ts'
import type { AppDoc, ChannelDoc, CredentialDoc } from '../../store/documents.ts'

/** What a list of apps filters by. */
export interface AppFilter {
  search?: string | undefined
  status?: AppDoc['status'] | undefined
  /** Apps in scope; undefined for all. */
  appKeys?: readonly string[] | undefined
}

/** A page of apps, oldest first. Apps are few, so a prefix search over names may read them all. */
export async function listApps(c: Collections, filter: AppFilter, page: Page): Promise<Found<AppDoc>> {
  const query: mongo.Filter<AppDoc> = {
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
  const [items, total] = await Promise.all([
    c.apps.find(query).sort({ _id: 1 }).skip(page.offset).limit(page.size).toArray(),
    c.apps.countDocuments(query),
  ])
  return { items, total }
}

/** The live app with this key. */
export async function findApp(c: Collections, appKey: string): Promise<AppDoc | undefined> {
  return (await c.apps.findOne({ app_key: appKey, live: true })) ?? undefined
}

/** The live app with this id. */
export async function findAppById(c: Collections, id: number): Promise<AppDoc | undefined> {
  return (await c.apps.findOne({ _id: id, live: true })) ?? undefined
}

/** True when the key was ever used. */
export async function isAppKeyUsed(c: Collections, appKey: string): Promise<boolean> {
  return (await c.apps.countDocuments({ app_key: appKey }, { limit: 1 })) > 0
}

/** Keys of all live apps. */
export async function liveAppKeys(c: Collections): Promise<string[]> {
  const apps = await c.apps.find({ live: true }, { projection: { app_key: 1 } }).toArray()
  return apps.map(app => app.app_key)
}

/** Stores an app. Throws the duplicate-key error when name or key are taken. */
export async function insertApp(c: Collections, app: AppDoc, session: Session): Promise<void> {
  await c.apps.insertOne(app, { session })
}

/** Puts `after` in the place of the version before it; false when somebody else changed it meanwhile. */
export async function replaceApp(c: Collections, after: AppDoc, session: Session): Promise<boolean> {
  const result = await c.apps.replaceOne({ _id: after._id, version: after.version - 1 }, after, { session })
  return result.matchedCount === 1
}

/** Apps deleted before a time whose data is still there. */
export function appsToPurge(c: Collections, before: Date): Promise<AppDoc[]> {
  return c.apps.find({ deleted_at: { $lte: before }, purged_at: { $exists: false } }).toArray()
}

/** Leaves of a deleted app its key, and that it is emptied. */
export async function markPurged(c: Collections, appKey: string, at: Date, session: Session): Promise<void> {
  const blank = { app_name: '', app_description: '', purged_at: at }
  const rest = { mail_from: '', require_signature: '', managed_by: '', k8s: '' } as const
  await c.apps.updateOne({ app_key: appKey }, { $set: blank, $unset: rest }, { session })
}

/** Credentials of an app, oldest first, revoked ones included. */
export function listCredentials(c: Collections, appKey: string): Promise<CredentialDoc[]> {
  return c.credentials.find({ app_key: appKey }).sort({ created_at: 1, _id: 1 }).toArray()
}

/** A credential that is not revoked, by the key id inside it. */
export async function findCredential(c: Collections, id: string): Promise<CredentialDoc | undefined> {
  return (await c.credentials.findOne({ _id: id, revoked_at: { $exists: false } })) ?? undefined
}

/** A publishable key that is not revoked. */
export async function findPublishable(c: Collections, key: string): Promise<CredentialDoc | undefined> {
  return (await c.credentials.findOne({ key, revoked_at: { $exists: false } })) ?? undefined
}

/** Stores credentials. */
export async function insertCredentials(
  c: Collections,
  credentials: readonly CredentialDoc[],
  session: Session,
): Promise<void> {
  await c.credentials.insertMany([...credentials], { session })
}

/**
 * Raises the version of an app and gives the app: of two transactions that do so at once one is run again and sees what
 * the other did.
 */
export async function raiseAppVersion(c: Collections, appKey: string, session: Session): Promise<AppDoc | undefined> {
  const options = { session, returnDocument: 'after' as const }
  const match = { app_key: appKey, live: true as const }
  return (await c.apps.findOneAndUpdate(match, { $inc: { version: 1 } }, options)) ?? undefined
}

/** True while an app has a credential to sign with. */
export async function hasSigner(c: Collections, appKey: string, session?: Session): Promise<boolean> {
  const query = { app_key: appKey, kind: 'hmac' as const, revoked_at: { $exists: false } }
  return (await c.credentials.countDocuments(query, { limit: 1, ...(session ? { session } : {}) })) > 0
}

/** Revokes one credential of an app, or all of them; gives the number that were live. */
export async function revokeCredentials(
  c: Collections,
  match: { app_key: string; _id?: string },
  at: Date,
  session: Session,
): Promise<number> {
  const query = { ...match, revoked_at: { $exists: false } }
  return (await c.credentials.updateMany(query, { $set: { revoked_at: at } }, { session })).modifiedCount
}

/** Forgets the secrets of an app that were kept until they lie in its Kubernetes Secret. */
export async function forgetUndelivered(c: Collections, appKey: string): Promise<void> {
  const query = { app_key: appKey, undelivered: { $exists: true } }
  await c.credentials.updateMany(query, { $unset: { undelivered: 1 } })
}

/** The settings of a payment channel of an app. */
export async function findChannel(
  c: Collections,
  appKey: string,
  channel: ChannelDoc['channel'],
  session?: Session,
): Promise<ChannelDoc | undefined> {
  return (await c.channels.findOne({ _id: `${appKey}/${channel}` }, session ? { session } : {})) ?? undefined
}

/** All payment channels of an app. */
export function listChannels(c: Collections, appKey: string): Promise<ChannelDoc[]> {
  return c.channels.find({ app_key: appKey }).sort({ channel: 1 }).toArray()
}

/** Stores the settings of a payment channel. */
export async function saveChannel(c: Collections, channel: ChannelDoc, session: Session): Promise<void> {
  await c.channels.replaceOne({ _id: channel._id }, channel, { upsert: true, session })
}
