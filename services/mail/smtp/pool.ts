/** Keeps sessions between transactions: for a minute, and for as many messages as the receiver should get on one. */
import type { Session } from './transaction.ts'

/** Kept sessions by route. */
export interface Pool {
  /** A kept session that is still of use. */
  take(key: string): Session | undefined
  /** Gives a session back after a transaction; closes it when it is used up or broken. */
  put(key: string, session: Session, messagesPerConnection: number): void
  /** A new session exists. */
  opened(): void
  /** A session that was taken is broken. */
  gone(session: Session): void
  stop(): void
}

/** A server may close idle connections after five minutes (RFC 5321 section 4.5.3.2.7); most do sooner. */
const IDLE_MS = 60_000

/** Makes the pool. */
export function createPool(options: { onConnections(count: number): void }): Pool {
  const idle = new Map<string, { session: Session; timer: NodeJS.Timeout }[]>()
  let open = 0
  let stopped = false
  const count = (change: number) => {
    open += change
    options.onConnections(open)
  }
  const close = (session: Session) => {
    session.wire.quit()
    count(-1)
  }
  return {
    take(key) {
      const kept = idle.get(key)
      for (let entry = kept?.pop(); entry; entry = kept?.pop()) {
        clearTimeout(entry.timer)
        if (entry.session.wire.usable) return entry.session
        close(entry.session)
      }
      idle.delete(key)
      return undefined
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
      }, IDLE_MS)
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
