/** What goes to the wire: the stored message read, signed, and for servers without 8BITMIME converted to 7 bits. */

import { concatInTurns, nextTurn } from '../../../platform/concurrency/event-loop-turns.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { SecretError } from '../../../platform/security/secrets.ts'
import { asSentence } from '../../../platform/sentences/compose.ts'
import { inEnglish, type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { type SevenBitError, toSevenBit, Unconvertible } from '../../message/seven-bit.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import { ownReply, type Reply } from '../rules/smtp-reply.ts'
import type { FindKeys } from '../signing-keys.ts'
import { type SignedMessage, type SigningKey, signMessage } from '../smtp/signer.ts'
import type { LocalFailure } from './attempt-result.ts'

/** Dependencies of {@link createPreparation}. */
export interface PreparationOptions {
  findKeys: FindKeys
  context(): { now: Date }
  log: Log
}

/** Messages ready to be sent; equal ones for several destinations are prepared once. */
export interface Preparation {
  signed(outgoing: Outgoing): Promise<SignedMessage | LocalFailure>
  /** In 7 bits, signed after the conversion; or a reply with the reason why it is impossible. */
  sevenBit(outgoing: Outgoing): Promise<{ content: Buffer } | Reply>
}

interface Loaded {
  bytes: Buffer
  keys: readonly SigningKey[]
}

/** Makes the preparation of a worker. */
export function createPreparation({ findKeys, context, log }: PreparationOptions): Preparation {
  const unsigned = (m: string, reason: Sentence): LocalFailure => {
    log.error(
      { m, reason: inEnglish(reason) },
      'a message cannot be signed; it waits until its domain has a usable key',
    )
    const text = sentence('delivery.not_signed', { reason })
    return { classification: { outcome: 'deferred', kind: 'signing' }, enhanced: '4.7.7', text }
  }

  const load = async ({ message, raw }: Outgoing): Promise<Loaded | LocalFailure> => {
    const [bytes, keys] = await Promise.all([
      raw(),
      findKeys(message).catch((error: unknown) => {
        if (error instanceof SecretError) return error
        throw error
      }),
    ])
    if (!bytes)
      return {
        classification: { outcome: 'bounced', kind: 'other' },
        enhanced: '5.3.0',
        text: sentence('delivery.message_gone'),
      }
    if (keys instanceof SecretError)
      return unsigned(message._id, sentence('delivery.key_unreadable', { error: keys.message }))
    if (!keys) return unsigned(message._id, sentence('delivery.no_key'))
    return { bytes, keys }
  }

  const sign = (bytes: Buffer, keys: readonly SigningKey[]) =>
    signMessage(bytes, keys, Math.floor(context().now.getTime() / 1000))

  const convert = async (outgoing: Outgoing): Promise<{ content: Buffer } | Reply> => {
    const loaded = await load(outgoing)
    if ('classification' in loaded) return ownReply(451, '4.3.0', asSentence(loaded.text))
    const pieces: Buffer[] = []
    try {
      for (const piece of toSevenBit(loaded.bytes)) {
        pieces.push(piece)
        await nextTurn()
      }
    } catch (error) {
      if (error instanceof Unconvertible) return REPLIES[error.reason]
      throw error
    }
    return sign(await concatInTurns(pieces), loaded.keys)
  }

  return {
    signed: once(async outgoing => {
      const loaded = await load(outgoing)
      return 'classification' in loaded ? loaded : sign(loaded.bytes, loaded.keys)
    }),
    sevenBit: once(outgoing =>
      convert(outgoing).catch((error: unknown) => {
        log.error({ err: error, m: outgoing.message._id }, 'a message was not converted to 7 bits; it waits')
        return ownReply(451, '4.3.0', sentence('delivery.not_converted'))
      }),
    ),
  }
}

/** In the place of the server's reply (RFC 3463 section 3.7). */
const REPLIES: Readonly<Record<SevenBitError, Reply>> = {
  signed: ownReply(554, '5.6.2', sentence('delivery.signed_part')),
  address: ownReply(554, '5.6.7', sentence('delivery.address_not_ascii')),
  structure: ownReply(554, '5.6.3', sentence('delivery.structure_not_convertible')),
}

function once<Value>(prepare: (outgoing: Outgoing) => Promise<Value>): (outgoing: Outgoing) => Promise<Value> {
  const prepared = new WeakMap<Outgoing, Promise<Value>>()
  return outgoing => {
    const known = prepared.get(outgoing)
    if (known) return known
    const fresh = prepare(outgoing)
    prepared.set(outgoing, fresh)
    return fresh
  }
}
