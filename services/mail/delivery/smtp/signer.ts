/** Signs messages with the keys of their domain: key objects are kept, and RSA runs on the thread pool. */
import { isAscii } from 'node:buffer'
import { createHash, type KeyObject, sign } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  bodyHash,
  draftSignature,
  relaxedBody,
  type SignatureKey,
  splitMessage,
  updateHash,
} from '../rules/dkim-signature-draft.ts'

/** A key, ready to sign. */
export interface SigningKey extends SignatureKey {
  key: KeyObject
}

/** A message with its signatures on top, and what its bytes ask of a server. */
export interface SignedMessage {
  content: Buffer
  eightBit: boolean
  /** The header has bytes above 127 (RFC 6532), so that SMTPUTF8 is needed. */
  utf8Header: boolean
}

/** Bodies above this are hashed in steps, so that other connections get their turn. */
const STEPWISE_BYTES = 512 * 1024
const signAsync = promisify(sign)

/** Puts one DKIM-Signature field per key before the message. `at`: Unix seconds. */
export async function signMessage(raw: Buffer, keys: readonly SigningKey[], at: number): Promise<SignedMessage> {
  const { header, body } = splitMessage(raw)
  const hash = keys.length === 0 ? '' : await hashOf(body)
  const fields = await Promise.all(
    keys.map(async ({ key, ...name }) => {
      const draft = draftSignature(header, hash, name, at)
      return draft.field((await signatureOf(draft.data, key)).toString('base64'))
    }),
  )
  return {
    content: fields.length === 0 ? raw : Buffer.concat([Buffer.from(fields.join(''), 'latin1'), raw]),
    eightBit: !isAscii(raw),
    utf8Header: !isAscii(raw.subarray(0, header.length)),
  }
}

/** Ed25519 signs the SHA-256 of the data (RFC 8463 section 3). */
function signatureOf(data: Buffer, key: KeyObject): Promise<Buffer> {
  if (key.asymmetricKeyType !== 'ed25519') return signAsync('sha256', data, key)
  return signAsync(null, createHash('sha256').update(data).digest(), key)
}

async function hashOf(body: Buffer): Promise<string> {
  if (body.length < STEPWISE_BYTES) return bodyHash(body)
  const hash = createHash('sha256')
  for (const piece of relaxedBody(body)) {
    updateHash(hash, piece)
    await nextTurn()
  }
  return hash.digest('base64')
}
