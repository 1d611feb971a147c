/** Attempts that a person requests: a test event, an event again, all events of a time again. Ids stay the same. */
import { DAY_MS } from '../durations.ts'
import { newId } from '../ids.ts'
import {
  EVENT_DAYS,
  findEvent,
  TEST_EVENT,
  type WebhookEndpoint,
  type WebhookEvent,
  type WebhookStore,
} from './event-queue.ts'
import { noteTurn, type TurnFindings } from './webhook-health.ts'
import { CLAIM_MS, type Sending, sendClaimed } from './webhook-turn.ts'

/** Events are replayed so many days back: each then has the time of all its attempts before it is removed. */
const REPLAY_DAYS = EVENT_DAYS - 4
/** Events that one request replays at most. */
const REPLAY_AT_ONCE = 10_000

/** Sends a test event and waits for the answer; it is not repeated. `owner`: the fields of an event that name its owner. */
export async function sendTest<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  webhook: W,
  owner: Partial<E>,
): Promise<E> {
  const { store, clock } = sending
  const at = clock.now()
  const event = {
    ...owner,
    ...{
      _id: newId('msg', at.getTime()),
      webhook_id: webhook._id,
      type: TEST_EVENT,
      data: { webhook_id: webhook._id },
    },
    ...{ state: 'waiting', attempts: 1, due: new Date(at.getTime() + CLAIM_MS), at },
  } as unknown as E
  await store.events.insertOne(event as Parameters<typeof store.events.insertOne>[0])
  return sendNow(sending, webhook, event)
}

/** Sends an event that is over again and waits for the answer; undefined while it waits, or when there is none. */
export async function replayEvent<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  webhook: W,
  id: string,
): Promise<E | undefined> {
  const { store, clock } = sending
  const over: object = { _id: id, webhook_id: webhook._id, state: { $ne: 'waiting' } }
  const due = new Date(clock.now().getTime() + CLAIM_MS)
  const again: object[] = [
    { $set: { state: 'waiting', due, earlier: '$attempts', attempts: { $add: ['$attempts', 1] } } },
  ]
  const event = await store.events.findOneAndUpdate(over, again, { returnDocument: 'after', projection: { log: 0 } })
  return event ? sendNow(sending, webhook, event as E) : undefined
}

/** A time whose events are sent again. */
export interface ReplayRange {
  since: Date
  until: Date
  /** Leave out what was delivered. */
  failedOnly: boolean
}

/** What a replay of a time did. */
export interface Replayed {
  replayed: number
  /** Time of the first event that was left out: the next request begins there. Absent: the replay is complete. */
  next?: Date
}

/** Queues the events of a time that are over again, the oldest first; at most `most`. */
export async function replayRange<W extends WebhookEndpoint, E extends WebhookEvent>(
  { events }: WebhookStore<W, E>,
  webhookId: string,
  { since, until, failedOnly }: ReplayRange,
  now: Date,
  most = REPLAY_AT_ONCE,
): Promise<Replayed> {
  const earliest = new Date(Math.max(since.getTime(), now.getTime() - REPLAY_DAYS * DAY_MS))
  const range: object = {
    ...{ webhook_id: webhookId, at: { $gte: earliest, $lte: until }, type: { $ne: TEST_EVENT } },
    state: failedOnly ? 'failed' : { $in: ['done', 'failed'] },
  }
  const found = await events
    .find(range, { projection: { _id: 1, at: 1 } })
    .sort({ at: 1, _id: 1 })
    .limit(most + 1)
    .toArray()
  const ids = found.slice(0, most).map(({ _id }) => _id)
  const over: object = { _id: { $in: ids }, state: { $ne: 'waiting' } }
  const { modifiedCount } = await events.updateMany(over, [
    { $set: { state: 'waiting', due: now, earlier: '$attempts' } },
  ])
  const next = found[most]?.at
  return { replayed: modifiedCount, ...(next && { next: next as Date }) }
}

/** Attempts a claimed event; a success ends the pause of a webhook that was failing. */
async function sendNow<W extends WebhookEndpoint, E extends WebhookEvent>(
  sending: Sending<W, E>,
  webhook: W,
  event: E,
): Promise<E> {
  const findings: TurnFindings = { succeeded: 0, failed: 0, isGone: false, askedMs: 0 }
  await sendClaimed(sending, webhook, event, findings)
  if (findings.succeeded > 0) await noteTurn(sending, webhook, findings)
  return (await findEvent(sending.store, webhook._id, event._id)) ?? event
}
