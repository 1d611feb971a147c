/** Request rates: windows of a minute per caller, counted in the process at once and over all processes a second later. */

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

/** Logins per minute and address, right ones included: a hash costs 20 ms of CPU. */
const LOGINS_PER_MINUTE = 30
const WINDOW_MS = 60_000
/** The other processes hear of a busy caller so often, in milliseconds. */
const TELL_MS = 1_000
/** They hear of those that used up this part of their limit here: most callers never do, and nobody can fill the database. */
const BUSY = 0.1

/** What one caller did in this minute. */
interface Window {
  /** Over all processes, as far as this one knows: its own part is in it. */
  known: number
  /** Counted here, and not told yet. */
  untold: number
  /** From so many on the others hear of it. */
  busy: number
  end: number
}

/** Fresh counters of one process. While the database is away each process counts for itself. */
export function createRates(
  s: Pick<Subscriptions, 'c' | 'clock'>,
  config: Pick<Config, 'ADMIN_REQUESTS_PER_MINUTE' | 'SERVER_REQUESTS_PER_MINUTE' | 'OFREP_REQUESTS_PER_MINUTE'>,
): Rates {
  const windows = new Map<string, Window>()
  let telling = false
  const tell = async () => {
    const now = s.clock.now().getTime()
    for (const [key, { end }] of windows) if (end <= now) windows.delete(key)
    const told = [...windows]
      .filter(([, { known, untold, busy }]) => untold > 0 && known + untold >= busy)
      .map(([key, window]) => ({ key, window, requests: window.untold, exp: new Date(window.end + WINDOW_MS) }))
    if (told.length === 0) return
    const sums = await addRequests(s.c, told)
    told.forEach(({ window, requests }, index) => {
      window.untold -= requests
      window.known = sums[index] ?? window.known + requests
    })
  }
  const tellSoon = () => {
    if (telling) return
    telling = true
    const run = () =>
      tell()
        .catch(() => undefined) // told with what comes next
        .finally(() => {
          telling = false
        })
    setTimeout(run, TELL_MS).unref()
  }
  const perMinute =
    (name: string, points: number): Rate =>
    caller => {
      const now = s.clock.now().getTime()
      const end = now - (now % WINDOW_MS) + WINDOW_MS
      const key = `${name} ${end} ${caller}`
      const window = windows.get(key) ?? { known: 0, untold: 0, busy: Math.ceil(points * BUSY), end }
      if (window.known + window.untold >= points)
        throw new ProblemError('rate_limited', undefined, { retryAfter: Math.ceil((end - now) / 1000) })
      window.untold++
      windows.set(key, window)
      tellSoon()
    }
  return {
    admin: perMinute('admin', config.ADMIN_REQUESTS_PER_MINUTE),
    server: perMinute('server', config.SERVER_REQUESTS_PER_MINUTE),
    ofrep: perMinute('ofrep', config.OFREP_REQUESTS_PER_MINUTE),
    login: perMinute('login', LOGINS_PER_MINUTE),
  }
}
