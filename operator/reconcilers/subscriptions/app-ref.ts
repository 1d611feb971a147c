/** The App of an appRef, and whether the namespace may manage it. */

import { type Sentence, sentence } from '../../../services/platform/sentences/sentence.ts'
import { type AppDoc, findAppByKey } from '../../../services/subscriptions/catalogue/find-records.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import type { Withdrawal } from '../../../services/subscriptions/kubernetes/declared-record.ts'
import { App } from '../../resources/app.ts'
import type { Metadata } from '../../resources/kind.ts'
import { bad, conditionOf, sentenceOf, unknown } from '../shared/conditions.ts'
import { OWNERS_ANNOTATION } from '../shared/namespace-owners.ts'
import { type OperatorContext, ownersOf, sibling } from '../shared/operator-context.ts'
import type { Outcome } from '../shared/reconcile.ts'
import { REFUSED_MS } from '../shared/use-case-errors.ts'

/**
 * The key of the App that an appRef names, or why it cannot be used yet. The owner is read from the record: users with all
 * rights on resources in a namespace can write the status as well.
 */
export async function appKeyOf(
  context: OperatorContext,
  subscriptions: Subscriptions,
  metadata: Pick<Metadata, 'namespace'>,
  name: string,
): Promise<{ appKey: string } | { outcome: Outcome }> {
  const app = sibling(context, App, metadata, name)
  const wait = (condition: Outcome['conditions'][number], more: Partial<Outcome> = {}) => ({
    outcome: { conditions: [condition], ...more },
  })
  if (!app) return wait(bad('Accepted', 'DependencyNotReady', sentence('resource.app_missing', { name })))
  const taken = conditionOf(app.status?.conditions, 'Accepted')
  if (taken?.status === 'False')
    return wait(
      bad('Accepted', 'DependencyNotReady', sentence('resource.app_not_accepted', { name, reason: sentenceOf(taken) })),
    )
  const record = await findAppByKey(subscriptions, app.spec.appKey)
  if (record?.managed_by?.uid !== app.metadata.uid)
    return wait(unknown('Accepted', 'DependencyNotReady', sentence('resource.app_not_registered', { name })), {
      requeueAfterMs: REFUSED_MS,
    })
  if (!(await mayManage(context, app.metadata.namespace, record)))
    return wait(bad('Accepted', 'OwnerNotAllowed', notListed(app.metadata.namespace, record.app_key)))
  return { appKey: app.spec.appKey }
}

/**
 * True while resources of the namespace may manage the app: one that they created always, an adopted one only while the
 * Namespace lists its key. Otherwise they delete nothing of it.
 */
export async function mayManage(
  context: Pick<OperatorContext, 'writer'>,
  namespace: string,
  { app_key, adopted }: Pick<AppDoc, 'app_key' | 'adopted'>,
): Promise<boolean> {
  return !adopted || (await ownersOf(context, namespace)()).includes(app_key)
}

/** Message for an adopted app that the Namespace no longer lists. */
export function notListed(namespace: string, appKey: string): Sentence {
  return sentence('resource.app_not_listed', { namespace, app: appKey, annotation: OWNERS_ANNOTATION })
}

/** The deletion policy of a plan or switch; Retain for an app that the namespace may no longer manage. */
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

/** The status of an app or plan in the form of the API. */
export function statusFlag(status: 'Enabled' | 'Disabled' | undefined): '0' | '1' | undefined {
  if (status === undefined) return undefined
  return status === 'Enabled' ? '1' : '0'
}
