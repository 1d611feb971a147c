/** Finds the session of a request and keeps other sites from using it. */
import type { Clock } from '../../platform/clock.ts'
import type { WebContext } from '../../platform/http/web-app.ts'
import { ProblemError } from '../../platform/problems.ts'
import { type OpenSession, readSession, type SessionStore } from '../login-sessions.ts'
import { readCookie, type SessionCookie } from './session-cookie.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What is needed to read sessions. */
export interface SessionDeps extends SessionStore {
  clock: Clock
  cookie: SessionCookie
}

/**
 * The open session of the request. Throws 401 `not_logged_in`, and 403 `csrf_header_missing` for a write without the
 * header x-csrf: a page elsewhere can make the browser send the cookie, but not a header of its own. `otherwise`: what a
 * caller without a session is told, where there is another way than to log in.
 */
export async function sessionOf(
  context: WebContext,
  { clock, cookie, ...store }: SessionDeps,
  otherwise?: string,
): Promise<OpenSession> {
  const token = readCookie(context, cookie)
  const session = token === undefined ? undefined : await readSession(store, token, clock.now())
  if (!session) throw new ProblemError('not_logged_in', otherwise)
  if (!READS.has(context.method) && context.get('x-csrf') === '') throw new ProblemError('csrf_header_missing')
  return session
}
