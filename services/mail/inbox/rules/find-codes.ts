/**
 * Finds one-time codes in the text of a message. A code is
 *
 * - 4 to 10 digits, or two to three groups of 2 to 4 digits with one blank or hyphen between them (`482 913`), or
 * - 4 to 10 capital letters and digits with at least one of each, or two to three such groups of 3 to 5 with a hyphen between
 *   them (`K7QX2M`, `ABCD-1234`), also after one letter and a hyphen (`G-482913`),
 *
 * that stands alone: not part of a longer word, number, date, amount, address or link.
 */

/** Codes that are answered. */
export const MAX_CODES = 20
/** Characters of the text that are searched. */
const MAX_TEXT = 100_000
/** Characters around a code in which a word about codes puts it first. */
const NEAR = 60

/** What looks like a code and is none: links, addresses, dates, times, amounts, telephone numbers with a plus. */
const NO_CODES =
  /\b[a-z][a-z\d+.-]{1,20}:\/\/\S{1,2000}|\bwww\.\S{1,2000}|[^\s@<>]{1,64}@[^\s@<>]{1,255}|\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b|\b\d{1,2}:\d{2}(?::\d{2})?\b|[$€£¥]\s?\d[\d.,]{0,20}|(?<![\d.,])\d[\d.,]{0,20}\s?[$€£¥%]|\+\d[\d ()-]{5,20}/gi

const CODE =
  /(?<![\p{L}\p{N}_.,#/&=-])(?:[A-Z]-\d{4,10}|\d{4,10}|\d{2,4}(?:[ -]\d{2,4}){1,2}|[A-Z\d]{3,5}(?:-[A-Z\d]{3,5}){1,2}|[A-Z\d]{4,10})(?![\p{L}\p{N}_/&=-]|[.,]\d)/gu

const ABOUT_CODES =
  /\b(?:code|codes|otp|pin|passcode|password|token|verif\w{0,10}|confirm\w{0,10}|one-time|login|sign.?in)\b|验证码|校验码|动态码|确认码|密码/i

/** The codes in the order of their place; those near a word about codes come first. Each once. */
export function findCodes(text: string): string[] {
  const searched = text.slice(0, MAX_TEXT).replaceAll(NO_CODES, found => ' '.repeat(found.length))
  const near: string[] = []
  const others: string[] = []
  for (const { 0: code, index } of searched.matchAll(CODE)) {
    if (!isCode(code)) continue
    const around = searched.slice(Math.max(0, index - NEAR), index + code.length + NEAR)
    const list = ABOUT_CODES.test(around) ? near : others
    list.push(code)
    if (near.length + others.length >= MAX_CODES * 10) break
  }
  return [...new Set([...near, ...others])].slice(0, MAX_CODES)
}

/** Letters alone are a word in capitals, and too many characters are an order number. */
function isCode(code: string): boolean {
  const characters = code.replaceAll(/[ -]/g, '')
  return /\d/.test(characters) && characters.length >= 4 && characters.length <= 15
}
