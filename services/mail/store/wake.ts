/**
 * Notifies workers that a slot has new mail, so that a quiet system delivers immediately, and that a slot has no owner. Only a
 * hint: what it loses, the poll of the worker or its next renewal finds. Inside a process it is a call; across processes
 * it is a document in a capped collection, read by a tailable cursor (a change stream would read every write of the
 * database).
 */
import { abortableDelay } from '../../platform/concurrency/abortable-delay.ts'
import { LoadPause } from '../../platform/concurrency/load-pause.ts'
import { collectionOf, defineCollection, isMongoCode, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'

/** A hint in the capped collection. */
interface HintDoc {
  _id: string
  /** Process that wrote it; it has called its own listeners already. */
  from: string
  slots: number[]
  /** Names of flows that have new mail (rules/flow.ts), the first {@link FLOWS} of them. Absent in hints of release 0.1.0. */
  flows?: string[]
  /** Slots that a worker gave back. Absent in hints of release 0.1.0. */
  released?: number[]
}

/**
 * Called with the slots and the names of flows that have new mail (the flows may be fewer than there are), and with the
 * slots that a worker gave back.
 */
export type WakeListener = (slots: readonly number[], flows: readonly string[], released: readonly number[]) => void

/** The wake-up signals of one process. */
export interface Wake {
  /** Notifies of due deliveries, by the slot and the flow of each. Returns immediately and never throws. */
  ring(slots: readonly number[], flows?: readonly string[]): void
  /** Notifies other workers that these slots have no owner now. Returns immediately and never throws. */
  release(slots: readonly number[]): void
  /**
   * Calls `listener` for rings of this process and, while {@link Wake.follow} runs, of others, and for releases of others.
   * Returns the way to stop.
   */
  listen(listener: WakeListener): () => void
  /** Reads the hints of other processes until the signal aborts. */
  follow(signal: AbortSignal): Promise<void>
}

const HINTS = defineCollection<HintDoc>('delivery_hints')
/** In bytes. A hint of {@link FLOWS} flows takes some 12 KiB, so this is a quarter of a minute of the busiest process. */
const SIZE = 4 * 1024 * 1024
/** Between two hints of a process, and between two claims of a worker: equal, so that no hint comes in vain. */
export const CLAIM_PAUSE = { longestMs: 50, rate: 500 }
/** Flows that one hint names at most; the others are found by looking. */
const FLOWS = 200
/** Answer of MongoDB when a collection is there already, with other options. */
const NAMESPACE_EXISTS = 48
/** Pause before the cursor is opened again after an error. */
const REOPEN_MS = 500

const hubs = new WeakMap<Mongo, Wake>()

/** The wake-up signals of this database connection; the parts of one process share it. */
export function wakeOf(mongo: Mongo): Wake {
  const hub = hubs.get(mongo) ?? new HintedWake(mongo)
  hubs.set(mongo, hub)
  return hub
}

class HintedWake implements Wake {
  readonly #mongo: Mongo
  /** Names this process in its hints. */
  readonly #process = newId('wk')
  readonly #listeners = new Set<WakeListener>()
  /** What the next hint names. */
  #next = { slots: new Set<number>(), flows: new Set<string>(), released: new Set<number>() }
  #isPausing = false
  readonly #load = new LoadPause(CLAIM_PAUSE)
  /** Deliveries that the next hint is about. */
  #count = 0
  #created: Promise<void> | undefined

  constructor(mongo: Mongo) {
    this.#mongo = mongo
  }

  ring(slots: readonly number[], flows: readonly string[] = []): void {
    for (const listener of this.#listeners) listener(slots, flows, [])
    for (const flow of flows) if (this.#next.flows.size < FLOWS) this.#next.flows.add(flow)
    for (const slot of slots) this.#next.slots.add(slot)
    this.#count += slots.length
    if (!this.#isPausing) this.#write()
  }

  release(slots: readonly number[]): void {
    for (const slot of slots) this.#next.released.add(slot)
    if (!this.#isPausing) this.#write()
  }

  listen(listener: WakeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#created = create(this.#mongo)
      await this.#created
      await tail(this.#mongo, signal, this.#process, this.#listeners).catch(() => undefined)
      await abortableDelay(REOPEN_MS, signal)
    }
  }

  /** Writes what was gathered, then waits for more. */
  #write(): void {
    const { slots, flows, released } = this.#next
    if (slots.size === 0 && released.size === 0) {
      this.#isPausing = false
      return
    }
    const doc: HintDoc = {
      ...{ _id: newId('wh'), from: this.#process, slots: [...slots], flows: [...flows] },
      ...(released.size > 0 && { released: [...released] }),
    }
    const hints = collectionOf(this.#mongo.db, HINTS)
    this.#created ??= create(this.#mongo)
    // Unacknowledged: a lost hint costs one interval of scanning for mail, or of searching for free slots.
    this.#created.then(() => hints.insertOne(doc, { writeConcern: { w: 0 } })).catch(() => undefined)
    this.#next = { slots: new Set(), flows: new Set(), released: new Set() }
    this.#isPausing = true
    setTimeout(() => this.#write(), this.#load.after(this.#count)).unref()
    this.#count = 0
  }
}

/**
 * Creates the capped collection; an insert into a missing one would create a plain one, which cannot be tailed. One of
 * an earlier release is enlarged: a reader that lags by the complete collection loses its hints.
 */
async function create(mongo: Mongo): Promise<void> {
  const enlarge = (error: unknown) =>
    isMongoCode(error, NAMESPACE_EXISTS) ? mongo.db.command({ collMod: HINTS.name, cappedSize: SIZE }) : undefined
  // The right to change a collection is not in every role (`dbAdmin` has it), and a smaller one works as well.
  await mongo.db
    .createCollection(HINTS.name, { capped: true, size: SIZE })
    .catch(enlarge)
    .catch(() => undefined)
}

/** Follows the collection, which exists, from now on; ends when the cursor dies or the signal aborts. */
async function tail(
  mongo: Mongo,
  signal: AbortSignal,
  own: string,
  listeners: ReadonlySet<WakeListener>,
): Promise<void> {
  const hints = collectionOf(mongo.db, HINTS)
  // The cursor of an empty capped collection ends immediately, so there is always one document.
  const start: HintDoc = { _id: newId('wh'), from: own, slots: [] }
  await hints.insertOne(start)
  const cursor = hints.find({}, { tailable: true, awaitData: true, maxAwaitTimeMS: 1_000 })
  const close = () => void cursor.close().catch(() => undefined)
  signal.addEventListener('abort', close, { once: true })
  // It may have aborted while the start was written; the event does not come again.
  if (signal.aborted) close()
  try {
    let past = true
    for await (const hint of cursor) {
      if (hint._id === start._id) past = false
      if (past || hint.from === own) continue
      for (const listener of listeners) listener(hint.slots, hint.flows ?? [], hint.released ?? [])
    }
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}
