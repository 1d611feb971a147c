/** Entity tags: an unchanged response is a 304 without a body. */
import { createHash } from 'node:crypto'
import type { WebContext } from '../../../platform/http/web-app.ts'

/**
 * Sets the tag of a response; true when the caller has this version, and then the status is 304. Koa's own check does
 * not apply with `Cache-Control: no-cache`, which fetch adds to every conditional request.
 */
export function isUnchanged(context: WebContext, text: string): boolean {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
  context.set('ETag', etag)
  if (!matches(context.get('if-none-match'), etag)) return false
  context.status = 304
  return true
}

/** Weak comparison of a list of tags, or `*` (RFC 9110 section 13.1.2). */
function matches(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}
