/** Ends mail of a stream to a recipient who asked for it. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { type Sentence, sentence } from '../../platform/sentences/sentence.ts'
import { recipientIndex } from '../store/delivery.ts'
import { appendEvents, reportEventId } from '../store/events.ts'
import { findReported } from '../store/recipient-reports.ts'
import { explained } from '../store/rules/explanation.ts'
import { addSuppressions } from '../suppressions/add-suppressions.ts'
import { mailWebhooksOf, queueMailEvents } from '../webhooks/queue-mail-events.ts'
import { emailData } from '../webhooks/rules/mail-event.ts'
import { findEmailFacts } from '../webhooks/store/email-facts.ts'
import type { Subscriber } from './unsubscribe-link.ts'

/** How the recipient asked: by the one click of a mail program (RFC 8058), on the page, or by mail. */
export type UnsubscribeMethod = 'one_click' | 'page' | 'mail'

/** Dependencies of {@link unsubscribe}. */
export interface UnsubscribeDeps {
  mongo: Mongo
  clock: Clock
  /** How long the delivery log keeps an entry. */
  logDays: number
}

/**
 * Suppresses the address for the stream, durably; then writes it to the log of the message and queues the event for
 * webhooks, while the message is in the log. Repeating it changes nothing. Rejects when the database is away.
 */
export async function unsubscribe(
  { mongo, clock, logDays }: UnsubscribeDeps,
  { userId, deliveryId, stream, email }: Subscriber,
  method: UnsubscribeMethod,
): Promise<void> {
  const messageId = deliveryId.slice(0, deliveryId.lastIndexOf('.'))
  const entry = { userId, email, reason: 'unsubscribe', origin: 'unsubscribe', stream, emailId: messageId } as const
  await addSuppressions({ db: mongo.db, clock }, [entry])
  const found = await findReported(mongo, messageId, recipientIndex(deliveryId))
  if (!found || found.message.user_id !== userId) return
  const now = clock.now()
  const event = {
    ...{ _id: reportEventId(deliveryId, 'unsubscribed'), m: messageId, user_id: userId, rcpt: email },
    ...{ attempt: 0, type: 'unsubscribed' as const, at: now, ms: 0 },
    ...explained(SENTENCES[method](stream)),
    exp: new Date(now.getTime() + logDays * DAY_MS),
  }
  await appendEvents(mongo, [event])
  const facts = (await findEmailFacts(mongo.db, [messageId])).get(messageId)
  if (!facts) return
  const data = { ...emailData(facts, email), method }
  const about = { userId, domainId: facts.domain_id, at: now, key: `${event._id}:${stream}` }
  await queueMailEvents(mailWebhooksOf({ mongo, clock }), [{ ...about, type: 'email.unsubscribed', data }])
}

const SENTENCES: Readonly<Record<UnsubscribeMethod, (stream: string) => Sentence>> = {
  one_click: stream => sentence('streams.unsubscribed_by_click', { stream }),
  page: stream => sentence('streams.unsubscribed_on_page', { stream }),
  mail: stream => sentence('streams.unsubscribed_by_mail', { stream }),
}
