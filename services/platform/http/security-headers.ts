/** Response headers that every HTTP service sets, for data as well as for errors. */
import helmet from 'koa-helmet'
import type { WebContext } from './web-app.ts'

/** Seconds that browsers must use HTTPS after a visit: one year. */
const HSTS_SECONDS = 31_536_000

/**
 * Middleware that forbids caching, content sniffing, framing and active content (CSP). A handler that serves pages or
 * files replaces the headers that it needs. `publicUrl` is the address that browsers use: only an https one gets
 * Strict-Transport-Security (RFC 6797).
 */
export function securityHeaders(publicUrl: string) {
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"] },
    },
    strictTransportSecurity: publicUrl.startsWith('https://')
      ? { maxAge: HSTS_SECONDS, includeSubDomains: false }
      : false,
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  })
  return (context: WebContext, next: () => Promise<void>) => {
    context.set('Cache-Control', 'no-store')
    return protect(context, next)
  }
}
