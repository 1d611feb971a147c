/**
 * Queues events for the webhooks of accounts. Whoever changes something calls this in the transaction of the change, or
 * before the write that ends it: queueing an event again under its key changes nothing.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Session } from '../../platform/database/mongo.ts'
import { createTtlCache, type TtlCache } from '../../platform/ttl-cache.ts'
import { eventsFor, insertEvents } from '../../platform/webhooks/event-queue.ts'
import type { MailEvent } from './rules/mail-event.ts'
import { hasType } from './rules/resend-format.ts'
import { isAccountEvent, recordAccountEvents } from './store/account-events.ts'
import {
  findEnabledWebhooks,
  type MailWebhookDoc,
  type MailWebhookEventDoc,
  mailWebhookStore,
} from './store/webhook-collections.ts'

export type { MailEvent } from './rules/mail-event.ts'

/** The webhooks of accounts as a process knows them: at most 5 s old, so that accounts without any cost nothing. */
export interface MailWebhooks {
  db: Db
  /** Enabled webhooks by account. */
  known: TtlCache<readonly MailWebhookDoc[]>
}

const KNOWN_MS = 5_000
const KNOWN_ACCOUNTS = 10_000

/** One per process and database: a change that this process makes counts immediately. */
const opened = new WeakMap<Db, MailWebhooks>()

/** The webhooks of this database in this process. */
export function mailWebhooksOf({ mongo: { db }, clock }: { mongo: { db: Db }; clock: Clock }): MailWebhooks {
  const found = opened.get(db)
  if (found) return found
  const known = createTtlCache<readonly MailWebhookDoc[]>({
    ...{ ttlMs: KNOWN_MS, refreshMs: KNOWN_MS / 2, max: KNOWN_ACCOUNTS, clock },
    isCacheable: () => true,
  })
  const made = { db, known }
  opened.set(db, made)
  return made
}

/** Stores each event for each webhook that wants it, and for those who follow the account live. */
export async function queueMailEvents(
  context: MailWebhooks,
  events: readonly MailEvent[],
  session?: Session,
): Promise<void> {
  if (events.length === 0) return
  const documents = await mailEventDocuments(context, events)
  await insertEvents(mailWebhookStore(context.db).events, documents, session)
  await recordAccountEvents(context.db, events.filter(isAccountEvent), session)
}

/** The documents that {@link queueMailEvents} stores, for those who store them with a batch of their own. */
export async function mailEventDocuments(
  context: MailWebhooks,
  events: readonly MailEvent[],
): Promise<MailWebhookEventDoc[]> {
  const webhooks = await webhooksOf(
    context,
    events.map(({ userId }) => userId),
  )
  return events.flatMap(event => {
    const wanting = (webhooks.get(event.userId) ?? []).filter(
      webhook => isAbout(webhook, event.domainId) && hasType(webhook.format, event.type),
    )
    const data = { ...event.data }
    return eventsFor(wanting, { type: event.type, data, key: event.key, at: event.at }).map(document => ({
      ...document,
      _id: idOf(document._id),
      type: event.type,
      user_id: event.userId,
    }))
  })
}

/** Keys have dots, which separate the parts of what is signed: an id must not have any (Standard Webhooks). */
function idOf(key: string): string {
  return `msg_${createHash('sha256').update(key).digest('base64url').slice(0, 32)}`
}

/** The accounts among these that have enabled webhooks, with them; one query for all that are not known. */
export async function webhooksOf(
  { db, known }: MailWebhooks,
  userIds: Iterable<string>,
): Promise<ReadonlyMap<string, readonly MailWebhookDoc[]>> {
  const users = [...new Set(userIds)]
  let loading: Promise<Map<string, MailWebhookDoc[]>> | undefined
  const load = () => {
    loading ??= findEnabledWebhooks(db, users).then(found => Map.groupBy(found, ({ user_id }) => user_id))
    return loading
  }
  const found = await Promise.all(
    users.map(async user => [user, await known.get(user, async () => (await load()).get(user) ?? [])] as const),
  )
  return new Map(found.filter(([, webhooks]) => webhooks.length > 0))
}

function isAbout({ domain_ids }: MailWebhookDoc, domainId: string | undefined): boolean {
  return domain_ids.length === 0 || (domainId !== undefined && domain_ids.includes(domainId))
}
