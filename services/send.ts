/** The HTTP send API as a process of its own: accepts messages, answers from the delivery log. */
import { createServer } from 'node:http'
import { sessions } from './accounts/store/sessions.ts'
import { users } from './accounts/store/users.ts'
import { authoriseWith } from './mail/http/authorise.ts'
import { mountSend } from './mail/http/mount-send.ts'
import { requestLimits } from './mail/http/rate-limit.ts'
import { openDoor } from './mail/open-door.ts'
import { BODIES } from './mail/store/bodies.ts'
import { DELIVERIES } from './mail/store/deliveries.ts'
import { domains } from './mail/store/domains.ts'
import { EVENTS } from './mail/store/events.ts'
import { MESSAGES } from './mail/store/messages.ts'
import { STATS_DAYS } from './mail/store/stats.ts'
import { tokens } from './mail/store/tokens.ts'
import { ensureIndexes } from './platform/mongo.ts'
import { closeServer, type Foundation, listen, type Running, run } from './platform/run.ts'
import { createWeb, notFound } from './platform/web.ts'

/** Collections that this process reads or writes. */
const COLLECTIONS = [users, sessions, tokens, domains, MESSAGES, DELIVERIES, BODIES, EVENTS, STATS_DAYS, requestLimits]

/** Serves the send API on APP_HOST:APP_PORT; resolves with the bound port. */
export async function send(foundation: Foundation): Promise<Running & { port: number }> {
  const { config, log, metrics, mongo } = foundation
  await ensureIndexes(mongo.db, COLLECTIONS)
  const door = openDoor(foundation, config.SLOTS)
  const closing = new AbortController()
  const app = createWeb({ log, metrics, trustedProxies: config.TRUSTED_PROXIES })
  const authorise = authoriseWith(foundation)
  mountSend(app, { ...foundation, authorise, door, closing: closing.signal })
  app.use(notFound)
  const server = createServer(app.callback())
  const port = await listen(server, config.APP_PORT, config.APP_HOST, 'APP_PORT')
  return {
    port,
    async stop() {
      closing.abort()
      await closeServer(server)
      await door.stop()
    },
  }
}

if (import.meta.main) await run('send', process.env, send)
