/** Finds the session of a request and keeps other sites from using it. */

import type { Clock } from '../../platform/clock.ts'
import type { WebContext } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import type { Sentence } from '../../platform/sentences/sentence.ts'
import { type OpenSession, readSession, type SessionStore } from '../login-sessions.ts'
import { readCookie, type SessionCookie } from './session-cookie.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Dependencies of {@link sessionOf}. */
export interface SessionDeps extends SessionStore {
  clock: Clock
  cookie: SessionCookie
}

/**
 * The open session of the request. Throws 401 `not_logged_in`, and 403 `csrf_header_missing` for a write without the
 * header x-csrf: a page on another site can make the browser send the cookie, but not a custom header. `otherwise`:
 * detail of the 401 where another way to authenticate exists.
 */
export async function sessionOf(
  context: WebContext,
  { clock, cookie, ...store }: SessionDeps,
  otherwise?: Sentence,
): Promise<OpenSession> {
  const token = readCookie(context, cookie)
  const session = token === undefined ? undefined : await readSession(store, token, clock.now())
  if (!session) throw new ProblemError('not_logged_in', otherwise)
  if (!READS.has(context.method) && context.get('x-csrf') === '') throw new ProblemError('csrf_header_missing')
  return session
}
