/** Every route that a process mounts is in a document, and every operation of a document is mounted. */
import Router from '@koa/router'
import { afterEach, expect, test, vi } from 'vitest'
import { mailDocument } from '../../../services/mail/http/openapi.ts'
import {
  placedOperations,
  type ReferenceDocument,
} from '../../../services/platform/http/reference/reference-document.ts'
import { openApiDocument } from '../../../services/subscriptions/http/openapi.ts'
import { startPanelApi } from '../../support/http/panel-api.ts'
import { startSubscriptionApi } from '../../support/subscriptions/subscription-api.ts'

afterEach(() => vi.restoreAllMocks())

/** Served before the routers: it must answer while the rest cannot. */
const PROBE = 'GET /readyz'

/** Everything that routers were given while a process started; the routers work as always. */
async function mounted(start: () => Promise<{ stop(): Promise<void> }>): Promise<Set<string>> {
  const register = vi.spyOn(Router.prototype, 'register')
  const running = await start()
  await running.stop()
  return new Set(
    register.mock.calls.flatMap(([path, methods]) =>
      methods.map(method => `${method.toUpperCase()} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`),
    ),
  )
}

const documented = (document: ReferenceDocument) =>
  placedOperations(document).map(({ method, path }) => `${method} ${path}`)
const mail = documented(mailDocument('http://127.0.0.1:3025'))
const subscriptions = documented(openApiDocument())

test('of the panel, which also serves the administration of subscriptions', async () => {
  const routes = await mounted(() => startPanelApi())
  expect([...routes].filter(route => !mail.includes(route) && !subscriptions.includes(route))).toEqual([])
  expect(mail.filter(route => !routes.has(route))).toEqual([PROBE])
})

test('of the Subscription Administration API', async () => {
  const routes = await mounted(() => startSubscriptionApi())
  expect([...routes].filter(route => !subscriptions.includes(route))).toEqual([])
  expect(subscriptions.filter(route => !routes.has(route))).toEqual([PROBE])
})

test.each([
  ['the panel', startPanelApi],
  ['the Subscription Administration API', startSubscriptionApi],
])('%s answers the probe to GET and HEAD alone', async (_, start) => {
  const api = await start()
  try {
    expect(await (await fetch(`${api.url}/readyz`)).text()).toBe('ready\n')
    expect((await fetch(`${api.url}/readyz`, { method: 'HEAD' })).status).toBe(200)
    const refused = await fetch(`${api.url}/readyz`, { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  } finally {
    await api.stop()
  }
})
