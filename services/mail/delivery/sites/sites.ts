/**
 * The destination sites of one worker: how much each may be given now, and the transactions that wait for a place there
 * or are under way. What does not fit is never taken from the queue in the first place.
 */
import {
  afterBreak,
  afterNews,
  afterProbeElsewhere,
  afterReached,
  afterSuccess,
  afterThrottle,
  afterUnreachable,
  type ForeignNews,
  freshRelay,
  freshSite,
  limitsOf,
  openWindow,
  PROBE_MS,
  RELAY_PAUSE_MS,
  RELAY_PROBE_MS,
  type SiteControl,
  type SiteLimits,
  type SiteStatus,
  takenRate,
  withLimits,
} from '../rules/site-control.ts'

/** One transaction to a site. `run` never rejects. */
export interface Work {
  site: string
  run(limits: SiteLimits): Promise<void>
  /** Called instead of `run` when the site cannot take it now: it goes back to the queue, untouched. */
  putBack(): void
}

/** What a site's state became, for other workers and for people. */
export interface SiteNews {
  site: string
  status: SiteStatus
  since: number
  reason?: string | undefined
  /** Nothing begins before (milliseconds). */
  resumeAt: number
  window: number
  /** Messages a second; undefined without a limit. */
  rate?: number | undefined
}

/** What {@link createSites} depends on. */
export interface SitesOptions {
  /** How many of the site's slots this worker owns, and how many the site has. */
  shareOf(site: string): { owned: number; parts: number }
  relay: boolean
  /** Milliseconds. */
  now(): number
  /** Calls back after so many milliseconds. */
  after(ms: number, call: () => void): void
  /** Messages of a site that were taken from the queue and whose transaction has not ended. */
  placesAt(site: string): number
  /** A site has room again, or its pause is over. */
  onRoom(site: string): void
  /** The state of a site changed. */
  onChange(news: SiteNews): void
}

/** Sites of one worker. */
export interface Sites {
  /** How many more messages of this site may be taken from the queue now. */
  roomAt(site: string): number
  /** True during a pause: nothing of the site is of interest before {@link SitesOptions.onRoom}. */
  isPaused(site: string): boolean
  /** True while the site is down: the next transaction is a probe. */
  isDown(site: string): boolean
  /** Begins a transaction as soon as the site has a place for it. */
  submit(work: Work): void
  /** A message was delivered. */
  succeeded(site: string): void
  /** The receiver asked for less. */
  throttled(site: string, reason: string): void
  /** A session broke in the middle. */
  broke(site: string): void
  /** No host let a session begin; `until`: none was asked, because all failed lately, and when they may be asked again. */
  unreachable(site: string, reason: string, until?: number): void
  /** A session began, whatever became of the message. */
  reached(site: string): void
  /** Another worker asks the site that is down. */
  probedElsewhere(site: string): void
  /** Another worker's finding. */
  learn(news: ForeignNews & { site: string }): void
  /** Sites that are not up. */
  troubled(): SiteNews[]
  /** Puts back everything that has not begun, and from now on everything that is submitted. */
  stop(): void
}

interface Lane {
  site: string
  limits: SiteLimits
  control: SiteControl
  running: number
  waiting: Work[]
  /** When the limits were computed. */
  limitsAt: number
  /** When the next transaction may begin under the rate; a timer for it is set when `timed`. */
  nextAt: number
  timed: boolean
  /** A timer for the end of the pause is set for this time. */
  resumeTimer: number
  /** What is taken ahead was short of a place lately: onRoom is owed. */
  wantsRoom: boolean
}

/** Taken ahead of a free place: a quarter of a second's worth, so that a site never waits for the next claim. */
const AHEAD_SECONDS = 0.25
const AHEAD = { direct: { least: 2, most: 200 }, relay: { least: 40, most: 400 } }
const SITES_MOST = 20_000
/** Slots come and go, and with them our share of a site. */
const LIMITS_MS = 5_000
/** Sites that are looked at for one that may be forgotten. */
const FORGET_TRIES = 8
/** A short burst is let through by the rate, so that the timer need not be exact. */
const BURST_MS = 50

/** Makes the sites of a worker. */
export function createSites(options: SitesOptions): Sites {
  const { relay, now, placesAt } = options
  const probeMs = relay ? RELAY_PROBE_MS : PROBE_MS
  /** Those that were asked for last stand at the end, some seconds more or less. */
  const lanes = new Map<string, Lane>()
  let stopped = false

  const laneOf = (site: string): Lane => {
    const known = lanes.get(site)
    if (known) {
      if (now() - known.limitsAt >= LIMITS_MS) renew(known)
      return known
    }
    if (lanes.size >= SITES_MOST) forgetOne(lanes, now())
    const limits = limitsOf(site, options.shareOf(site), relay)
    const lane: Lane = {
      ...{ site, limits, limitsAt: now(), control: (relay ? freshRelay : freshSite)(limits, now()) },
      ...{ running: 0, waiting: [], nextAt: 0, timed: false, resumeTimer: 0, wantsRoom: false },
    }
    lanes.set(site, lane)
    return lane
  }

  /** Computes the limits again and moves the site to the end of those that may be forgotten. */
  const renew = (lane: Lane) => {
    const limits = limitsOf(lane.site, options.shareOf(lane.site), relay)
    lane.control = withLimits(lane.control, lane.limits, limits)
    lane.limits = limits
    lane.limitsAt = now()
    lanes.delete(lane.site)
    lanes.set(lane.site, lane)
  }

  const change = (lane: Lane, control: SiteControl) => {
    const before = lane.control
    lane.control = control
    if (control.resumeAt > now()) pause(lane)
    if (
      before.status !== control.status ||
      before.resumeAt !== control.resumeAt ||
      control.complainedAt !== before.complainedAt
    )
      if (before.status !== 'up' || control.status !== 'up') options.onChange(newsOf(lane))
  }

  /** Nothing waits for a paused site in memory; when the pause ends the queue is asked again. */
  const pause = (lane: Lane) => {
    for (const work of lane.waiting.splice(0)) work.putBack()
    const until = lane.control.resumeAt
    if (lane.resumeTimer >= until) return
    lane.resumeTimer = until
    options.after(until - now(), () => {
      if (lane.control.resumeAt <= now()) options.onRoom(lane.site)
    })
  }

  const pump = (lane: Lane) => {
    while (lane.waiting.length > 0 && lane.running < openWindow(lane.control, now())) {
      if (isEarly(lane)) return
      const work = lane.waiting.shift()
      if (!work) return
      lane.running++
      void work.run(lane.limits).finally(() => {
        lane.running--
        pump(lane)
        freed(lane)
      })
    }
  }

  /** True when the rate says "not yet"; then a timer goes on. */
  const isEarly = (lane: Lane): boolean => {
    const { rate } = lane.control
    if (rate === Number.POSITIVE_INFINITY) return false
    const wait = lane.nextAt - now()
    if (wait > BURST_MS) {
      if (!lane.timed) {
        lane.timed = true
        options.after(wait, () => {
          lane.timed = false
          pump(lane)
        })
      }
      return true
    }
    lane.nextAt = Math.max(lane.nextAt, now()) + 1_000 / rate
    return false
  }

  const freed = (lane: Lane) => {
    if (!lane.wantsRoom || roomOf(lane) <= 0) return
    lane.wantsRoom = false
    options.onRoom(lane.site)
  }

  const roomOf = (lane: Lane): number => {
    const open = openWindow(lane.control, now())
    if (open === 0 || stopped) return 0
    const ahead = lane.control.status === 'down' ? 0 : aheadOf(lane, relay, now())
    return Math.max(0, open + ahead - placesAt(lane.site))
  }

  return {
    roomAt(site) {
      const lane = laneOf(site)
      const room = roomOf(lane)
      if (room === 0) lane.wantsRoom = true
      return room
    },
    isPaused: site => (lanes.get(site)?.control.resumeAt ?? 0) > now(),
    isDown: site => lanes.get(site)?.control.status === 'down',
    submit(work) {
      const lane = laneOf(work.site)
      if (stopped || lane.control.resumeAt > now()) {
        work.putBack()
        return
      }
      lane.waiting.push(work)
      pump(lane)
    },
    succeeded(site) {
      const lane = laneOf(site)
      change(lane, afterSuccess(lane.control, lane.limits, now()))
      pump(lane)
    },
    throttled(site, reason) {
      const lane = laneOf(site)
      change(lane, afterThrottle(lane.control, reason, now(), relay ? RELAY_PAUSE_MS : undefined))
    },
    broke(site) {
      const lane = laneOf(site)
      if (!relay) change(lane, afterBreak(lane.control, now()))
    },
    unreachable(site, reason, until) {
      const lane = laneOf(site)
      const wait = until === undefined ? probeMs : Math.max(1, until - now())
      change(lane, afterUnreachable(lane.control, reason, now(), wait, until === undefined))
    },
    reached(site) {
      const lane = laneOf(site)
      change(lane, afterReached(lane.control, lane.limits, now()))
    },
    probedElsewhere(site) {
      const lane = laneOf(site)
      lane.control = afterProbeElsewhere(lane.control, now(), probeMs)
      pause(lane)
    },
    learn(news) {
      const lane = laneOf(news.site)
      const before = lane.control
      lane.control = afterNews(before, news, lane.limits, now())
      if (lane.control.resumeAt > now()) pause(lane)
      else if (before.resumeAt > now()) options.onRoom(lane.site)
    },
    troubled: () => [...lanes.values()].filter(({ control }) => control.status !== 'up').map(newsOf),
    stop() {
      stopped = true
      for (const lane of lanes.values()) for (const work of lane.waiting.splice(0)) work.putBack()
    },
  }
}

function aheadOf({ control }: Lane, relay: boolean, now: number): number {
  const { least, most } = relay ? AHEAD.relay : AHEAD.direct
  const rate = Math.min(control.rate, takenRate(control, now))
  return Math.min(most, Math.max(least, Math.ceil(rate * AHEAD_SECONDS)))
}

function newsOf({ site, control: { status, since, reason, resumeAt, window, rate } }: Lane): SiteNews {
  return {
    ...{ site, status, since, reason, resumeAt, window: Math.max(1, Math.floor(window)) },
    ...(rate !== Number.POSITIVE_INFINITY && { rate }),
  }
}

/**
 * Makes place for another site. What is known of a site that is not in use is lost with it; other workers and the database
 * still know of its outage.
 */
function forgetOne(lanes: Map<string, Lane>, now: number): void {
  let tries = 0
  let paused: string | undefined
  for (const [site, lane] of lanes) {
    if (lane.running > 0 || lane.waiting.length > 0) {
      // In use: looked at last the next time.
      lanes.delete(site)
      lanes.set(site, lane)
    } else if (lane.control.resumeAt < now) {
      lanes.delete(site)
      return
    } else paused ??= site
    if (++tries >= FORGET_TRIES) break
  }
  if (paused !== undefined) lanes.delete(paused)
}
