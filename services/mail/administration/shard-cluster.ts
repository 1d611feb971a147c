/**
 * Makes an installation whose MongoDB is a sharded cluster use its shards: hot collections are sharded by cell, each cell
 * is kept on one shard by a zone, and everything else stays on the primary shard. Each step may be repeated, and mail flows
 * meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Mongo } from '../../platform/database/mongo.ts'
import { FRESH_MS } from '../store/cells.ts'
import { CELLED, CellsRefused, growCells, nameCells, readCellSettings } from '../store/change-cells.ts'
import { MESSAGES } from '../store/messages.ts'
import { type ClusterCommands, clusterCommandsOf, rangeOfCell, type Shard } from './store/cluster-commands.ts'

/** Dependencies of {@link shardInstallation} and {@link addCell}. */
export interface ClusterDeps {
  mongo: Mongo
  /** Called with what was done. */
  report(line: string): void
  /** Default: those of the server that is connected. */
  commands?: ClusterCommands
  /** How long processes take to know of changed settings, and how often a new cell is looked for, in milliseconds. */
  freshMs?: number
  pauseMs?: number
}

/** Idempotency keys are unique by an index that begins with the key, which must then be the cell alone. */
const KEY_OF_MESSAGES = { cell: 1 } as const
const KEY = { cell: 1, _id: 1 } as const
/** The unique index of idempotency keys of releases without cells, which no sharded collection may have. */
const KEYS_WITHOUT_CELL = 'user_id_1_idem.key_1'
/** How long a new cell may take to its shard: it is empty, so this is about locks. */
const PLACE_MS = 5 * 60_000
const PAUSE_MS = 1_000

const keyOf = (collection: string): Record<string, 1> => (collection === MESSAGES.name ? KEY_OF_MESSAGES : KEY)

/** Shards the hot collections. Throws {@link CellsRefused} with a reason where that is not possible. */
export async function shardInstallation(deps: ClusterDeps): Promise<void> {
  const { mongo, report } = deps
  const commands = deps.commands ?? clusterCommandsOf(mongo.db)
  await requireCluster(commands)
  const { slots, cells } = await readCellSettings(mongo)
  if (slots === undefined)
    throw new CellsRefused('no process of Postwright has worked with this database yet; start one first')
  const primary = await commands.primaryShard()
  await nameCells(mongo, report, deps.freshMs)
  await dropKeysWithoutCell(mongo.db)
  await commands.run({ enableSharding: mongo.db.databaseName })
  for (const { definition } of CELLED) {
    const name = namespaceOf(mongo.db, definition.name)
    const key = keyOf(definition.name)
    const present = await commands.shardKey(name)
    if (present && JSON.stringify(present) !== JSON.stringify(key))
      throw new CellsRefused(`${name} is sharded by ${JSON.stringify(present)}; it has to be ${JSON.stringify(key)}`)
    if (!present) await commands.run({ shardCollection: name, key })
    report(
      `${definition.name}: ${present ? 'was sharded before' : 'is sharded now'}, by ${Object.keys(key).join(' and ')}`,
    )
  }
  const shards = await commands.shards()
  for (let cell = 0; cell < cells; cell++) await placeCell(deps, commands, cell, shardOf(shards, cell) ?? primary)
}

/**
 * Adds a cell, on a cluster on `shard` or on the one with the fewest; answers its number. The range of a new cell is at
 * its shard before the first message is. Resolves when all processes know of it: they look for keys in the cells that they
 * know and in one more.
 */
export async function addCell(deps: ClusterDeps, shard?: string): Promise<number> {
  const { mongo, report } = deps
  const commands = deps.commands ?? clusterCommandsOf(mongo.db)
  const { cells, named } = await readCellSettings(mongo)
  const isCluster = await commands.isCluster()
  if (isCluster && !named)
    throw new CellsRefused('the collections of this cluster are not sharded yet: run `npm run admin -- shard` first')
  if (!isCluster && shard !== undefined)
    throw new CellsRefused(`MONGODB_URI leads to a replica set, which has no shard ${JSON.stringify(shard)}`)
  if (isCluster) await placeCell(deps, commands, cells, await choose(commands, cells, shard))
  await growCells(mongo, cells + 1)
  await sleep(deps.freshMs ?? FRESH_MS)
  report(`there are ${cells + 1} cells, and all processes use the new one`)
  return cells
}

async function requireCluster(commands: ClusterCommands): Promise<void> {
  if (!(await commands.isCluster()))
    throw new CellsRefused(
      'MONGODB_URI leads to a replica set. Make it the first shard of a cluster (docs/scaling.md) and give the URI of its mongos. Nothing was changed.',
    )
}

/** The shard that has a cell: that of an attempt that was interrupted keeps it, as a cell is on one shard. */
const shardOf = (shards: readonly Shard[], cell: number) => shards.find(({ zones }) => zones.includes(zoneOf(cell)))?.id

async function choose(commands: ClusterCommands, cell: number, wanted: string | undefined): Promise<string> {
  const shards = await commands.shards()
  const present = shardOf(shards, cell)
  if (present !== undefined && (wanted ?? present) !== present)
    throw new CellsRefused(
      `an interrupted run has given cell ${cell} to the shard ${present}: complete it without a shard`,
    )
  if (wanted !== undefined && !shards.some(({ id }) => id === wanted))
    throw new CellsRefused(
      `there is no shard ${JSON.stringify(wanted)}; there are ${shards.map(({ id }) => id).join(', ')}`,
    )
  const cellsOn = ({ zones }: Shard) => zones.filter(zone => zone.startsWith(ZONE)).length
  const [fewest] = shards.toSorted((a, b) => cellsOn(a) - cellsOn(b))
  if (!fewest) throw new CellsRefused('the cluster has no shard')
  return wanted ?? present ?? fewest.id
}

async function placeCell(deps: ClusterDeps, commands: ClusterCommands, cell: number, shard: string): Promise<void> {
  const { mongo, report, pauseMs = PAUSE_MS } = deps
  const names = CELLED.map(({ definition }) => definition.name)
  await commands.run({ addShardToZone: shard, zone: zoneOf(cell) })
  for (const name of names) {
    const range = rangeOfCell(cell, Object.keys(keyOf(name)).slice(1))
    await commands.run({ updateZoneKeyRange: namespaceOf(mongo.db, name), ...range, zone: zoneOf(cell) })
  }
  const until = performance.now() + PLACE_MS
  for (const name of names)
    while (!(await commands.isBalanced(namespaceOf(mongo.db, name)))) {
      if (performance.now() > until)
        throw new CellsRefused(
          `${name}: the range of cell ${cell} is not at ${shard} after five minutes; is the balancer on?`,
        )
      await sleep(pauseMs)
    }
  report(`cell ${cell} is at the shard ${shard}`)
}

async function dropKeysWithoutCell(db: Db): Promise<void> {
  const messages = db.collection(MESSAGES.name)
  const names = (await messages.indexes()).map(({ name }) => name)
  if (names.includes(KEYS_WITHOUT_CELL)) await messages.dropIndex(KEYS_WITHOUT_CELL)
}

const ZONE = 'postwright-cell-'
const zoneOf = (cell: number) => `${ZONE}${cell}`
const namespaceOf = (db: Db, collection: string) => `${db.databaseName}.${collection}`
