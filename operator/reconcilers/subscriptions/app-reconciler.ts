/** Reconciles Apps: the app of the Subscription Administration API, and its keys in a Secret. */

import { createSystemSenders, type FindSystemSender } from '../../../services/mail/submission/system-sender.ts'
import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { type AppDoc, findAppByKey } from '../../../services/subscriptions/catalogue/find-records.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import { appSecretDelivered, appSecretFor } from '../../../services/subscriptions/kubernetes/app-secrets.ts'
import {
  type DeclaredApp,
  declareApp,
  releaseApp,
  transferApp,
  withdrawApp,
} from '../../../services/subscriptions/kubernetes/declare-app.ts'
import { wasReleasedBy } from '../../../services/subscriptions/kubernetes/declared-record.ts'
import { mirrorSubscriptionState } from '../../../services/subscriptions/kubernetes/managed-records.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import type { KubeObject } from '../../kube/object-cache.ts'
import { App } from '../../resources/app.ts'
import type { Kind } from '../../resources/kind.ts'
import { bad, sentenceOf } from '../shared/conditions.ts'
import { driftOf } from '../shared/drift.ts'
import { currentOwner, isRecordedOwner, successor } from '../shared/duplicate-resources.ts'
import { type CurrentSecret, currentSecret, foreignSecret, keepSecret } from '../shared/managed-secret.ts'
import { withdrawnEvent } from '../shared/namespace-entitlement.ts'
import { ADOPT_ANNOTATION, mayAdopt, OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { cacheOf, managedBy, type OperatorContext, ownersOf } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler, type Removal } from '../shared/reconcile.ts'
import { REFUSED_MS, refusalOf } from '../shared/use-case-errors.ts'
import { mayManage, notListed, statusFlag } from './app-ref.ts'
import { type AppSender, senderOf } from './app-sender.ts'

type Spec = App['spec']
type Status = NonNullable<App['status']>

/** An app with active subscriptions cannot be deleted: try again after this time. */
const IN_USE_MS = 5 * 60_000

/** The reconciler of Apps. */
export function appReconciler(context: OperatorContext, subscriptions: Subscriptions): Reconciler<Spec, Status> {
  const findSender = createSystemSenders(context)
  return {
    kind: App,
    ensure: resource => ensure(context, subscriptions, findSender, resource),
    remove: (resource, retain) => remove(context, subscriptions, resource, retain),
    mirror: (id, uid, state) => mirrorSubscriptionState(subscriptions, 'App', uid, Number(id), state),
  }
}

async function ensure(
  context: OperatorContext,
  subscriptions: Subscriptions,
  findSender: FindSystemSender,
  resource: App,
): Promise<Outcome> {
  const { spec, metadata, status } = resource
  const name = `${metadata.name}-app`
  const givenBack = await returnLostApp(context, subscriptions, resource)
  if (givenBack) {
    const condition = bad('Accepted', 'OwnerNotAllowed', notListed(metadata.namespace, spec.appKey))
    return { conditions: [condition], requeueAfterMs: REFUSED_MS, events: [givenBack], status: {} }
  }
  const refused = await refusalReason(context, subscriptions, resource)
  if (refused) return { conditions: [bad('Accepted', ...refused)], requeueAfterMs: REFUSED_MS }
  const current = await currentSecret(context, metadata, name)
  if (current.state === 'foreign') return foreignSecret(name)
  const sender = await senderOf(context, findSender, resource)
  let applied: DeclaredApp
  try {
    applied = await declareApp(subscriptions, managedBy(resource), spec.appKey, wantedOf(spec, sender))
  } catch (error) {
    return refusalOf(error)
  }
  const secret = await appSecret(context, subscriptions, resource, current)
  const { signingKey } = applied
  const data = {
    'app-key': spec.appKey,
    'publishable-key': applied.publishableKey,
    'app-secret': secret.value,
    'hmac-key-id': signingKey.id,
    'hmac-secret': signingKey.secret,
  }
  const held = current.state === 'ours' ? current.data['hmac-key-id'] : undefined
  const content = { name, type: 'Opaque', data, annotations: {} }
  const kept = await keepSecret(context, App as unknown as Kind, metadata, current, content, {
    wasThere: status?.secretName === name,
    // An earlier release wrote none, and the key may be another than then.
    renewed: secret.renewed || held !== signingKey.id,
  })
  await appSecretDelivered(subscriptions, spec.appKey)
  return {
    conditions: [
      accepted(sentence('resource.app_accepted', { app: spec.appKey })),
      kept.condition,
      ...sender.conditions,
    ],
    message: sentence('resource.app_ready', { app: spec.appKey, name }),
    status: {
      appId: String(applied.app._id),
      secretName: name,
      ...(sender.mailFrom === '' ? {} : { mailFrom: sender.mailFrom }),
    },
    events: [
      ...driftOf(context, resource, applied.outcome, isSettled(status, sender)),
      ...secret.events,
      ...kept.events,
    ],
    recordId: String(applied.app._id),
    ...(sender.requeueAfterMs === undefined ? {} : { requeueAfterMs: sender.requeueAfterMs }),
  }
}

/** Releases an adopted app that the Namespace does not list any more; undefined when it is no such app. */
async function returnLostApp(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: App,
): Promise<EventInput | undefined> {
  const { metadata, spec } = resource
  const app = await findAppByKey(subscriptions, spec.appKey)
  if (app?.managed_by?.uid !== metadata.uid || (await mayManage(context, metadata.namespace, app))) return undefined
  const others = resourcesDeclaring(context, spec.appKey)
  const may = await Promise.all(others.map(other => mayTakeOver(context, spec.appKey, other)))
  const next = successor(
    others.filter((_, index) => may[index]),
    metadata.uid,
  )
  const to = next && managedBy({ kind: 'App', metadata: next.metadata })
  await releaseApp(subscriptions, managedBy(resource), spec.appKey, to)
  const whom = to ? `App ${to.namespace}/${to.name}` : 'the administrators'
  return withdrawnEvent(
    `The app ${spec.appKey} was given back to ${whom}, and the secrets made for this resource are revoked. Signing keys that it had before are known to this namespace: replace them.`,
  )
}

/** The declared app for the use case. */
function wantedOf({ appName, appDescription, status, requireSignature }: Spec, { mailFrom }: AppSender) {
  return {
    app_name: appName,
    app_description: appDescription,
    status: statusFlag(status),
    require_signature: requireSignature,
    mail_from: mailFrom,
  }
}

/** True when the app was registered with this sender before. One that became usable, or is no more, is no drift. */
function isSettled(status: Status | undefined, { mailFrom }: AppSender): boolean {
  return status?.appId !== undefined && (status.mailFrom ?? '') === mailFrom
}

/** Reason and message when the resource may not own the app. */
async function refusalReason(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: App,
): Promise<[reason: string, message: Sentence] | undefined> {
  const { spec, metadata } = resource
  const known = await findAppByKey(subscriptions, spec.appKey)
  const holder = currentOwner(await contenders(context, resource, known), known?.managed_by)
  if (holder && holder.metadata.uid !== metadata.uid)
    return [
      'Conflict',
      sentence('resource.app_duplicate', {
        namespace: holder.metadata.namespace ?? '',
        name: holder.metadata.name,
        app: spec.appKey,
      }),
    ]
  if (!known || known.managed_by || wasReleasedBy(known, managedBy(resource))) return undefined
  if (await mayAdopt(metadata.annotations, spec.appKey, ownersOf(context, metadata.namespace))) return undefined
  return [
    'Conflict',
    sentence('resource.app_exists', { app: spec.appKey, adopt: ADOPT_ANNOTATION, annotation: OWNERS_ANNOTATION }),
  ]
}

/**
 * The resources that may own the app: those of the resource's namespace, the recorded owner, and those that may adopt it.
 * While the app does not exist, all that declare it.
 */
async function contenders(
  context: OperatorContext,
  { spec: { appKey }, metadata }: App,
  known: Pick<AppDoc, 'managed_by'> | undefined,
): Promise<KubeObject[]> {
  const all = resourcesDeclaring(context, appKey)
  const may = await Promise.all(
    all.map(
      async other =>
        known === undefined ||
        isRecordedOwner(other, known.managed_by) ||
        other.metadata.namespace === metadata.namespace ||
        (await mayTakeOver(context, appKey, other)),
    ),
  )
  return all.filter((_, index) => may[index])
}

/** True when the Namespace of the resource lets it adopt an existing app. */
function mayTakeOver(context: OperatorContext, appKey: string, { metadata }: KubeObject): Promise<boolean> {
  return mayAdopt(metadata.annotations ?? {}, appKey, ownersOf(context, metadata.namespace ?? ''))
}

/** All resources that declare an app key. */
function resourcesDeclaring(context: OperatorContext, appKey: string): KubeObject[] {
  const cache = cacheOf(context, App as unknown as Kind)
  return cache.find(APP_KEY_INDEX, appKey).flatMap(key => cache.get(key) ?? [])
}

/** Index of the cache: the app key that a resource declares. */
export const APP_KEY_INDEX = 'appKey'

interface AppSecret {
  value: string
  renewed: boolean
  events: EventInput[]
}

/** The app secret of the Secret; a new one is created when it is missing there or no longer valid. */
async function appSecret(
  { metrics }: OperatorContext,
  subscriptions: Subscriptions,
  resource: App,
  current: CurrentSecret,
): Promise<AppSecret> {
  const { appKey } = resource.spec
  const held = current.state === 'ours' ? current.data['app-secret'] : undefined
  const value = await appSecretFor(subscriptions, managedBy(resource), appKey, held)
  if (value === held) return { value, renewed: false, events: [] }
  if (resource.status?.secretName === undefined) return { value, renewed: true, events: [] }
  metrics.operator.driftReverted.inc({ kind: 'App', place: 'secret' })
  const note = `The app secret of ${appKey} was lost with the Secret, or changed in it; a new one was made. The one before keeps working until the next rotation.`
  return { value, renewed: true, events: [{ type: 'Warning', reason: 'SecretRestored', action: 'WriteSecret', note }] }
}

async function remove(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: App,
  retain: boolean,
): Promise<Removal> {
  const { appKey, deletionPolicy } = resource.spec
  const givenBack = await returnLostApp(context, subscriptions, resource)
  if (givenBack) return { done: true, events: [givenBack] }
  // A resource may take over an existing app only if its Namespace lets it adopt the app.
  const next = successor(await contenders(context, resource, {}), resource.metadata.uid)
  try {
    if (next) {
      await transferApp(subscriptions, managedBy(resource), appKey, managedBy({ kind: 'App', metadata: next.metadata }))
      return { done: true }
    }
    await withdrawApp(subscriptions, managedBy(resource), appKey, retain ? 'Retain' : deletionPolicy)
    return { done: true }
  } catch (error) {
    const message = sentence('resource.app_in_use', { reason: refusalOf(error).conditions.map(sentenceOf) })
    return {
      done: false,
      condition: bad('DeletionBlocked', 'ActiveSubscriptions', message),
      requeueAfterMs: IN_USE_MS,
    }
  }
}
