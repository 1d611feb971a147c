/** Transaction signatures of DNS messages (RFC 8945): signing requests, verifying answers in constant time. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Sentence, SentenceError, sentence } from '../../platform/sentences/sentence.ts'
import { CLASS, type Decoded, encodeName, encodeRecord, readName, TYPE, uint16 } from './dns-message.ts'

/** Algorithms by the names that servers and their configurations use. MD5 is refused (RFC 8945 6). */
export const TSIG_ALGORITHMS = ['hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const

/** A shared key. `secret` are the raw bytes. */
export interface TsigKey {
  name: string
  algorithm: (typeof TSIG_ALGORITHMS)[number]
  secret: Buffer
}

/** Why a signature is not good, in the server's words or ours. */
export class TsigError extends SentenceError {
  /** BADSIG 16, BADKEY 17, BADTIME 18 (RFC 8945 3); undefined: the answer's own signature is missing or wrong. */
  readonly code: number | undefined
  constructor(given: Sentence, code?: number) {
    super(given)
    this.code = code
  }
}

/** Seconds by which clocks may differ (RFC 8945 10). */
const FUDGE = 300

/** Appends the signature. Gives the bytes to send and the MAC that the answer's signature covers. */
export function signMessage(bytes: Buffer, key: TsigKey, now: Date): { bytes: Buffer; mac: Buffer } {
  const seconds = Math.floor(now.getTime() / 1000)
  const mac = hmac(key, Buffer.concat([bytes, variables(key, seconds, FUDGE, 0, Buffer.alloc(0))]))
  const data = Buffer.concat([
    encodeName(key.algorithm),
    uint48(seconds),
    uint16(FUDGE),
    uint16(mac.length),
    mac,
    bytes.subarray(0, 2),
    uint16(0),
    uint16(0),
  ])
  const signed = Buffer.concat([
    bytes,
    encodeRecord({ name: key.name, type: TYPE.TSIG, class: CLASS.ANY, ttl: 0, data }),
  ])
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
  return { bytes: signed, mac }
}

/**
 * Checks the signature of an answer. Throws {@link TsigError} when it is missing, wrong or too old, and when the
 * server refused ours. An unsigned answer proves nothing, whatever it says.
 */
export function verifyAnswer(bytes: Buffer, message: Decoded, key: TsigKey, requestMac: Buffer, now: Date): void {
  const record = message.additionals.at(-1)
  if (record?.type !== TYPE.TSIG) throw new TsigError(sentence('dns_provider.tsig_missing'))
  const fields = fieldsOf(record.data)
  if (fields.error === 16 || fields.error === 17)
    throw new TsigError(
      sentence(fields.error === 16 ? 'dns_provider.tsig_bad_signature' : 'dns_provider.tsig_bad_key'),
      fields.error,
    )
  const unsigned = Buffer.from(bytes.subarray(0, message.lastRecordAt))
  unsigned.writeUInt16BE(unsigned.readUInt16BE(10) - 1, 10)
  const expected = hmac(
    key,
    Buffer.concat([
      uint16(requestMac.length),
      requestMac,
      unsigned,
      variables(key, fields.seconds, fields.fudge, fields.error, fields.other),
    ]),
  )
  const sameName = record.name === key.name.replace(/\.$/, '').toLowerCase()
  if (!sameName || fields.mac.length !== expected.length || !timingSafeEqual(fields.mac, expected))
    throw new TsigError(sentence('dns_provider.tsig_wrong'))
  const skew = Math.floor(now.getTime() / 1000) - fields.seconds
  if (fields.error === 18 || Math.abs(skew) > fields.fudge)
    throw new TsigError(sentence('dns_provider.tsig_clock', { seconds: skewOf(fields, now) }), 18)
}

interface TsigFields {
  seconds: number
  fudge: number
  mac: Buffer
  error: number
  other: Buffer
}

function fieldsOf(data: Buffer): TsigFields {
  try {
    return readTsig(data)
  } catch {
    throw new TsigError(sentence('dns_provider.tsig_unreadable'))
  }
}

function readTsig(data: Buffer): TsigFields {
  const { next } = readName(data, 0)
  const macLength = data.readUInt16BE(next + 8)
  const afterMac = next + 10 + macLength
  const otherLength = data.readUInt16BE(afterMac + 4)
  return {
    seconds: data.readUIntBE(next, 6),
    fudge: data.readUInt16BE(next + 6),
    mac: data.subarray(next + 10, afterMac),
    error: data.readUInt16BE(afterMac + 2),
    other: data.subarray(afterMac + 6, afterMac + 6 + otherLength),
  }
}

/** Seconds by which the server's clock is ahead of ours. */
function skewOf({ other, seconds }: TsigFields, now: Date): number {
  const server = other.length === 6 ? other.readUIntBE(0, 6) : seconds
  return server - Math.floor(now.getTime() / 1000)
}

function variables(key: TsigKey, seconds: number, fudge: number, error: number, other: Buffer): Buffer {
  return Buffer.concat([
    encodeName(key.name),
    uint16(CLASS.ANY),
    Buffer.alloc(4),
    encodeName(key.algorithm),
    uint48(seconds),
    uint16(fudge),
    uint16(error),
    uint16(other.length),
    other,
  ])
}

function hmac({ algorithm, secret }: TsigKey, bytes: Buffer): Buffer {
  return createHmac(algorithm.slice('hmac-'.length), secret).update(bytes).digest()
}

function uint48(value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(value, 0, 6)
  return bytes
}
