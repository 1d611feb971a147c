/** The charset of octets without a label: UTF-8, what the message declares, or what they look like. */
import { isAscii, isUtf8 } from 'node:buffer'

/** Octets that are examined to find a charset, from the first octet above 127 on. */
const SAMPLE_OCTETS = 64 * 1024
/** Labels that make no claim about octets above 127, or that a check for UTF-8 has answered. */
const NO_CLAIM = /^(?:us-ascii|ascii|unknown-8bit|x-unknown|7bit|8bit|binary|utf-?8)$/i
/** Labels of charsets with two octets a character. */
const TWO_OCTETS = /^(?:gb|big5|euc-|shift|sjis|ks_?c|cp9|windows-9|x-euc|x-gbk)/i

/**
 * Returns a decoder for the unlabelled octets of one message: as UTF-8 where they are valid UTF-8, else in the declared
 * charset, else in GB 18030 or windows-1252 by what octets, header and body look like. Never fails. `declared`: the
 * charset that the message names for its text.
 */
export function unlabelledDecoder(
  header: Uint8Array,
  body: Uint8Array,
  declared: string | undefined,
): (octets: Uint8Array) => string {
  const claimed = declared !== undefined && !NO_CLAIM.test(declared) ? strictDecoder(declared) : undefined
  const twoOctets = TWO_OCTETS.test(declared ?? '')
  let detected: ((octets: Uint8Array) => string | undefined) | undefined
  return octets => {
    const utf8 = isUtf8(octets) ? UTF8.decode(octets) : undefined
    if (utf8 !== undefined && !(claimed && twoOctets && mayBeAccident(utf8))) return utf8
    const byClaim = claimed?.(octets) ?? utf8
    if (byClaim !== undefined) return byClaim
    detected ??= strictDecoder(detect(octets, header, body.subarray(0, SAMPLE_OCTETS)))
    return detected(octets) ?? WINDOWS_1252.decode(octets)
  }
}

/** The charset that octets look like, with no claim to go by: the name for a `Content-Type` field. */
export function charsetOf(octets: Uint8Array): 'utf-8' | 'gb18030' | 'windows-1252' {
  if (isUtf8(octets)) return 'utf-8'
  return isChinese(octets) && isGb18030(sampleOf(octets)) ? 'gb18030' : 'windows-1252'
}

/** The end may be within a character. */
function isGb18030(sample: Uint8Array): boolean {
  try {
    new TextDecoder('gb18030', { fatal: true }).decode(sample, { stream: true })
    return true
  } catch {
    return false
  }
}

const UTF8 = new TextDecoder('utf-8')
const WINDOWS_1252 = new TextDecoder('windows-1252')

/**
 * Decodes strictly; undefined when the octets are not of this charset, or the platform does not know it. Decoders are
 * kept: making one costs as much as decoding some kilobytes.
 */
function strictDecoder(charset: string): (octets: Uint8Array) => string | undefined {
  let decoder = newDecoder(charset, { fatal: true })
  return octets => {
    try {
      return decoder?.decode(octets)
    } catch {
      decoder = newDecoder(charset, { fatal: true }) // the old one may have kept a part of what was invalid
      return undefined
    }
  }
}

/** A decoder; undefined when the platform does not know the charset. */
export function newDecoder(charset: string, options?: { fatal: boolean }) {
  try {
    return new TextDecoder(charset, options)
  } catch {
    return undefined
  }
}

/** Letters of western Europe beside others of the same word. */
const WESTERN_WORD = /[a-z][\u00c0-\u017f]|[\u00c0-\u017f][a-z]/
const BEYOND_WESTERN = /[^\0-\u017f]/

/**
 * Short words in GBK can be valid UTF-8 by accident, but never as characters of three octets, which Chinese has there, and
 * hardly ever as letters within western words.
 */
function mayBeAccident(utf8: string): boolean {
  if (/[\u0800-\u{10ffff}]/u.test(utf8)) return false
  return BEYOND_WESTERN.test(utf8) || !WESTERN_WORD.test(utf8)
}

function detect(octets: Uint8Array, header: Uint8Array, body: Uint8Array): string {
  if (isChinese(octets) || isChinese(header)) return 'gb18030'
  // A body in UTF-8 is no evidence about a header that is not.
  return !isUtf8(body) && isChinese(body) ? 'gb18030' : 'windows-1252'
}

/**
 * True when at least half of the characters would be everyday Chinese. Letters above 127 in Latin-1 text are isolated,
 * or lower-case, and such pairs are not among these.
 */
function isChinese(octets: Uint8Array): boolean {
  const sample = sampleOf(octets)
  let characters = 0
  let pairs = 0
  let common = 0
  for (let at = 0; at < sample.length - 1; ) {
    const length = lengthAt(sample, at)
    if (length === 0) return false
    if (length > 1) characters++
    if (length === 2) pairs++
    if (length === 2 && isCommon(sample[at] ?? 0, sample[at + 1] ?? 0)) common++
    at += length
  }
  return characters > 0 && common * 2 >= pairs
}

/** The first octets above 127 and what follows them. */
function sampleOf(octets: Uint8Array): Uint8Array {
  let start = 0
  while (start + SAMPLE_OCTETS < octets.length && isAscii(octets.subarray(start, start + SAMPLE_OCTETS)))
    start += SAMPLE_OCTETS
  return octets.subarray(start, start + SAMPLE_OCTETS)
}

/** Octets of a character of GB 18030: one, two, or four with a digit in the second place; 0: there is none. */
function lengthAt(octets: Uint8Array, at: number): 0 | 1 | 2 | 4 {
  const first = octets[at] ?? 0
  const second = octets[at + 1] ?? 0
  if (first < 0x80) return 1
  if (first === 0x80 || first === 0xff || second < 0x30 || second === 0x7f || second === 0xff) return 0
  if (second > 0x39) return second < 0x40 ? 0 : 2
  return at + 3 < octets.length ? 4 : 2
}

/** Symbols and level 1 of GB 2312: everyday Chinese. */
function isCommon(first: number, second: number): boolean {
  return second >= 0xa1 && second <= 0xfe && ((first >= 0xa1 && first <= 0xa3) || (first >= 0xb0 && first <= 0xd7))
}
