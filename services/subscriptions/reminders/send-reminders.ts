/** Reminds users by mail before their subscriptions end, and the app by an event where there is no address: once per subscription, period and kind. */

import { MINUTE_MS } from '../../platform/durations.ts'
import { findApp } from '../catalogue/store/apps.ts'
import type { Subscriptions } from '../context.ts'
import { findSubscription, streamEnding } from '../lifecycle/store/subscriptions.ts'
import { findUser } from '../people/store/end-users.ts'
import { formatCents } from '../rules/field-schemas.ts'
import { givesAccess } from '../rules/period.ts'
import { addDays, secondsOf } from '../rules/time-zone.ts'
import type { SubscriptionDoc } from '../store/documents.ts'
import { aboutSubscription, publishEvent } from '../webhooks/publish-event.ts'
import { endingDay, REMINDERS, type ReminderKind, reminderText } from './rules/reminder.ts'
import { claimReminder, leavePlace, markReminded, takePlace } from './store/reminders.ts'
import { unsubscribeUrl } from './unsubscribe-link.ts'

/** A mail to hand over. The same key always means the same mail, so a second hand-over sends nothing. */
export interface Reminder {
  /** `remind:<subscription>:<end>:<kind>`. */
  key: string
  appKey: string
  /** The sender that the app asks for; the mail half decides whether it may. */
  from?: string
  to: string
  subject: string
  text: string
  /** Where the reader, or the reader's mail program for it, ends such mail. */
  unsubscribeUrl?: string
}

/** The one use case that joins this half with the mail half; the main hands it over. Rejects when the mail cannot be taken. */
export type SendReminder = (reminder: Reminder) => Promise<void>

/** A claim without an end is taken over after so long: its worker died. */
const STALE_MS = 10 * MINUTE_MS
/** Nobody is reminded at night, whenever the job first runs. */
const FIRST_HOUR = 10
const LAST_HOUR = 20

/** Sends what is due today; gives the number of mails handed over. A mail that cannot be taken waits for the next run. */
export async function remind(s: Subscriptions, send: SendReminder, signal: AbortSignal): Promise<number> {
  const now = s.zone.format(s.clock.now())
  const hour = Number(now.slice(11, 13))
  if (hour < FIRST_HOUR || hour > LAST_HOUR) return 0
  const today = now.slice(0, 10)
  const places = placesOf(s, today)
  let sent = 0
  for (const kind of REMINDERS) {
    const day = endingDay(today, kind)
    const from = secondsOf(s.zone.startOf(day))
    const to = secondsOf(s.zone.startOf(addDays(day, 1)))
    for await (const subscription of streamEnding(s.c, from, to)) {
      if (signal.aborted) return sent
      if (subscription.auto_renew !== kind.autoRenew) continue
      if (await remindOne(s, { send, places }, subscription, kind)) sent++
    }
  }
  return sent
}

/** Which mails may still go out today. */
interface Places {
  take(appKey: string): Promise<boolean>
  leave(appKey: string): Promise<void>
}

/** So many reminders of an app a day: a mistake in its prices or dates must not cost the sender its good name. */
function placesOf(s: Subscriptions, day: string): Places {
  const limit = s.config.REMINDERS_PER_DAY
  const full = new Set<string>()
  return {
    async take(appKey) {
      if (full.has(appKey)) return false
      if (await takePlace(s.c, appKey, day, limit === 0 ? Number.MAX_SAFE_INTEGER : limit)) return true
      full.add(appKey)
      s.log.warn(
        { app: appKey, limit },
        'no more reminders of this app are mailed today; its webhooks hear of the rest',
      )
      return false
    },
    leave: appKey => leavePlace(s.c, appKey, day),
  }
}

async function remindOne(
  s: Subscriptions,
  { send, places }: { send: SendReminder; places: Places },
  { _id, app_key, end }: SubscriptionDoc,
  kind: ReminderKind,
): Promise<boolean> {
  const now = s.clock.now()
  const id = `${_id}/${end}/${kind.name}`
  const claim = { _id: id, app_key, subscription_id: _id, state: 'claimed' as const, at: now }
  const due = await write(s, { appKey: app_key, id: _id, end }, kind)
  if (!due || !(await claimReminder(s.c, claim, new Date(now.getTime() - STALE_MS)))) return false
  const { subscription } = due
  // The notice of a renewal is a duty, so nothing keeps it back.
  const counted = due.mail !== undefined && !kind.autoRenew
  const mail = counted && !(await places.take(app_key)) ? undefined : due.mail
  try {
    if (mail) await send(mail)
    else
      await publishEvent(s, {
        appKey: app_key,
        type: 'subscription.expiring_soon',
        key: `remind:${id}`,
        data: aboutSubscription(subscription),
      })
  } catch (error) {
    s.log.warn({ subscription: _id, kind: kind.name, err: error }, 'reminder not handed over; the next run tries again')
    if (mail && counted) await places.leave(app_key)
    return false
  }
  await markReminded(s.c, id, s.clock.now())
  return mail !== undefined
}

/** The mail, if there is an address that wants it, else only an event; undefined when a renewal came in between. */
async function write(
  s: Subscriptions,
  { appKey, id, end }: { appKey: string; id: number; end: number },
  kind: ReminderKind,
): Promise<{ subscription: SubscriptionDoc; mail: Reminder | undefined } | undefined> {
  const subscription = await findSubscription(s.c, appKey, id)
  if (subscription?.end !== end || !givesAccess(subscription, secondsOf(s.clock.now()))) return undefined
  const [app, user] = await Promise.all([findApp(s.c, appKey), findUser(s.c, appKey, subscription.user_id)])
  if (app?.status !== '1' || user?.status !== '1') return undefined
  if (!user.email || (user.no_reminders && !kind.autoRenew)) return { subscription, mail: undefined }
  const stopUrl = kind.autoRenew ? undefined : unsubscribeUrl(s, { appKey, id: user._id })
  const facts = {
    appName: app.app_name,
    planName: subscription.plan.name,
    nickname: user.nickname,
    end: s.zone.format(new Date(end * 1000)),
    price: formatCents(subscription.plan.price_cents),
    stopUrl,
  }
  const key = `remind:${id}:${end}:${kind.name}`
  const sender = app.mail_from ? { from: app.mail_from } : {}
  const link = stopUrl === undefined ? {} : { unsubscribeUrl: stopUrl }
  return { subscription, mail: { key, appKey, ...sender, to: user.email, ...reminderText(kind, facts), ...link } }
}
