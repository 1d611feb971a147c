/** Reconciles WebhookEndpoints: a webhook of an account or an app, and its signing secret in a Secret. */
import { mirrorState } from '../../../services/mail/managed-records.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { secretMadeAt } from '../../../services/platform/webhooks/declared-webhook.ts'
import type { Subscriptions } from '../../../services/subscriptions/context.ts'
import { mirrorSubscriptionState } from '../../../services/subscriptions/kubernetes/managed-records.ts'
import type { EventInput } from '../../kube/event-recorder.ts'
import type { Kind } from '../../resources/kind.ts'
import { WebhookEndpoint } from '../../resources/webhook-endpoint.ts'
import { bad, type ConditionState, good, toSeconds } from '../shared/conditions.ts'
import { driftOf } from '../shared/drift.ts'
import { type CurrentSecret, currentSecret, foreignSecret, keepSecret, ROTATED_AT } from '../shared/managed-secret.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import { accepted, type Outcome, type Reconciler } from '../shared/reconcile.ts'
import { refusalOf } from '../shared/use-case-errors.ts'
import { appTarget, leaveLostApps, withdrawApp } from './app-webhook.ts'
import { leaveLostMail, mailTarget, withdrawMail } from './mail-webhook.ts'
import { ENABLE_AT, nextLook, requestsOf, type WebhookRequests } from './webhook-requests.ts'
import type { Declared, WebhookTarget } from './webhook-target.ts'

type Spec = WebhookEndpoint['spec']
type Status = NonNullable<WebhookEndpoint['status']>

/** The reconciler of WebhookEndpoints. */
export function webhookEndpointReconciler(
  context: OperatorContext,
  subscriptions: Subscriptions,
): Reconciler<Spec, Status> {
  return {
    kind: WebhookEndpoint,
    async ensure(resource) {
      const lost = await leaveLost(context, subscriptions, resource)
      const outcome = await ensure(context, subscriptions, resource)
      return { ...outcome, events: [...lost, ...(outcome.events ?? [])] }
    },
    async remove(resource, retain) {
      const policy = retain ? 'Retain' : resource.spec.deletionPolicy
      const events = await leaveLost(context, subscriptions, resource)
      await withdrawMail(context, resource, policy)
      await withdrawApp(subscriptions, resource, policy)
      return { done: true, events }
    },
    async mirror(id, uid, state) {
      // One of the modules has a record with this id.
      await mirrorState(context.mongo.db, 'WebhookEndpoint', uid, id, state)
      await mirrorSubscriptionState(subscriptions, 'WebhookEndpoint', uid, id, state)
    },
  }
}

/** Leaves what the namespace may not act for any more, whatever the spec and the resources that it names say now. */
async function leaveLost(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: WebhookEndpoint,
): Promise<EventInput[]> {
  return [...(await leaveLostMail(context, resource)), ...(await leaveLostApps(context, subscriptions, resource))]
}

async function ensure(
  context: OperatorContext,
  subscriptions: Subscriptions,
  resource: WebhookEndpoint,
): Promise<Outcome> {
  const { spec, metadata } = resource
  const target = spec.appRef
    ? await appTarget(context, subscriptions, resource, spec.appRef.name)
    : await mailTarget(context, resource)
  if ('outcome' in target) return target.outcome
  const now = context.clock.now()
  const requests = requestsOf(resource, now)
  if ('condition' in requests) return { conditions: [requests.condition] }
  const name = spec.secret.name ?? `${metadata.name}-webhook`
  const current = await currentSecret(context, metadata, name)
  if (current.state === 'foreign') return foreignSecret(name)
  try {
    const declared = await target.declare(requests)
    return await outcomeOf(context, resource, { target, requests, declared, name, current })
  } catch (error) {
    return refusalOf(error, pointer => (pointer === '/url' ? 'spec.url' : pointer))
  }
}

interface Run {
  target: WebhookTarget
  requests: WebhookRequests
  declared: Declared
  /** Of the Secret. */
  name: string
  current: CurrentSecret
}

async function outcomeOf(
  context: OperatorContext,
  resource: WebhookEndpoint,
  { target, requests, declared, name, current }: Run,
): Promise<Outcome> {
  const { status, metadata, spec } = resource
  const { webhook, secret } = declared
  const madeAt = secretMadeAt(webhook)
  const content = {
    name,
    type: 'Opaque',
    data: { secret, 'webhook-id': webhook._id },
    annotations: { [ROTATED_AT]: toSeconds(madeAt) },
  }
  const kept = await keepSecret(context, WebhookEndpoint as unknown as Kind, metadata, current, content, {
    wasThere: status?.secretName === name,
    renewed: declared.rotated,
  })
  const { owner } = target
  const again = nextLook(resource, requests, madeAt)
  return {
    conditions: [
      accepted(sentence('resource.webhook_accepted', { owner, host: hostOf(spec) })),
      kept.condition,
      ...stateOf(declared),
    ],
    message: readyMessage(resource, declared, owner, name),
    status: {
      webhookId: webhook._id,
      owner,
      secretName: name,
      lastRotatedTime: toSeconds(madeAt),
      enabled: webhook.enabled,
      ...(webhook.failing && { failingSince: toSeconds(webhook.failing.since) }),
      ...(isDisabledByPlatform(declared) && webhook.disabled && { disabledTime: toSeconds(webhook.disabled.at) }),
    },
    events: [...changes(context, resource, declared, name), ...kept.events],
    recordId: webhook._id,
    ...(again && { requeueAfterMs: Math.max(1_000, again.getTime() - context.clock.now().getTime()) }),
  }
}

function isDisabledByPlatform({ webhook }: Declared): boolean {
  return !webhook.enabled && webhook.disabled !== undefined
}

/** Whether events leave: the platform's own disabling is a refusal, a receiver that fails is none. */
function stateOf(declared: Declared): ConditionState[] {
  const { webhook } = declared
  if (isDisabledByPlatform(declared) && webhook.disabled) {
    const { at, reason } = webhook.disabled
    const facts = { at: toSeconds(at), reason, annotation: ENABLE_AT }
    return [bad('Active', 'DisabledByPlatform', sentence('resource.webhook_disabled', facts))]
  }
  if (!webhook.enabled) return []
  if (!webhook.failing) return [good('Delivering', 'Delivering', sentence('resource.webhook_answers'))]
  const since = toSeconds(webhook.failing.since)
  return [bad('Delivering', 'ReceiverFailing', sentence('resource.webhook_failing', { since }))]
}

function readyMessage({ spec }: WebhookEndpoint, { webhook }: Declared, owner: string, name: string) {
  if (webhook.enabled) return sentence('resource.webhook_ready', { owner, host: hostOf(spec), name })
  return spec.enabled === false ? sentence('resource.webhook_off', { name }) : sentence('resource.webhook_off_record')
}

/** The path of an address often is a secret, and more people read the conditions than may read webhooks. */
function hostOf({ url }: Pick<Spec, 'url'>): string {
  return new URL(url).host
}

function changes(
  context: OperatorContext,
  resource: WebhookEndpoint,
  { outcome, rotated, enabledAgain }: Declared,
  name: string,
): EventInput[] {
  const rotation = `${name} holds a new signing secret; the old one signs as well for another day.`
  const requested: EventInput[] = [
    ...(rotated && outcome !== 'created' ? [happened('SecretRotated', 'Rotate', rotation)] : []),
    ...(enabledAgain ? [happened('EnabledAgain', 'Enable', 'Events are sent again.')] : []),
  ]
  if (requested.length > 0) return requested
  return driftOf(context, resource, outcome, resource.status?.webhookId !== undefined)
}

function happened(reason: string, action: string, note: string): EventInput {
  return { type: 'Normal', reason, action, note }
}
