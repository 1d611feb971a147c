/** The cookie that carries a session. */
import type { WebContext } from '../../platform/http/web-app.ts'

/** Name and flags of the cookie; they follow the scheme of APP_BASE_URL, never the socket, which a proxy may decrypt. */
export interface SessionCookie {
  name: string
  secure: boolean
}

/** `__Host-` binds the cookie to this very host (RFC 6265bis 4.1.3.2) and demands Secure, so plain http has another name. */
export function sessionCookie(appBaseUrl: string): SessionCookie {
  return appBaseUrl.startsWith('https://')
    ? { name: '__Host-pw_session', secure: true }
    : { name: 'pw_session', secure: false }
}

/** The cookie of a login at the provider that has begun; of the same kind. */
export function oidcCookie({ secure }: SessionCookie): SessionCookie {
  return { name: secure ? '__Host-pw_oidc' : 'pw_oidc', secure }
}

/** The session token of a request. */
export function readCookie(context: WebContext, cookie: SessionCookie): string | undefined {
  return context.cookies.get(cookie.name)
}

/**
 * Sets the cookie, or removes it when there is no token. Without `seconds` it lives as long as the browser; the server
 * decides the end.
 */
export function writeCookie(
  context: WebContext,
  cookie: SessionCookie,
  token: string | undefined,
  seconds?: number,
): void {
  const age = token === undefined ? 0 : seconds
  const flags = `Path=/; HttpOnly; SameSite=Lax${cookie.secure ? '; Secure' : ''}`
  context.append('Set-Cookie', `${cookie.name}=${token ?? ''}; ${flags}${age === undefined ? '' : `; Max-Age=${age}`}`)
}
