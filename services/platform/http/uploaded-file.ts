/** Uploaded files. */

import { ProblemError } from '../problems.ts'
import { sentence } from '../sentences/sentence.ts'
import { readBytes } from './json-body.ts'
import { filesOfForm, parameterOf } from './multipart-form.ts'
import type { WebContext } from './web-app.ts'

/** Content types that browsers and programs use for tables; Windows with Excel sends "ms-excel" for .csv. */
const TABLES = [
  ...['text/csv', 'text/plain', 'text/tab-separated-values', 'application/csv', 'application/octet-stream'],
  ...['application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
]

/** An uploaded file. */
export interface UploadedFile {
  bytes: Buffer
  /** From its Content-Type; empty when missing. */
  charset: string
}

/**
 * The file of an upload: the body itself, or the one file of a form (RFC 7578). Throws `unsupported_media_type`,
 * `message_too_large` beyond `limits.bytes`, and `validation_failed` for a form without exactly one file.
 */
export async function readFile(context: WebContext, limits: Parameters<typeof readBytes>[1]): Promise<UploadedFile> {
  const isForm = context.is('multipart/form-data')
  if (!isForm && !context.is(...TABLES)) throw new ProblemError('unsupported_media_type', sentence('detail.file_type'))
  const bytes = await readBytes(context, limits)
  return isForm ? fileOfForm(bytes, context.get('content-type')) : { bytes, charset: context.request.charset }
}

async function fileOfForm(body: Buffer, type: string): Promise<UploadedFile> {
  const [file, ...others] = await filesOfForm(body, type)
  if (!file || others.length > 0)
    throw new ProblemError('validation_failed', undefined, {
      errors: [{ pointer: '/file', reason: sentence('field.required') }],
    })
  return { bytes: file.bytes, charset: parameterOf(file.type, 'charset') }
}
