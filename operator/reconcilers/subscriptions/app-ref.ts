/** What App, SubscriptionPlan and FeatureSwitch share: the subscription half, the App behind an appRef, drift. */

import { type AppDoc, findAppByKey } from '../../../services/subscriptions/catalogue/find-records.ts'
import { openSubscriptions, type Subscriptions } from '../../../services/subscriptions/context.ts'
import type { Withdrawal } from '../../../services/subscriptions/kubernetes/declare-resources.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import { App } from '../../resources/app.ts'
import type { Metadata } from '../../resources/kind.ts'
import { bad, conditionOf, unknown } from '../shared/conditions.ts'
import { OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { type OperatorContext, ownersOf, sibling } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'

/** Opens the subscription half for the operator. */
export function subscriptionsOf(context: OperatorContext): Subscriptions {
  return openSubscriptions(context)
}

/**
 * The key of the App that an appRef names, or why it cannot be used yet. Whose the app is says the mark on the record:
 * whoever has all rights on resources in a namespace can write their status as well.
 */
export async function appKeyOf(
  context: OperatorContext,
  subscriptions: Subscriptions,
  metadata: Pick<Metadata, 'namespace'>,
  name: string,
): Promise<{ appKey: string } | { outcome: Outcome }> {
  const app = sibling(context, App, metadata, name)
  const wait = (condition: Outcome['conditions'][number], more: Partial<Outcome> = {}) => ({
    outcome: { conditions: [condition], message: '', ...more },
  })
  if (!app) return wait(bad('Accepted', 'DependencyNotReady', `There is no App ${name} in this namespace.`))
  const taken = conditionOf(app.status?.conditions, 'Accepted')
  if (taken?.status === 'False')
    return wait(bad('Accepted', 'DependencyNotReady', `App ${name} is not accepted: ${taken.message}`))
  const record = await findAppByKey(subscriptions, app.spec.appKey)
  if (record?.managed_by?.uid !== app.metadata.uid)
    return wait(unknown('Accepted', 'DependencyNotReady', `App ${name} is not registered yet.`), {
      requeueAfterMs: REFUSED_MS,
    })
  if (!(await mayManage(context, app.metadata.namespace, record)))
    return wait(bad('Accepted', 'OwnerNotAllowed', notListed(app.metadata.namespace, record.app_key)))
  return { appKey: app.spec.appKey }
}

/**
 * True while resources of the namespace may hold the app. One that they made is theirs; one that was taken over is only
 * while the Namespace lists its key, and until then they delete nothing of it.
 */
export async function mayManage(
  context: Pick<OperatorContext, 'writer'>,
  namespace: string,
  { app_key, adopted }: Pick<AppDoc, 'app_key' | 'adopted'>,
): Promise<boolean> {
  return !adopted || (await ownersOf(context, namespace)()).includes(app_key)
}

/** Why an app that was taken over is a namespace's no more. */
export function notListed(namespace: string, appKey: string): string {
  return `Namespace ${namespace} may not hold the app ${appKey} any more, which it took over. Whoever may change the Namespace can list ${appKey} in the annotation ${OWNERS_ANNOTATION}.`
}

/** What a plan or switch does with its record when it goes: nothing of an app that the namespace may not hold is deleted. */
export async function withdrawalOf(
  context: Pick<OperatorContext, 'writer'>,
  subscriptions: Subscriptions,
  { namespace }: Pick<Metadata, 'namespace'>,
  records: readonly { app_key: string }[],
  policy: Withdrawal,
): Promise<Withdrawal> {
  for (const { app_key } of policy === 'Delete' ? records : []) {
    const app = await findAppByKey(subscriptions, app_key)
    if (app && !(await mayManage(context, namespace, app))) return 'Retain'
  }
  return policy
}

/** An update although the spec did not change: somebody else changed the record. */
export function driftOf(
  context: OperatorContext,
  resource: { kind: string; metadata: Metadata; status: { observedGeneration?: number | undefined } | undefined },
  outcome: 'created' | 'updated' | 'unchanged',
  known: boolean,
): EventInput[] {
  const settled = known && resource.status?.observedGeneration === resource.metadata.generation
  if (!settled || outcome === 'unchanged') return []
  context.metrics.operator.driftReverted.inc({ kind: resource.kind, place: 'database' })
  const note = `The record was ${outcome === 'created' ? 'removed' : 'changed'} behind this resource; it is as declared again.`
  return [{ type: 'Warning', reason: 'DriftReverted', action: 'Apply', note }]
}
