/** Incoming messages: stored before they are accepted, then processed once, and kept for a month. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import mongoose, { type mongo } from 'mongoose'
import { collectionOf, type Db, DURABLE, defineCollection } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import type { InboundAddress } from '../rules/inbound-address.ts'

/** An accepted message. */
export interface InboundDoc {
  _id: string
  at: Date
  /** Envelope sender; empty for reports. */
  mail_from: string
  /** The client that brought it. */
  ip: string
  rcpts: InboundAddress[]
  /** Octets that came in; fewer may be kept. */
  size: number
  /** Compressed with zstd. */
  z: mongo.Binary
  /** When it is to be processed, or its processing is taken over; absent once it is done. */
  due?: Date
  attempts: number
  /** What became of it, for each recipient. */
  outcomes?: string[]
  exp: Date
}

/** A message as it is received. */
export type NewInbound = Pick<InboundDoc, '_id' | 'at' | 'mail_from' | 'ip' | 'rcpts' | 'size'> & { raw: Buffer }

const KEEP_MS = 30 * DAY_MS
/** Largest message after decompression, far above what is kept. */
const MAX_OCTETS = 64 * 1024 * 1024

export const INBOUND_MESSAGES = defineCollection<InboundDoc>('inbound_messages', [
  { key: { due: 1 }, sparse: true },
  { key: { 'rcpts.key': 1, at: 1 } },
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** Stores a message durably; it is due immediately. */
export async function insertInbound(db: Db, { raw, ...given }: NewInbound): Promise<void> {
  await collectionOf(db, INBOUND_MESSAGES).insertOne(
    {
      ...given,
      z: new mongoose.mongo.Binary(zstdCompressSync(raw)),
      due: given.at,
      attempts: 0,
      exp: new Date(given.at.getTime() + KEEP_MS),
    },
    DURABLE,
  )
}

/** The bytes that were kept. */
export function rawOf({ z }: Pick<InboundDoc, 'z'>): Buffer {
  return zstdDecompressSync(z.buffer, { maxOutputLength: MAX_OCTETS })
}

/** Messages that were kept for an address since then; counted up to `most`. */
export async function countFor(db: Db, key: string, since: Date, most: number): Promise<number> {
  return collectionOf(db, INBOUND_MESSAGES).countDocuments({ 'rcpts.key': key, at: { $gte: since } }, { limit: most })
}

/** Claims the message that is due longest; it is due again at `retryAt` unless it is settled before. */
export async function claimInbound(db: Db, now: Date, retryAt: Date): Promise<InboundDoc | undefined> {
  const claimed = await collectionOf(db, INBOUND_MESSAGES).findOneAndUpdate(
    { due: { $lte: now } },
    { $set: { due: retryAt }, $inc: { attempts: 1 } },
    { sort: { due: 1 }, returnDocument: 'after' },
  )
  return claimed ?? undefined
}

/** Writes down what became of a claimed message: it is done, or due again at a later time. */
export async function settleInbound(
  db: Db,
  { _id, attempts }: Pick<InboundDoc, '_id' | 'attempts'>,
  result: { outcomes: string[] } | { due: Date },
): Promise<void> {
  const update = 'due' in result ? { $set: result } : { $set: result, $unset: { due: '' as const } }
  await collectionOf(db, INBOUND_MESSAGES).updateOne({ _id, attempts }, update)
}
