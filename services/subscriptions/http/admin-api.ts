/** The application of port 3026 (ADMIN_PORT). */
import type { Duplex } from 'node:stream'
import cors from '@koa/cors'
import type Koa from 'koa'
import { securityHeaders } from '../../platform/http/security-headers.ts'
import { watchForwarding } from '../../platform/http/untrusted-proxy.ts'
import { createWeb, type WebOptions } from '../../platform/http/web-app.ts'
import { problems } from '../../platform/problems.ts'
import type { Config } from '../../platform/process/config.ts'
import { sentence } from '../../platform/sentences/sentence.ts'
import type { MaySendFrom } from '../catalogue/manage-apps.ts'
import type { Subscriptions } from '../context.ts'
import { mountOfrep } from '../flags/http/ofrep.ts'
import { mountNotices } from '../payments/http/payment-notices.ts'
import { mountUnsubscribe } from '../reminders/http/unsubscribe-page.ts'
import { UNSUBSCRIBE_PATH } from '../reminders/unsubscribe-link.ts'
import { renderIn } from '../rules/language.ts'
import { adminRouter, dispatch } from './admin-routes.ts'
import { mountOpenApi } from './openapi.ts'
import { mountServerApi } from './server-api.ts'
import { envelopeErrors } from './shared/envelope.ts'
import { createRates } from './shared/rate-limits.ts'

/** Dependencies of {@link createAdminApi}. */
export interface AdminApiOptions extends Pick<WebOptions, 'readiness' | 'warning'> {
  config: Config
  subscriptions: Subscriptions
  maySendFrom: MaySendFrom
}

/**
 * Creates the application. All responses are envelopes, except those of switch evaluation, payment notices, the
 * unsubscribe page and the OpenAPI document.
 */
export function createAdminApi({ config, subscriptions, maySendFrom, readiness, warning }: AdminApiOptions): Koa {
  const app = createWeb({
    readiness,
    warning,
    log: subscriptions.log,
    metrics: subscriptions.metrics,
    trustedProxies: config.TRUSTED_PROXIES,
    onUntrustedForwarding: watchForwarding(subscriptions),
    secretPaths: [UNSUBSCRIBE_PATH],
  })
  app.use(securityHeaders(config.ADMIN_BASE_URL ?? config.APP_BASE_URL))
  app.use(envelopeErrors(subscriptions))
  if (config.CORS_ORIGINS.length > 0) app.use(crossOrigin(config.CORS_ORIGINS))
  const { router, deps } = adminRouter({ subscriptions, rates: createRates(subscriptions, config), maySendFrom })
  mountServerApi(router, deps)
  mountOfrep(router, deps)
  mountNotices(router, subscriptions)
  mountUnsubscribe(router, subscriptions)
  mountOpenApi(router, config)
  const serve = dispatch(router)
  app.use(async context => serve(context))
  return app
}

/** Replies to malformed HTTP, which no handler sees, with an envelope as well. */
export function answerNonsense(socket: Duplex): void {
  if (!socket.writable) return
  const { envelope } = problems.invalid_request
  const message = renderIn('zh', sentence('problem.invalid_request'))
  const body = JSON.stringify({ code: envelope, message, data: {} })
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n`
  socket.end(head + body)
}

/** Allows pages of other origins to call the API (CORS). */
function crossOrigin(origins: readonly string[]) {
  return cors({
    origin: context => (origins.includes(context.get('origin')) ? context.get('origin') : ''),
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowHeaders: ['token', 'lang', 'content-type', 'idempotency-key', 'if-none-match', 'authorization', 'x-api-key'],
    exposeHeaders: ['x-request-id', 'location', 'etag', 'retry-after'],
    maxAge: 600,
  })
}
