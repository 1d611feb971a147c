/**
 * Reads forms with files (`multipart/form-data`, RFC 7578). Node's `Response.formData()` has no limit on parts and
 * blocks the event loop: 400,000 empty fields in 20 MiB took 1.5 s.
 */

import { MIMEType } from 'node:util'
import { nextTurn, TURN_BYTES } from '../concurrency/event-loop-turns.ts'
import { ProblemError } from '../problems.ts'
import { type Sentence, sentence } from '../sentences/sentence.ts'

/** A file of a form; `bytes` shares its memory with the body. */
export interface FormFile {
  bytes: Buffer
  /** Its Content-Type as it was sent, or empty. */
  type: string
}

/** Largest number of fields and files of a form. */
const MAX_PARTS = 100
/** Largest size of the headers of one part, in bytes. */
const HEADER_BYTES = 8 * 1024
/** RFC 2046 section 5.1.1. */
const MAX_BOUNDARY = 70

const malformed = (why: Sentence) => new ProblemError('invalid_request', sentence('detail.form', { reason: why }))

/**
 * The files of a form in order; other fields are ignored. Yields to other requests during the search. Throws
 * `invalid_request` for a form that violates RFC 7578, is truncated, or has more than 100 parts.
 */
export async function filesOfForm(body: Buffer, contentType: string): Promise<FormFile[]> {
  const boundary = parameterOf(contentType, 'boundary')
  if (boundary === '' || boundary.length > MAX_BOUNDARY) throw malformed(sentence('detail.form_boundary'))
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const atStart = delimiter.subarray(2).equals(body.subarray(0, delimiter.length - 2))
  const files: FormFile[] = []
  let at = atStart ? delimiter.length - 2 : await findDelimiterEnd(body, delimiter, 0)
  for (let parts = 0; body.toString('latin1', at, at + 2) !== '--'; parts++) {
    if (parts === MAX_PARTS) throw malformed(sentence('detail.form_parts', { count: MAX_PARTS }))
    const { content, isFile, type } = readHeaders(body, at)
    at = await findDelimiterEnd(body, delimiter, content)
    if (isFile) files.push({ bytes: body.subarray(content, at - delimiter.length), type })
  }
  return files
}

/** A parameter of a Content-Type (RFC 9110 section 8.3.1), or empty. */
export function parameterOf(contentType: string, name: string): string {
  try {
    return new MIMEType(contentType).params.get(name) ?? ''
  } catch {
    return ''
  }
}

/** Offset after the next delimiter. */
async function findDelimiterEnd(body: Buffer, delimiter: Buffer, from: number): Promise<number> {
  for (let at = from; at < body.length; at += TURN_BYTES) {
    const found = body.subarray(at, at + TURN_BYTES + delimiter.length - 1).indexOf(delimiter)
    if (found !== -1) return at + found + delimiter.length
    await nextTurn()
  }
  throw malformed(sentence('detail.form_cut'))
}

/** The headers of a part and the offset of its content; `at` is the offset after its delimiter. */
function readHeaders(body: Buffer, at: number): { content: number; isFile: boolean; type: string } {
  const head = body.toString('utf8', at, at + HEADER_BYTES)
  const end = body.subarray(at, at + HEADER_BYTES).indexOf('\r\n\r\n')
  const [padding = '', ...lines] = head.slice(0, Math.max(0, head.indexOf('\r\n\r\n'))).split('\r\n')
  if (end === -1 || padding.trim() !== '') throw malformed(sentence('detail.form_headers'))
  const value = (name: string) => {
    const line = lines.find(one => one.toLowerCase().startsWith(`${name}:`))
    return line === undefined ? '' : line.slice(name.length + 1).trim()
  }
  // RFC 7578 section 4.7: deprecated, and not sent by browsers. Reading base64 as plain bytes would corrupt the file.
  const encoding = value('content-transfer-encoding')
  if (!/^(?:7bit|8bit|binary)?$/i.test(encoding)) throw malformed(sentence('detail.form_encoding'))
  const disposition = value('content-disposition').replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
  return { content: at + end + 4, isFile: /;\s*filename\*?\s*=/i.test(disposition), type: value('content-type') }
}
