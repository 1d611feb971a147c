/** Keeps sessions between transactions: for a minute, and for as many messages as the receiver should get on one. */
import type { Session } from './transaction.ts'

/** What the pool asks of a session. */
type Kept = Pick<Session, 'used'> & { wire: Pick<Session['wire'], 'usable' | 'quit'> }

/** Kept sessions by route. */
export interface Pool<S extends Kept> {
  /** Routes that are remembered: those with a kept session. */
  readonly routes: number
  /** A kept session that is still of use. */
  take(key: string): S | undefined
  /** Gives a session back after a transaction; closes it when it is used up or broken. */
  put(key: string, session: S, messagesPerConnection: number): void
  /** A new session exists. */
  opened(): void
  /** A session that was taken is broken. */
  gone(session: S): void
  stop(): void
}

/** A server may close idle connections after five minutes (RFC 5321 section 4.5.3.2.7); most do sooner. */
const IDLE_MS = 60_000

/** Makes the pool. */
export function createPool<S extends Kept = Session>(options: {
  onConnections(count: number): void
  /** Default: a minute. */
  idleMs?: number
}): Pool<S> {
  const { idleMs = IDLE_MS } = options
  const idle = new Map<string, { session: S; timer: NodeJS.Timeout }[]>()
  let open = 0
  let stopped = false
  const count = (change: number) => {
    open += change
    options.onConnections(open)
  }
  const close = (session: S) => {
    session.wire.quit()
    count(-1)
  }
  return {
    get routes() {
      return idle.size
    },
    take(key) {
      const kept = idle.get(key) ?? []
      let found: S | undefined
      for (let entry = kept.pop(); entry; entry = kept.pop()) {
        clearTimeout(entry.timer)
        if (entry.session.wire.usable) {
          found = entry.session
          break
        }
        close(entry.session)
      }
      // Also when the last one goes out: it may not come back, nor the route be used again.
      if (kept.length === 0) idle.delete(key)
      return found
    },
    put(key, session, messagesPerConnection) {
      if (stopped || !session.wire.usable || session.used >= messagesPerConnection) {
        close(session)
        return
      }
      const kept = idle.get(key) ?? []
      const timer = setTimeout(() => {
        const index = kept.findIndex(entry => entry.session === session)
        if (index !== -1) kept.splice(index, 1)
        if (kept.length === 0) idle.delete(key)
        close(session)
      }, idleMs)
      timer.unref()
      kept.push({ session, timer })
      idle.set(key, kept)
    },
    opened: () => count(1),
    gone: session => close(session),
    stop() {
      stopped = true
      for (const { session, timer } of [...idle.values()].flat()) {
        clearTimeout(timer)
        close(session)
      }
      idle.clear()
    },
  }
}
