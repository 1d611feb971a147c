/** A new copy of a message that was sent before. */
import { parseHeader } from '../../message/headers.ts'

/**
 * The bytes of a stored message for another submission: without the Received field of its first acceptance, which gets
 * a new one, and without its Message-ID, by which receivers would drop the copy as one they have.
 */
export function freshCopy(stored: Buffer): Buffer {
  const header = parseHeader(stored)
  if ('code' in header) return stored
  const pieces: Buffer[] = []
  let kept = 0
  for (const [index, { name, start, end }] of header.fields.entries()) {
    if (name !== 'message-id' && !(name === 'received' && index === 0)) continue
    pieces.push(stored.subarray(kept, start))
    kept = end
  }
  return Buffer.concat([...pieces, stored.subarray(kept)])
}
