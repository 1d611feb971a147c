/** The mail of capture mode: what would have gone out, kept for a while to be looked at. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import mongoose from 'mongoose'
import { collectionOf, defineCollection, type Mongo } from '../../platform/mongo.ts'

/** One captured transaction. `_id` is the message's id and its first recipient's number, so that a repeat replaces it. */
export interface CapturedDoc {
  _id: string
  m: string
  user_id: string
  /** Envelope. */
  mail_from: string
  rcpts: string[]
  /** The bytes as they would have gone to the wire, signatures included; zstd. */
  z: mongoose.mongo.Binary
  size: number
  at: Date
  exp: Date
}

/** What a list shows. */
export type CapturedSummary = Omit<CapturedDoc, 'z' | 'exp'>

/** Captured mail, by account newest first. */
export const CAPTURED = defineCollection<CapturedDoc>('captured', [
  { key: { user_id: 1, at: -1 } },
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** Keeps captured mail. */
export async function saveCaptured(
  mongo: Mongo,
  mails: readonly (Omit<CapturedDoc, 'z' | 'size'> & { raw: Buffer })[],
): Promise<void> {
  await collectionOf(mongo.db, CAPTURED).bulkWrite(
    mails.map(({ raw, _id, ...rest }) => ({
      replaceOne: {
        filter: { _id },
        replacement: { ...rest, size: raw.length, z: new mongoose.mongo.Binary(zstdCompressSync(raw)) },
        upsert: true,
      },
    })),
    { ordered: false },
  )
}

/** An account's captured mail, newest first, behind the one with the id `after`. */
export async function listCaptured(
  mongo: Mongo,
  userId: string,
  limit: number,
  after?: string | undefined,
): Promise<CapturedSummary[]> {
  const captured = collectionOf(mongo.db, CAPTURED)
  const last = after === undefined ? undefined : await captured.findOne({ _id: after, user_id: userId })
  const behind = last ? { $or: [{ at: { $lt: last.at } }, { at: last.at, _id: { $lt: last._id } }] } : {}
  return captured
    .find({ user_id: userId, ...behind })
    .project<CapturedSummary>({ z: 0, exp: 0 })
    .sort({ at: -1, _id: -1 })
    .limit(limit)
    .toArray()
}

/** The captured transactions of one message of an account, bytes included. */
export async function readCaptured(
  mongo: Mongo,
  userId: string,
  messageId: string,
): Promise<(CapturedSummary & { raw: Buffer })[]> {
  const found = await collectionOf(mongo.db, CAPTURED)
    .find({ user_id: userId, _id: { $gte: `${messageId}.`, $lt: `${messageId}/` } })
    .toArray()
  return found.map(({ z, exp: _, ...rest }) => ({ ...rest, raw: zstdDecompressSync(z.buffer) }))
}
