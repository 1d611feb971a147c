/** Raw messages in compressed parts of at most 1 MiB. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import mongoose from 'mongoose'
import { concatInTurns, nextTurn } from '../../platform/concurrency/event-loop-turns.ts'
import { collectionOf, defineCollection, type Mongo } from '../../platform/database/mongo.ts'
import { cellsOf } from './cells.ts'
import type { BodyDoc } from './documents.ts'
import { cellOf } from './rules/cell.ts'

/** Parts of raw messages. Their time of removal is a net: delivery shortens it when the last recipient is final. */
export const BODIES = defineCollection<BodyDoc>('bodies', [{ key: { exp: 1 }, expireAfterSeconds: 0 }])

/** Bytes of a part before compression, at most: small enough for sixteen in one write, large enough for nearly all mail. */
const PART_BYTES = 1024 * 1024
/** Level 1: level 3 takes 1 MiB from 2 ms to 8 ms for a seventh less. */
const COMPRESSION = { [constants.ZSTD_c_compressionLevel]: 1 }
/** A frame may be larger than what is in it, and the library wants room after the last octet. */
const SPARE = 1024
/** Smaller parts stay as they are: for 4 KiB both ways cost 54 µs and save mongod 15 µs. */
const WORTH_COMPRESSING = 16 * 1024

/** Number of parts of a message of `size` bytes. */
export function partsOfBody(size: number): number {
  return Math.max(1, Math.ceil(size / PART_BYTES))
}

/** The `_id` of part `part` (from 0) of a message. */
export function bodyId(messageId: string, part: number): string {
  return `${messageId}#${part}`
}

/** The bytes of a part as they are stored. */
export type PackedPart = Pick<BodyDoc, 'z' | 'enc'>

/**
 * The documents of a raw message, to be removed at `exp`; `packed`: its parts, when they were compressed before.
 * Synchronous: the thread pool costs three times the work.
 */
export function toBodyDocs(
  messageId: string,
  raw: Buffer,
  exp: Date,
  packed: readonly PackedPart[] = Array.from({ length: partsOfBody(raw.length) }, (_, p) => pack(partOf(raw, p))),
): BodyDoc[] {
  return packed.map((part, p) => toDoc(messageId, p, part, exp))
}

/** The document of one part of at most 1 MiB, which shares no memory with it. */
export function toBodyDoc(messageId: string, p: number, part: Buffer, exp: Date): BodyDoc {
  return toDoc(messageId, p, pack(part.length < WORTH_COMPRESSING ? Buffer.from(part) : part), exp)
}

/** Compresses the parts of a large message, with a turn for others before each. */
export async function packInTurns(raw: Buffer): Promise<PackedPart[]> {
  const parts: PackedPart[] = []
  for (let p = 0; p < partsOfBody(raw.length); p++) {
    await nextTurn()
    parts.push(pack(partOf(raw, p)))
  }
  return parts
}

function toDoc(messageId: string, p: number, part: PackedPart, exp: Date): BodyDoc {
  return { _id: bodyId(messageId, p), cell: cellOf(messageId), m: messageId, p, exp, ...part }
}

function partOf(raw: Buffer, p: number): Buffer {
  return raw.subarray(p * PART_BYTES, (p + 1) * PART_BYTES)
}

function pack(part: Buffer): PackedPart {
  return part.length < WORTH_COMPRESSING
    ? { z: new mongoose.mongo.Binary(part) }
    : { z: new mongoose.mongo.Binary(compress(part)), enc: 'zstd' }
}

/** In one output buffer: by default the library gathers pieces of 16 KiB, which takes twice as long. */
function compress(part: Buffer): Buffer {
  return zstdCompressSync(part, { params: COMPRESSION, pledgedSrcSize: part.length, chunkSize: part.length + SPARE })
}

/** The bytes of a part, of which there are at most `most`. Throws when what is stored is damaged. */
export function unpack({ z, enc }: BodyDoc, most = PART_BYTES): Buffer {
  const { buffer, byteOffset, byteLength } = z.buffer
  if (enc) return zstdDecompressSync(z.buffer, { chunkSize: most + SPARE })
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Reads a raw message back; undefined when a part is gone. */
export async function readBody(mongo: Mongo, messageId: string, parts: number): Promise<Buffer | undefined> {
  const ids = Array.from({ length: parts }, (_, part) => bodyId(messageId, part))
  const found = await collectionOf(mongo.db, BODIES)
    .find({ _id: { $in: ids }, ...cellsOf(mongo.db).of([messageId]) })
    .toArray()
  if (found.length !== parts) return undefined
  const pieces: Buffer[] = []
  for (const part of found.sort((a, b) => a.p - b.p)) {
    if (part.p > 0) await nextTurn()
    pieces.push(unpack(part))
  }
  return pieces.length === 1 ? pieces[0] : concatInTurns(pieces)
}
