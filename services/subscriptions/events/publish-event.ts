/** Queues events for the webhooks of an app, in the transaction of the change that they describe. */

import type { Session } from '../../platform/database/mongo.ts'
import { eventsFor, insertEvents, listWebhooks } from '../../platform/webhooks/event-queue.ts'
import type { AuditEvent, Subscriptions } from '../context.ts'
import type { EndUserDoc, SubscriptionDoc } from '../store/documents.ts'
import type { PlanDoc, SwitchDoc } from '../store/models.ts'
import { type EventType, recordEvent, subscriptionEvent } from './rules/event-types.ts'
import { webhookStore } from './store/webhooks.ts'

/** An event of an app. */
export interface AppEvent {
  appKey: string
  type: EventType
  data: Record<string, unknown>
  /** Deduplication key: an event with the same key is stored once. */
  key?: string
}

/** Stores the event once for each webhook that subscribes to it. */
export async function publishEvent(
  context: Subscriptions,
  { appKey, type, data, key }: AppEvent,
  session?: Session,
): Promise<void> {
  const webhooks = await context.memory.webhooks.get(appKey, () =>
    listWebhooks(webhookStore(context.collections), appKey),
  )
  const events = eventsFor(webhooks, { type, data, key, at: context.clock.now() })
  await insertEvents(
    context.collections.webhookEvents,
    events.map(event => ({ ...event, app_key: appKey, type })),
    session,
  )
}

/** Publishes the event type of a recorded change, if it has one. */
export async function publishAuditEvent(context: Subscriptions, event: AuditEvent, session: Session): Promise<void> {
  const { kind } = event.target
  if (kind === 'subscription') {
    const after = event.after as SubscriptionDoc | undefined
    const type = after && subscriptionEvent(event.before as SubscriptionDoc | undefined, after)
    if (type) await publishEvent(context, { appKey: event.appKey, type, data: aboutSubscription(after) }, session)
    return
  }
  const type = recordEvent(kind, event.action)
  if (type) await publishEvent(context, { appKey: event.appKey, type, data: aboutRecord(event) }, session)
}

/** Event data of a subscription. */
export function aboutSubscription(subscription: SubscriptionDoc): Record<string, unknown> {
  const { _id, user_id, plan_id, plan, status, payment_method, payment_id, start, end, auto_renew } = subscription
  return {
    ...{ id: String(_id), user_id: String(user_id), plan_id: String(plan_id), plan_name: plan.name },
    ...{ status: String(status), payment_method, payment_id },
    ...{ start_date: String(start), end_date: String(end), auto_renew: auto_renew ? '1' : '0' },
  }
}

/** Event data of a user: identities, no personal data. */
export function aboutUser({ _id, openid, unionid, huawei_openid, huawei_unionid, status, no_reminders }: EndUserDoc) {
  const reminder_mail = no_reminders ? '0' : '1'
  return { id: String(_id), openid, unionid, huawei_openid, huawei_unionid, status, reminder_mail }
}

function aboutRecord({ target, before, after }: AuditEvent): Record<string, unknown> {
  const record = after ?? before
  if (target.kind === 'user') return record ? aboutUser(record as EndUserDoc) : { id: target.id }
  if (target.kind === 'plan') {
    const { _id, name, status, version } = record as PlanDoc
    return { id: String(_id), name, status, version: String(version) }
  }
  const { name, type, version } = record as SwitchDoc
  return { name, type, version: String(version), deleted: after === undefined }
}
