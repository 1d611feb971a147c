/**
 * Keeps sessions between transactions: for a minute, for as many messages as the receiver should get on one, and no more
 * of them than a process should hold; then the one that has been idle longest closes.
 */
import type { Session } from './session.ts'

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
/** Idle sessions cost memory and descriptors: a thousand new sites a second would keep 60,000 of them in a minute. */
const IDLE_MOST = 2_000

/** Makes the pool. */
export function createPool<S extends Kept = Session>(options: {
  onConnections(count: number): void
  /** Default: a minute. */
  idleMs?: number
  /** Most idle sessions of all routes. Default: 2,000. */
  idleMost?: number
}): Pool<S> {
  const { idleMs = IDLE_MS, idleMost = IDLE_MOST } = options
  const idle = new Map<string, S[]>()
  /** All of them, the one that has been idle longest first. */
  const timers = new Map<S, { key: string; timer: NodeJS.Timeout }>()
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
  /** Takes a session out of the idle ones. */
  const forget = (session: S) => {
    const { key = '', timer } = timers.get(session) ?? {}
    clearTimeout(timer)
    timers.delete(session)
    const kept = (idle.get(key) ?? []).filter(one => one !== session)
    if (kept.length > 0) idle.set(key, kept)
    else idle.delete(key)
  }
  const drop = (session: S) => {
    forget(session)
    close(session)
  }
  return {
    get routes() {
      return idle.size
    },
    take(key) {
      for (let session = idle.get(key)?.at(-1); session; session = idle.get(key)?.at(-1)) {
        forget(session)
        if (session.wire.usable) return session
        close(session)
      }
      return undefined
    },
    put(key, session, messagesPerConnection) {
      if (stopped || !session.wire.usable || session.used >= messagesPerConnection) {
        close(session)
        return
      }
      const [oldest] = timers.keys()
      if (oldest && timers.size >= idleMost) drop(oldest)
      timers.set(session, { key, timer: setTimeout(() => drop(session), idleMs).unref() })
      const kept = idle.get(key)
      if (kept) kept.push(session)
      else idle.set(key, [session])
    },
    opened: () => count(1),
    gone: session => close(session),
    stop() {
      stopped = true
      for (const session of [...timers.keys()]) drop(session)
    },
  }
}
