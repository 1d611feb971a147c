/** Attachments of Resend: base64, lists of integers (Go, Rust, Python), Buffers of Node as JSON, or an address. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import { DecodedBase64 } from '../../message/base64.ts'
import { ForeignError } from './foreign-error.ts'
import { defined, type Fields, isFields, oneOf } from './loose-input.ts'

/** Throws `invalid_attachment`. */
export function refuseAttachment(reason: Sentence): never {
  throw new ForeignError(422, 'invalid_attachment', reason)
}

/** Translates a list; an attachment by address keeps its `path`, to be replaced by `content`. */
export function toOwnAttachments(attachments: unknown): unknown {
  return Array.isArray(attachments) ? attachments.map(toOwnAttachment) : attachments
}

function toOwnAttachment(given: unknown, index: number): unknown {
  if (!isFields(given)) return given
  const content = toContent(oneOf(given, ['content']), index)
  const path = oneOf(given, ['path'])
  if (content === undefined && path === undefined) refuseAttachment(sentence('compat.attachment_empty', { index }))
  if (content !== undefined && path !== undefined) refuseAttachment(sentence('compat.attachment_twice', { index }))
  if (path !== undefined && !isWebAddress(path)) refuseAttachment(sentence('compat.attachment_path', { index }))
  const content_id = oneOf(given, ['content_id', 'inline_content_id', 'contentId'])
  return defined({
    filename: oneOf(given, ['filename']) ?? nameOf(path),
    content,
    path,
    content_type: oneOf(given, ['content_type', 'contentType']),
    // Brackets are those of the header field.
    content_id: typeof content_id === 'string' ? content_id.replaceAll(/^<|>$/g, '') : content_id,
    disposition: content_id === undefined ? undefined : 'inline',
  })
}

/** Text and anything unknown stay as they are, for the own schema. */
function toContent(content: unknown, index: number): unknown {
  if (content instanceof Uint8Array) return new DecodedBase64(Buffer.from(content))
  if (Array.isArray(content)) return new DecodedBase64(octets(content, index))
  if (isNodeBuffer(content)) return toContent(content.data, index)
  return content
}

function isNodeBuffer(content: unknown): content is Fields & { type: 'Buffer' } {
  return isFields(content) && content.type === 'Buffer'
}

function octets(numbers: readonly unknown[], index: number): Buffer {
  const isOctet = (value: unknown) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
  if (!numbers.every(isOctet)) refuseAttachment(sentence('compat.attachment_octets', { index }))
  return Buffer.from(numbers as number[])
}

function isWebAddress(path: unknown): path is string {
  return (
    typeof path === 'string' && path.length <= 2_048 && URL.canParse(path) && /^https?:$/.test(new URL(path).protocol)
  )
}

/** The last part of the address; without one a name that says what it is. */
function nameOf(path: unknown): string {
  const last = typeof path === 'string' ? (new URL(path).pathname.split('/').at(-1) ?? '') : ''
  try {
    return decodeURIComponent(last).slice(0, 255) || 'attachment'
  } catch {
    return last.slice(0, 255)
  }
}
