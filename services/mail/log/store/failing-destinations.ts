/** Destinations that fail: recipient domains of the newest messages with failures, and the last reply of each. */
import { collectionOf, type Db } from '../../../platform/database/mongo.ts'
import { FAILURE_KINDS } from '../../delivery/rules/failure-kinds.ts'
import { domainOf } from '../../message/address.ts'
import type { EventDoc, MessageDoc, RecipientState } from '../../store/documents.ts'
import { EVENTS } from '../../store/events.ts'
import { firstIdAt, INDEXED_STATUSES, MESSAGES, STATUS_INDEX } from '../../store/messages.ts'
import { SIMULATOR_DOMAIN } from '../../store/rules/simulation.ts'
import { FAILED_STATUSES } from '../rules/failure-reason.ts'

/** Messages that are looked at. */
const NEWEST = 500
/** Failed recipients that are looked at, and those of one message: a message can have thousands. */
const RECIPIENTS = 20_000
const OF_MESSAGE = 1_000
/** Messages that are held in memory at a time. */
const BATCH = 10
/** Destinations that are named. */
const DESTINATIONS = 10
const MAX_MS = 5_000

/** A recipient domain, how many recipients failed there, and the latest one. */
export interface FailingDestination {
  domain: string
  counts: Record<(typeof FAILED_STATUSES)[number], number>
  messageId: string
  state: FailedState
  at: Date
  /** The last attempt or report of that recipient. */
  event: EventDoc | undefined
}

/**
 * Those with most failures first. Reads a bounded number of keys, documents and recipients, however many there are: of a
 * message with more than {@link OF_MESSAGE} failed recipients the others are not counted.
 */
export async function failingDestinations(db: Db, userId: string, since: Date): Promise<FailingDestination[]> {
  const found = new Map<string, FailingDestination & { recipient: string }>()
  let read = 0
  for await (const { _id, created_at: createdAt, failed } of newestFailing(db, userId, since)) {
    for (const { n, state } of failed) {
      const domain = domainOf(state.email)
      if (domain === SIMULATOR_DOMAIN) continue
      const known = found.get(domain) ?? {
        ...{ domain, counts: { deferred: 0, bounced: 0, failed: 0 }, event: undefined },
        ...{ messageId: _id, state, at: state.at ?? createdAt, recipient: `${_id}.${n}` },
      }
      known.counts[state.status]++
      found.set(domain, known)
    }
    read += failed.length
    if (read >= RECIPIENTS) break
  }
  const total = ({ counts: { deferred, bounced, failed } }: FailingDestination) => deferred + bounced + failed
  const worst = [...found.values()].toSorted((a, b) => total(b) - total(a)).slice(0, DESTINATIONS)
  return Promise.all(
    worst.map(async ({ recipient, ...destination }) => ({ ...destination, event: await lastEventOf(db, recipient) })),
  )
}

/** What is read of a failed recipient. */
type FailedState = Pick<RecipientState, 'email' | 'kind' | 'at'> & { status: (typeof FAILED_STATUSES)[number] }

/** A message with its failed recipients and their numbers in it. */
interface Failing extends Pick<MessageDoc, '_id' | 'created_at'> {
  failed: { n: number; state: FailedState }[]
}

/** The database takes the failed recipients out: a message to hundreds of others does not come over as a whole. */
function newestFailing(db: Db, userId: string, since: Date): AsyncIterable<Failing> {
  const rcpts = { $elemMatch: { status: { $in: [...FAILED_STATUSES] }, kind: { $in: [null, ...FAILURE_KINDS] } } }
  const state = { $arrayElemAt: ['$rcpts', '$$n'] }
  const numbered = { $map: { input: { $range: [0, { $size: '$rcpts' }] }, as: 'n', in: { n: '$$n', state } } }
  const isFailed = { $in: ['$$one.state.status', [...FAILED_STATUSES]] }
  const failed = { $filter: { input: numbered, as: 'one', cond: isFailed, limit: OF_MESSAGE } }
  return collectionOf(db, MESSAGES).aggregate<Failing>(
    [
      {
        $match: {
          ...{ user_id: userId, 'rcpts.status': { $in: [...INDEXED_STATUSES] }, rcpts },
          ...{ _id: { $gte: firstIdAt(since) }, test: { $ne: true } },
        },
      },
      { $sort: { _id: -1 } },
      { $limit: NEWEST },
      { $project: { created_at: 1, failed } },
      {
        $project: {
          created_at: 1,
          'failed.n': 1,
          ...{ 'failed.state.email': 1, 'failed.state.status': 1, 'failed.state.kind': 1, 'failed.state.at': 1 },
        },
      },
    ],
    { hint: STATUS_INDEX, batchSize: BATCH, maxTimeMS: MAX_MS },
  )
}

/** Ids of events begin with that of the delivery and `#`; a message has few events for a recipient. */
async function lastEventOf(db: Db, delivery: string): Promise<EventDoc | undefined> {
  const events = await collectionOf(db, EVENTS)
    .find(
      {
        _id: { $gte: `${delivery}#`, $lt: `${delivery}$` },
        type: { $in: ['deferred', 'bounced', 'failed', 'expired'] },
      },
      { projection: { conversation: 0 }, maxTimeMS: MAX_MS },
    )
    .limit(100)
    .toArray()
  return events.toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.attempt - b.attempt).at(-1)
}
