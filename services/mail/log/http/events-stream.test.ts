import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { systemClock } from '../../../platform/clock.ts'
import { createRouter, createWeb, type WebContext } from '../../../platform/http/web-app.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { createMetrics } from '../../../platform/observability/metrics.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { addStreamRoutes } from './events-stream.ts'

const account = { id: 'usr_1', username: 'ann', role: 'user', lang: 'en', tz: 'UTC', recipientsPerDay: 0 } as const
const principal: Principal = { account, via: 'session', scopes: [] }

/** The stream alone, with an authoriser of the test; `answered` counts the completed requests. */
async function start(authorise: (context: WebContext) => Promise<Principal>) {
  const mongo = await freshDatabase()
  const app = createWeb({ log: silentLog, metrics: createMetrics('test'), trustedProxies: [] })
  const closing = new AbortController()
  const waiting = new Set<() => void>()
  let answered = 0
  app.use(async (_, next) => {
    await next().finally(() => {
      answered++
      for (const look of waiting) look()
    })
  })
  const router = createRouter()
  const guards = { authorise, stillAllowed: authorise }
  addStreamRoutes(router, { ...guards, mongo, clock: systemClock, closing: closing.signal, pollMs: 5 })
  app.use(router.routes())
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    closing.abort()
    server.closeAllConnections()
    await new Promise(done => server.close(done))
    await mongo.stop()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/events/stream`
  const open = async (): Promise<number | undefined> => {
    const request = get(url)
    onTestFinished(() => void request.destroy())
    const [response] = await once(request, 'response')
    response.resume()
    return response.statusCode
  }
  const allAnswered = (count: number) =>
    new Promise<void>(done => {
      const look = () => answered >= count && done()
      waiting.add(look)
      look()
    })
  return { url, open, allAnswered }
}

test('readers that are gone before they are let in hold no place', async () => {
  let gone = 5
  const stream = await start(async context => {
    if (gone > 0) {
      gone--
      context.res.socket?.destroy()
      await once(context.res, 'close')
    }
    return principal
  })
  for (let n = 0; n < 5; n++) get(stream.url).on('error', () => undefined)
  await stream.allAnswered(5)
  expect(await stream.open()).toBe(200)
})

test('five readers of an account may stay, and the place of one that goes is free', async () => {
  const contexts: WebContext[] = []
  const stream = await start(context => {
    contexts.push(context)
    return Promise.resolve(principal)
  })
  const statuses = []
  for (let n = 0; n < 6; n++) statuses.push(await stream.open())
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  const [first] = contexts
  first?.res.socket?.destroy()
  if (first && !first.res.closed) await once(first.res, 'close')
  expect(await stream.open()).toBe(200)
})
