/** Apps declared by custom resources, with their ownership among resources. */
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { record } from '../audit/record-change.ts'
import { type AppSettings, type AppSpec, createApp, deleteApp, putApp, withSettings } from '../catalogue/manage-apps.ts'
import { assertUnmanaged } from '../catalogue/manage-plans.ts'
import { findApp, listCredentials, revokeCredentials } from '../catalogue/store/apps.ts'
import { recordsOfNamespace } from '../catalogue/store/plans-and-flags.ts'
import type { Subscriptions } from '../context.ts'
import type { AppDoc } from '../store/models.ts'
import { publishableKeyOf, type SigningKey, signingKeyOf } from './app-secrets.ts'
import { retainPlan } from './declare-plan.ts'
import { retainSwitch } from './declare-switch.ts'
import { leaveAppWebhook } from './declare-webhook.ts'
import { haveEqualFields, type Outcome, operatorActor, type Withdrawal, wasReleasedBy } from './declared-record.ts'

/** A declared app with the credentials for its Secret. */
export interface DeclaredApp {
  app: AppDoc
  outcome: Outcome
  publishableKey: string
  signingKey: SigningKey
}

/** An app as its resource declares it: what the resource leaves out keeps its value, or has the default of a new app. */
export interface AppDeclaration {
  app_name: string
  app_description?: string | undefined
  status?: AppSpec['status'] | undefined
  require_signature?: boolean | undefined
  /** Empty without a sender, and while the declared one may not be used. */
  mail_from: string
}

/** Creates or updates the app with this key to match its resource. An unmanaged app is adopted. */
export async function declareApp(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  declared: AppDeclaration,
): Promise<DeclaredApp> {
  const actor = operatorActor(by)
  const before = await findApp(context.collections, appKey)
  const { spec, settings } = complete(declared, before)
  if (!before) {
    const created = await createApp(context, actor, spec, { appKey, managedBy: by, settings })
    return {
      app: created.app,
      outcome: 'created',
      publishableKey: created.publishable.shown,
      signingKey: await signingKeyOf(context, by, appKey),
    }
  }
  assertUnmanaged(before, by)
  // A signing key must exist before signatures are required.
  const signingKey = await signingKeyOf(context, by, appKey)
  const adopted = before.managed_by || wasReleasedBy(before, by) ? before.adopted : true
  const { released_by: _, ...known } = before
  const changed = withSettings(
    { ...known, ...spec, managed_by: by, ...(adopted === undefined ? {} : { adopted }) },
    settings,
  )
  const same = haveEqualFields(before, changed)
  const app = same ? before : await putApp(context, actor, before, changed)
  const publishableKey = await publishableKeyOf(context, by, appKey)
  return { app, outcome: same ? 'unchanged' : 'updated', publishableKey, signingKey }
}

function complete(declared: AppDeclaration, before: AppDoc | undefined): { spec: AppSpec; settings: AppSettings } {
  return {
    spec: {
      app_name: declared.app_name,
      app_description: declared.app_description ?? before?.app_description ?? '',
      status: declared.status ?? before?.status ?? '1',
    },
    settings: {
      require_signature: declared.require_signature ?? before?.require_signature ?? false,
      mail_from: declared.mail_from,
    },
  }
}

/**
 * Withdraws the declaration of an app. Throws `app_in_use` while subscriptions are live. Does nothing when the app does
 * not exist.
 */
export async function withdrawApp(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  how: Withdrawal,
): Promise<void> {
  const app = await findApp(context.collections, appKey)
  if (app?.managed_by?.uid !== by.uid) return
  if (how === 'Delete') return deleteApp(context, operatorActor(by), app._id, { force: false, by })
  const { managed_by: _, adopted, ...rest } = app
  // An adopted app belongs to the administrators again.
  await putApp(context, operatorActor(by), app, adopted ? rest : { ...rest, released_by: by })
}

/**
 * Releases an app from a resource whose Namespace no longer lists it: the secrets created for the resource are revoked
 * immediately, and the app passes to `successor` or to the administrators, as do its plans, switches and webhooks; these are
 * disabled, because the namespace knows their addresses and secrets. Nothing is deleted. The publishable key stays valid, because published clients contain it.
 */
export async function releaseApp(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  successor: ManagedBy | undefined,
): Promise<void> {
  await revokeManaged(context, by, appKey)
  for (const plan of await recordsOfNamespace(context.collections.plans, appKey, by.namespace))
    await retainPlan(context, by, plan)
  for (const stored of await recordsOfNamespace(context.collections.switches, appKey, by.namespace))
    await retainSwitch(context, by, stored)
  for (const webhook of await recordsOfNamespace(context.collections.webhooks, appKey, by.namespace))
    await leaveAppWebhook(context, by, webhook)
  if (successor) await transferApp(context, by, appKey, successor)
  else await withdrawApp(context, by, appKey, 'Retain')
}

async function revokeManaged(context: Subscriptions, by: ManagedBy, appKey: string): Promise<void> {
  const made = (await listCredentials(context.collections, appKey)).filter(
    ({ kind, managed_by, revoked_at }) => kind !== 'publishable' && managed_by?.uid === by.uid && !revoked_at,
  )
  for (const { _id } of made)
    await record(context, operatorActor(by), async session => {
      await revokeCredentials(context.collections, { app_key: appKey, _id }, context.clock.now(), session)
      const target = { kind: 'credential', id: _id }
      return { result: undefined, event: { action: 'credential.revoke', appKey, target } }
    })
}

/** Transfers an app to another resource that declares it. */
export async function transferApp(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  successor: ManagedBy,
): Promise<void> {
  const app = await findApp(context.collections, appKey)
  if (app?.managed_by?.uid !== by.uid) return
  // The list of another namespace allows it, as for an adopted app.
  const adopted = successor.namespace === by.namespace ? app.adopted : true
  await putApp(context, operatorActor(by), app, { ...app, managed_by: successor, ...(adopted ? { adopted } : {}) })
}
