/**
 * The cells of a database (rules/cell.ts): how many there are, which one new mail goes to, and whether commands name
 * them. Both are settings in the database that change while mail flows; a process notices them with the first use after
 * {@link FRESH_MS}: that use itself still goes by what was known.
 *
 * On a replica set commands do not name cells: ids and slots say all, and one command serves the slots of all cells. On a
 * sharded cluster every command on mail has to name them, so that mongos sends it to the shards of these cells and to no
 * other. They are named once all documents have them, see `nameCells`.
 */
import { collectionOf, type Db, defineCollection } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { cellOf, cellOfSlot, distinct, idInCell } from './rules/cell.ts'
import type { FlowRange } from './rules/flow.ts'

/** Settings of the engine that the database decides. `count`: slots of a cell, or cells. */
export interface EngineDoc {
  _id: 'slots' | 'cells'
  count: number
  /** Commands name cells. */
  named?: boolean
}

/** These settings. */
export const ENGINE = defineCollection<EngineDoc>('engine')

/** Part of a filter: names the cells of what is asked for, or nothing where cells are not named. */
export interface InCells {
  cell?: number | { $in: number[] }
}

/** How old what a process knows of the settings may be, in milliseconds. */
export const FRESH_MS = 5_000
/** New mail of a process goes to one cell for this time, so that nearly every batch is of one cell. */
const TURN_MS = 1_000

const known = new WeakMap<Db, Cells>()

/** The cells of this database, as far as this process knows. */
export function cellsOf(db: Db): Cells {
  const cells = known.get(db) ?? new Cells(db)
  known.set(db, cells)
  return cells
}

/** The cells of one database. */
export class Cells {
  readonly #db: Db
  readonly #freshMs: number
  /** Processes are at different cells at one moment. */
  readonly #offset = Math.floor(Math.random() * 1_024)
  #count = 1
  #slots = 1
  #isNamed = false
  /** What is known counts as new until then. */
  #freshUntil = Number.NEGATIVE_INFINITY
  /** No reading in the background before. */
  #pausedUntil = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  /** `freshMs`: how long what was read is used. */
  constructor(db: Db, freshMs = FRESH_MS) {
    this.#db = db
    this.#freshMs = freshMs
  }

  /** How many there are. */
  get count(): number {
    this.#refreshSoon()
    return this.#count
  }

  /** Whether commands name cells. */
  get isNamed(): boolean {
    this.#refreshSoon()
    return this.#isNamed
  }

  /** Reads the settings. Rejects when the database is away. */
  async read(): Promise<void> {
    const begun = performance.now()
    this.#pausedUntil = begun + this.#freshMs
    const docs = await collectionOf(this.#db, ENGINE).find().toArray()
    for (const { _id, count, named } of docs) {
      if (_id === 'slots') this.#slots = count
      else {
        // Never fewer: mail of a cell that was there may exist.
        this.#count = Math.max(this.#count, count)
        this.#isNamed = named === true
      }
    }
    this.#freshUntil = begun + this.#freshMs
  }

  /** The id of a new message, in the cell whose turn it is. */
  newMessageId(now: Date): string {
    const turn = Math.floor(now.getTime() / TURN_MS) + this.#offset
    return idInCell(newId('em', now.getTime()), turn % this.count)
  }

  /**
   * The id of a new message with an idempotency key. A sharded cluster keeps keys unique within a shard only, so there
   * messages with equal keys go to one cell.
   */
  newMessageIdFor(userId: string, key: string, now: Date): string {
    if (!this.isNamed) return this.newMessageId(now)
    return idInCell(newId('em', now.getTime()), hash(`${userId} ${key}`) % this.#count)
  }

  /** Names the cells of what has these ids. */
  of(ids: readonly string[]): InCells {
    return this.isNamed ? toFilter(distinct(ids.map(cellOf))) : {}
  }

  /** Names the cells of these slots. */
  ofSlots(slots: Iterable<number>): InCells {
    return this.isNamed ? toFilter(this.#cellsOfSlots(slots)) : {}
  }

  /** Names all cells, and the next one: it may have been added a moment ago. */
  all(): InCells {
    return this.isNamed ? toFilter(range(this.#count + 1)) : {}
  }

  /**
   * The same for a question whose answer must not miss a cell: reads settings that are too old first, as a process
   * that was idle may know of fewer cells. Rejects when the database is away.
   */
  async allAsOfNow(): Promise<InCells> {
    if (this.#isNamed && performance.now() >= this.#freshUntil) await this.#readOnce()
    return this.all()
  }

  /** The parts of a question about a range of flows: one for each cell, or one that names none. */
  partsOfRange({ from, to }: FlowRange): InCells[] {
    if (!this.isNamed) return [{}]
    const [first, last] = [slotIn(from), slotIn(to)]
    const isWithin = (cell: number) =>
      first === undefined ||
      last === undefined ||
      (cell >= cellOfSlot(first, this.#slots) && cell <= cellOfSlot(last, this.#slots))
    return range(this.#count)
      .filter(isWithin)
      .map(cell => ({ cell }))
  }

  /** The same for flows by name; `slots`: those that flows without a slot (of relay mode) are read of, or all. */
  partsOfFlow(flow: string, slots: readonly number[] | undefined): InCells[] {
    if (!this.isNamed) return [{}]
    const slot = slotIn(flow)
    if (slot !== undefined) return [{ cell: cellOfSlot(slot, this.#slots) }]
    const cells = slots ? this.#cellsOfSlots(slots) : range(this.#count)
    return cells.map(cell => ({ cell }))
  }

  #cellsOfSlots(slots: Iterable<number>): number[] {
    return distinct([...slots].map(slot => cellOfSlot(slot, this.#slots)))
  }

  /** What is known serves meanwhile: a process with old settings uses fewer cells, or asks more shards than it has to. */
  #refreshSoon(): void {
    if (performance.now() < Math.max(this.#freshUntil, this.#pausedUntil)) return
    this.#readOnce().catch(() => undefined) // the database is away, or closed: asked again after a while
  }

  /** Callers at the same time share one reading. */
  #readOnce(): Promise<void> {
    this.#reading ??= this.read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }
}

/** 0 to `count` - 1. */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

function toFilter(cells: number[]): InCells {
  const [only, ...more] = cells
  if (only === undefined) return {}
  return { cell: more.length === 0 ? only : { $in: cells } }
}

/** The slot in the name of a flow, or in a bound of a range of such names; undefined where there is none. */
function slotIn(name: string): number | undefined {
  const digits = /^d (\d{4})/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** FNV-1a: equal keys have equal cells in every process. */
function hash(value: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < value.length; i++) h = Math.imul(h ^ value.charCodeAt(i), 0x01000193)
  return h >>> 0
}
