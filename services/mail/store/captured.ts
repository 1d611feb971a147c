/** Captured mail: what would have gone out, kept for a while to be read. */
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompress } from 'node:zlib'
import mongoose from 'mongoose'
import { concatInTurns, TURN_BYTES } from '../../platform/concurrency/event-loop-turns.ts'
import { collectionOf, defineCollection, type Mongo } from '../../platform/database/mongo.ts'
import { afterPosition } from '../../platform/database/read-page.ts'

/** One captured transaction. `_id` is the message's id and its first recipient's number, so that a repeat replaces it. */
export interface CapturedDoc {
  _id: string
  m: string
  user_id: string
  /** Empty: it belongs to no domain. Absent in documents of release 0.1.0. */
  domain_id?: string
  subject?: string
  /** Envelope. */
  mail_from: string
  rcpts: string[]
  /** The recipients in lower case, for searching. */
  find_to?: string[]
  /** The bytes as they would have gone to the wire, signatures included; zstd. */
  z: mongoose.mongo.Binary
  /** How many pieces follow, of bytes that do not fit into one document. */
  more?: number
  size: number
  at: Date
  exp: Date
}

/** A further piece of the bytes. `_id` is `<captured>#<number>`, from 1. */
interface CapturedPieceDoc {
  _id: string
  z: mongoose.mongo.Binary
  exp: Date
}

/** What a list shows. */
export type CapturedSummary = Omit<CapturedDoc, 'z' | 'more' | 'exp' | 'find_to'>

/** The index of an inbox; it has sizes and subjects, so that an inbox is measured and searched without reading its mail. */
export const INBOX_ORDER = { user_id: 1, domain_id: 1, at: -1, _id: -1, size: 1, subject: 1 } as const
/** The mail to one address. Without the subject, which would be repeated for each of the recipients. */
export const INBOX_RECIPIENTS = { user_id: 1, domain_id: 1, find_to: 1, at: -1, _id: -1 } as const

/** Captured mail, by account newest first. */
export const CAPTURED = defineCollection<CapturedDoc>('captured', [
  { key: { user_id: 1, at: -1, _id: -1 } },
  { key: INBOX_ORDER },
  { key: INBOX_RECIPIENTS },
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** Further pieces of large captured mail. */
export const CAPTURED_PIECES = defineCollection<CapturedPieceDoc>('captured_pieces', [
  { key: { exp: 1 }, expireAfterSeconds: 0 },
])

/** Everything that a list shows, and nothing that is large. */
export const SUMMARY = { z: 0, more: 0, exp: 0, find_to: 0 } as const

/** A document has 16 MiB at most. */
const PIECE_BYTES = 8 * 1024 * 1024

/** Keeps captured mail. */
export async function saveCaptured(
  mongo: Mongo,
  mails: readonly (Omit<CapturedDoc, 'z' | 'more' | 'size' | 'find_to'> & { raw: Buffer })[],
): Promise<void> {
  const replace = <T extends { _id: string }>({ _id, ...replacement }: T) => ({
    replaceOne: { filter: { _id }, replacement, upsert: true },
  })
  const docs: CapturedDoc[] = []
  const pieces: CapturedPieceDoc[] = []
  for (const { raw, ...rest } of mails) {
    const [z = new mongoose.mongo.Binary(), ...more] = toPieces(zstdCompressSync(raw))
    const find_to = rest.rcpts.map(email => email.toLowerCase())
    docs.push({ ...rest, find_to, size: raw.length, z, ...(more.length > 0 && { more: more.length }) })
    pieces.push(...more.map((piece, index) => ({ _id: pieceId(rest._id, index + 1), z: piece, exp: rest.exp })))
  }
  // Before the mail they belong to, which can be read immediately.
  if (pieces.length > 0)
    await collectionOf(mongo.db, CAPTURED_PIECES).bulkWrite(pieces.map(replace), { ordered: false })
  await collectionOf(mongo.db, CAPTURED).bulkWrite(docs.map(replace), { ordered: false })
}

function toPieces(bytes: Buffer): mongoose.mongo.Binary[] {
  return Array.from(
    { length: Math.ceil(bytes.length / PIECE_BYTES) },
    (_, n) => new mongoose.mongo.Binary(bytes.subarray(n * PIECE_BYTES, (n + 1) * PIECE_BYTES)),
  )
}

function pieceIds(captured: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => pieceId(captured, index + 1))
}

function pieceId(captured: string, number: number): string {
  return `${captured}#${number}`
}

/** An account's captured mail, newest first, after the one with the id `after`. */
export async function listCaptured(
  mongo: Mongo,
  userId: string,
  limit: number,
  after?: string | undefined,
): Promise<CapturedSummary[]> {
  const captured = collectionOf(mongo.db, CAPTURED)
  const last =
    after === undefined ? undefined : await captured.findOne({ _id: after, user_id: userId }, { projection: SUMMARY })
  return captured
    .find({ user_id: userId, ...(last && afterPosition<CapturedDoc>({ at: last.at, id: last._id }, 'at')) })
    .project<CapturedSummary>(SUMMARY)
    .sort({ at: -1, _id: -1 })
    .limit(limit)
    .toArray()
}

/** The captured transactions of one message of an account, bytes included; without those of which a piece is gone. */
export async function readCaptured(
  mongo: Mongo,
  userId: string,
  messageId: string,
): Promise<(CapturedSummary & { raw: Buffer })[]> {
  const found = await collectionOf(mongo.db, CAPTURED)
    .find({ user_id: userId, _id: { $gte: `${messageId}.`, $lt: `${messageId}/` } })
    .toArray()
  return (await Promise.all(found.map(doc => unpack(mongo, doc)))).flat()
}

/** One captured transaction, bytes included; undefined when it, or a piece of it, is gone. */
export async function findCaptured(
  mongo: Mongo,
  of: { user_id: string; domain_id?: string },
  id: string,
): Promise<(CapturedSummary & { raw: Buffer }) | undefined> {
  const doc = await collectionOf(mongo.db, CAPTURED).findOne({ _id: id, ...of })
  return doc ? (await unpack(mongo, doc))[0] : undefined
}

/** Removes captured transactions. Pieces that a crash leaves expire. */
export async function removeCaptured(mongo: Mongo, ids: readonly string[]): Promise<void> {
  const captured = collectionOf(mongo.db, CAPTURED)
  const large = await captured
    .find({ _id: { $in: [...ids] }, more: { $exists: true } })
    .project<{ _id: string; more: number }>({ more: 1 })
    .toArray()
  await captured.deleteMany({ _id: { $in: [...ids] } })
  const pieces = large.flatMap(({ _id, more }) => pieceIds(_id, more))
  if (pieces.length > 0) await collectionOf(mongo.db, CAPTURED_PIECES).deleteMany({ _id: { $in: pieces } })
}

const decompress = promisify(zstdDecompress)
/** A chunk that is a little larger than the message takes all of it, and is at least the 64 bytes that zlib requires. */
const SPARE = 64

/** Nothing when a piece is gone. */
async function unpack(
  mongo: Mongo,
  { z, more = 0, exp: _, find_to: __, ...rest }: CapturedDoc,
): Promise<(CapturedSummary & { raw: Buffer })[]> {
  const pieces = await readPieces(mongo, rest._id, more)
  if (!pieces) return []
  const bytes = await concatInTurns([z, ...pieces].map(({ buffer }) => buffer))
  return [{ ...rest, raw: await decompress(bytes, { chunkSize: Math.min(rest.size + SPARE, TURN_BYTES) }) }]
}

/** Undefined when one is gone. */
async function readPieces(mongo: Mongo, captured: string, count: number): Promise<mongoose.mongo.Binary[] | undefined> {
  if (count === 0) return []
  const ids = pieceIds(captured, count)
  const found = await collectionOf(mongo.db, CAPTURED_PIECES)
    .find({ _id: { $in: ids } })
    .toArray()
  if (found.length !== count) return undefined
  const byId = new Map(found.map(({ _id, z }) => [_id, z]))
  return ids.flatMap(id => byId.get(id) ?? [])
}
