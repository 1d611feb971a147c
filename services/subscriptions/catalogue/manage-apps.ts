/** Apps: created with their first credentials, changed, deleted, and purged 30 days later. */
import { randomBytes } from 'node:crypto'
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { record } from '../audit/record-change.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { hasLiveSubscriptions } from '../lifecycle/store/subscriptions.ts'
import { fault } from '../rules/field-errors.ts'
import type { AppDoc } from '../store/documents.ts'
import { type MadeCredential, makeCredential } from './app-credentials.ts'
import { assertUnmanaged, orNameTaken } from './manage-plans.ts'
import {
  findAppById,
  hasSigner,
  insertApp,
  insertCredentials,
  isAppKeyUsed,
  replaceApp,
  revokeCredentials,
} from './store/apps.ts'

/** What an app is made of. */
export interface AppSpec {
  app_name: string
  app_description: string
  status: '0' | '1'
}

/** What an app asks for beside: its document has these fields only where they are set. */
export interface AppSettings {
  require_signature: boolean
  /** Empty: reminders come from the platform's own sender. */
  mail_from: string
}

/** True when reminders may come from this address as things stand. The mail half decides; the main hands it over. */
export type MaySendFrom = (address: string) => Promise<boolean>

/** A new app with the credentials that are shown once. */
export interface CreatedApp {
  app: AppDoc
  publishable: MadeCredential
  secret: MadeCredential
}

/** Creates an app with a publishable key and a secret. Throws `name_taken` when name or key are or were in use. */
export async function createApp(
  s: Subscriptions,
  actor: Actor,
  spec: AppSpec,
  given: { appKey?: string | undefined; managedBy?: ManagedBy; settings?: AppSettings } = {},
): Promise<CreatedApp> {
  const now = s.clock.now()
  const { managedBy, settings = { require_signature: false, mail_from: '' } } = given
  const key = given.appKey ?? `app_${randomBytes(8).toString('hex')}`
  if (await isAppKeyUsed(s.c, key)) throw new ProblemError('name_taken')
  const app = withSettings(
    {
      _id: await s.ids.next('app'),
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
  const publishable = makeCredential(s, key, 'publishable', managedBy)
  const secret = makeCredential(s, key, 'secret', managedBy)
  await orNameTaken(
    record(s, actor, async session => {
      await insertApp(s.c, app, session)
      await insertCredentials(s.c, [publishable.document, secret.document], session)
      return { result: undefined, deed: deedOf('app.create', undefined, app) }
    }),
  )
  return { app, publishable, secret }
}

/** A change of an app by form. */
export type AppUpdate = { [K in keyof AppSpec]?: AppSpec[K] | undefined } & {
  require_signature?: '0' | '1' | undefined
  /** Empty: reminders come from the platform's own sender. */
  mail_from?: string | undefined
  /** The version that the form was filled from. */
  version?: number | undefined
}

/** The app with these settings and no others. */
export function withSettings(app: AppDoc, { require_signature, mail_from }: AppSettings): AppDoc {
  const { require_signature: _, mail_from: __, ...rest } = app
  return { ...rest, ...(require_signature ? { require_signature } : {}), ...(mail_from ? { mail_from } : {}) }
}

/**
 * Changes an app by form. Throws `app_not_found`, `managed_by_resource`, `version_conflict`, `name_taken`,
 * `transition_refused` when signatures are demanded of an app that has no credential to sign with, and
 * `validation_failed` for another sender than before that may not be used.
 */
export async function updateApp(
  s: Subscriptions,
  actor: Actor,
  id: number,
  { version, require_signature, mail_from, ...fields }: AppUpdate,
  maySendFrom: MaySendFrom,
): Promise<AppDoc> {
  const before = await findAppById(s.c, id)
  if (!before) throw new ProblemError('app_not_found')
  assertUnmanaged(before)
  if (version !== undefined && version !== before.version) throw new ProblemError('version_conflict')
  // What the app has already is no reason to refuse another change of it.
  if (require_signature === '1' && !before.require_signature) await assertCanSign(s, before.app_key)
  if (mail_from && mail_from !== before.mail_from && !(await maySendFrom(mail_from)))
    throw new ProblemError('validation_failed', undefined, { faults: [fault('mail_from', 'sender')] })
  const settings: AppSettings = {
    require_signature: require_signature === undefined ? before.require_signature === true : require_signature === '1',
    mail_from: mail_from ?? before.mail_from ?? '',
  }
  const changed = {
    app_name: fields.app_name ?? before.app_name,
    app_description: fields.app_description ?? before.app_description,
    status: fields.status ?? before.status,
  }
  return putApp(s, actor, before, withSettings({ ...before, ...changed }, settings))
}

/** Otherwise the app would lock itself out. */
async function assertCanSign(s: Subscriptions, appKey: string): Promise<void> {
  if (!(await hasSigner(s.c, appKey)))
    throw new ProblemError('transition_refused', 'The app has no credential of kind hmac to sign with.')
}

/** Stores an app's new state. */
export async function putApp(s: Subscriptions, actor: Actor, before: AppDoc, changed: AppDoc): Promise<AppDoc> {
  const after: AppDoc = { ...changed, version: before.version + 1, updated_at: s.clock.now() }
  await orNameTaken(
    record(s, actor, async session => {
      if (!(await replaceApp(s.c, after, session))) throw new ProblemError('version_conflict')
      return { result: after, deed: deedOf('app.update', before, after) }
    }),
  )
  s.memory.apps.delete(after.app_key)
  return after
}

/**
 * Deletes an app: it is gone at once and its credentials with it; the data follows 30 days later. Throws
 * `app_not_found`, `managed_by_resource`, and `app_in_use` while subscriptions live, unless forced.
 */
export async function deleteApp(
  s: Subscriptions,
  actor: Actor,
  id: number,
  { force, by }: { force: boolean; by?: ManagedBy },
): Promise<void> {
  const before = await findAppById(s.c, id)
  if (!before) throw new ProblemError('app_not_found')
  assertUnmanaged(before, by)
  if (!force && (await hasLiveSubscriptions(s.c, before.app_key))) throw new ProblemError('app_in_use')
  const now = s.clock.now()
  const { live: _, ...rest } = before
  const after: AppDoc = { ...rest, status: '0', deleted_at: now, version: before.version + 1, updated_at: now }
  await record(s, actor, async session => {
    if (!(await replaceApp(s.c, after, session))) throw new ProblemError('version_conflict')
    await revokeCredentials(s.c, { app_key: before.app_key }, now, session)
    return { result: undefined, deed: deedOf('app.delete', before, after) }
  })
  s.memory.apps.delete(after.app_key)
}

function deedOf(action: string, before: AppDoc | undefined, after: AppDoc) {
  return { action, appKey: after.app_key, target: { kind: 'app', id: String(after._id) }, before, after }
}
