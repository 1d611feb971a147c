/** Webhooks and the events on their way to them, in two collections of the API that they belong to. */
import * as field from '../database/fields.ts'
import type { Model } from '../database/models.ts'
import { type Collection, isDuplicateKey, type Session } from '../database/mongo.ts'
import { newId } from '../ids.ts'

/** What the model of every webhook has. */
export const webhookFields = {
  _id: field.text,
  url: field.text,
  enabled: field.flag,
  /** The secret of its signatures, sealed. */
  sealed: field.text,
  ...field.times,
}

/** Where events go: those of the types in `events`, or all when there are none. */
export type WebhookEndpoint = field.Fields<typeof webhookFields> & { events: readonly string[] }

/** An event on its way to one webhook: stored with the change that it reports. `_id` is the `webhook-id`. */
export interface WebhookEvent {
  _id: string
  webhook_id: string
  type: string
  data: Record<string, unknown>
  state: 'waiting' | 'done' | 'failed'
  attempts: number
  due: Date
  /** What the last try came to: an HTTP status, or a sentence. */
  result?: string
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

type Owned<D> = D & Record<string, unknown>

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
  try {
    const given = documents as unknown as Parameters<typeof events.insertMany>[0]
    await events.insertMany(given, { ordered: false, ...(session ? { session } : {}) })
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}

/**
 * Claims the next due event of owners other than `except`; it becomes due again at `retryAt` unless it is settled
 * before.
 */
export async function claimEvent<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events, owner }: WebhookStore<W, E>,
  now: Date,
  retryAt: Date,
  except: readonly string[] = [],
): Promise<E | undefined> {
  const due: object = {
    state: 'waiting',
    due: { $lte: now },
    ...(except.length > 0 && { [owner]: { $nin: [...except] } }),
  }
  const claim: object = { $set: { due: retryAt }, $inc: { attempts: 1 } }
  const claimed = await events.findOneAndUpdate(due, claim, { sort: { due: 1 }, returnDocument: 'after' })
  return (claimed as E | null) ?? undefined
}

/**
 * Writes what a try came to; one that another worker has taken over is left to it. An event that is over forgets the
 * person that it was about.
 */
export async function settleEvent<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events, personal }: Pick<WebhookStore<W, E>, 'events' | 'personal'>,
  { _id, attempts }: WebhookEvent,
  change: Pick<WebhookEvent, 'state' | 'result'> & { due?: Date },
): Promise<void> {
  const claimed: object = { _id, attempts, state: 'waiting' }
  const update: object = { $set: change, ...(change.state !== 'waiting' && { $unset: withoutPerson(personal) }) }
  await events.updateOne(claimed, update)
}

/** `$unset` for the person in the data of events. */
export function withoutPerson(personal: readonly string[]): Record<string, ''> {
  return Object.fromEntries(personal.map(name => [`data.${name}`, '' as const]))
}

/** The last events of a webhook, newest first. */
export async function latestEvents<E extends WebhookEvent>(
  events: Collection<E>,
  webhookId: string,
  limit: number,
): Promise<E[]> {
  const filter: object = { webhook_id: webhookId }
  return (await events.find(filter).sort({ at: -1 }).limit(limit).toArray()) as E[]
}

/** The owner of a webhook or event. */
export function ownerOf<W extends WebhookEndpoint, E extends WebhookEvent>(
  { owner }: WebhookStore<W, E>,
  document: W | E,
): string {
  return String((document as Owned<W | E>)[owner])
}
