/**
 * A delivery as code works with it, and its conversion from and to the stored document ({@link DeliveryDoc}), whose field
 * names are short because the queue is small documents that are written several times each:
 *
 * | stored | here |
 * |---|---|
 * | `m`, `rcpt` | `messageId`, `recipient` |
 * | `tok` | `claimToken` |
 * | `ph: 'dot'` | `isMarked` |
 * | `att`, `amb` | `attempts`, `ambiguousAttempts` |
 * | `last` | `lastAttempt` |
 *
 * Documents become deliveries where the queue reads them (deliveries.ts); no other module reads short names of a delivery.
 */
import type { DeliveryDoc } from './documents.ts'
import type { Lane } from './rules/flow.ts'

/** A recipient of a message that is still to be delivered. */
export interface Delivery {
  /** `<message>.<n>`, see {@link recipientIndex}. */
  id: string
  messageId: string
  userId: string
  /** Envelope address. */
  recipient: string
  site: string
  slot: number
  lane: Lane
  /** The flow that it was ready in when it was read; absent when it was timed. */
  flow?: string | undefined
  /** When it became ready, or will. */
  due: Date
  /** Attempts that were settled. */
  attempts: number
  /** Those of them whose outcome is unknown. */
  ambiguousAttempts: number
  /** A worker has written the mark before a final dot and no result: the message may have gone out. */
  isMarked: boolean
  lastAttempt?: DeliveryDoc['last']
  expiresAt: Date
  createdAt: Date
}

/** A delivery that this worker holds, with the epoch of its slot under which it was claimed. */
export type ClaimedDelivery = Delivery & { claimToken: string; epoch: number }

/** Which delivery, under which claim: all that a write of its holder is matched on. */
export type ClaimRef = Pick<ClaimedDelivery, 'id' | 'claimToken'>

/** What a given back delivery becomes; a missing property stays as it is. */
export type NextAttempt = Pick<Delivery, 'due'> &
  Partial<Pick<Delivery, 'flow' | 'attempts' | 'ambiguousAttempts' | 'lastAttempt'>>

/** Reads a stored delivery. */
export function toDelivery(doc: DeliveryDoc): Delivery {
  return {
    id: doc._id,
    messageId: doc.m,
    userId: doc.user_id,
    recipient: doc.rcpt,
    site: doc.site,
    slot: doc.slot,
    lane: doc.lane,
    flow: doc.flow,
    due: doc.due,
    attempts: doc.att,
    ambiguousAttempts: doc.amb ?? 0,
    isMarked: doc.ph === 'dot',
    lastAttempt: doc.last,
    expiresAt: doc.expires_at,
    createdAt: doc.created_at,
  }
}

/** The stored fields of what changes. */
export function toStoredFields({ due, flow, attempts, ambiguousAttempts, lastAttempt }: NextAttempt) {
  return {
    due,
    ...(flow !== undefined && { flow }),
    ...(attempts !== undefined && { att: attempts }),
    ...(ambiguousAttempts !== undefined && { amb: ambiguousAttempts }),
    ...(lastAttempt !== undefined && { last: lastAttempt }),
  } satisfies Partial<DeliveryDoc>
}

/** The index in a message's `rcpts` of the recipient that a delivery is for: the number that ends its id. */
export function recipientIndex(deliveryId: string): number {
  return Number(deliveryId.slice(deliveryId.lastIndexOf('.') + 1))
}
