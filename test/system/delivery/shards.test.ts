/** Cells that lie on two replica sets, behind a router that sends each command where mongos would. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CELLED } from '../../../services/mail/store/change-cells.ts'
import { cellOf } from '../../../services/mail/store/rules/cell.ts'
import { connectMongo } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { type ShardRouter, startShardRouter } from '../../support/database/shards/shard-router.ts'
import { startTestMongod, type TestMongod } from '../../support/database/test-mongod.ts'
import { deliverAllOutcomes } from '../../support/mail/all-outcomes.ts'
import { startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { runKills } from '../../support/mail/kills-under-load.ts'
import { startReceiver } from '../../support/mail/receiving-server.ts'

let sets: TestMongod[]
let router: ShardRouter
beforeAll(async () => {
  sets = await Promise.all([startTestMongod(), startTestMongod()])
  router = await startShardRouter(sets.map(({ uri }) => uri))
})
afterAll(async () => {
  await router?.stop()
  await Promise.all((sets ?? []).map(set => set.stop()))
})

/** Ids of the documents of each shard. */
async function idsOf(database: string, collection: string): Promise<string[][]> {
  return Promise.all(
    sets.map(async ({ uri }) => {
      const mongo = await connectMongo(uri, silentLog, { dbName: database })
      try {
        const found = await mongo.db.collection<{ _id: string }>(collection).find().toArray()
        return found.map(({ _id }) => _id)
      } finally {
        await mongo.stop()
      }
    }),
  )
}

describe.each(['direct', 'relay'] as const)('%s delivery', mode => {
  test('keeps each message on the shard of its cell, and asks that shard only about it', async () => {
    const relay = await startReceiver()
    onTestFinished(() => relay.stop())
    const env = { DELIVERY_MODE: 'relay', RELAY_URL: `smtp://127.0.0.1:${relay.port}` }
    const scene = await startDeliveryEnvironment({ cells: 2, uri: router.uri, ...(mode === 'relay' ? { env } : {}) })
    router.routed.length = 0
    const ids = await deliverAllOutcomes(scene, mode === 'relay')
    const { received } = mode === 'relay' ? relay : scene.receiver
    expect(received).toHaveLength(12)
    expect(new Set(ids.map(cellOf))).toEqual(new Set([0, 1]))
    expect(router.refused).toEqual([])
    const about = router.routed.filter(
      ({ filters }) => filters.length > 0 && filters.every(({ _id }) => typeof _id === 'string'),
    )
    expect(about.length).toBeGreaterThan(20)
    expect(about.filter(({ shards }) => shards.length > 1)).toEqual([])
    for (const { definition } of CELLED) {
      const [first = [], second = []] = await idsOf(scene.mongo.db.databaseName, definition.name)
      expect([first.filter(id => cellOf(id) !== 0), second.filter(id => cellOf(id) !== 1)]).toEqual([[], []])
      if (definition.name === 'messages') expect([...first, ...second].toSorted()).toEqual(ids.toSorted())
    }
  })
})

test('kills of workers and of the mongod of either shard lose nothing', async () => {
  const report = await runKills({
    members: 1,
    workers: 2,
    namesCells: true,
    shards: 2,
    disruptions: ['mongod', 'mongod', 'worker'],
    pauseMs: 4_000,
    rate: 40,
  })
  expect(report).toMatchObject({ lost: 0, queued: 0, unexplained: 0 })
  expect(report.delivered).toBe(report.accepted)
  expect(Object.keys(report.cells)).toEqual(['0', '1'])
}, 480_000)
