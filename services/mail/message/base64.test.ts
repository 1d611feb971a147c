import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Base64Decoder, decodeBase64 } from './base64.ts'

/** Decodes the text in pieces of these sizes. */
function inPieces(text: string, sizes: readonly number[]): Buffer | undefined {
  const decoder = new Base64Decoder()
  let at = 0
  for (const size of sizes) {
    decoder.push(text.slice(at, at + size))
    at += size
  }
  decoder.push(text.slice(at))
  const pieces = decoder.end()
  return pieces && Buffer.concat(pieces)
}

test('bytes come back, with or without line breaks, however the text is cut', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map(array => Buffer.from(array))
  const sizes = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 30 })
  fc.assert(
    fc.property(bytes, sizes, fc.constantFrom('', '\n', '\r\n', '\r'), (given, cuts, lineEnd) => {
      const text = given.toString('base64').replaceAll(/.{1,19}/g, `$&${lineEnd}`)
      expect(decodeBase64(text)).toEqual(given)
      expect(inPieces(text, cuts)).toEqual(given)
    }),
  )
})

test.each([
  'A',
  'AA',
  'AAA',
  'AAAAA',
  'AA=',
  'AA=A',
  '=AAA',
  'AA==AAAA',
  'AA==\nAAAA',
  'A A A',
  'AA-_',
  'AAA*',
  'AA\0A',
  '====',
  'ÄÄÄÄ',
  'data:,AAAA',
])('%j is no base64, however it is cut', text => {
  expect(decodeBase64(text)).toBeUndefined()
  expect(inPieces(text, Array(text.length).fill(1))).toBeUndefined()
  expect(inPieces(text, [4])).toBeUndefined()
})

test.each([
  ['', ''],
  ['\r\n', ''],
  ['QQ==', 'A'],
  ['QUI=\n', 'AB'],
])('%j is %j', (text, bytes) => expect(decodeBase64(text)?.toString()).toBe(bytes))
