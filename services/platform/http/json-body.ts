/**
 * Reads JSON request bodies. Small ones are parsed in one step; larger ones as they arrive, so that no body blocks
 * other requests.
 */
import { isUtf8 } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import type { Context } from 'koa'
import { concatInTurns, nextTurn } from '../concurrency/event-loop-turns.ts'
import { JsonError } from '../json/json-text.ts'
import { JsonReader } from '../json/streaming-reader.ts'
import { ProblemError } from '../problems.ts'
import { type Sentence, sentence } from '../sentences/sentence.ts'

declare module 'koa' {
  interface Request {
    /** The parsed body; undefined before it was read. */
    body?: unknown
    /** The text of the body, without a byte order mark; only of bodies up to {@link KEPT_BYTES}. */
    rawBody?: string
  }
}

/** How a body is read. */
export interface BodyLimits {
  /** Most octets, uncompressed. */
  bytes: number
  /** Most members of one object in a body above 128 KiB; default 16,384. V8 lists 190,000 names in 100 ms or more. */
  members?: number
  /** Strings of more octets become `LargeText`; default 1 MiB. */
  text?: number
  /** Lists of more octets, written as numbers, become a Buffer in a body above 128 KiB; by default none does. */
  octets?: number
  /** Called with each chunk from the network, compressed or not; an error that it throws ends reading. */
  count?(bytes: number): void
}

/** Up to here `JSON.parse` takes 12 ms at worst (names of a large object), on a slow core. */
const AT_ONCE_BYTES = 128 * 1024
/** Octets that are read before others have their turn: 10 ms at worst. */
const TURN_BYTES = 64 * 1024
/** Signatures need the text of a body; those that are signed are no larger. */
const KEPT_BYTES = 1024 * 1024
/** Values of a body: twice what the largest batch has. */
const MAX_VALUES = 200_000
const MAX_DEPTH = 500
/** More than a JSON value of 64 KiB can have. */
const MAX_MEMBERS = 16_384

/**
 * Reads the body of a request into `request.body`; without one it is `{}`. Throws `unsupported_media_type` for another
 * type or charset, `message_too_large`, and `invalid_json`, also for invalid UTF-8, lone surrogates (RFC 8259 8.1, 8.2)
 * and names of a prototype.
 */
export async function readJson(context: Context, limits: BodyLimits): Promise<void> {
  if (context.request.body !== undefined) return
  const hasBody = (context.request.length ?? 0) > 0 || context.get('transfer-encoding') !== ''
  if (hasBody && !context.is('json', '+json')) throw new ProblemError('unsupported_media_type')
  // Text in another charset, read as UTF-8, would be corrupted and noticed only by its recipient.
  if (!/^(?:utf-?8|us-ascii)?$/i.test(context.request.charset))
    throw new ProblemError('unsupported_media_type', sentence('detail.charset', { charset: context.request.charset }))
  try {
    context.request.body = hasBody ? await readDocument(context, limits) : {}
  } catch (error) {
    throw toProblem(error)
  }
}

/** SHA-256 of the query and the body as it was sent: equal for a repeated request. */
export function requestDigest({ querystring, request, state }: Context): Buffer {
  const known: unknown = state.requestDigest
  if (known instanceof Buffer) return known
  return startDigest(querystring)
    .update(request.rawBody ?? '')
    .digest()
}

/**
 * The body as it was sent, for formats other than JSON; a Content-Encoding is left to the caller. Throws
 * `message_too_large` beyond `limits.bytes`.
 */
export async function readBytes(context: Context, limits: Pick<BodyLimits, 'bytes' | 'count'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of bodyChunks(context, limits, 'identity')) chunks.push(chunk)
  return concatInTurns(chunks)
}

/** The octets of a body, uncompressed. Throws `message_too_large` beyond `limits.bytes`. */
async function* bodyChunks(context: Context, limits: BodyLimits, encoding: string): AsyncGenerator<Buffer> {
  const tooLarge = () =>
    new ProblemError('message_too_large', sentence('detail.body_too_large', { limit: limits.bytes }))
  if (encoding === 'identity' && (context.request.length ?? 0) > limits.bytes) throw tooLarge()
  const chunks = encoding === 'identity' ? plain(context.req, limits) : unpacked(context.req, encoding, limits)
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > limits.bytes) throw tooLarge()
    yield chunk
  }
}

async function readDocument(context: Context, limits: BodyLimits): Promise<unknown> {
  const head: Buffer[] = []
  let size = 0
  let large: LargeBody | undefined
  const encoding = context.get('content-encoding').toLowerCase() || 'identity'
  for await (const chunk of bodyChunks(context, limits, encoding)) {
    if (large) {
      await large.take(chunk)
      continue
    }
    head.push(chunk)
    size += chunk.length
    if (size <= AT_ONCE_BYTES) continue
    large = new LargeBody(context, limits)
    await large.take(withoutMark(Buffer.concat(head)))
  }
  if (large) return large.end()
  const bytes = withoutMark(Buffer.concat(head))
  if (!isUtf8(bytes)) throw new JsonError(sentence('json.not_utf8'))
  context.request.rawBody = bytes.toString()
  return parseAtOnce(context.request.rawBody)
}

/** A body that is parsed while it arrives. */
class LargeBody {
  readonly #context: Context
  readonly #reader: JsonReader
  readonly #digest: Hash | undefined
  #kept: Buffer[] | undefined = []
  #size = 0
  #turn = 0

  constructor(context: Context, { text = KEPT_BYTES, members = MAX_MEMBERS, octets }: BodyLimits) {
    this.#context = context
    const limits = { values: MAX_VALUES, members, depth: MAX_DEPTH, text }
    this.#reader = new JsonReader(octets === undefined ? limits : { ...limits, octets })
    this.#digest = context.get('idempotency-key') === '' ? undefined : startDigest(context.querystring)
  }

  async take(bytes: Buffer): Promise<void> {
    this.#size += bytes.length
    if (this.#size > KEPT_BYTES) this.#kept = undefined
    this.#kept?.push(bytes)
    for (let at = 0; at < bytes.length; at += TURN_BYTES) {
      const slice = bytes.subarray(at, at + TURN_BYTES)
      this.#reader.push(slice)
      this.#digest?.update(slice)
      this.#turn += slice.length
      if (this.#turn < TURN_BYTES) continue
      this.#turn = 0
      await nextTurn()
    }
  }

  end(): unknown {
    const document = this.#reader.end()
    if (typeof document !== 'object' || document === null) throw new JsonError(NOT_A_DOCUMENT)
    if (this.#kept) this.#context.request.rawBody = Buffer.concat(this.#kept).toString()
    if (this.#digest) this.#context.state.requestDigest = this.#digest.digest()
    return document
  }
}

const NOT_A_DOCUMENT = sentence('json.not_a_document')

function parseAtOnce(text: string): unknown {
  if (text === '') return {}
  if (!/^[ \t\r\n]*[[{]/.test(text)) throw new JsonError(NOT_A_DOCUMENT)
  const document = parseText(text)
  // Only escapes can produce a lone surrogate here, and most bodies have neither them nor such a name.
  if (/\\u[dD][89a-fA-F]|__proto__|\\u00[57]/.test(text)) refuseUnsafe(document)
  return document
}

/** The errors of `JSON.parse` are English and differ between releases; the reader finds the same error in our words. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    const reader = new JsonReader({ values: Infinity, members: Infinity, depth: Infinity, text: Infinity })
    try {
      reader.push(Buffer.from(text))
      return reader.end()
    } catch (error) {
      // It is not JSON, whatever else the reader met first.
      throw error instanceof JsonError ? new JsonError(error.sentence) : error
    }
  }
}

/** Throws for lone surrogates and prototypes anywhere in a small document. */
function refuseUnsafe(document: unknown): void {
  const waiting: unknown[] = [document]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value === 'string') refuseHalves(value)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, item] of Object.entries(value)) {
      refuseHalves(name)
      if (name === '__proto__') throw new JsonError(sentence('json.name_forbidden', { name }))
      waiting.push(item)
    }
  }
}

function refuseHalves(text: string): void {
  if (!text.isWellFormed()) throw new JsonError(sentence('json.half_pair'))
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

function startDigest(querystring: string): Hash {
  return createHash('sha256').update(`${querystring}\n`)
}

/** Leaves the request open when the reading ends early: its answer is still to be sent. */
async function* plain(request: IncomingMessage, { count }: BodyLimits): AsyncGenerator<Buffer> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    count?.((chunk as Buffer).length)
    yield chunk as Buffer
  }
}

async function* unpacked(request: IncomingMessage, encoding: string, { count }: BodyLimits): AsyncGenerator<Buffer> {
  const unpack = unpacker(encoding)
  const fail = (error: unknown) => unpack.destroy(error instanceof Error ? error : new Error(String(error)))
  const onData = (chunk: Buffer) => {
    try {
      count?.(chunk.length)
    } catch (error) {
      fail(error)
    }
  }
  // The decompressor is not informed when the connection ends early.
  const onClose = () => request.complete || fail(new JsonError(sentence('json.cut')))
  request.on('data', onData).on('close', onClose).pipe(unpack)
  try {
    for await (const chunk of unpack) yield chunk as Buffer
  } finally {
    request.off('data', onData).off('close', onClose).unpipe(unpack)
    request.pause()
  }
}

function unpacker(encoding: string) {
  const options = { chunkSize: TURN_BYTES }
  if (encoding === 'gzip' || encoding === 'deflate') return createUnzip(options)
  if (encoding === 'br') return createBrotliDecompress(options)
  throw new ProblemError('invalid_json', sentence('detail.content_encoding', { encoding: encoding.slice(0, 32) }))
}

/** A body that cannot be read is the client's error; an error of ours stays one. */
function toProblem(error: unknown): unknown {
  if (error instanceof JsonError && error.kind === 'size')
    return new ProblemError('message_too_large', sentence('detail.body_too_complex', { reason: error.sentence }))
  const reason = error instanceof JsonError ? error.sentence : reasonOfStream(error)
  return reason ? new ProblemError('invalid_json', sentence('detail.json', { reason })) : error
}

/** Why the octets of a body did not arrive: they cannot be decompressed, or the connection was cut. */
function reasonOfStream(error: unknown): Sentence | undefined {
  if (!(error instanceof Error && 'code' in error) || error instanceof ProblemError) return undefined
  return sentence(/^(?:Z_|ERR__ERROR_)/.test(String(error.code)) ? 'json.compression' : 'json.cut')
}
