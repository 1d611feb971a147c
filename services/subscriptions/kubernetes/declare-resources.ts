/**
 * What custom resources ask for: make the record so, or let it go. Kubernetes to database, one way. Applying twice
 * changes nothing the second time; a record that somebody else manages is refused with `managed_by_resource`.
 */

import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { ProblemError } from '../../platform/problems.ts'
import { record } from '../audit/record-change.ts'
import { checkKey, keptSecretOf, type MadeCredential, makeCredential } from '../catalogue/app-credentials.ts'
import { type AppSettings, type AppSpec, createApp, deleteApp, putApp, withSettings } from '../catalogue/manage-apps.ts'
import { assertUnmanaged, createPlan, putPlan } from '../catalogue/manage-plans.ts'
import type { PlanSpec } from '../catalogue/rules/plan.ts'
import {
  findApp,
  forgetUndelivered,
  insertCredentials,
  listCredentials,
  revokeCredentials,
} from '../catalogue/store/apps.ts'
import {
  findPlanByName,
  findSwitch,
  plansOfNamespace,
  plansOfResource,
  switchesOfNamespace,
  switchesOfResource,
} from '../catalogue/store/plans-and-flags.ts'
import type { Actor, Subscriptions } from '../context.ts'
import { createSwitch, deleteSwitch, mergeSwitch, putSwitch } from '../flags/manage-flags.ts'
import { NEW_SWITCH, type SwitchFields } from '../flags/rules/flag-spec.ts'
import type { AppDoc, CredentialDoc, PlanDoc, SwitchDoc } from '../store/documents.ts'

/** What happened to the record. */
export type Outcome = 'created' | 'updated' | 'unchanged'

/** Deleting the resource deletes the record, or hands it back to the administrators. */
export type Withdrawal = 'Delete' | 'Retain'

/** The actor of a resource. */
export function operatorActor(by: ManagedBy): Actor {
  return { kind: 'operator', id: by.uid, name: `k8s:${by.namespace}/${by.name}`, requestId: '', ip: '' }
}

/** An app as its resource has it, with the credentials for its Secret. */
export interface AppliedApp {
  app: AppDoc
  outcome: Outcome
  publishableKey: string
  /** What signs requests: the key id and the secret. */
  signingKey: { id: string; secret: string }
}

/** Makes the app with this key be as the resource says. An unmanaged one is taken over. */
export async function applyApp(
  s: Subscriptions,
  by: ManagedBy,
  appKey: string,
  { require_signature, mail_from, ...spec }: AppSpec & AppSettings,
): Promise<AppliedApp> {
  const actor = operatorActor(by)
  const settings = { require_signature, mail_from }
  const before = await findApp(s.c, appKey)
  if (!before) {
    const created = await createApp(s, actor, spec, { appKey, managedBy: by, settings })
    return {
      app: created.app,
      outcome: 'created',
      publishableKey: created.publishable.shown,
      signingKey: await signingKeyOf(s, by, appKey),
    }
  }
  assertUnmanaged(before, by)
  // Before signatures are demanded, there is something to sign with.
  const signingKey = await signingKeyOf(s, by, appKey)
  const adopted = before.managed_by ? before.adopted : true
  const changed = withSettings(
    { ...before, ...spec, managed_by: by, ...(adopted === undefined ? {} : { adopted }) },
    settings,
  )
  const same = equal(before, changed)
  const app = same ? before : await putApp(s, actor, before, changed)
  const publishableKey = await publishableKeyOf(s, by, appKey)
  return { app, outcome: same ? 'unchanged' : 'updated', publishableKey, signingKey }
}

/**
 * The secret of an app for its Kubernetes Secret: the one that lies there while it works, else one that was made and
 * never got there, else a new one. Without the second, each failed write of the Secret would cost a working secret.
 */
export async function appSecretFor(
  s: Subscriptions,
  by: ManagedBy,
  appKey: string,
  held: string | undefined,
): Promise<string> {
  if (held !== undefined) {
    const known = await checkKey(s, held)
    if (known?.kind === 'secret' && known.app_key === appKey) return held
  }
  const live = await liveCredentials(s, appKey, 'secret')
  for (const credential of live.toReversed()) {
    const waiting = keptSecretOf(s, credential)
    if (waiting !== undefined) return waiting
  }
  return (await addManaged(s, by, appKey, 'secret', live.slice(0, -1))).shown
}

/** The Kubernetes Secret holds the app secret: from now on nobody else does. */
export async function appSecretDelivered(s: Subscriptions, appKey: string): Promise<void> {
  await forgetUndelivered(s.c, appKey)
}

async function publishableKeyOf(s: Subscriptions, by: ManagedBy, appKey: string): Promise<string> {
  const [known] = await liveCredentials(s, appKey, 'publishable')
  return known?.key ?? (await addManaged(s, by, appKey, 'publishable')).shown
}

/**
 * Of two signing keys the newer: once a second one is made, programs get it before the first is revoked. One that can
 * no more be opened signs nothing, and is passed over.
 */
async function signingKeyOf(s: Subscriptions, by: ManagedBy, appKey: string): Promise<AppliedApp['signingKey']> {
  for (const credential of (await liveCredentials(s, appKey, 'hmac')).toReversed()) {
    const secret = keptSecretOf(s, credential)
    if (secret !== undefined) return { id: credential._id, secret }
  }
  const { document, shown } = await addManaged(s, by, appKey, 'hmac')
  return { id: document._id, secret: shown }
}

async function liveCredentials(s: Subscriptions, appKey: string, kind: CredentialDoc['kind']) {
  return (await listCredentials(s.c, appKey)).filter(known => known.kind === kind && !known.revoked_at)
}

/** One more credential for the resource, in the place of others. */
async function addManaged(
  s: Subscriptions,
  by: ManagedBy,
  appKey: string,
  kind: CredentialDoc['kind'],
  replaced: readonly CredentialDoc[] = [],
): Promise<MadeCredential> {
  const made = makeCredential(s, appKey, kind, by)
  const { document } = made
  await record(s, operatorActor(by), async session => {
    await insertCredentials(s.c, [document], session)
    for (const { _id } of replaced) await revokeCredentials(s.c, { app_key: appKey, _id }, s.clock.now(), session)
    return {
      result: undefined,
      deed: { action: 'credential.create', appKey, target: { kind: 'credential', id: document._id } },
    }
  })
  return made
}

/** Lets an app go. Throws `app_in_use` while subscriptions live: the resource waits. An app that is gone is fine. */
export async function withdrawApp(s: Subscriptions, by: ManagedBy, appKey: string, how: Withdrawal): Promise<void> {
  const app = await findApp(s.c, appKey)
  if (app?.managed_by?.uid !== by.uid) return
  if (how === 'Delete') return deleteApp(s, operatorActor(by), app._id, { force: false, by })
  const { managed_by: _, adopted: __, ...rest } = app
  await putApp(s, operatorActor(by), app, rest)
}

/**
 * Takes an app away from a resource whose Namespace does not list it any more: the secrets that were made for it are
 * revoked at once, the app goes to `heir` or back to the administrators, and so do its plans and switches. Nothing is
 * deleted. The publishable key stays, because published clients have it.
 */
export async function giveBackApp(
  s: Subscriptions,
  by: ManagedBy,
  appKey: string,
  heir: ManagedBy | undefined,
): Promise<void> {
  await revokeManaged(s, by, appKey)
  for (const plan of await plansOfNamespace(s.c, appKey, by.namespace)) await retainPlan(s, by, plan)
  for (const stored of await switchesOfNamespace(s.c, appKey, by.namespace)) await retainSwitch(s, by, stored)
  if (heir) await handOverApp(s, by, appKey, heir)
  else await withdrawApp(s, by, appKey, 'Retain')
}

async function revokeManaged(s: Subscriptions, by: ManagedBy, appKey: string): Promise<void> {
  const made = (await listCredentials(s.c, appKey)).filter(
    ({ kind, managed_by, revoked_at }) => kind !== 'publishable' && managed_by?.uid === by.uid && !revoked_at,
  )
  for (const { _id } of made)
    await record(s, operatorActor(by), async session => {
      await revokeCredentials(s.c, { app_key: appKey, _id }, s.clock.now(), session)
      const target = { kind: 'credential', id: _id }
      return { result: undefined, deed: { action: 'credential.revoke', appKey, target } }
    })
}

/** Gives an app to another resource that declares it too. */
export async function handOverApp(s: Subscriptions, by: ManagedBy, appKey: string, heir: ManagedBy): Promise<void> {
  const app = await findApp(s.c, appKey)
  if (app?.managed_by?.uid !== by.uid) return
  // Another namespace has it by its list, as if it had taken the app over.
  const adopted = heir.namespace === by.namespace ? app.adopted : true
  await putApp(s, operatorActor(by), app, { ...app, managed_by: heir, ...(adopted ? { adopted } : {}) })
}

/** Makes the plan with this name be as the resource says. An unmanaged one is taken over, a deleted one comes back. */
export async function applyPlan(
  s: Subscriptions,
  by: ManagedBy,
  appKey: string,
  spec: PlanSpec,
): Promise<{ plan: PlanDoc; outcome: Outcome }> {
  await requireApp(s, appKey)
  const before = await findPlanByName(s.c, appKey, spec.name)
  if (!before) return { plan: await createPlan(s, operatorActor(by), appKey, spec, by), outcome: 'created' }
  assertUnmanaged(before, by)
  const { deleted_at: _, ...rest } = before
  const changed: PlanDoc = { ...rest, ...spec, managed_by: by }
  if (equal(before, changed)) return { plan: before, outcome: 'unchanged' }
  return { plan: await putPlan(s, operatorActor(by), before, changed, 'plan.update'), outcome: 'updated' }
}

/**
 * Lets the plans of a resource go. Deleted plans stay for those who hold them, but nobody sees or buys them any more.
 * They are found by their mark: the App may be gone before, or be another one by now.
 */
export async function withdrawPlans(s: Subscriptions, by: ManagedBy, how: Withdrawal): Promise<void> {
  for (const plan of await plansOfResource(s.c, by.uid)) {
    const { managed_by: _, ...rest } = plan
    const deleted: PlanDoc = { ...rest, status: '0', deleted_at: s.clock.now() }
    if (how === 'Retain') await retainPlan(s, by, plan)
    else await putPlan(s, operatorActor(by), plan, deleted, 'plan.delete')
  }
}

async function retainPlan(s: Subscriptions, by: ManagedBy, plan: PlanDoc): Promise<void> {
  const { managed_by: _, ...rest } = plan
  await putPlan(s, operatorActor(by), plan, rest, 'plan.update')
}

/** Makes the switch with this name be as the resource says; what the resource leaves out has its default. */
export async function applySwitch(
  s: Subscriptions,
  by: ManagedBy,
  { appKey, name }: { appKey: string; name: string },
  fields: SwitchFields,
): Promise<{ stored: SwitchDoc; outcome: Outcome }> {
  await requireApp(s, appKey)
  const spec = mergeSwitch(NEW_SWITCH, fields)
  const before = await findSwitch(s.c, appKey, name)
  if (!before)
    return { stored: await createSwitch(s, operatorActor(by), { appKey, name }, spec, by), outcome: 'created' }
  assertUnmanaged(before, by)
  const changed: SwitchDoc = { ...before, ...spec, managed_by: by }
  if (equal(before, changed)) return { stored: before, outcome: 'unchanged' }
  return { stored: await putSwitch(s, operatorActor(by), before, changed, 'switch.update'), outcome: 'updated' }
}

/** Lets the switches of a resource go, which are found as its plans are. */
export async function withdrawSwitches(s: Subscriptions, by: ManagedBy, how: Withdrawal): Promise<void> {
  for (const stored of await switchesOfResource(s.c, by.uid))
    if (how === 'Retain') await retainSwitch(s, by, stored)
    else await deleteSwitch(s, operatorActor(by), { appKey: stored.app_key, name: stored.name }, by)
}

async function retainSwitch(s: Subscriptions, by: ManagedBy, stored: SwitchDoc): Promise<void> {
  const { managed_by: _, ...rest } = stored
  await putSwitch(s, operatorActor(by), stored, rest, 'switch.update')
}

async function requireApp(s: Subscriptions, appKey: string): Promise<void> {
  if (!(await findApp(s.c, appKey))) throw new ProblemError('app_not_found')
}

function equal(a: object, b: object): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([x], [y]) => x.localeCompare(y)))
  return sorted(a) === sorted(b)
}
