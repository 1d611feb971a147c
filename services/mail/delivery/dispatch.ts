/** Hands work to destination sites within their limits: so many at once, fewer after a complaint, none while suspended. */
import { afterSlowDown, afterSuccess, freshSite, limitsOf, type SiteLimits, type SiteState } from '../rules/shaping.ts'

/** One transaction to a site. `run` never rejects. */
export interface Work {
  site: string
  run(limits: SiteLimits): Promise<void>
  /** Called instead of `run` when the site cannot take it now; `until`: when to ask again (milliseconds). */
  postpone(until: number): void
}

/** Sites of one worker. */
export interface Dispatcher {
  submit(work: Work): void
  /** A message was delivered. */
  succeeded(site: string): void
  /** The receiver asked for less; answers the new state when this began a pause. */
  slowDown(site: string): SiteState | undefined
  /** Another worker saw a pause. */
  suspendUntil(site: string, until: number): void
  /** Gives back everything that was not started, and from now on everything that comes. */
  postponeAll(): void
}

/** What the dispatcher needs. */
export interface DispatchOptions {
  /** In how many slots a site is; its limits are divided by it. */
  partsOf(site: string): number
  relay: boolean
  now(): number
}

interface Lane {
  limits: SiteLimits
  state: SiteState
  running: number
  waiting: Work[]
  /** Looked up last; idle sites are forgotten. */
  used: number
  /** Transactions a second, averaged over windows of about a second. */
  rate: number
  window: { from: number; done: number }
  /** When the work that was sent back last is expected again. */
  backAt: number
}

/** What may wait for a site: four transactions for each connection, or two seconds' worth of a fast one. */
const WAITING_PER_CONNECTION = 4
const WAITING_SECONDS = 2
/** The rest goes back to the queue and returns in the order and speed in which the site takes it, within these bounds. */
const BACK_MS = 3_000
const BACK_MOST_MS = 600_000
const SITES_MOST = 20_000
const FORGET_MS = 3_600_000

/** Makes the dispatcher of a worker. */
export function createDispatcher({ partsOf, relay, now }: DispatchOptions): Dispatcher {
  const sites = new Map<string, Lane>()
  /** After postponeAll nothing begins any more. */
  let ended = false

  const laneOf = (site: string): Lane => {
    const known = sites.get(site)
    if (known) {
      known.used = now()
      return known
    }
    if (sites.size >= SITES_MOST) forget()
    const limits = limitsOf(site, partsOf(site), relay)
    const lane = {
      limits,
      state: freshSite(limits),
      running: 0,
      waiting: [],
      used: now(),
      rate: 1,
      window: { from: now(), done: 0 },
      backAt: 0,
    }
    sites.set(site, lane)
    return lane
  }

  const forget = () => {
    for (const [site, { running, waiting, used, state }] of sites)
      if (running === 0 && waiting.length === 0 && state.suspendedUntil < now() && used < now() - FORGET_MS)
        sites.delete(site)
  }

  const measure = (lane: Lane) => {
    lane.window.done++
    const passed = now() - lane.window.from
    if (passed < 1_000) return
    lane.rate = Math.max(1, (lane.rate + (lane.window.done * 1_000) / passed) / 2)
    lane.window = { from: now(), done: 0 }
  }

  const isFull = ({ waiting, state, rate }: Lane) =>
    !relay && waiting.length >= Math.max(state.limit * WAITING_PER_CONNECTION, rate * WAITING_SECONDS)

  /** The next place in the stream of returning work; a little early, so that the site never waits for us. */
  const nextPlace = (lane: Lane) => {
    lane.backAt = Math.min(Math.max(lane.backAt, now() + BACK_MS) + 800 / lane.rate, now() + BACK_MOST_MS)
    return lane.backAt
  }

  const suspended = ({ state }: Lane) => state.suspendedUntil > now()

  const pump = (lane: Lane) => {
    if (suspended(lane)) {
      for (const work of lane.waiting.splice(0)) work.postpone(lane.state.suspendedUntil)
      return
    }
    while (lane.running < lane.state.limit) {
      const work = lane.waiting.shift()
      if (!work) return
      lane.running++
      void work.run(lane.limits).finally(() => {
        lane.running--
        measure(lane)
        pump(lane)
      })
    }
  }

  return {
    submit(work) {
      if (ended) {
        work.postpone(now())
        return
      }
      const lane = laneOf(work.site)
      if (!suspended(lane) && isFull(lane)) {
        work.postpone(nextPlace(lane))
        return
      }
      lane.waiting.push(work)
      pump(lane)
    },
    succeeded(site) {
      const lane = laneOf(site)
      // What was under way when a pause began says nothing about how the site takes what comes after it.
      if (!suspended(lane)) lane.state = afterSuccess(lane.state, lane.limits)
    },
    slowDown(site) {
      const lane = laneOf(site)
      const before = lane.state
      lane.state = afterSlowDown(before, now())
      return lane.state === before ? undefined : lane.state
    },
    suspendUntil(site, until) {
      const lane = laneOf(site)
      lane.state = { ...lane.state, suspendedUntil: Math.max(lane.state.suspendedUntil, until) }
    },
    postponeAll() {
      ended = true
      for (const lane of sites.values()) for (const work of lane.waiting.splice(0)) work.postpone(now())
    },
  }
}
