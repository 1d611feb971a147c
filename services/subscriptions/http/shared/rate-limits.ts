/**
 * Request rates: windows of one minute per caller, counted in the process immediately and synchronised over all
 * processes a second later.
 */

import { ProblemError } from '../../../platform/problems.ts'
import type { Config } from '../../../platform/process/config.ts'
import type { Subscriptions } from '../../context.ts'
import { addRequests } from '../../store/rate-windows.ts'

/** Counts one request of a caller. Throws `rate_limited` with the seconds to wait. */
export type Rate = (caller: string) => void

/** The limits of this API. */
export interface Rates {
  admin: Rate
  server: Rate
  ofrep: Rate
  login: Rate
}

/** Logins per minute and address, including successful ones: a hash costs 20 ms of CPU. */
const LOGINS_PER_MINUTE = 30
const WINDOW_MS = 60_000
/** Interval at which counts are shared with other processes, in milliseconds. */
const SYNC_MS = 1_000
/**
 * Only callers that used up this share of their limit here are synchronised: most never do, and no client can fill the
 * database.
 */
const SYNC_SHARE = 0.1

/** Requests of one caller in the current minute. */
interface Window {
  /** Over all processes at the last synchronisation, including this one. */
  known: number
  /** Counted here since the last synchronisation. */
  unsynced: number
  /** Number of requests from which the window is synchronised. */
  busy: number
  end: number
}

/** Counters of one process. While the database is unavailable, each process counts for itself. */
export function createRates(
  context: Pick<Subscriptions, 'collections' | 'clock'>,
  config: Pick<Config, 'ADMIN_REQUESTS_PER_MINUTE' | 'SERVER_REQUESTS_PER_MINUTE' | 'OFREP_REQUESTS_PER_MINUTE'>,
): Rates {
  const windows = new Map<string, Window>()
  let syncScheduled = false
  const sync = async () => {
    const now = context.clock.now().getTime()
    for (const [key, { end }] of windows) if (end <= now) windows.delete(key)
    const pending = [...windows]
      .filter(([, { known, unsynced, busy }]) => unsynced > 0 && known + unsynced >= busy)
      .map(([key, window]) => ({ key, window, requests: window.unsynced, exp: new Date(window.end + WINDOW_MS) }))
    if (pending.length === 0) return
    const sums = await addRequests(context.collections, pending)
    pending.forEach(({ window, requests }, index) => {
      window.unsynced -= requests
      window.known = sums[index] ?? window.known + requests
    })
  }
  const scheduleSync = () => {
    if (syncScheduled) return
    syncScheduled = true
    const run = () =>
      sync()
        .catch(() => undefined) // sent with the next synchronisation
        .finally(() => {
          syncScheduled = false
        })
    setTimeout(run, SYNC_MS).unref()
  }
  const perMinute =
    (name: string, points: number): Rate =>
    caller => {
      const now = context.clock.now().getTime()
      const end = now - (now % WINDOW_MS) + WINDOW_MS
      const key = `${name} ${end} ${caller}`
      const window = windows.get(key) ?? { known: 0, unsynced: 0, busy: Math.ceil(points * SYNC_SHARE), end }
      if (window.known + window.unsynced >= points)
        throw new ProblemError('rate_limited', undefined, { retryAfter: Math.ceil((end - now) / 1000) })
      window.unsynced++
      windows.set(key, window)
      scheduleSync()
    }
  return {
    admin: perMinute('admin', config.ADMIN_REQUESTS_PER_MINUTE),
    server: perMinute('server', config.SERVER_REQUESTS_PER_MINUTE),
    ofrep: perMinute('ofrep', config.OFREP_REQUESTS_PER_MINUTE),
    login: perMinute('login', LOGINS_PER_MINUTE),
  }
}
