/** Reminders before a subscription ends: their dates and texts. */
import { addDays } from '../../rules/time-zone.ts'

/** One kind of reminder: days before the end. */
export interface ReminderKind {
  name: 'ends_in_7' | 'ends_in_3' | 'ends_in_1' | 'renews_in_5'
  days: number
  /** For subscriptions that renew automatically, or for the others. */
  autoRenew: boolean
}

/**
 * 7, 3 and 1 days before the end; before an automatic renewal only one, 5 days: the conspicuous notice required by
 * China's Online Transaction Measures (article 18).
 */
export const REMINDERS: readonly ReminderKind[] = [
  { name: 'ends_in_7', days: 7, autoRenew: false },
  { name: 'ends_in_3', days: 3, autoRenew: false },
  { name: 'ends_in_1', days: 1, autoRenew: false },
  { name: 'renews_in_5', days: 5, autoRenew: true },
]

/** The day on which subscriptions end that are reminded today. */
export function endingDay(today: string, { days }: ReminderKind): string {
  return addDays(today, days)
}

/** Values in the text of a reminder. */
export interface ReminderFacts {
  appName: string
  planName: string
  nickname: string
  /** `YYYY-MM-DD HH:MM:SS` in the business zone. */
  end: string
  /** In yuan. */
  price: string
  /** Unsubscribe link. A notice of an automatic renewal has none, because the app must send it. */
  stopUrl?: string | undefined
}

/** Subject and text, Chinese first and English below: the language of the reader is unknown. */
export function reminderText({ autoRenew }: ReminderKind, facts: ReminderFacts): { subject: string; text: string } {
  const { appName, planName, nickname, end, price, stopUrl } = facts
  const zh = autoRenew
    ? `您的「${planName}」将于 ${end} 自动续费，金额 ${price} 元。如不再需要，请在此之前关闭自动续费。`
    : `您的「${planName}」将于 ${end} 到期。如需继续使用，请在此之前续费。`
  const en = autoRenew
    ? `Your plan "${planName}" renews automatically on ${end} for CNY ${price}. If you no longer need it, turn the renewal off before then.`
    : `Your plan "${planName}" ends on ${end}. Renew it before then to keep using it.`
  const subject = autoRenew
    ? `[${appName}] 自动续费提醒 / Renewal notice`
    : `[${appName}] 订阅即将到期 / Your plan ends soon`
  const name = nickname === '' ? '' : ` ${nickname}`
  const stop = stopUrl === undefined ? '' : `\n不再接收到期提醒 / No more reminders:\n${stopUrl}\n`
  const text = `您好${name}，\n\n${zh}\n\n--\n\nHello${name},\n\n${en}\n\n${appName}\n${stop}`
  return { subject: oneLine(subject), text }
}

/** Names are user input and must not start a new header line. */
function oneLine(value: string): string {
  return value.replaceAll(/[\r\n\t]+/g, ' ')
}
