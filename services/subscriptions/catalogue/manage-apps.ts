/** Apps: created with their first credentials, changed, deleted, and purged 30 days later. */

import { randomBytes } from 'node:crypto'
import { replaceVersion } from '../../platform/database/models.ts'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { fieldError } from '../rules/field-errors.ts'
import type { AppDoc } from '../store/models.ts'
import { type MadeCredential, makeCredential } from './app-credentials.ts'
import { assertUnmanaged, orNameTaken } from './manage-plans.ts'
import {
  findAppById,
  hasLiveSubscriptions,
  hasSigner,
  insertCredentials,
  isAppKeyUsed,
  revokeCredentials,
} from './store/apps.ts'

/** Required fields of an app. */
export type AppSpec = Pick<AppDoc, 'app_name' | 'app_description' | 'status'>

/** Optional settings of an app: the document has these fields only where they are set. */
export interface AppSettings {
  require_signature: boolean
  /** Empty: reminders are sent from the platform's own sender. */
  mail_from: string
}

/**
 * Returns true when reminders may be sent from this address now. Implemented by the mail module and injected by the
 * entry point.
 */
export type MaySendFrom = (address: string) => Promise<boolean>

/** The app with this id, unless it is deleted. Throws `app_not_found`. */
export async function requireApp({ collections }: Pick<Subscriptions, 'collections'>, id: number): Promise<AppDoc> {
  const app = await findAppById(collections, id)
  if (!app) throw new ProblemError('app_not_found')
  return app
}

/** A new app with the credentials that are shown once. */
export interface CreatedApp {
  app: AppDoc
  publishable: MadeCredential
  secret: MadeCredential
}

/** Creates an app with a publishable key and a secret. Throws `name_taken` when name or key are or were in use. */
export async function createApp(
  context: Subscriptions,
  actor: Actor,
  spec: AppSpec,
  given: { appKey?: string | undefined; managedBy?: ManagedBy; settings?: AppSettings } = {},
): Promise<CreatedApp> {
  const now = context.clock.now()
  const { managedBy, settings = { require_signature: false, mail_from: '' } } = given
  const key = given.appKey ?? `app_${randomBytes(8).toString('hex')}`
  if (await isAppKeyUsed(context.collections, key)) throw new ProblemError('name_taken')
  const app = withSettings(
    {
      _id: await context.ids.next('app'),
      app_key: key,
      ...spec,
      version: 1,
      ...(managedBy ? { managed_by: managedBy } : {}),
      live: true,
      created_at: now,
      updated_at: now,
    },
    settings,
  )
  const publishable = makeCredential(context, key, 'publishable', managedBy)
  const secret = makeCredential(context, key, 'secret', managedBy)
  await orNameTaken(
    record(context, actor, async session => {
      await context.collections.apps.insertOne(app, { session })
      await insertCredentials(context.collections, [publishable.document, secret.document], session)
      return { result: undefined, event: auditEventOf('app.create', undefined, app) }
    }),
  )
  return { app, publishable, secret }
}

/** Fields of an app that a form changes; absent ones stay. */
export type AppUpdate = { [K in keyof AppSpec]?: AppSpec[K] | undefined } & {
  require_signature?: '0' | '1' | undefined
  /** Empty: reminders are sent from the platform's own sender. */
  mail_from?: string | undefined
  /** The version that the form was loaded from. */
  version?: number | undefined
}

/** Returns the app with exactly these settings. */
export function withSettings(app: AppDoc, { require_signature, mail_from }: AppSettings): AppDoc {
  const { require_signature: _, mail_from: __, ...rest } = app
  return { ...rest, ...(require_signature ? { require_signature } : {}), ...(mail_from ? { mail_from } : {}) }
}

/**
 * Changes an app by form. Throws `app_not_found`, `managed_by_resource`, `version_conflict`, `name_taken`,
 * `transition_refused` when signatures are required of an app without a signing key, and `validation_failed` for a new
 * sender that may not be used.
 */
export async function updateApp(
  context: Subscriptions,
  actor: Actor,
  id: number,
  { version, require_signature, mail_from, ...fields }: AppUpdate,
  maySendFrom: MaySendFrom,
): Promise<AppDoc> {
  const before = await requireApp(context, id)
  assertUnmanaged(before)
  if (version !== undefined && version !== before.version) throw new ProblemError('version_conflict')
  // A setting that the app already has does not prevent other changes.
  if (require_signature === '1' && !before.require_signature) await assertCanSign(context, before.app_key)
  if (mail_from && mail_from !== before.mail_from && !(await maySendFrom(mail_from)))
    throw new ProblemError('validation_failed', undefined, { errors: [fieldError('mail_from', 'sender')] })
  const settings: AppSettings = {
    require_signature: require_signature === undefined ? before.require_signature === true : require_signature === '1',
    mail_from: mail_from ?? before.mail_from ?? '',
  }
  const changed = {
    app_name: fields.app_name ?? before.app_name,
    app_description: fields.app_description ?? before.app_description,
    status: fields.status ?? before.status,
  }
  return putApp(context, actor, before, withSettings({ ...before, ...changed }, settings))
}

/** Throws `transition_refused` for an app without a signing key, which would be locked out. */
async function assertCanSign(context: Subscriptions, appKey: string): Promise<void> {
  if (!(await hasSigner(context.collections, appKey)))
    throw new ProblemError('transition_refused', sentence('detail.no_signing_key'))
}

/** Stores the new state of an app. */
export async function putApp(context: Subscriptions, actor: Actor, before: AppDoc, changed: AppDoc): Promise<AppDoc> {
  const after: AppDoc = { ...changed, version: before.version + 1, updated_at: context.clock.now() }
  await orNameTaken(
    record(context, actor, async session => {
      if (!(await replaceVersion(context.collections.apps, after, 'version', session)))
        throw new ProblemError('version_conflict')
      return { result: after, event: auditEventOf('app.update', before, after) }
    }),
  )
  context.memory.apps.delete(after.app_key)
  return after
}

/**
 * Deletes an app. The app and its credentials stop working immediately; its data is removed 30 days later. Throws
 * `app_not_found`, `managed_by_resource`, and `app_in_use` while subscriptions are live, unless forced.
 */
export async function deleteApp(
  context: Subscriptions,
  actor: Actor,
  id: number,
  { force, by }: { force: boolean; by?: ManagedBy },
): Promise<void> {
  const before = await requireApp(context, id)
  assertUnmanaged(before, by)
  if (!force && (await hasLiveSubscriptions(context.collections, before.app_key))) throw new ProblemError('app_in_use')
  const now = context.clock.now()
  const { live: _, ...rest } = before
  const after: AppDoc = { ...rest, status: '0', deleted_at: now, version: before.version + 1, updated_at: now }
  await record(context, actor, async session => {
    if (!(await replaceVersion(context.collections.apps, after, 'version', session)))
      throw new ProblemError('version_conflict')
    await revokeCredentials(context.collections, { app_key: before.app_key }, now, session)
    return { result: undefined, event: auditEventOf('app.delete', before, after) }
  })
  context.memory.apps.delete(after.app_key)
}

function auditEventOf(action: string, before: AppDoc | undefined, after: AppDoc) {
  return { action, appKey: after.app_key, target: { kind: 'app', id: String(after._id) }, before, after }
}
