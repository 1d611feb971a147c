/** Cuts a table into pieces that can be imported one after the other, each with the first row of the file. */

export interface FilePiece {
  content: Uint8Array<ArrayBuffer>
  /** To be added to the numbers of rows in the piece. */
  rowsBefore: number
}

const QUOTE = 0x22
const LINE_FEED = 0x0a

/**
 * Pieces of at most this many rows. Rows end at line feeds outside of quotes; no character of UTF-8 or GB18030 contains one of
 * the two bytes. Other files (UTF-16, old Mac line ends) are one piece.
 */
export function piecesOf(file: Uint8Array<ArrayBuffer>, rows: number): FilePiece[] {
  if (file[0] === 0xff || file[0] === 0xfe || file[0] === 0 || file[1] === 0) return [{ content: file, rowsBefore: 0 }]
  const ends = rowEnds(file)
  const [heading = file.length] = ends
  const pieces: FilePiece[] = []
  for (let row = 1; row < ends.length; row += rows - 1) {
    const body = file.subarray(ends[row - 1], ends[Math.min(row + rows - 1, ends.length) - 1])
    pieces.push({ content: joined(file.subarray(0, heading), body), rowsBefore: row - 1 })
  }
  return pieces.length > 0 ? pieces : [{ content: file, rowsBefore: 0 }]
}

/** Offsets after each row; the last one is the length. */
function rowEnds(file: Uint8Array): number[] {
  const ends: number[] = []
  let quoted = false
  for (let at = 0; at < file.length; at++) {
    if (file[at] === QUOTE) quoted = !quoted
    else if (file[at] === LINE_FEED && !quoted) ends.push(at + 1)
  }
  if (ends.at(-1) !== file.length) ends.push(file.length)
  return ends
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
