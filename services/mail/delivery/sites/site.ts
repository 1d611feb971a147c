/** One destination site of a worker: its limits and state, and the transactions that wait for a place there. */
import type { StoredSentence } from '../../../platform/sentences/sentence.ts'
import {
  openWindow,
  type SiteControl,
  type SiteLimits,
  type SiteStatus,
  takenRate,
  withLimits,
} from '../rules/site-control.ts'

/** A place of a site for one transaction. */
export interface Place {
  limits: SiteLimits
  /** The transaction has ended. */
  leave(): void
}

/** The state of a site after a change, for other workers and for people. */
export interface SiteState {
  site: string
  status: SiteStatus
  since: number
  reason?: StoredSentence | undefined
  /** Nothing begins before (milliseconds). */
  resumeAt: number
  window: number
  /** Messages a second; undefined without a limit. */
  rate?: number | undefined
}

/** What a site depends on. */
export interface SiteOptions {
  /** DELIVERY_MODE=relay. */
  relay: boolean
  /** Milliseconds. */
  now(): number
  /** Calls `call` in `ms` milliseconds. */
  schedule(ms: number, call: () => void): void
  /** Messages of a site that were claimed and whose transaction has not ended. */
  messagesAt(site: string): number
  /** A site has room again, or its pause is over. */
  onRoom(site: string): void
  /** The state of a site changed. */
  onChange(state: SiteState): void
}

/** Claimed ahead of a free place: a quarter of a second's worth, so that a site never waits for the next claim. */
const AHEAD_SECONDS = 0.25
const AHEAD = { direct: { least: 2, most: 200 }, relay: { least: 40, most: 400 } }
/** A short burst is let through by the rate, so that the timer need not be exact. */
const BURST_MS = 50

type Waiting = (place: Place | undefined) => void

/** A site; {@link Sites} keeps them. */
export class Site {
  readonly name: string
  readonly #options: SiteOptions
  #limits: SiteLimits
  #limitsAt: number
  #control: SiteControl
  #running = 0
  #waiting: Waiting[] = []
  /** When the next transaction may begin under the rate, and whether a timer is set for it. */
  #nextAt = 0
  #isTimed = false
  /** The time for which a timer is set that ends the pause. */
  #resumeTimer = 0
  /** roomAt answered "none" since the last onRoom. */
  #wantsRoom = false

  constructor(name: string, limits: SiteLimits, control: SiteControl, options: SiteOptions) {
    this.name = name
    this.#options = options
    this.#limits = limits
    this.#limitsAt = options.now()
    this.#control = control
  }

  get control(): SiteControl {
    return this.#control
  }

  get limits(): SiteLimits {
    return this.#limits
  }

  get limitsAt(): number {
    return this.#limitsAt
  }

  /** True while a transaction waits or is under way. */
  get isInUse(): boolean {
    return this.#running > 0 || this.#waiting.length > 0
  }

  get isPaused(): boolean {
    return this.#control.resumeAt > this.#options.now()
  }

  /** How many more messages may be claimed now; 0 asks for {@link SiteOptions.onRoom}. */
  claimableRoom(): number {
    const room = this.#room()
    if (room === 0) this.#wantsRoom = true
    return room
  }

  /** Resolves once there is a place, or with undefined when the site pauses. */
  enter(): Promise<Place | undefined> {
    if (this.isPaused) return Promise.resolve(undefined)
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.admit()
    })
  }

  /** Admits what waits, as far as window and rate allow. */
  admit(): void {
    while (this.#waiting.length > 0 && this.#running < openWindow(this.#control, this.#options.now())) {
      if (this.#isEarly()) return
      this.#waiting.shift()?.(this.#place())
    }
  }

  /** Turns away everything that waits. */
  turnAway(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(undefined)
  }

  /** Reports room to those that found none, if there is some. */
  offerRoom(): void {
    if (!this.#wantsRoom || this.#room() <= 0) return
    this.#wantsRoom = false
    this.#options.onRoom(this.name)
  }

  setLimits(limits: SiteLimits): void {
    this.#control = withLimits(this.#control, this.#limits, limits)
    this.#limits = limits
    this.#limitsAt = this.#options.now()
  }

  /** What this worker found out: other workers are to know. */
  change(control: SiteControl): void {
    const before = this.#control
    this.#control = control
    if (this.isPaused) this.#pause()
    const isNews =
      before.status !== control.status ||
      before.resumeAt !== control.resumeAt ||
      control.complainedAt !== before.complainedAt
    if (isNews && (before.status !== 'up' || control.status !== 'up')) this.#options.onChange(this.state())
  }

  /** What another worker found out. */
  follow(control: SiteControl): void {
    const wasPaused = this.isPaused
    this.#control = control
    if (this.isPaused) this.#pause()
    else if (wasPaused) this.#options.onRoom(this.name)
  }

  state(): SiteState {
    const { status, since, reason, resumeAt, window, rate } = this.#control
    return {
      ...{ site: this.name, status, since, reason, resumeAt, window: Math.max(1, Math.floor(window)) },
      ...(rate !== Number.POSITIVE_INFINITY && { rate }),
    }
  }

  #place(): Place {
    this.#running++
    return {
      limits: this.#limits,
      leave: () => {
        this.#running--
        this.admit()
        this.offerRoom()
      },
    }
  }

  #room(): number {
    const open = openWindow(this.#control, this.#options.now())
    if (open === 0) return 0
    const ahead = this.#control.status === 'down' ? 0 : this.#ahead()
    return Math.max(0, open + ahead - this.#options.messagesAt(this.name))
  }

  #ahead(): number {
    const { least, most } = this.#options.relay ? AHEAD.relay : AHEAD.direct
    const rate = Math.min(this.#control.rate, takenRate(this.#control, this.#options.now()))
    return Math.min(most, Math.max(least, Math.ceil(rate * AHEAD_SECONDS)))
  }

  /** True when the rate does not allow another transaction yet; then a timer runs. */
  #isEarly(): boolean {
    const { now, schedule } = this.#options
    const { rate } = this.#control
    if (rate === Number.POSITIVE_INFINITY) return false
    const wait = this.#nextAt - now()
    if (wait <= BURST_MS) {
      this.#nextAt = Math.max(this.#nextAt, now()) + 1_000 / rate
      return false
    }
    if (this.#isTimed) return true
    this.#isTimed = true
    schedule(wait, () => {
      this.#isTimed = false
      this.admit()
    })
    return true
  }

  /** Nothing waits for a paused site in memory; when the pause ends the queue is asked again. */
  #pause(): void {
    this.turnAway()
    const { now, schedule, onRoom } = this.#options
    const until = this.#control.resumeAt
    if (this.#resumeTimer >= until) return
    this.#resumeTimer = until
    schedule(until - now(), () => {
      if (this.#control.resumeAt <= now()) onRoom(this.name)
    })
  }
}
