/**
 * Sends reminders by mail before subscriptions end, and webhook events where there is no address: once per
 * subscription, period and kind.
 */

import { MINUTE_MS } from '../../platform/durations.ts'
import { findApp } from '../catalogue/store/apps.ts'
import type { Subscriptions } from '../context.ts'
import { aboutSubscription, publishEvent } from '../events/publish-event.ts'
import { findSubscription, streamEnding } from '../lifecycle/store/subscriptions.ts'
import { findUser } from '../people/store/end-users.ts'
import { formatCents } from '../rules/field-schemas.ts'
import { givesAccess } from '../rules/subscription-lifecycle.ts'
import { addDays, secondsOf } from '../rules/time-zone.ts'
import type { SubscriptionDoc } from '../store/documents.ts'
import { endingDay, REMINDERS, type ReminderKind, reminderText } from './rules/reminder.ts'
import { claimReminder, markReminded, releasePlace, takePlace } from './store/reminders.ts'
import { unsubscribeUrl } from './unsubscribe-link.ts'

/** A mail to submit. The key identifies it, so a second submission sends nothing. */
export interface Reminder {
  /** `remind:<subscription>:<end>:<kind>`. */
  key: string
  appKey: string
  /** The sender that the app configured; the mail module decides whether it is allowed. */
  from?: string
  to: string
  subject: string
  text: string
  /** Target of the unsubscribe link and header. */
  unsubscribeUrl?: string
}

/**
 * The only use case that joins this module with the mail module, injected by the entry point. Rejects when the mail is
 * not accepted.
 */
export type SendReminder = (reminder: Reminder) => Promise<void>

/** A claim without a result is taken over after this time: its worker stopped. */
const STALE_MS = 10 * MINUTE_MS
/** Earliest hour of reminders, in the business time zone. */
const FIRST_HOUR = 10
const LAST_HOUR = 20

/**
 * Sends the reminders that are due today; returns the number of accepted mails. A mail that is not accepted is tried
 * again by the next run.
 */
export async function remind(context: Subscriptions, send: SendReminder, signal: AbortSignal): Promise<number> {
  const now = context.zone.format(context.clock.now())
  const hour = Number(now.slice(11, 13))
  if (hour < FIRST_HOUR || hour > LAST_HOUR) return 0
  const today = now.slice(0, 10)
  const places = placesOf(context, today)
  let sent = 0
  for (const kind of REMINDERS) {
    const day = endingDay(today, kind)
    const from = secondsOf(context.zone.startOf(day))
    const to = secondsOf(context.zone.startOf(addDays(day, 1)))
    for await (const subscription of streamEnding(context.collections, from, to)) {
      if (signal.aborted) return sent
      if (subscription.auto_renew !== kind.autoRenew) continue
      if (await remindOne(context, { send, places }, subscription, kind)) sent++
    }
  }
  return sent
}

/** The daily quota of reminders. */
interface Places {
  take(appKey: string): Promise<boolean>
  release(appKey: string): Promise<void>
}

/**
 * Limits the reminders of an app per day: a mistake in its prices or dates must not damage the reputation of the
 * sender.
 */
function placesOf(context: Subscriptions, day: string): Places {
  const limit = context.config.REMINDERS_PER_DAY
  const full = new Set<string>()
  return {
    async take(appKey) {
      if (full.has(appKey)) return false
      if (await takePlace(context.collections, appKey, day, limit === 0 ? Number.MAX_SAFE_INTEGER : limit)) return true
      full.add(appKey)
      context.log.warn(
        { app: appKey, limit },
        'no more reminders of this app are mailed today; its webhooks hear of the rest',
      )
      return false
    },
    release: appKey => releasePlace(context.collections, appKey, day),
  }
}

async function remindOne(
  context: Subscriptions,
  { send, places }: { send: SendReminder; places: Places },
  { _id, app_key, end }: SubscriptionDoc,
  kind: ReminderKind,
): Promise<boolean> {
  const now = context.clock.now()
  const id = `${_id}/${end}/${kind.name}`
  const claim = { _id: id, app_key, subscription_id: _id, state: 'claimed' as const, at: now }
  const due = await write(context, { appKey: app_key, id: _id, end }, kind)
  if (!due || !(await claimReminder(context.collections, claim, new Date(now.getTime() - STALE_MS)))) return false
  const { subscription } = due
  // Notices of a renewal are mandatory, so no quota applies.
  const counted = due.mail !== undefined && !kind.autoRenew
  const mail = counted && !(await places.take(app_key)) ? undefined : due.mail
  try {
    if (mail) await send(mail)
    else
      await publishEvent(context, {
        appKey: app_key,
        type: 'subscription.expiring_soon',
        key: `remind:${id}`,
        data: aboutSubscription(subscription),
      })
  } catch (error) {
    context.log.warn(
      { subscription: _id, kind: kind.name, err: error },
      'reminder not handed over; the next run tries again',
    )
    if (mail && counted) await places.release(app_key)
    return false
  }
  await markReminded(context.collections, id, context.clock.now())
  return mail !== undefined
}

/** The mail, or only an event without a subscribed address; undefined when the subscription was renewed in parallel. */
async function write(
  context: Subscriptions,
  { appKey, id, end }: { appKey: string; id: number; end: number },
  kind: ReminderKind,
): Promise<{ subscription: SubscriptionDoc; mail: Reminder | undefined } | undefined> {
  const subscription = await findSubscription(context.collections, appKey, id)
  if (subscription?.end !== end || !givesAccess(subscription, secondsOf(context.clock.now()))) return undefined
  const [app, user] = await Promise.all([
    findApp(context.collections, appKey),
    findUser(context.collections, appKey, subscription.user_id),
  ])
  if (app?.status !== '1' || user?.status !== '1') return undefined
  if (!user.email || (user.no_reminders && !kind.autoRenew)) return { subscription, mail: undefined }
  const stopUrl = kind.autoRenew ? undefined : unsubscribeUrl(context, { appKey, id: user._id })
  const facts = {
    appName: app.app_name,
    planName: subscription.plan.name,
    nickname: user.nickname,
    end: context.zone.format(new Date(end * 1000)),
    price: formatCents(subscription.plan.price_cents),
    stopUrl,
  }
  const key = `remind:${id}:${end}:${kind.name}`
  const sender = app.mail_from ? { from: app.mail_from } : {}
  const link = stopUrl === undefined ? {} : { unsubscribeUrl: stopUrl }
  return { subscription, mail: { key, appKey, ...sender, to: user.email, ...reminderText(kind, facts), ...link } }
}
