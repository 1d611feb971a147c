/** Fields of reports and of the messages in them: `Name: value` lines, folded or not, with any line end. */
import { normaliseEmail } from '../../message/address.ts'
import { decodeWords } from '../../message/headers.ts'
import { fromXtext } from '../../message/xtext.ts'

/** A field with its name in lower case and its value on one line. */
export type Field = readonly [name: string, value: string]

/** Bounds of a block of fields; what is beyond them is ignored. */
const MAX_FIELDS = 5_000
const MAX_VALUE = 4_000

/** Fields of a block in their order; lines that are none are skipped. */
export function readFields(block: string): Field[] {
  const fields: [string, string][] = []
  for (const line of block.split(/\r?\n/)) {
    const last = fields.at(-1)
    if (/^[ \t]/.test(line)) {
      if (last && last[1].length < MAX_VALUE) last[1] = `${last[1]} ${line.trim()}`.trim().slice(0, MAX_VALUE)
      continue
    }
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trimEnd().toLowerCase()
    if (colon > 0 && /^[!-9;-~]{1,100}$/.test(name))
      fields.push([
        name,
        line
          .slice(colon + 1)
          .trim()
          .slice(0, MAX_VALUE),
      ])
    if (fields.length >= MAX_FIELDS) break
  }
  return fields
}

/** The first value that is not empty. */
export function firstValue(fields: readonly Field[], name: string): string | undefined {
  return fields.find(([known, value]) => known === name && value !== '')?.[1]
}

/** A text of a report on one line: encoded words decoded, without control characters, at most 1,000 characters. */
export function lineOf(text: string): string {
  return decodeWords(text.slice(0, MAX_VALUE))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 1_000)
}

/** What comes after the type of a typed value (`rfc822; a@b`, `smtp; 550 …`), which some products leave out. */
export function withoutType(value: string): string {
  return value.replace(/^\s*[A-Za-z][\w-]{0,30}\s*;\s*/, '')
}

/** The address of a recipient field (RFC 3464 2.3.1, RFC 6533 3); undefined when it has none that can be read. */
export function recipientOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const bare = withoutType(value).trim()
  return addressOf(value.trimStart().toLowerCase().startsWith('utf-8') ? fromUtf8Address(bare) : bare)
}

/** The address in a text such as `a@b`, `<a@b>` or `Name <a@b>`; encoded as xtext or not. */
export function addressOf(value: string): string | undefined {
  const inner = /<([^<>]{1,320})>/.exec(value)?.[1] ?? value
  const bare = inner.trim().replace(/^mailto:/i, '')
  return normaliseEmail(bare) ?? normaliseEmail(fromXtext(bare))
}

/** RFC 6533 section 3: `\x{4F60}` for characters outside of ASCII. */
function fromUtf8Address(text: string): string {
  return text.replace(/\\x\{([0-9A-Fa-f]{2,6})\}/g, (whole, hex: string) => {
    const point = Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}

/** The first enhanced status code of a text. */
export function statusIn(text = ''): string | undefined {
  return /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1]
}

/** A diagnostic on one line, where the lines of a reply have been joined: its code is only kept in front. */
export function diagnosticOf(text: string): string {
  const line = lineOf(text)
  const [, start, code, enhanced] = /^(\D{0,40}(\d{3}))[ -](?:([245]\.\d{1,3}\.\d{1,3})\b)?/.exec(line) ?? []
  if (start === undefined) return line
  const again = new RegExp(
    ` ${code}[ -](?:${enhanced ? RegExp.escape(enhanced) : '[245]\\.\\d{1,3}\\.\\d{1,3}'} )? ?`,
    'g',
  )
  return `${start} ${line.slice(start.length + 1).replace(again, ' ')}`
}
