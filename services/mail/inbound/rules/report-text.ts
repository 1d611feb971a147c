/** The parts of a report that are meant for people, as lines of text. */
import { unlabelledDecoder } from '../../message/charset.ts'
import { contentOf, type MimePart } from '../../message/mime-reader.ts'

/** Octets of a part that are read: notices are short, what follows is a copy of the message. */
const MAX_OCTETS = 64 * 1024
const MAX_LINES = 2_000
const MAX_LINE = 1_000

/** The text of a part of any charset, also of a wrong or a missing one; at most the first 64 KiB. */
export function textOf(part: MimePart): string {
  // Encoded text is at most three times as long as its octets.
  const octets = contentOf({ ...part, body: part.body.slice(0, 3 * MAX_OCTETS) }).subarray(0, MAX_OCTETS)
  return unlabelledDecoder(octets, octets, part.parameters.get('charset'))(octets)
}

/** Lines that a person would see, of all text and HTML parts. HTML comes last, because it often repeats the text. */
export function linesOf(parts: readonly MimePart[]): string[] {
  const plain = parts.filter(({ type }) => type === 'text/plain' || type === 'text')
  const html = parts.filter(({ type }) => type === 'text/html')
  const texts = [...plain.slice(0, 5).map(textOf), ...html.slice(0, 2).map(part => withoutTags(textOf(part)))]
  return texts
    .flatMap(text => [...text.split(/\r\n|\n|\r/, MAX_LINES), ''])
    .slice(0, MAX_LINES)
    .map(line => line.slice(0, MAX_LINE).replaceAll('\0', ' ').trimEnd())
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ', apos: "'" }

/** The visible text of HTML: elements that begin a line do so, cells are separated by a space. Not for display. */
function withoutTags(html: string): string {
  return withoutElements(withoutElements(html, 'style'), 'script')
    .replace(/[\r\n]+/g, ' ')
    .replace(/<\/(?:p|div|tr|li|h[1-6]|table|ul)\s*>|<br\s*\/?>/gi, '\n')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(?:#(\d{1,7})|([a-z]{2,4}));/gi, (whole, code: string | undefined, name: string | undefined) =>
      code === undefined ? (ENTITIES[name?.toLowerCase() ?? ''] ?? whole) : characterOf(Number(code)),
    )
    .replace(/[ \t\u00a0]+/g, ' ')
}

function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' '
}

/** A search for the ends by pattern would take quadratic time for elements without one. */
function withoutElements(html: string, name: string): string {
  const lower = html.toLowerCase()
  let out = ''
  let at = 0
  for (;;) {
    const start = lower.indexOf(`<${name}`, at)
    const end = start < 0 ? -1 : lower.indexOf(`</${name}`, start)
    if (end < 0) return out + html.slice(at)
    out += html.slice(at, start)
    at = end
  }
}
