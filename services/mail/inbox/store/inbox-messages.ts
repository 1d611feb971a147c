/** The inbox of a domain: its captured mail, newest first. Bounded by {@link trimInbox}, so that looking through all of it is. */
import type mongoose from 'mongoose'
import { collectionOf, type Mongo } from '../../../platform/database/mongo.ts'
import { afterPosition } from '../../../platform/database/read-page.ts'
import {
  CAPTURED,
  type CapturedDoc,
  type CapturedSummary,
  INBOX_ORDER,
  INBOX_RECIPIENTS,
  removeCaptured,
  SUMMARY,
} from '../../store/captured.ts'
import type { InboxPlace } from '../../store/captured-inboxes.ts'

/** What a message of a list must be; absent: whatever it is. */
export interface InboxFilter {
  /** Complete address of an envelope recipient, in any case. */
  to?: string | undefined
  /** Part of the subject, in any case. */
  subject?: string | undefined
  /** Captured at this time or later. */
  since?: Date | undefined
}

/** Messages that one call removes at most before it looks again. */
const BATCH = 500
const NEWEST = { at: -1, _id: -1 } as const

/** Those after the message with the id `after`; one that is gone by now begins the list again. */
export async function listInboxMessages(
  mongo: Mongo,
  place: InboxPlace,
  { to, subject, since }: InboxFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<CapturedSummary[]> {
  const captured = collectionOf(mongo.db, CAPTURED)
  const own = ofPlace(place)
  const last = after === undefined ? undefined : await captured.findOne({ _id: after, ...own }, { projection: SUMMARY })
  const range = {
    ...own,
    ...(since && { at: { $gte: since } }),
    ...(last && { $and: [afterPosition<CapturedDoc>({ at: last.at, id: last._id }, 'at')] }),
  }
  const received = to === undefined ? range : { ...range, find_to: to.toLowerCase() }
  const of = (filter: mongoose.mongo.Filter<CapturedDoc>) =>
    captured.find(filter).project<CapturedSummary>(SUMMARY).sort(NEWEST)
  if (subject === undefined) return of(received).limit(limit).toArray()
  // Ids and subjects come from the indexes alone: no other message is read.
  const toAddress = captured.find(received).project<{ _id: string }>({ _id: 1 }).hint(INBOX_RECIPIENTS)
  const among = to === undefined ? undefined : new Set((await toAddress.toArray()).map(({ _id }) => _id))
  if (among?.size === 0) return []
  const subjects = captured.find(range).project<Subject>({ _id: 1, subject: 1 }).sort(NEWEST).hint(INBOX_ORDER)
  const ids = await firstIds(
    subjects,
    limit,
    one => isAbout(one, subject.toLowerCase()) && among?.has(one._id) !== false,
  )
  return ids.length === 0 ? [] : of({ ...own, _id: { $in: ids } }).toArray()
}

type Subject = Pick<CapturedDoc, '_id' | 'subject'>

function isAbout({ subject }: Subject, words: string): boolean {
  return subject?.toLowerCase().includes(words) === true
}

async function firstIds(
  subjects: AsyncIterable<Subject>,
  limit: number,
  isWanted: (one: Subject) => boolean,
): Promise<string[]> {
  const ids: string[] = []
  for await (const one of subjects) {
    if (isWanted(one)) ids.push(one._id)
    if (ids.length === limit) break
  }
  return ids
}

/** Removes one message; false when there is none. */
export async function removeInboxMessage(mongo: Mongo, place: InboxPlace, id: string): Promise<boolean> {
  const found = await collectionOf(mongo.db, CAPTURED).findOne(
    { _id: id, ...ofPlace(place) },
    { projection: { _id: 1 } },
  )
  if (found) await removeCaptured(mongo, [id])
  return found !== null
}

/** Removes what was captured until now; what arrives meanwhile stays. Answers how many messages. */
export async function emptyInbox(mongo: Mongo, place: InboxPlace, now: Date): Promise<number> {
  let removed = 0
  for (;;) {
    const found = await collectionOf(mongo.db, CAPTURED)
      .find({ ...ofPlace(place), at: { $lte: now } })
      .project<{ _id: string }>({ _id: 1 })
      .limit(BATCH)
      .toArray()
    await removeCaptured(
      mongo,
      found.map(({ _id }) => _id),
    )
    removed += found.length
    if (found.length < BATCH) return removed
  }
}

function ofPlace({ userId, domainId }: InboxPlace) {
  return { user_id: userId, domain_id: domainId }
}
