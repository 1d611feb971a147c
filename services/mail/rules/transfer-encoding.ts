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

/** Base64 in lines of 76 characters, without a line end behind the last. */
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
    // A step ends within a line only if the line is longer than a step; then a soft break stands there.
    const to = lineEnd >= from ? lineEnd + 2 : near
    const lines = content.toString('latin1', from, to).split('\r\n').map(quoteLine).join('\r\n')
    yield Buffer.from(to === content.length || lineEnd >= from ? lines : `${lines}=\r\n`, 'latin1')
    from = to
  }
}

function quoteLine(line: string): string {
  const quoted = line
    .replace(/[^\t -<>-~]/g, quoteOctet)
    .replace(/[\t ]$/, quoteOctet)
    .replace(/^From /, '=46rom ') // mailboxes of the old kind take it for the start of a message
  return quoted.length <= COLUMNS + 1 ? quoted : softBreaks(quoted)
}

function quoteOctet(octet: string): string {
  return `=${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** Breaks between octets, never within `=XX`. */
function softBreaks(quoted: string): string {
  const lines: string[] = []
  let from = 0
  while (quoted.length - from > COLUMNS + 1) {
    const sign = quoted.lastIndexOf('=', from + COLUMNS - 1)
    const to = sign > from + COLUMNS - 3 ? sign : from + COLUMNS
    lines.push(quoted.slice(from, to))
    from = to
  }
  lines.push(quoted.slice(from))
  return lines.join('=\r\n')
}
