/** Puts events on their way to the webhooks of an app, in the transaction of the change that they tell of. */

import type { Session } from '../../platform/database/mongo.ts'
import { eventsFor, insertEvents, listWebhooks } from '../../platform/webhooks/event-queue.ts'
import type { Deed, Subscriptions } from '../context.ts'
import type { EndUserDoc, PlanDoc, SubscriptionDoc, SwitchDoc } from '../store/documents.ts'
import { type EventType, recordEvent, subscriptionEvent } from './rules/webhook.ts'
import { webhookStore } from './store/webhooks.ts'

/** What happened, in which app. */
export interface AppEvent {
  appKey: string
  type: EventType
  data: Record<string, unknown>
  /** The same key always means the same event: it is stored once, however often it is published. */
  key?: string
}

/** Stores the event once for each webhook that wants to hear of it. */
export async function publishEvent(
  s: Subscriptions,
  { appKey, type, data, key }: AppEvent,
  session?: Session,
): Promise<void> {
  const webhooks = await s.memory.webhooks.get(appKey, () => listWebhooks(webhookStore(s.c), appKey))
  const events = eventsFor(webhooks, { type, data, key, at: s.clock.now() })
  await insertEvents(
    s.c.webhookEvents,
    events.map(event => ({ ...event, app_key: appKey, type })),
    session,
  )
}

/** Publishes what a recorded change is for those outside, if it is anything. */
export async function publishDeed(s: Subscriptions, deed: Deed, session: Session): Promise<void> {
  const { kind } = deed.target
  if (kind === 'subscription') {
    const after = deed.after as SubscriptionDoc | undefined
    const type = after && subscriptionEvent(deed.before as SubscriptionDoc | undefined, after)
    if (type) await publishEvent(s, { appKey: deed.appKey, type, data: aboutSubscription(after) }, session)
    return
  }
  const type = recordEvent(kind, deed.action)
  if (type) await publishEvent(s, { appKey: deed.appKey, type, data: aboutRecord(deed) }, session)
}

/** A subscription as events show it. */
export function aboutSubscription(subscription: SubscriptionDoc): Record<string, unknown> {
  const { _id, user_id, plan_id, plan, status, payment_method, payment_id, start, end, auto_renew } = subscription
  return {
    ...{ id: String(_id), user_id: String(user_id), plan_id: String(plan_id), plan_name: plan.name },
    ...{ status: String(status), payment_method, payment_id },
    ...{ start_date: String(start), end_date: String(end), auto_renew: auto_renew ? '1' : '0' },
  }
}

/** A user as events show it: who it is, nothing that names the person. */
export function aboutUser({ _id, openid, unionid, huawei_openid, huawei_unionid, status, no_reminders }: EndUserDoc) {
  const reminder_mail = no_reminders ? '0' : '1'
  return { id: String(_id), openid, unionid, huawei_openid, huawei_unionid, status, reminder_mail }
}

function aboutRecord({ target, before, after }: Deed): Record<string, unknown> {
  const record = after ?? before
  if (target.kind === 'user') return record ? aboutUser(record as EndUserDoc) : { id: target.id }
  if (target.kind === 'plan') {
    const { _id, name, status, version } = record as PlanDoc
    return { id: String(_id), name, status, version: String(version) }
  }
  const { name, type, version } = record as SwitchDoc
  return { name, type, version: String(version), deleted: after === undefined }
}
