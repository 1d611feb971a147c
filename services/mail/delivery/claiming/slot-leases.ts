/**
 * The slots this worker owns. Agenda invites (one job per slot), the slot document decides, and the worker fences
 * itself: without a renewal it stops finishing messages before anybody else may take the slot.
 */

import type { Mongo } from '../../../platform/database/mongo.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { Log } from '../../../platform/observability/log.ts'
import { split } from '../../../platform/partition.ts'
import { beat, leave, livingWorkers, releaseSlots, renewSlots, takeSlots, unownedSlots } from '../../store/slots.ts'
import { abortableDelay } from '../timing.ts'

/** Times of ownership, in milliseconds. */
export interface LeaseTimes {
  /** A lease without renewal ends after so long. */
  ttl: number
  /** Between renewals. */
  renew: number
  /** So long before its end a lease is not used for a final dot any more. */
  margin: number
  /** Length of a slot's job; after it another worker may be invited. */
  run: number
}

/** The values of production. */
export const LEASE_TIMES: LeaseTimes = { ttl: 20_000, renew: 5_000, margin: 5_000, run: 60_000 }

/** Ownership as delivery sees it. */
export interface Leases {
  /** Slots that may be claimed from, with their epochs. */
  claimable(): ReadonlyMap<number, number>
  /** True while a delivery claimed in this slot under this epoch may still get its final dot. */
  mayFinish(claim: { slot: number; epoch: number }): boolean
  /** Starts renewing and taking part; resolves after the first renewal. */
  start(): Promise<void>
  /** Takes what is free, up to the fair share, soon and not only at the next renewal: another worker gave slots back. */
  lookForFree(): void
  /**
   * Begins nothing more: gives back the slots that have nothing in hand, and the others as they end. What is ours is
   * renewed until {@link Leases.stop}. Never rejects.
   */
  retire(): Promise<void>
  /** Gives back the slots that have nothing in hand; of the others the leases run out, so that nobody begins before. */
  stop(): Promise<void>
}

/** What leases need. */
export interface LeaseOptions {
  mongo: Mongo
  /** Agenda instance of the slots only. */
  jobs: Jobs
  log: Log
  /** Unique name of this worker. */
  owner: string
  slots: number
  times: LeaseTimes
  /** Called after slots were taken over. */
  onTaken(slots: readonly number[]): Promise<void>
  /** Called after slots were given back: no worker delivers from them until one takes them. */
  onReleased(slots: readonly number[]): void
  /** Resolves when nothing of the slot is in hand any more. */
  idle(slot: number): Promise<void>
  /** True when nothing of the slot is in hand at this moment. */
  isIdle(slot: number): boolean
  onCount(owned: number): void
}

/** Name of the jobs; their key is the slot's number. */
const JOB = 'delivery-slot'
const AGENDA_LOCK_MS = 30_000
/** How soon a slot's job comes up again after a run. */
const INVITE_MS = 5_000
/** Least time between two looks for free slots; when a worker stops, each of its last slots is a hint to all others. */
const LOOK_GAP_MS = 100

interface Lease {
  epoch: number
  /** performance.now() at which it ends, counted from before the renewal was sent. */
  ends: number
}

/** Makes the ownership of one worker, and defines its jobs; seed and start the jobs afterwards. */
export function createLeases(options: LeaseOptions): Leases {
  const { mongo, jobs, log, owner, times } = options
  const leases = new Map<number, Lease>()
  /** Still ours, but no new deliveries are claimed. */
  const leaving = new Set<number>()
  let workers = 1
  let looking = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let retired = false
  const ended = new AbortController()
  let renewing: Promise<void> = Promise.resolve()

  const fairShare = () => Math.ceil(options.slots / Math.max(1, workers))
  const usable = ({ ends }: Lease) => ends - times.margin > performance.now()

  const note = (docs: readonly { _id: number; epoch: number }[], asked: number) => {
    for (const { _id, epoch } of docs) leases.set(_id, { epoch, ends: asked + times.ttl })
    options.onCount(leases.size)
  }

  /** One change of ownership at a time: an answer that was overtaken must not bring back a slot that was given away. */
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  const take = async (ids: readonly number[]) => {
    const asked = performance.now()
    const taken = (await takeSlots(mongo, owner, ids, times.ttl)).filter(({ _id }) => !leases.has(_id))
    if (taken.length === 0) return
    note(taken, asked)
    await options.onTaken(taken.map(({ _id }) => _id))
  }

  /** Gives back those of the slots that are still to be given back and have nothing in hand. */
  const release = (given: readonly number[]) =>
    inTurn(async () => {
      // One that was lost meanwhile and taken again is not given by this any more.
      const ids = given.filter(id => leaving.has(id) && options.isIdle(id))
      if (ids.length === 0) return
      // Before the write, because its outcome may be unknown: what is ours all the same is found by the next renewal.
      for (const id of ids) leases.delete(id)
      for (const id of ids) leaving.delete(id)
      options.onCount(leases.size)
      await releaseSlots(mongo, owner, ids)
      options.onReleased(ids)
    })

  /**
   * Lets what is in hand finish, then gives the slots back: a new owner would take it for abandoned. Each goes as soon as
   * it can, because until then no worker begins anything in it.
   */
  const give = async (given: readonly number[]) => {
    const ids = given.filter(id => leases.has(id))
    for (const id of ids) leaving.add(id)
    const [idle, busy] = split(ids, options.isIdle)
    const finish = async (id: number) => {
      await options.idle(id)
      await release([id])
    }
    await Promise.all([release(idle), ...busy.map(finish)])
  }

  /** What is above our share. Slots with nothing in hand go first: they change hands at once. */
  const excess = () => {
    const held = [...leases.keys()].filter(slot => !leaving.has(slot))
    const [idle, busy] = split(held, options.isIdle)
    return [...busy, ...idle].slice(fairShare())
  }

  /**
   * Takes, without Agenda, what a worker that vanished left behind, whoever comes first; and what is free, up to our share,
   * because Agenda's invitations may go to the same worker again and again, and that one may have enough.
   */
  const takeUnowned = async () => {
    const { expired, free } = await unownedSlots(mongo)
    const room = Math.max(0, fairShare() - leases.size - expired.length)
    // Not all workers want the same ones of them.
    const offset = Math.floor(Math.random() * free.length)
    const wanted = [...expired, ...[...free.slice(offset), ...free.slice(0, offset)].slice(0, room)]
    if (wanted.length === 0) return
    await take(wanted)
    if (wanted.some(slot => !leases.has(slot))) lookForFree()
  }

  const lookForFree = () => {
    if (looking || retired) return
    looking = true
    const look = async () => {
      looking = false // what is given back from now on needs another look
      lookedAt = performance.now()
      if (retired) return
      workers = await livingWorkers(mongo)
      await takeUnowned()
    }
    void abortableDelay(lookedAt + LOOK_GAP_MS - performance.now(), ended.signal)
      .then(() => inTurn(look))
      .catch((error: unknown) => log.warn({ err: error }, 'free slots not taken'))
  }

  const renew = async () => {
    const asked = performance.now()
    const [docs] = await Promise.all([renewSlots(mongo, owner, times.ttl), retired || beat(mongo, owner, times.ttl)])
    const still = new Set(docs.map(({ _id }) => _id))
    const lost = [...leases.keys()].filter(slot => !still.has(slot))
    for (const slot of lost) leases.delete(slot)
    for (const slot of lost) leaving.delete(slot)
    if (lost.length > 0) log.warn({ slots: lost.length }, 'slots have a new owner')
    // A slot that is ours without our knowledge: the answer to the take was lost, or giving it back failed.
    const found = docs.filter(({ _id }) => !leases.has(_id) && !leaving.has(_id)).map(({ _id }) => _id)
    note(docs, asked)
    if (retired) return
    if (found.length > 0) await options.onTaken(found)
    workers = await livingWorkers(mongo)
    await takeUnowned()
    const surplus = excess()
    // Not waited for: what is in hand may take minutes, and renewing goes on meanwhile.
    give(surplus).catch((error: unknown) => log.warn({ err: error, slots: surplus.length }, 'slots not given back'))
  }

  const renewForEver = async () => {
    while (!ended.signal.aborted) {
      await abortableDelay(times.renew, ended.signal)
      if (ended.signal.aborted) return
      await inTurn(renew).catch((error: unknown) => log.warn({ err: error }, 'slots not renewed'))
    }
  }

  /** Begins nothing more in any slot. Answers those that are ours; giving them back is the next step. */
  const withdraw = async (): Promise<number[]> => {
    retired = true
    await turn // what is being taken goes with the others, and no renewal counts this worker again
    const ids = [...leases.keys()]
    for (const id of ids) leaving.add(id)
    // Before the slots are given back: a worker that takes them counts how many there are.
    await leave(mongo, owner).catch((error: unknown) =>
      log.warn({ err: error }, 'still counted as a worker for a while'),
    )
    return ids
  }

  const tooMany = () => leases.size - leaving.size > fairShare()

  /** Stays with the slot for one run. It stays ours over the end; only a worker with more than its share lets go. */
  const hold = async (slot: number, touch: () => Promise<void>, signal: AbortSignal) => {
    const end = performance.now() + times.run
    while (leases.has(slot) && performance.now() < end && !signal.aborted && !tooMany()) {
      await abortableDelay(Math.min(AGENDA_LOCK_MS / 3, times.run), signal)
      await touch()
    }
    if (leases.has(slot) && !leaving.has(slot) && !signal.aborted && tooMany()) await give([slot])
  }

  jobs.define<{ key: string }>(
    JOB,
    { concurrency: options.slots, lockLifetimeMs: AGENDA_LOCK_MS },
    async ({ data, touch, signal }) => {
      const slot = Number(data.key)
      const isWanted = () => !leases.has(slot) && leases.size < fairShare() && !retired && !signal.aborted
      if (isWanted()) await inTurn(async () => isWanted() && (await take([slot])))
      if (leases.has(slot)) await hold(slot, touch, signal)
    },
  )

  return {
    claimable: () =>
      new Map(
        [...leases]
          .filter(([slot, lease]) => usable(lease) && !leaving.has(slot))
          .map(([slot, { epoch }]) => [slot, epoch]),
      ),
    mayFinish({ slot, epoch }) {
      const lease = leases.get(slot)
      return lease !== undefined && lease.epoch === epoch && usable(lease)
    },
    async start() {
      await inTurn(renew)
      for (let slot = 0; slot < options.slots; slot++) await jobs.seed(JOB, String(slot), { everyMs: INVITE_MS })
      await jobs.hurry(JOB)
      renewing = renewForEver()
    },
    lookForFree,
    async retire() {
      const ids = await withdraw()
      give(ids).catch((error: unknown) => log.warn({ err: error }, 'slots not given back'))
    },
    async stop() {
      retired = true // before the renewal under way is waited for: it takes nothing more
      ended.abort()
      await renewing
      const ids = await withdraw()
      await give(ids.filter(options.isIdle))
      await jobs.hurry(JOB)
    },
  }
}
