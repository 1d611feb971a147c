/**
 * The destination sites of one worker: how much each may be given now, and the places for transactions there. What does
 * not fit is never claimed in the first place.
 */
import type { StoredSentence } from '../../../platform/sentences/sentence.ts'
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
  PROBE_MS,
  RELAY_PAUSE_MS,
  RELAY_PROBE_MS,
  type SiteLimits,
} from '../rules/site-control.ts'
import { type Place, Site, type SiteOptions, type SiteState } from './site.ts'

export type { Place, SiteState }

/** Dependencies of {@link Sites}. */
export interface SitesOptions extends SiteOptions {
  /** How many of the site's slots this worker owns, and how many the site has. */
  shareOf(site: string): { owned: number; parts: number }
}

const SITES_MOST = 20_000
/** Slots come and go, and with them our share of a site. */
const LIMITS_MS = 5_000
/** Sites that are tried for one that may be forgotten. */
const FORGET_TRIES = 8

/** Sites of one worker. */
export class Sites {
  readonly #options: SitesOptions
  readonly #probeMs: number
  /** Those that were asked for last are at the end, some seconds more or less. */
  readonly #sites = new Map<string, Site>()
  #isStopped = false

  constructor(options: SitesOptions) {
    this.#options = options
    this.#probeMs = options.relay ? RELAY_PROBE_MS : PROBE_MS
  }

  /** How many more messages of this site may be claimed now. */
  roomAt(site: string): number {
    return this.#isStopped ? 0 : this.#siteOf(site).claimableRoom()
  }

  /** True during a pause: nothing of the site is of interest before {@link SiteOptions.onRoom}. */
  isPaused(site: string): boolean {
    return this.#sites.get(site)?.isPaused ?? false
  }

  /** True while the site is down: the next transaction is a probe. */
  isDown(site: string): boolean {
    return this.#sites.get(site)?.control.status === 'down'
  }

  /** Resolves once the site has a place for a transaction; undefined when it cannot take it now. Never rejects. */
  enter(site: string): Promise<Place | undefined> {
    return this.#isStopped ? Promise.resolve(undefined) : this.#siteOf(site).enter()
  }

  /** Messages of the site ended without a place there: there may be room for those that found none. */
  passedBy(name: string): void {
    this.#sites.get(name)?.offerRoom()
  }

  /** A message was delivered. */
  succeeded(name: string): void {
    const site = this.#siteOf(name)
    site.change(afterSuccess(site.control, site.limits, this.#now()))
    site.admit()
  }

  /** The receiver asked for less. */
  throttled(name: string, reason: StoredSentence): void {
    const site = this.#siteOf(name)
    const pauseMost = this.#options.relay ? RELAY_PAUSE_MS : undefined
    site.change(afterThrottle(site.control, reason, this.#now(), pauseMost))
  }

  /** A session broke in the middle. */
  broke(name: string): void {
    const site = this.#siteOf(name)
    if (!this.#options.relay) site.change(afterBreak(site.control, this.#now()))
  }

  /** No host let a session begin; `until`: none was asked, because all failed lately, and when they may be asked again. */
  unreachable(name: string, reason: StoredSentence, until?: number): void {
    const site = this.#siteOf(name)
    const wait = until === undefined ? this.#probeMs : Math.max(1, until - this.#now())
    site.change(afterUnreachable(site.control, reason, this.#now(), wait, until === undefined))
  }

  /** A session began, whatever became of the message. */
  reached(name: string): void {
    const site = this.#siteOf(name)
    site.change(afterReached(site.control, site.limits, this.#now()))
  }

  /** Another worker probes the site that is down. */
  probedElsewhere(name: string): void {
    const site = this.#siteOf(name)
    site.follow(afterProbeElsewhere(site.control, this.#now(), this.#probeMs))
  }

  /** Another worker's finding. */
  learn(news: ForeignNews & { site: string }): void {
    const site = this.#siteOf(news.site)
    site.follow(afterNews(site.control, news, site.limits, this.#now()))
  }

  /** Sites that are not up. */
  troubled(): SiteState[] {
    return [...this.#sites.values()].filter(({ control }) => control.status !== 'up').map(site => site.state())
  }

  /** Turns away everything that waits for a place, and from now on everything that asks for one. */
  stop(): void {
    this.#isStopped = true
    for (const site of this.#sites.values()) site.turnAway()
  }

  #now(): number {
    return this.#options.now()
  }

  #limitsOf(site: string): SiteLimits {
    return limitsOf(site, this.#options.shareOf(site), this.#options.relay)
  }

  #siteOf(name: string): Site {
    const known = this.#sites.get(name)
    if (known) {
      if (this.#now() - known.limitsAt >= LIMITS_MS) this.#refresh(known)
      return known
    }
    if (this.#sites.size >= SITES_MOST) forgetOne(this.#sites, this.#now())
    const limits = this.#limitsOf(name)
    const control = (this.#options.relay ? freshRelay : freshSite)(limits, this.#now())
    const site = new Site(name, limits, control, this.#options)
    this.#sites.set(name, site)
    return site
  }

  /** Computes the limits again and moves the site to the end of those that may be forgotten. */
  #refresh(site: Site): void {
    site.setLimits(this.#limitsOf(site.name))
    this.#sites.delete(site.name)
    this.#sites.set(site.name, site)
  }
}

/**
 * Makes room for another site. What is known of a site that is not in use is lost with it; other workers and the database
 * still know of its outage.
 */
function forgetOne(sites: Map<string, Site>, now: number): void {
  let tries = 0
  let paused: string | undefined
  for (const [name, site] of sites) {
    if (site.isInUse) {
      // Tried last the next time.
      sites.delete(name)
      sites.set(name, site)
    } else if (site.control.resumeAt < now) {
      sites.delete(name)
      return
    } else paused ??= name
    if (++tries >= FORGET_TRIES) break
  }
  if (paused !== undefined) sites.delete(paused)
}
