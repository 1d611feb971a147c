/** `GET /api/v1/events/stream`: what happens in an account as server-sent events. */

import { finished, Readable } from 'node:stream'
import type Router from '@koa/router'
import type { Clock } from '../../../platform/clock.ts'
import { addTo } from '../../../platform/count-by-key.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { type Authorise, bind, type WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import type { Access } from '../../http/shared/access.ts'
import type { Principal } from '../../http/shared/authorise.ts'
import { streamEvents } from './emails-contract.ts'
import { type Position, tail } from './event-tail.ts'
import { type LiveEvent, readLiveEvents, visibleEvents } from './live-events.ts'

/** Dependencies of the live stream. */
export interface StreamDeps {
  /** Counts the request that opens a stream. */
  authorise: Authorise<Access, Principal>
  /** The same without counting, for a stream that is open. */
  stillAllowed: Authorise<Access, Principal>
  mongo: Mongo
  clock: Clock
  /** Ends all streams, when the process stops. */
  closing: AbortSignal
  /** Time between two looks, for tests. */
  pollMs?: number
}

/** Streams that one account, and one process, may hold open. */
const STREAM_LIMITS = { account: 5, process: 200 } as const
/** Earliest start of a stream: older events are in the lists. */
const MAX_BACK_MS = DAY_MS
/** A comment so often keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000
/** Interval of repeated authorisation: a revoked token ends its streams. */
const AUTHORISE_MS = 4_000

/** Adds the stream to a router. */
export function addStreamRoutes(router: Router, deps: StreamDeps): void {
  const open = new Map<string, number>()
  let total = 0
  const change = (userId: string, by: 1 | -1) => {
    addTo(open, userId, by)
    total += by
  }
  bind(router, deps.authorise, streamEvents, async (_, principal, context) => {
    const userId = principal.account.id
    if ((open.get(userId) ?? 0) >= STREAM_LIMITS.account || total >= STREAM_LIMITS.process)
      throw new ProblemError('rate_limited', sentence('detail.streams', { count: STREAM_LIMITS.account }), {
        retryAfter: 10,
      })
    const position = startOf(context, deps.clock.now())
    change(userId, 1)
    const ended = new AbortController()
    const stream = Readable.from(lines(position, principal, context, { ...deps, signal: ended.signal }))
    const end = () => ended.abort()
    if (deps.closing.aborted) end()
    deps.closing.addEventListener('abort', end, { once: true })
    // Also calls back for a reader that was gone before the guard let it in, when `close` is over.
    finished(context.res, () => {
      deps.closing.removeEventListener('abort', end)
      end()
      change(userId, -1)
    })
    context.type = 'text/event-stream'
    context.set('Cache-Control', 'no-store')
    context.set('X-Accel-Buffering', 'no')
    context.body = stream
    await Promise.resolve()
  })
}

/** The text of the stream. Ends quietly when the caller may not read any more or the database is away. */
async function* lines(
  position: Position,
  principal: Principal,
  context: WebContext,
  { mongo, stillAllowed, clock, pollMs = 1_000, signal }: StreamDeps & { signal: AbortSignal },
): AsyncGenerator<string> {
  const userId = principal.account.id
  const domains = principal.token?.domains ?? []
  yield 'retry: 2000\n\n'
  let authorisedAt = clock.now().getTime()
  let spoken = authorisedAt
  try {
    for await (const found of tail(position, {
      read: (since, limit) => readLiveEvents(mongo.db, userId, since, limit),
      signal,
      pollMs,
    })) {
      const events = await visibleEvents(mongo.db, userId, found, domains)
      const now = clock.now().getTime()
      if (now - authorisedAt >= AUTHORISE_MS) {
        const again = await stillAllowed(context, streamEvents.access)
        // The session works in another account now, and its user may have left this one.
        if (again.account.id !== userId) return
        authorisedAt = now
      }
      if (events.length > 0 || now - spoken >= HEARTBEAT_MS) {
        yield events.length > 0 ? events.map(toMessage).join('') : ': still here\n\n'
        spoken = now
      }
    }
  } catch {
    // The reader reconnects with Last-Event-ID and then gets the error.
  }
}

function toMessage({ _id, at, type, shown }: LiveEvent): string {
  return `id: ${at.getTime()}/${_id}\nevent: ${type}\ndata: ${JSON.stringify(shown)}\n\n`
}

/** From Last-Event-ID, at most a day back; without it from now. */
function startOf(context: WebContext, now: Date): Position {
  const given = /^(?<at>\d{1,15})\/(?<id>[\w.:#-]{1,200})$/.exec(context.get('last-event-id'))
  if (!given?.groups) return { at: now }
  const at = Math.min(Math.max(Number(given.groups.at), now.getTime() - MAX_BACK_MS), now.getTime())
  return { at: new Date(at), id: given.groups.id }
}
