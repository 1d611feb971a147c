/**
 * The slots this worker owns. Agenda invites (slot-jobs.ts), the slot document decides, and the worker fences itself:
 * without a renewal it stops finishing messages before another worker may take the slot (lease-table.ts).
 */

import { abortableDelay, repeat } from '../../../platform/concurrency/abortable-delay.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { split } from '../../../platform/partition.ts'
import type { Cells } from '../../store/cells.ts'
import { beat, leave, livingWorkers, releaseSlots, renewSlots, takeSlots, unownedSlots } from '../../store/slots.ts'
import { LeaseTable, type LeaseTimes } from './lease-table.ts'
import { defineSlotJobs, hurrySlotJobs, type InvitedLeases, seedSlotJobs } from './slot-jobs.ts'

export type { LeaseTimes }

/** The values of production. */
export const LEASE_TIMES: LeaseTimes = { ttl: 20_000, renew: 5_000, margin: 5_000, run: 60_000 }

/** Dependencies of {@link SlotLeases}. */
export interface SlotLeasesOptions {
  mongo: Mongo
  /** Agenda instance of the slots only. */
  jobs: Jobs
  log: Log
  /** Unique name of this worker. */
  owner: string
  /** Number of slots of a cell, and how many cells there are. */
  slots: number
  cells?: Pick<Cells, 'count'>
  times: LeaseTimes
  /** Called after slots were taken over. */
  onTaken(slots: readonly number[]): Promise<void>
  /** Called after slots were given back: no worker delivers from them until one takes them. */
  onReleased(slots: readonly number[]): void
  /** Resolves when no delivery of the slot is in flight. */
  whenIdle(slot: number): Promise<void>
  /** True when no delivery of the slot is in flight at this moment. */
  isIdle(slot: number): boolean
  /** Called with the number of leases that have not run out when it may have changed, and after a renewal that failed. */
  onCount(owned: number): void
}

/** Least time between two searches for free slots; when a worker stops, each of its last slots is a hint to all others. */
const SEARCH_GAP_MS = 100

/** The slots of one worker. Defines the jobs; start the jobs after {@link SlotLeases.start}. */
export class SlotLeases implements InvitedLeases {
  readonly #options: SlotLeasesOptions
  readonly #table: LeaseTable
  readonly #ended = new AbortController()
  #workers = 1
  #isRetired = false
  #isSearchDue = false
  #searchedAt = Number.NEGATIVE_INFINITY
  #renewing: Promise<void> = Promise.resolve()
  /** The change of ownership under way. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: SlotLeasesOptions) {
    this.#options = options
    this.#table = new LeaseTable(options.times)
    defineSlotJobs({ ...options, slots: this.#slots, runMs: options.times.run, leases: this })
  }

  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number> {
    return this.#table.claimable()
  }

  /** True while a delivery claimed in this slot under this epoch may still get its final dot. */
  mayFinish(claim: { slot: number; epoch: number }): boolean {
    return this.#table.mayFinish(claim)
  }

  /** Starts renewing and taking part; resolves after the first renewal. */
  async start(): Promise<void> {
    const { log, times, onCount } = this.#options
    await this.#inTurn(() => this.#renew())
    await seedSlotJobs({ jobs: this.#options.jobs, slots: this.#slots })
    const onError = (error: unknown) => {
      onCount(this.#table.usable)
      log.warn({ err: error }, 'slots not renewed')
    }
    this.#renewing = repeat({ ms: times.renew, signal: this.#ended.signal, onError }, () =>
      this.#inTurn(() => this.#renew()),
    )
  }

  /** Takes what is free, up to the fair share, soon and not only at the next renewal: another worker gave slots back. */
  lookForFree(): void {
    if (this.#isSearchDue || this.#isRetired) return
    this.#isSearchDue = true
    const { mongo, log } = this.#options
    const search = async () => {
      this.#isSearchDue = false // what is given back from now on needs another search
      this.#searchedAt = performance.now()
      if (this.#isRetired) return
      this.#workers = await livingWorkers(mongo)
      await this.#takeUnowned()
    }
    void abortableDelay(this.#searchedAt + SEARCH_GAP_MS - performance.now(), this.#ended.signal)
      .then(() => this.#inTurn(search))
      .catch((error: unknown) => log.warn({ err: error }, 'free slots not taken'))
  }

  /**
   * Begins nothing more: gives back the slots with nothing in flight, and the others as they become idle. What is ours is
   * renewed until {@link SlotLeases.stop}. Never rejects.
   */
  async retire(): Promise<void> {
    const slots = await this.#withdraw()
    this.#giveBack(slots).catch((error: unknown) => this.#options.log.warn({ err: error }, 'slots not given back'))
  }

  /** Gives back the slots with nothing in flight; of the others the leases run out, so that no worker begins before. */
  async stop(): Promise<void> {
    this.#isRetired = true // before the renewal under way is waited for: it takes nothing more
    this.#ended.abort()
    await this.#renewing
    const slots = await this.#withdraw()
    await this.#giveBack(slots.filter(slot => this.#options.isIdle(slot)))
    await hurrySlotJobs(this.#options.jobs)
  }

  isOurs(slot: number): boolean {
    return this.#table.has(slot)
  }

  hasTooMany(): boolean {
    return this.#table.kept > this.#fairShare()
  }

  async takeInvited(slot: number, signal: AbortSignal): Promise<void> {
    const isWanted = () =>
      !this.#table.has(slot) && this.#table.size < this.#fairShare() && !this.#isRetired && !signal.aborted
    if (isWanted()) await this.#inTurn(async () => isWanted() && (await this.#take([slot])))
  }

  async giveBackInvited(slot: number): Promise<void> {
    if (this.#table.has(slot) && !this.#table.isLeaving(slot)) await this.#giveBack([slot])
  }

  #fairShare(): number {
    return Math.ceil(this.#slots / Math.max(1, this.#workers))
  }

  get #slots(): number {
    const { slots, cells } = this.#options
    return slots * (cells?.count ?? 1)
  }

  /** One change of ownership at a time: an answer that was overtaken must not bring back a slot that was given away. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => undefined)
    return mine
  }

  async #take(slots: readonly number[]): Promise<void> {
    const { mongo, owner, times, onTaken, onCount } = this.#options
    const asked = performance.now()
    const owned = await takeSlots(mongo, owner, slots, times.ttl)
    const taken = owned.filter(({ _id }) => !this.#table.has(_id))
    if (taken.length === 0) return
    this.#table.set(taken, asked)
    onCount(this.#table.usable)
    await onTaken(taken.map(({ _id }) => _id))
  }

  /**
   * Takes, without Agenda, slots of a vanished worker, whichever worker is first; and free ones up to our share,
   * because Agenda's invitations may repeatedly reach a worker that has enough.
   */
  async #takeUnowned(): Promise<void> {
    const { expired, free: all } = await unownedSlots(this.#options.mongo)
    // Slots of a cell that is being added have no mail yet, and are no part of a share.
    const free = all.filter(slot => slot < this.#slots)
    const room = Math.max(0, this.#fairShare() - this.#table.size - expired.length)
    // Not all workers want the same ones of them.
    const offset = Math.floor(Math.random() * free.length)
    const wanted = [...expired, ...[...free.slice(offset), ...free.slice(0, offset)].slice(0, room)]
    if (wanted.length === 0) return
    await this.#take(wanted)
    if (wanted.some(slot => !this.#table.has(slot))) this.lookForFree()
  }

  async #renew(): Promise<void> {
    const { mongo, owner, times, log, onTaken, onCount } = this.#options
    const asked = performance.now()
    const alive = this.#isRetired ? undefined : beat(mongo, owner, times.ttl)
    const [docs] = await Promise.all([renewSlots(mongo, owner, times.ttl), alive])
    this.#forgetLost(docs)
    // A slot that is ours without our knowledge: the answer to the take was lost, or giving it back failed.
    const found = docs.map(({ _id }) => _id).filter(slot => !this.#table.has(slot))
    this.#table.set(docs, asked)
    onCount(this.#table.usable)
    if (this.#isRetired) return
    if (found.length > 0) await onTaken(found)
    this.#workers = await livingWorkers(mongo)
    await this.#takeUnowned()
    const surplus = this.#surplus()
    // Not waited for: what is in flight may take minutes, and renewing goes on until then.
    this.#giveBack(surplus).catch((error: unknown) =>
      log.warn({ err: error, slots: surplus.length }, 'slots not given back'),
    )
  }

  #forgetLost(docs: readonly { _id: number }[]): void {
    const still = new Set(docs.map(({ _id }) => _id))
    const lost = this.#table.slots().filter(slot => !still.has(slot))
    this.#table.delete(lost)
    if (lost.length > 0) this.#options.log.warn({ slots: lost.length }, 'slots have a new owner')
  }

  /** What is above our share. Slots with nothing in flight go first: they change their owner immediately. */
  #surplus(): number[] {
    const kept = this.#table.slots().filter(slot => !this.#table.isLeaving(slot))
    const [idle, busy] = split(kept, slot => this.#options.isIdle(slot))
    return [...busy, ...idle].slice(this.#fairShare())
  }

  /**
   * Lets what is in flight finish, then gives the slots back: a new owner would take it for abandoned. Each goes as soon as
   * it can, because until then no worker begins anything in it.
   */
  async #giveBack(given: readonly number[]): Promise<void> {
    const { isIdle, whenIdle } = this.#options
    const slots = given.filter(slot => this.#table.has(slot))
    this.#table.markLeaving(slots)
    const [idle, busy] = split(slots, slot => isIdle(slot))
    const finish = async (slot: number) => {
      await whenIdle(slot)
      await this.#release([slot])
    }
    await Promise.all([this.#release(idle), ...busy.map(finish)])
  }

  /** Gives back those of the slots that are still to be given back and have nothing in flight. */
  #release(given: readonly number[]): Promise<void> {
    return this.#inTurn(async () => {
      const { mongo, owner, isIdle, onCount, onReleased } = this.#options
      // One that was lost and taken again since is not given back by this.
      const slots = given.filter(slot => this.#table.isLeaving(slot) && isIdle(slot))
      if (slots.length === 0) return
      // Before the write, because its outcome may be unknown: what is ours all the same is found by the next renewal.
      this.#table.delete(slots)
      onCount(this.#table.usable)
      await releaseSlots(mongo, owner, slots)
      onReleased(slots)
    })
  }

  /** Begins nothing more in any slot. Resolves to those that are ours; giving them back is the next step. */
  async #withdraw(): Promise<number[]> {
    const { mongo, owner, log } = this.#options
    this.#isRetired = true
    await this.#turn // what is being taken goes with the others, and no renewal counts this worker again
    const slots = this.#table.slots()
    this.#table.markLeaving(slots)
    // Before the slots are given back: a worker that takes them counts how many there are.
    await leave(mongo, owner).catch((error: unknown) =>
      log.warn({ err: error }, 'still counted as a worker until its time ends'),
    )
    return slots
  }
}
