/**
 * The slots this worker owns. Agenda invites (one job per slot), the slot document decides, and the worker fences
 * itself: without a renewal it stops finishing messages before anybody else may take the slot.
 */
import type { Jobs } from '../../platform/jobs.ts'
import type { Log } from '../../platform/log.ts'
import type { Mongo } from '../../platform/mongo.ts'
import { beat, leave, releaseSlots, renewSlots, takeSlots, unownedSlots } from '../store/slots.ts'
import { abortableDelay } from './timing.ts'

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

  /** Lets what is in hand finish, then gives the slots back: a new owner would take it for abandoned. */
  const give = async (ids: readonly number[]) => {
    if (ids.length === 0) return
    for (const id of ids) leaving.add(id)
    await Promise.all(ids.map(options.idle))
    await inTurn(async () => {
      // Before the write, because its outcome may be unknown: what is ours all the same is found by the next renewal.
      for (const id of ids) leases.delete(id)
      for (const id of ids) leaving.delete(id)
      options.onCount(leases.size)
      await releaseSlots(mongo, owner, ids)
    })
  }

  const renew = async () => {
    const asked = performance.now()
    const [docs, live] = await Promise.all([renewSlots(mongo, owner, times.ttl), beat(mongo, owner, times.ttl)])
    workers = live
    const still = new Set(docs.map(({ _id }) => _id))
    const lost = [...leases.keys()].filter(slot => !still.has(slot))
    for (const slot of lost) leases.delete(slot)
    if (lost.length > 0) log.warn({ slots: lost.length }, 'slots have a new owner')
    // A slot that is ours without our knowledge: the answer to the take was lost, or giving it back failed.
    const found = docs.filter(({ _id }) => !leases.has(_id) && !leaving.has(_id)).map(({ _id }) => _id)
    note(docs, asked)
    if (found.length > 0) await options.onTaken(found)
    // Without Agenda: what a worker that vanished left behind, whoever comes first; and what is free, up to our share,
    // because Agenda's invitations may go to the same worker again and again, and that one may have enough.
    const { expired, free } = await unownedSlots(mongo)
    const wanted = [...expired, ...free.slice(0, Math.max(0, fairShare() - leases.size - expired.length))]
    if (wanted.length > 0) await take(wanted)
    const excess = [...leases.keys()].filter(slot => !leaving.has(slot)).slice(fairShare())
    // Not waited for: what is in hand may take minutes, and renewing goes on meanwhile.
    give(excess).catch((error: unknown) => log.warn({ err: error, slots: excess.length }, 'slots not given back'))
  }

  const renewForEver = async () => {
    while (!ended.signal.aborted) {
      await abortableDelay(times.renew, ended.signal)
      if (ended.signal.aborted) return
      await inTurn(renew).catch((error: unknown) => log.warn({ err: error }, 'slots not renewed'))
    }
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
      if (!leases.has(slot) && leases.size < fairShare() && !signal.aborted) await inTurn(() => take([slot]))
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
    async stop() {
      ended.abort()
      await renewing
      const ids = [...leases.keys()]
      for (const id of ids) leaving.add(id)
      await give(ids.filter(options.isIdle))
      await leave(mongo, owner)
      await jobs.hurry(JOB)
    },
  }
}
