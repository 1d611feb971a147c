/** How the cells of a database change while mail flows: more of them, and commands that name them (cells.ts). */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  collectionOf,
  DURABLE,
  ensureIndexes,
  type IndexDefinition,
  isDuplicateKey,
  type Mongo,
} from '../../platform/database/mongo.ts'
import { BODIES } from './bodies.ts'
import { ENGINE, type EngineDoc, FRESH_MS } from './cells.ts'
import { BY_CELL, DELIVERIES } from './deliveries.ts'
import { EVENTS } from './events.ts'
import { KEYS_BY_CELL, MESSAGES } from './messages.ts'
import { mostCells } from './rules/cell.ts'
import { makeSlots } from './slots.ts'

/** The collections whose documents lie in cells, and the indexes that they have where cells are named. */
export const CELLED = [
  { definition: MESSAGES, indexes: [KEYS_BY_CELL] },
  { definition: DELIVERIES, indexes: [BY_CELL] },
  { definition: BODIES, indexes: [] },
  { definition: EVENTS, indexes: [] },
] as const

/** Begins with the key of the shards, which MongoDB requires an index for; it also finds documents without a cell. */
const IN_CELL: IndexDefinition = { key: { cell: 1, _id: 1 } }
const BATCH = 1_000

/** Why the number of cells cannot become the wanted one. */
export class CellsRefused extends Error {}

/** The settings of the engine in a database. */
export interface CellSettings {
  /** Slots of a cell; undefined in a database that no process has worked with. */
  slots: number | undefined
  cells: number
  named: boolean
}

/** Reads them. */
export async function readCellSettings({ db }: Pick<Mongo, 'db'>): Promise<CellSettings> {
  const docs = await collectionOf(db, ENGINE).find().toArray()
  const of = (id: EngineDoc['_id']) => docs.find(({ _id }) => _id === id)
  return { slots: of('slots')?.count, cells: of('cells')?.count ?? 1, named: of('cells')?.named === true }
}

/**
 * Raises the number of cells. Slots first: a process that knows of a cell gives its mail to slots that workers can take.
 * Repeating it changes nothing; an interruption leaves slots without mail. Throws {@link CellsRefused}.
 */
export async function growCells(mongo: Mongo, wanted: number): Promise<void> {
  const { slots, cells } = await readCellSettings(mongo)
  if (slots === undefined)
    throw new CellsRefused('no process of Postwright has worked with this database yet; start one first')
  const most = mostCells(slots)
  if (wanted > most)
    throw new CellsRefused(
      `with ${slots} slots a cell there are at most ${most} cells; the number of slots (SLOTS) was fixed by the first start`,
    )
  if (wanted < cells) throw new CellsRefused(`there are ${cells} cells; their number never falls, as mail lies in them`)
  await makeSlots(mongo, wanted * slots)
  await update(mongo, { $max: { count: wanted } })
}

/**
 * Has commands name cells: indexes, then a cell for each document of earlier releases, then the setting. All processes
 * must run a release with cells: a document that an earlier one adds afterwards waits for {@link adoptStrays}. Repeating
 * it changes nothing. `report`: called with what was done. Resolves when all processes know.
 */
export async function nameCells(mongo: Mongo, report: (line: string) => void, freshMs = FRESH_MS): Promise<void> {
  for (const { definition, indexes } of CELLED) {
    await ensureIndexes(mongo.db, [{ name: definition.name, indexes: [IN_CELL, ...indexes] }])
    report(`${definition.name}: indexes with cells are there`)
  }
  const adopted = await adoptStrays(mongo)
  report(`${adopted} documents of earlier releases belong to cell 0 now`)
  await update(mongo, { $max: { count: 1 }, $set: { named: true } })
  // Until then some processes do not name cells, and some may still add what was begun before.
  await sleep(2 * freshMs)
  const late = await adoptStrays(mongo)
  if (late > 0) report(`${late} more were added meanwhile: a process of an earlier release may be running`)
}

/**
 * Gives cell 0 to documents without a cell, which commands that name cells do not find; answers how many. One by one
 * within a batch: a cluster changes the key of a shard in no other way.
 */
export async function adoptStrays(mongo: Mongo): Promise<number> {
  let adopted = 0
  for (const { definition } of CELLED) {
    const collection = mongo.db.collection<{ _id: string; cell?: number }>(definition.name)
    const stray = { cell: { $exists: false } }
    for (;;) {
      const found = await collection
        .find(stray)
        .hint(IN_CELL.key)
        .limit(BATCH)
        .project<{ _id: string }>({ _id: 1 })
        .toArray()
      if (found.length === 0) break
      const writes = found.map(({ _id }) => ({
        updateOne: { filter: { _id, ...stray }, update: { $set: { cell: 0 } } },
      }))
      await collection.bulkWrite(writes, { ordered: false, ...DURABLE })
      adopted += found.length
    }
  }
  return adopted
}

async function update(mongo: Mongo, change: object): Promise<void> {
  const write = () => collectionOf(mongo.db, ENGINE).updateOne({ _id: 'cells' }, change, { upsert: true, ...DURABLE })
  await write().catch((error: unknown) => {
    if (isDuplicateKey(error)) return write() // another one made it in this moment
    throw error
  })
}
