/**
 * The large texts of a request, decoded in turns before the request is validated: base64 of 33 MiB takes 100 ms in one step.
 * Those of other fields stay {@link LargeText}, which validation refuses without looking into it.
 */

import { isUtf8 } from 'node:buffer'
import { concatInTurns, nextTurn } from '../../../platform/concurrency/event-loop-turns.ts'
import { LargeText } from '../../../platform/json/json-text.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { Base64Decoder, DecodedBase64 } from '../../message/base64.ts'
import { EMAIL_LIMITS } from '../../submission/rules/email-parts.ts'

/** Shorter texts are decoded where they are validated, in octets; every field may have them. */
export const LARGE_TEXT_BYTES = 64 * 1024
const PIECE_CHARS = 512 * 1024

/**
 * Puts {@link DecodedBase64} in the place of the large attachments and raw messages of a body, or of each of a batch, and
 * strings in the place of large body texts up to their limit. Throws `invalid_json` for one that is not UTF-8.
 */
export async function decodeLargeContent(body: unknown): Promise<void> {
  for (const message of Array.isArray(body) ? body.slice(0, EMAIL_LIMITS.batch) : [body]) {
    if (!isRecord(message)) continue
    await decodeField(message, 'raw')
    for (const field of ['text', 'html']) await joinText(message, field)
    if (!Array.isArray(message.attachments)) continue
    for (const attachment of message.attachments.slice(0, EMAIL_LIMITS.attachments))
      if (isRecord(attachment)) await decodeField(attachment, 'content')
  }
}

async function decodeField(record: Record<string, unknown>, field: string): Promise<void> {
  const value = record[field]
  const isLarge = value instanceof LargeText || (typeof value === 'string' && value.length > LARGE_TEXT_BYTES)
  if (!isLarge) return
  delete record[field] // its memory is free as soon as it was decoded
  const decoder = new Base64Decoder()
  for (const piece of piecesOf(value)) {
    decoder.push(piece)
    await nextTurn()
  }
  const pieces = decoder.end()
  record[field] = new DecodedBase64(pieces && (await concatInTurns(pieces)))
}

/** A longer text stays as it is, and is too big. */
async function joinText(record: Record<string, unknown>, field: string): Promise<void> {
  const value = record[field]
  if (!(value instanceof LargeText) || value.bytes > EMAIL_LIMITS.text) return
  const bytes = Buffer.concat(value.blocks)
  if (!isUtf8(bytes)) throw new ProblemError('invalid_json', sentence('detail.json_utf8', { field }))
  record[field] = bytes.toString()
  await nextTurn()
}

function* piecesOf(text: string | LargeText): Generator<string> {
  if (text instanceof LargeText) for (const block of text.blocks) yield block.toString('latin1')
  else for (let at = 0; at < text.length; at += PIECE_CHARS) yield text.slice(at, at + PIECE_CHARS)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
