/** The charset of octets without a label: UTF-8, what the message declares, or what they look like. */

/** Octets of a body that are examined to find the charset of a header. */
const SAMPLE_OCTETS = 64 * 1024
/** Labels that say nothing about octets above 127, or that a check for UTF-8 has answered. */
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
  const claimed = declared !== undefined && !NO_CLAIM.test(declared) ? declared : undefined
  let detected: string | undefined
  return octets => {
    const byClaim = claimed === undefined ? undefined : decode(octets, claimed)
    const utf8 = decode(octets, 'utf-8')
    // Short words in GBK can be valid UTF-8 by accident, but never as characters of three octets, which Chinese has there.
    const accident = byClaim !== undefined && TWO_OCTETS.test(claimed ?? '') && !/[\u0800-\u{10ffff}]/u.test(utf8 ?? '')
    if (utf8 !== undefined && !accident) return utf8
    if (byClaim !== undefined) return byClaim
    detected ??= detect(octets, header, body.subarray(0, SAMPLE_OCTETS))
    return decode(octets, detected) ?? new TextDecoder('windows-1252').decode(octets)
  }
}

/** The charset that octets look like, with no claim to go by: the name for a `Content-Type` field. */
export function charsetOf(octets: Uint8Array): 'utf-8' | 'gb18030' | 'windows-1252' {
  if (decode(octets, 'utf-8') !== undefined) return 'utf-8'
  return isChinese(octets) && decode(octets, 'gb18030') !== undefined ? 'gb18030' : 'windows-1252'
}

/** Decodes strictly; undefined when the octets are not of this charset, or the platform does not know it. */
function decode(octets: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(octets)
  } catch {
    return undefined
  }
}

function detect(octets: Uint8Array, header: Uint8Array, body: Uint8Array): string {
  if (isChinese(octets) || isChinese(header)) return 'gb18030'
  // A body in UTF-8 says nothing about a header that is not.
  return decode(body, 'utf-8') === undefined && isChinese(body) ? 'gb18030' : 'windows-1252'
}

/** Characters of GB 18030: one, two or four octets, those of four with a digit in the second place. */
const CHARACTERS = /[\x80-\xff](?:[0-9][\s\S]{2}|[\s\S])/g
const IMPOSSIBLE = /^(?:[\x80\xff]|[\s\S][\0-/:-?\x7f\xff])/
/** Symbols and level 1 of GB 2312: everyday Chinese. */
const COMMON = /^[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]$/

/**
 * True when at least half of the characters would be everyday Chinese. Letters above 127 in Latin-1 text stand alone, or
 * are lower-case, and such pairs are not among these.
 */
function isChinese(octets: Uint8Array): boolean {
  const found = Buffer.from(octets).toString('latin1').match(CHARACTERS) ?? []
  if (found.length === 0 || found.some(character => IMPOSSIBLE.test(character))) return false
  const pairs = found.filter(character => character.length === 2)
  return pairs.filter(pair => COMMON.test(pair)).length * 2 >= pairs.length
}
