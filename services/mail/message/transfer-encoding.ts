/**
 * Content-Transfer-Encodings (RFC 2045 section 6) of large contents, in pieces: a caller may give others their turn in
 * between.
 */

/** Octets that are encoded between two pieces: about a millisecond. */
const STEP_OCTETS = 57 * 1024
/** Octets of a line of base64. */
const LINE_OCTETS = 57
/** Longest line of quoted-printable, without the sign of its soft break. */
const COLUMNS = 75

/** Base64 in lines of 76 characters, without a final line end. */
export function* encodeBase64(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += STEP_OCTETS) {
    const text = content.toString('base64', at, Math.min(at + STEP_OCTETS, content.length))
    const lines = text.replace(new RegExp(`.{${(LINE_OCTETS / 3) * 4}}(?=.)`, 'g'), '$&\r\n')
    yield Buffer.from(at === 0 ? lines : `\r\n${lines}`, 'latin1')
  }
}

/** Quoted-printable; line ends stay line ends. */
export function* encodeQuotedPrintable(content: Buffer): Generator<Buffer> {
  for (let from = 0; from < content.length; ) {
    const near = Math.min(from + STEP_OCTETS, content.length)
    const lineEnd = near === content.length ? -1 : content.lastIndexOf('\r\n', near)
    // A step ends within a line only if the line is longer than a step; then a soft break is inserted.
    const to = lineEnd >= from ? lineEnd + 2 : near
    const lines = content.toString('latin1', from, to).split('\r\n').map(quoteLine).join('\r\n')
    yield Buffer.from(to === content.length || lineEnd >= from ? lines : `${lines}=\r\n`, 'latin1')
    from = to
  }
}

/**
 * What a line must not begin with: `--` could be a boundary that was none, and mailboxes of the old kind take `From ` for
 * the start of a message.
 */
const START = /(?:--|From )/y

function quoteLine(line: string): string {
  const quoted = line.replace(/[^\t -<>-~]/g, quoteOctet).replace(/[\t ]$/, quoteOctet)
  if (quoted.length > COLUMNS - 1) return softBreaks(quoted)
  return needsQuoting(quoted, 0) ? quoteOctet(quoted[0] ?? '') + quoted.slice(1) : quoted
}

function needsQuoting(quoted: string, at: number): boolean {
  START.lastIndex = at
  return START.test(quoted)
}

function quoteOctet(octet: string): string {
  return `=${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** Breaks between octets, never within `=XX`. */
function softBreaks(quoted: string): string {
  const lines: string[] = []
  for (let from = 0; from < quoted.length; ) {
    const first = needsQuoting(quoted, from) ? quoteOctet(quoted[from] ?? '') : ''
    const at = first ? from + 1 : from
    const room = COLUMNS - first.length
    const isLast = quoted.length - at <= room + 1
    const sign = quoted.lastIndexOf('=', at + room - 1)
    const to = isLast ? quoted.length : sign > at + room - 3 ? sign : at + room
    lines.push(first + quoted.slice(at, to))
    from = to
  }
  return lines.join('=\r\n')
}

/** Characters that are searched or decoded between two steps: about a millisecond. */
export const STEP_CHARACTERS = 256 * 1024
/** More characters than a line has (RFC 5322 section 2.1.1). */
const MAX_LINE = 1_000
/** What a step must not end with: the beginning of an octet or of a soft break, also of one within an octet. */
const UNFINISHED = /(?:=(?:=[ \t]*\r?\n)*(?:[\da-f](?:=[ \t]*\r?\n)*)?)?(?:=[ \t]*\r?)?$/i

/** The octets of quoted-printable text (one code unit an octet); text outside of its grammar represents itself. */
export function* decodeQuotedPrintable(text: string): Generator<Buffer> {
  for (let from = 0; from < text.length; ) {
    const near = from + STEP_CHARACTERS
    const end = text.slice(near - MAX_LINE, near)
    const to = near < text.length ? near - end.length + end.search(UNFINISHED) : text.length
    yield decodeStep(text.slice(from, to))
    from = to
  }
}

function decodeStep(text: string): Buffer {
  const octets = Buffer.from(text.replaceAll(/=[ \t]*\r?\n/g, ''), 'latin1')
  let length = 0
  for (let at = 0; at < octets.length; at++) {
    const high = octets[at] === 0x3d ? digitOf(octets[at + 1]) : -1
    const low = high < 0 ? -1 : digitOf(octets[at + 2])
    octets[length++] = low < 0 ? (octets[at] ?? 0) : high * 16 + low
    if (low >= 0) at += 2
  }
  return octets.subarray(0, length)
}

/** The value of a hexadecimal digit; -1 for another octet. */
function digitOf(octet = 0): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
