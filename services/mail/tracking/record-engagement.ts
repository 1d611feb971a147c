/** Records opens and clicks: in the log of the message, and for webhooks and the live stream of the account. */
import type { Clock } from '../../platform/clock.ts'
import type { Mongo } from '../../platform/database/mongo.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/durations.ts'
import { createTtlCache } from '../../platform/ttl-cache.ts'
import { recipientIndex } from '../store/delivery.ts'
import type { EventDoc } from '../store/documents.ts'
import { findReported } from '../store/recipient-reports.ts'
import { explained } from '../store/rules/explanation.ts'
import { mailWebhooksOf, queueMailEvents } from '../webhooks/queue-mail-events.ts'
import { emailData } from '../webhooks/rules/mail-event.ts'
import { findEmailFacts } from '../webhooks/store/email-facts.ts'
import { type Engagement, engagementId, explainEngagement, mostEvents } from './rules/engagement.ts'
import { trackingOf } from './rules/track-choice.ts'
import { addEngagement, countEngagements } from './store/engagement-events.ts'
import type { FindTrackedDomain } from './tracked-domains.ts'

/**
 * Records what happened unless it was recorded in this hour, there are too many events, the message has left the log, or
 * its domain tracks no more. Rejects when the database is away.
 */
export type RecordEngagement = (engagement: Engagement) => Promise<void>

/** Dependencies of {@link createRecordEngagement}. */
export interface RecordEngagementDeps {
  mongo: Mongo
  clock: Clock
  /** How long the delivery log keeps an entry. */
  logDays: number
  findDomain: FindTrackedDomain
}

/** What this process recorded, or found not to be recorded, is not looked up again for this time: links may be followed by machines in a loop. */
const KNOWN_MS = 5 * MINUTE_MS
const KNOWN = 50_000

/** One per process. */
export function createRecordEngagement(deps: RecordEngagementDeps): RecordEngagement {
  const known = createTtlCache<void>({ ttlMs: KNOWN_MS, max: KNOWN, clock: deps.clock, isCacheable: () => true })
  return engagement => {
    const now = deps.clock.now()
    const id = engagementId(engagement, now)
    return known.get(id, () => record(deps, engagement, id, now))
  }
}

async function record(
  { mongo, clock, logDays, findDomain }: RecordEngagementDeps,
  engagement: Engagement,
  id: string,
  at: Date,
): Promise<void> {
  const { kind, deliveryId, url, userAgent, machine } = engagement
  const messageId = deliveryId.slice(0, deliveryId.lastIndexOf('.'))
  const [found, facts] = await Promise.all([
    findReported(mongo, messageId, recipientIndex(deliveryId)),
    findEmailFacts(mongo.db, [messageId]).then(all => all.get(messageId)),
  ])
  if (!found || !facts) return
  const { user_id: userId } = found.message
  const { email } = found.state
  const wanted = trackingOf((await findDomain(facts.domain_id))?.tracking, undefined)
  if (!(kind === 'opened' ? wanted.opens : wanted.clicks)) return
  const most = mostEvents(kind, found.message.rcpts.length)
  if ((await countEngagements(mongo.db, deliveryId, kind, most)) >= most) return
  const program = { ...(userAgent !== '' && { user_agent: userAgent }), ...(machine && { machine: true as const }) }
  const event: EventDoc = {
    ...{ _id: id, m: messageId, user_id: userId, rcpt: email, attempt: 0, type: kind, at, ms: 0 },
    ...explained(explainEngagement(engagement)),
    ...program,
    ...(url !== undefined && { url }),
    exp: new Date(at.getTime() + logDays * DAY_MS),
  }
  const about = { userId, domainId: facts.domain_id, at, key: id }
  const data = { ...emailData(facts, email), ...program }
  await mongo.transaction(async session => {
    // Only the process that adds the event queues it.
    if (!(await addEngagement(mongo.db, event, session))) return
    const queued =
      url === undefined
        ? { ...about, type: 'email.opened' as const, data }
        : { ...about, type: 'email.clicked' as const, data: { ...data, url } }
    await queueMailEvents(mailWebhooksOf({ mongo, clock }), [queued], session)
  })
}
