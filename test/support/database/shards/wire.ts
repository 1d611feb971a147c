/** MongoDB's wire protocol as far as drivers of today use it: OP_MSG, and OP_QUERY for the first `hello`. */
import type { Socket } from 'node:net'
import mongoose from 'mongoose'

/** A command or an answer; numbers keep the type that they have on the wire. */
export type Document = Record<string, unknown>

/** A request of a client, or an answer of a server. */
export interface Message {
  id: number
  answers: number
  document: Document
  /** The client waits for no answer (write concern 0). */
  isUnanswered: boolean
  /** OP_QUERY, whose answer is an OP_REPLY. */
  isLegacy: boolean
}

const { BSON } = mongoose.mongo
const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
const HEADER = 16
const CHECKSUM_PRESENT = 1
const MORE_TO_COME = 2
/** Fields that a command may have beside its document, without its limit of 16 MiB. */
const SEQUENCES = ['documents', 'updates', 'deletes']

/** The messages that arrive on a socket, in their order; ends when it closes. */
export async function* readMessages(socket: Socket): AsyncGenerator<Message> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    while (pending.length >= HEADER && pending.length >= pending.readInt32LE(0)) {
      const size = pending.readInt32LE(0)
      yield parse(pending.subarray(0, size))
      pending = pending.subarray(size)
    }
  }
}

function parse(octets: Buffer): Message {
  const [id, answers, code] = [octets.readInt32LE(4), octets.readInt32LE(8), octets.readInt32LE(12)]
  if (code === OP_QUERY) {
    // Flags, the name of the collection, two numbers, then the document.
    const at = octets.indexOf(0, HEADER + 4) + 1 + 8
    return { id, answers, document: toDocument(octets.subarray(at)), isUnanswered: false, isLegacy: true }
  }
  if (code !== OP_MSG) throw new Error(`operation ${code} of the wire protocol`)
  const flags = octets.readInt32LE(HEADER)
  const end = flags & CHECKSUM_PRESENT ? octets.length - 4 : octets.length
  let document: Document = {}
  const sequences: Document = {}
  for (let at = HEADER + 4; at < end; ) {
    const kind = octets[at]
    const size = octets.readInt32LE(at + 1)
    const section = octets.subarray(at + 1, at + 1 + size)
    if (kind === 0) document = toDocument(section)
    else Object.assign(sequences, toSequence(section))
    at += 1 + size
  }
  return {
    ...{ id, answers, document: { ...document, ...sequences } },
    isUnanswered: (flags & MORE_TO_COME) !== 0,
    isLegacy: false,
  }
}

function toSequence(section: Buffer): Document {
  const nameEnd = section.indexOf(0, 4)
  const documents: Document[] = []
  for (let at = nameEnd + 1; at < section.length; ) {
    const size = section.readInt32LE(at)
    documents.push(toDocument(section.subarray(at, at + size)))
    at += size
  }
  return { [section.toString('utf8', 4, nameEnd)]: documents }
}

function toDocument(octets: Buffer): Document {
  return BSON.deserialize(octets, { promoteValues: false, promoteBuffers: false, bsonRegExp: true })
}

/** A request as octets. */
export function toRequest(id: number, command: Document): Buffer {
  const sequences = SEQUENCES.filter(name => Array.isArray(command[name]))
  const rest = Object.fromEntries(Object.entries(command).filter(([name]) => !sequences.includes(name)))
  const sections = sequences.map(name => {
    const documents = (command[name] as Document[]).map(one => BSON.serialize(one, { ignoreUndefined: false }))
    const head = Buffer.from(`\0\0\0\0${name}\0`, 'latin1')
    const section = Buffer.concat([head, ...documents])
    section.writeInt32LE(section.length, 0)
    return Buffer.concat([Buffer.of(1), section])
  })
  return toMessage(OP_MSG, id, 0, [Buffer.alloc(4), Buffer.of(0), BSON.serialize(rest), ...sections])
}

/** The answer to a request as octets. */
export function toAnswer(request: Message, document: Document): Buffer {
  if (!request.isLegacy)
    return toMessage(OP_MSG, 0, request.id, [Buffer.alloc(4), Buffer.of(0), BSON.serialize(document)])
  const head = Buffer.alloc(20)
  head.writeInt32LE(1, 16) // one document
  return toMessage(OP_REPLY, 0, request.id, [head, BSON.serialize(document)])
}

function toMessage(code: number, id: number, answers: number, parts: readonly Uint8Array[]): Buffer {
  const message = Buffer.concat([Buffer.alloc(HEADER), ...parts])
  message.writeInt32LE(message.length, 0)
  message.writeInt32LE(id, 4)
  message.writeInt32LE(answers, 8)
  message.writeInt32LE(code, 12)
  return message
}
