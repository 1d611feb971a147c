/** Webhooks and the events on their way to them, in two collections of the API that they belong to. */
import * as field from '../database/fields.ts'
import type { Model } from '../database/models.ts'
import { type Collection, type IndexDefinition, isDuplicateKey, type Session } from '../database/mongo.ts'
import { afterPosition } from '../database/read-page.ts'
import { DAY_SECONDS } from '../durations.ts'
import { newId } from '../ids.ts'
import { managed, releasedBy } from '../managed/managed-fields.ts'
import { inEnglish, type Sentence, sentence } from '../sentences/sentence.ts'

/** What the model of every webhook has. */
export const webhookFields = {
  _id: field.text,
  url: field.text,
  enabled: field.flag,
  /** The secret of its signatures, sealed. */
  sealed: field.text,
  /** The secret before the last rotation: signs as well until this time. */
  previous: field.optional(field.part({ sealed: field.text, until: field.date })),
  /** Its attempts since the last success; absent while they succeed. */
  failing: field.optional(
    field.part({
      since: field.date,
      /** Turns without any success. */
      turns: field.number,
      /** No attempt begins before this time. */
      paused_until: field.date,
    }),
  ),
  /** The platform disabled it; `notify`: its owner has not been told yet. */
  disabled: field.optional(
    field.part({ at: field.date, reason: field.unchecked<Sentence>(), notify: field.optional(Boolean) }),
  ),
  ...managed,
  released_by: releasedBy,
  ...field.times,
}

/** How long an event stays, whatever its state: as the delivery log of the webhook. */
export const EVENT_DAYS = 30

/** Indexes that the collection of events of every API needs. */
export const EVENT_INDEXES: readonly IndexDefinition[] = [
  // One step for each webhook finds what waits; also the queue of one webhook.
  { key: { state: 1, webhook_id: 1, due: 1 } },
  { key: { webhook_id: 1, at: -1, _id: -1 } },
  { key: { at: 1 }, expireAfterSeconds: EVENT_DAYS * DAY_SECONDS },
]

/** Type of the event that a person sends to try a webhook. */
export const TEST_EVENT = 'webhook.test'

/** Where events go: those of the types in `events`, or all when there are none. */
export type WebhookEndpoint = field.Fields<typeof webhookFields> & { events: readonly string[] }

/** One attempt as the delivery log keeps it. The body of the request follows from the event. */
export interface AttemptRecord {
  at: Date
  /** Duration in milliseconds. */
  ms: number
  url: string
  /** Headers of the request. */
  headers: [string, string][]
  /** As in {@link WebhookEvent.result}. */
  result?: string
  reason?: Sentence
  /** The beginning of the answer, if there was one. */
  answer?: { status: number; headers: [string, string][]; body: string; cut?: true }
}

/** An event on its way to one webhook: stored with the change that it reports. `_id` is the `webhook-id`. */
export interface WebhookEvent {
  _id: string
  webhook_id: string
  type: string
  data: Record<string, unknown>
  state: 'waiting' | 'done' | 'failed'
  /** Also names the claim: it only grows. */
  attempts: number
  /** Attempts before the last replay, which the retry times do not count. */
  earlier?: number
  due: Date
  /** What the last attempt came to: an HTTP status, or a sentence in English. */
  result?: string
  /** Code and parameters of `result` where it is a sentence, or what we add to a status. */
  reason?: Sentence
  /** The last attempts, oldest first. Lists leave it out. */
  log?: AttemptRecord[]
  at: Date
}

/** The webhooks of one API: its collections, and the fields of its documents beyond the shared ones. */
export interface WebhookStore<W extends WebhookEndpoint, E extends WebhookEvent> {
  endpoints: Model<W>
  events: Collection<E>
  /** Field of both documents with the app or account that they belong to. */
  owner: string & keyof W & keyof E
  /** Names of personal data in `data`: removed as soon as an event is final. */
  personal: readonly string[]
}

/** Webhooks of an owner, oldest first. */
export async function listWebhooks<W extends WebhookEndpoint, E extends WebhookEvent>(
  { endpoints, owner }: WebhookStore<W, E>,
  ownerId: string,
): Promise<W[]> {
  const filter: object = { [owner]: ownerId }
  return endpoints.find(filter).sort({ created_at: 1, _id: 1 }).lean<W[]>()
}

/** The webhook with this id. */
export async function findWebhook<W extends WebhookEndpoint, E extends WebhookEvent>(
  { endpoints }: WebhookStore<W, E>,
  id: string,
  session?: Session,
): Promise<W | undefined> {
  const filter: object = { _id: id }
  return (await endpoints.findOne(filter, null, session ? { session } : {}).lean<W>()) ?? undefined
}

/** Those of these webhooks that exist. */
export async function findWebhooks<W extends WebhookEndpoint, E extends WebhookEvent>(
  { endpoints }: WebhookStore<W, E>,
  ids: readonly string[],
): Promise<W[]> {
  const filter: object = { _id: { $in: [...ids] } }
  return endpoints.find(filter).lean<W[]>()
}

/** Removes a webhook with what waits for it. */
export async function removeWebhook<W extends WebhookEndpoint, E extends WebhookEvent>(
  { endpoints, events }: WebhookStore<W, E>,
  id: string,
  session: Session,
): Promise<void> {
  const [webhook, waiting]: object[] = [{ _id: id }, { webhook_id: id, state: 'waiting' }]
  await endpoints.deleteOne(webhook, { session })
  await events.deleteMany(waiting, { session })
}

/**
 * The event for each webhook that wants it. With a key it is stored once for each webhook, however often it is published.
 */
export function eventsFor<W extends WebhookEndpoint>(
  webhooks: readonly W[],
  { type, data, key, at }: Pick<WebhookEvent, 'type' | 'data' | 'at'> & { key?: string | undefined },
): WebhookEvent[] {
  return webhooks
    .filter(({ enabled, events }) => enabled && (events.length === 0 || events.includes(type)))
    .map(({ _id }) => ({
      _id: key === undefined ? newId('msg', at.getTime()) : `${key}:${_id}`,
      ...{ webhook_id: _id, type, data, state: 'waiting' as const, attempts: 0, due: at, at },
    }))
}

/** Queues events; one that was stored before is not changed. */
export async function insertEvents<E extends WebhookEvent>(
  events: Collection<E>,
  documents: readonly E[],
  session?: Session,
): Promise<void> {
  if (documents.length === 0) return
  if (session) {
    // A duplicate key would end the transaction.
    const writes = documents.map(({ _id, ...rest }) => {
      const [filter, update]: object[] = [{ _id }, { $setOnInsert: rest }]
      return { updateOne: { filter, update, upsert: true } }
    })
    await events.bulkWrite(writes as unknown as Parameters<typeof events.bulkWrite>[0], { session })
    return
  }
  try {
    const given = documents as unknown as Parameters<typeof events.insertMany>[0]
    await events.insertMany(given, { ordered: false })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}

/** A webhook whose queue is not empty, and when its first event is due. */
export interface WaitingWebhook {
  id: string
  due: Date
}

/** The webhooks that events are due for: one step of the index for each webhook, however long the queues are. */
export async function dueWebhooks<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events }: Pick<WebhookStore<W, E>, 'events'>,
  now: Date,
): Promise<WaitingWebhook[]> {
  const heads = events.aggregate<{ _id: string; due: Date }>(
    [
      { $match: { state: 'waiting' } },
      { $sort: { webhook_id: 1, due: 1 } },
      { $group: { _id: '$webhook_id', due: { $first: '$due' } } },
    ],
    { hint: { state: 1, webhook_id: 1, due: 1 }, batchSize: 10_000 },
  )
  const found: WaitingWebhook[] = []
  for await (const { _id, due } of heads) if (due <= now) found.push({ id: _id, due })
  return found
}

/** Claims the next due event of a webhook; it becomes due again at `retryAt` unless it is settled before. */
export async function claimEvent<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events }: Pick<WebhookStore<W, E>, 'events'>,
  webhookId: string,
  now: Date,
  retryAt: Date,
): Promise<E | undefined> {
  const due: object = { state: 'waiting', webhook_id: webhookId, due: { $lte: now } }
  const claim: object = { $set: { due: retryAt }, $inc: { attempts: 1 } }
  const options = { sort: { due: 1 }, returnDocument: 'after', projection: { log: 0 } } as const
  return ((await events.findOneAndUpdate(due, claim, options)) as E | null) ?? undefined
}

/** What an attempt changes in its event. */
export type Settlement = Pick<WebhookEvent, 'state' | 'result' | 'reason'> & { due?: Date; record?: AttemptRecord }

/** Attempts that the log of an event keeps. */
const KEPT_ATTEMPTS = 20

/**
 * Writes what an attempt came to; one that another worker has taken over is left to it. An event that is over forgets the
 * person that it was about.
 */
export async function settleEvent<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events, personal }: Pick<WebhookStore<W, E>, 'events' | 'personal'>,
  { _id, attempts }: Pick<WebhookEvent, '_id' | 'attempts'>,
  { record, reason, ...change }: Settlement,
): Promise<void> {
  const claimed: object = { _id, attempts, state: 'waiting' }
  const removed = { ...(change.state !== 'waiting' && withoutPerson(personal)), ...(!reason && { reason: '' }) }
  const update: object = {
    $set: { ...change, ...(reason && { reason }) },
    ...(Object.keys(removed).length > 0 && { $unset: removed }),
    ...(record && { $push: { log: { $each: [record], $slice: -KEPT_ATTEMPTS } } }),
  }
  await events.updateOne(claimed, update)
}

/** Ends all that waits for a webhook; resolves to how many events. */
export async function endEvents<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events, personal }: Pick<WebhookStore<W, E>, 'events' | 'personal'>,
  webhookId: string,
  reason: Sentence,
): Promise<number> {
  const waiting: object = { webhook_id: webhookId, state: 'waiting' }
  return end({ events, personal }, waiting, reason)
}

async function end<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events, personal }: Pick<WebhookStore<W, E>, 'events' | 'personal'>,
  filter: object,
  reason: Sentence,
): Promise<number> {
  const removed = withoutPerson(personal)
  const update: object = {
    $set: { state: 'failed', result: inEnglish(reason), reason },
    ...(personal.length > 0 && { $unset: removed }),
  }
  return (await events.updateMany(filter, update)).modifiedCount
}

/** Ends the oldest events of a webhook that has more than `limit` waiting; resolves to how many. */
export async function dropExcess<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events, personal }: Pick<WebhookStore<W, E>, 'events' | 'personal'>,
  webhookId: string,
  limit: number,
): Promise<number> {
  const waiting: object = { webhook_id: webhookId, state: 'waiting' }
  const count = await events.countDocuments(waiting, { limit: limit + DROP_AT_ONCE })
  if (count <= limit) return 0
  const oldest = await events
    .find(waiting, { projection: { _id: 1 } })
    .sort({ at: 1, _id: 1 })
    .limit(count - limit)
    .toArray()
  const ids: object = { _id: { $in: oldest.map(({ _id }) => _id) }, state: 'waiting' }
  return end({ events, personal }, ids, sentence('webhook.dropped', { limit }))
}

/** Excess that one call ends at most. */
const DROP_AT_ONCE = 20_000

/** `$unset` for the person in the data of events. */
export function withoutPerson(personal: readonly string[]): Record<string, ''> {
  return Object.fromEntries(personal.map(name => [`data.${name}`, '' as const]))
}

/** Which events of a webhook a list shows. */
export interface EventFilter {
  state?: WebhookEvent['state'] | undefined
  type?: string | undefined
  /** Values of further fields by their paths, for which the collection has an index. */
  fields?: Record<string, string> | undefined
}

/** A page of the events of a webhook and one more, newest first by default, without their logs. `after`: id of the last one known. */
export async function listEvents<E extends WebhookEvent>(
  events: Collection<E>,
  webhookId: string,
  { state, type, fields }: EventFilter,
  { after, limit, order = 'desc' }: { after?: string | undefined; limit: number; order?: 'asc' | 'desc' | undefined },
): Promise<E[]> {
  const oldestFirst = order === 'asc'
  const wanted: object = { webhook_id: webhookId, ...(state && { state }), ...(type && { type }), ...fields }
  const last: object = { _id: after, webhook_id: webhookId }
  const position = after === undefined ? null : await events.findOne(last, { projection: { at: 1 } })
  if (after !== undefined && !position) return []
  const filter = position
    ? { ...wanted, ...afterPosition({ at: position.at as Date, id: String(after) }, 'at', oldestFirst) }
    : wanted
  const found = events.find(filter as typeof wanted, { projection: { log: 0 } })
  return (await found
    .sort(oldestFirst ? { at: 1, _id: 1 } : { at: -1, _id: -1 })
    .limit(limit + 1)
    .maxTimeMS(LIST_MS)
    .toArray()) as E[]
}

/** Longest search of a list. */
const LIST_MS = 5_000

/** An event of a webhook with its log. */
export async function findEvent<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events }: Pick<WebhookStore<W, E>, 'events'>,
  webhookId: string,
  id: string,
): Promise<E | undefined> {
  const filter: object = { _id: id, webhook_id: webhookId }
  return ((await events.findOne(filter)) as E | null) ?? undefined
}

/** The last events of a webhook, newest first. */
export async function latestEvents<E extends WebhookEvent>(
  events: Collection<E>,
  webhookId: string,
  limit: number,
): Promise<E[]> {
  const filter: object = { webhook_id: webhookId }
  const found = events.find(filter, { projection: { log: 0 } })
  return (await found.sort({ at: -1 }).limit(limit).toArray()) as E[]
}
