/**
 * The database is a real replica set; of the cluster only the administration is a stand-in (fake-cluster.ts), because no
 * mongos comes with the mongod of the tests.
 */
import { describe, expect, test } from 'vitest'
import { type FakeCluster, fakeCluster } from '../../../test/support/database/fake-cluster.ts'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { CELLED, growCells, readCellSettings } from '../store/change-cells.ts'
import { fixSlotCount } from '../store/slots.ts'
import { addCell, type ClusterDeps, shardInstallation } from './shard-cluster.ts'
import { clusterCommandsOf } from './store/cluster-commands.ts'

const NAMES = CELLED.map(({ definition }) => definition.name)

async function installation(cells = 1, shards = ['first', 'second']) {
  const mongo = await databaseForThisTest()
  await ensureIndexes(
    mongo.db,
    CELLED.map(({ definition }) => definition),
  )
  await fixSlotCount(mongo, 8)
  await growCells(mongo, cells)
  for (const name of NAMES) await mongo.db.collection<{ _id: string }>(name).insertOne({ _id: newId('em') })
  const cluster = fakeCluster(mongo.db, shards)
  const lines: string[] = []
  const deps: ClusterDeps = { mongo, commands: cluster, report: line => lines.push(line), freshMs: 0, pauseMs: 1 }
  return { mongo, cluster, lines, deps }
}

const rangesOf = (mongo: Mongo, { ranges }: FakeCluster, name: string) =>
  ranges.get(`${mongo.db.databaseName}.${name}`)?.toSorted((a, b) => a.from - b.from)

describe('sharding', () => {
  test('shards what lies in cells, by cell, and keeps what is there at the primary shard', async () => {
    const { mongo, cluster, lines, deps } = await installation(2)
    await shardInstallation(deps)
    expect([...cluster.keys]).toEqual(
      NAMES.map(name => [`${mongo.db.databaseName}.${name}`, name === 'messages' ? { cell: 1 } : { cell: 1, _id: 1 }]),
    )
    expect([...cluster.zones]).toEqual([
      ['postwright-cell-0', 'first'],
      ['postwright-cell-1', 'first'],
    ])
    for (const name of NAMES)
      expect(rangesOf(mongo, cluster, name)).toEqual([
        { from: -1, to: 1, zone: 'postwright-cell-0' },
        { from: 1, to: 2, zone: 'postwright-cell-1' },
      ])
    expect(await readCellSettings(mongo)).toEqual({ slots: 8, cells: 2, named: true })
    expect(lines).toContain('4 documents of earlier releases belong to cell 0 now')
    expect(lines.slice(-2)).toEqual(['cell 0 is at the shard first', 'cell 1 is at the shard first'])
  })

  test('can be repeated, and shards nothing twice', async () => {
    const { cluster, lines, deps } = await installation()
    await shardInstallation(deps)
    const once = cluster.commands.length
    await shardInstallation(deps)
    expect(cluster.commands.slice(once)).not.toContain('shardCollection')
    expect(lines.slice(-2)).toEqual(['events: was sharded before, by cell and _id', 'cell 0 is at the shard first'])
  })

  test.each([0, 1, 2, 3, 4, 5, 6, 7])('that ends at command %i is completed by the next run', async failAt => {
    const { mongo, cluster, deps } = await installation()
    cluster.failAt = failAt
    await expect(shardInstallation(deps)).rejects.toThrow('the cluster is away')
    await shardInstallation(deps)
    expect([cluster.keys.size, cluster.zones.size]).toEqual([4, 1])
    for (const name of NAMES)
      expect(rangesOf(mongo, cluster, name)).toEqual([{ from: -1, to: 1, zone: 'postwright-cell-0' }])
  })

  test('of a replica set is refused, and changes nothing', async () => {
    const { mongo, deps } = await installation()
    const commands = clusterCommandsOf(mongo.db)
    expect(await commands.isCluster()).toBe(false)
    await expect(shardInstallation({ ...deps, commands })).rejects.toThrow(
      /leads to a replica set.*Nothing was changed/,
    )
    expect(await readCellSettings(mongo)).toEqual({ slots: 8, cells: 1, named: false })
  })

  test('of a database that nothing has worked with is refused', async () => {
    const mongo = await databaseForThisTest()
    const commands = fakeCluster(mongo.db, ['first'])
    await expect(shardInstallation({ mongo, commands, report: () => undefined })).rejects.toThrow(/no process/)
    expect(commands.commands).toEqual([])
  })

  test('of a collection with another key is refused before anything is placed', async () => {
    const { mongo, cluster, deps } = await installation()
    cluster.keys.set(`${mongo.db.databaseName}.bodies`, { _id: 'hashed' })
    await expect(shardInstallation(deps)).rejects.toThrow(/bodies is sharded by \{"_id":"hashed"\}/)
    expect(cluster.zones.size).toBe(0)
  })
})

describe('another cell', () => {
  test('goes to the shard with the fewest, or to the one that is named', async () => {
    const { mongo, cluster, deps } = await installation()
    await shardInstallation(deps)
    expect([await addCell(deps), await addCell(deps), await addCell(deps, 'first')]).toEqual([1, 2, 3])
    expect([...cluster.zones.values()]).toEqual(['first', 'second', 'first', 'first'])
    expect(rangesOf(mongo, cluster, 'deliveries')?.at(-1)).toEqual({ from: 3, to: 4, zone: 'postwright-cell-3' })
    expect(await readCellSettings(mongo)).toMatchObject({ cells: 4 })
  })

  test('has its range at the shard before mail goes to it: a failure leaves the number as it is', async () => {
    const { mongo, cluster, deps } = await installation()
    await shardInstallation(deps)
    cluster.failAt = cluster.commands.length + 3
    await expect(addCell(deps, 'second')).rejects.toThrow('the cluster is away')
    expect(await readCellSettings(mongo)).toMatchObject({ cells: 1 })
    await expect(addCell(deps, 'first')).rejects.toThrow(/cell 1 to the shard second: complete it without a shard/)
    expect(await addCell(deps)).toBe(1)
    expect(cluster.zones.get('postwright-cell-1')).toBe('second')
  })

  test.each([
    ['at an unknown shard', true, 'third', /there is no shard "third"; there are first, second/],
    ['before the collections are sharded', false, undefined, /run `npm run admin -- shard` first/],
  ])('%s is refused', async (_, isSharded, shard, reason) => {
    const { mongo, deps } = await installation()
    if (isSharded) await shardInstallation(deps)
    await expect(addCell(deps, shard)).rejects.toThrow(reason)
    expect(await readCellSettings(mongo)).toMatchObject({ cells: 1 })
  })

  test('on a replica set divides mail ahead of sharding, and there are no shards to name', async () => {
    const { mongo, deps } = await installation()
    const replicaSet = { ...deps, commands: clusterCommandsOf(mongo.db) }
    expect(await addCell(replicaSet)).toBe(1)
    await expect(addCell(replicaSet, 'first')).rejects.toThrow(/has no shard "first"/)
    expect(await readCellSettings(mongo)).toEqual({ slots: 8, cells: 2, named: false })
  })
})
