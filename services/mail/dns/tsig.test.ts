import { describe, expect, test } from 'vitest'
import { decodeMessage, encodeMessage, TYPE } from './dns-message.ts'
import { signMessage, TsigError, type TsigKey, verifyAnswer } from './tsig.ts'

const now = new Date('2026-11-21T10:00:00Z')
const key: TsigKey = { name: 'upd-key', algorithm: 'hmac-sha512', secret: Buffer.from('secret') }
const message = encodeMessage({
  id: 9,
  flags: 0x8000,
  questions: [{ name: 'example.com', type: TYPE.SOA, class: 1 }],
  answers: [],
  authorities: [],
  additionals: [],
})
/** An answer as a server signs it: over the MAC of the request first. An empty request MAC means none. */
function answer(change: (bytes: Buffer) => Buffer = bytes => bytes, signer = key, at = now): () => void {
  const { bytes } = signMessage(message, signer, at)
  const changed = change(Buffer.from(bytes))
  return () => verifyAnswer(changed, decodeMessage(changed), key, Buffer.alloc(0), now)
}

test('a signature is the last record and is counted', () => {
  const { bytes, mac } = signMessage(message, key, now)
  const { additionals } = decodeMessage(bytes)
  expect(additionals).toMatchObject([{ name: 'upd-key', type: TYPE.TSIG, ttl: 0 }])
  expect(mac).toHaveLength(64)
})

describe('an answer is refused', () => {
  test.each<[string, () => void, RegExp]>([
    [
      'without a signature',
      () => verifyAnswer(message, decodeMessage(message), key, Buffer.alloc(0), now),
      /not signed/,
    ],
    ['with another key', answer(undefined, { ...key, secret: Buffer.from('other') }), /wrong/],
    ['under another name', answer(undefined, { ...key, name: 'other-key' }), /wrong/],
    [
      'with a changed byte',
      answer(bytes => {
        bytes[3] = 5
        return bytes
      }),
      /wrong/,
    ],
    ['that answers another request', answer(), /wrong/],
  ])('%s', (_, check, reason) => {
    expect(check).toThrow(TsigError)
    expect(check).toThrow(reason)
  })
})

test('a signature that is cut short, or says wrong lengths, is refused like a wrong one', () => {
  const { bytes } = signMessage(message, key, now)
  const whole = decodeMessage(bytes).additionals[0]?.data ?? expect.fail('no signature')
  const cuts = Array.from({ length: whole.length }, (_, length) => whole.subarray(0, length))
  const long = Buffer.from(whole)
  long.fill(0xff, whole.length - 2) // more "other data" than there is
  for (const data of [...cuts, long]) {
    const record = { name: key.name, type: TYPE.TSIG, class: 255, ttl: 0, data }
    const spoiled = encodeMessage({ ...decodeMessage(message), additionals: [record] })
    const check = () => verifyAnswer(spoiled, decodeMessage(spoiled), key, Buffer.alloc(0), now)
    expect(check, `${data.length} bytes`).toThrow(TsigError)
  }
})
