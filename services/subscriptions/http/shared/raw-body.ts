/** Bodies that are not JSON, read to the byte: files, and notices whose signature covers them. */

import { concatInTurns } from '../../../platform/concurrency/event-loop-turns.ts'
import type { WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { fault } from '../../rules/field-errors.ts'
import { filesOfForm, parameterOf } from './multipart-form.ts'

/** The body as text in UTF-8. Throws `message_too_large` beyond `limit` bytes. */
export async function readText(context: WebContext, limit: number): Promise<string> {
  return (await readBytes(context, limit)).toString('utf8')
}

/** The body. Throws `message_too_large` beyond `limit` bytes. */
async function readBytes(context: WebContext, limit: number): Promise<Buffer> {
  const tooLarge = () => new ProblemError('message_too_large', `The body is larger than ${limit} bytes.`)
  if ((context.request.length ?? 0) > limit) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of context.req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return concatInTurns(chunks)
}

/** What browsers and programs call a table; on Windows with Excel a .csv file is "ms-excel". */
const TABLES = [
  ...['text/csv', 'text/plain', 'text/tab-separated-values', 'application/csv', 'application/octet-stream'],
  ...['application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
]

/** An uploaded file. */
export interface UploadedFile {
  bytes: Buffer
  /** Of its Content-Type; empty when that names none. */
  charset: string
}

/**
 * The file of an upload: the body itself, or the one file of a form (RFC 7578). Throws `unsupported_media_type`,
 * `message_too_large` beyond `limit` bytes, and `validation_failed` for a form without exactly one file.
 */
export async function readFile(context: WebContext, limit: number): Promise<UploadedFile> {
  const isForm = context.is('multipart/form-data')
  if (!isForm && !context.is(...TABLES))
    throw new ProblemError(
      'unsupported_media_type',
      'Send the file as text/csv, or as the file of multipart/form-data.',
    )
  const bytes = await readBytes(context, limit)
  return isForm ? fileOfForm(bytes, context.get('content-type')) : { bytes, charset: context.request.charset }
}

async function fileOfForm(body: Buffer, type: string): Promise<UploadedFile> {
  const [file, ...others] = await filesOfForm(body, type)
  if (!file || others.length > 0)
    throw new ProblemError('validation_failed', undefined, { faults: [fault('file', 'required')] })
  return { bytes: file.bytes, charset: parameterOf(file.type, 'charset') }
}
