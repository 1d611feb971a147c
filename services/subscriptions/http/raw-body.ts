/** Bodies that are not JSON, read to the byte: files, and notices whose signature covers them. */
import { ProblemError } from '../../platform/problems.ts'
import type { WebContext } from '../../platform/web.ts'

/** The body as text. Throws `unsupported_media_type`, and `message_too_large` beyond `limit` bytes. */
export async function readText(context: WebContext, limit: number, types: readonly string[]): Promise<string> {
  if (types.length > 0 && !context.is(...types)) throw new ProblemError('unsupported_media_type')
  const tooLarge = () => new ProblemError('message_too_large', `The body is larger than ${limit} bytes.`)
  if ((context.request.length ?? 0) > limit) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of context.req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
