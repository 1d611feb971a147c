/**
 * Delivery with several cells, and commands as a sharded cluster needs them. mongos sends a command to the shards of the
 * cells that it names and to no other; one that names none goes to all. So what mongod saw shows which shards would be
 * asked.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { CELLED } from '../../../services/mail/store/change-cells.ts'
import { cellOf, cellOfSlot, idInCell } from '../../../services/mail/store/rules/cell.ts'
import { newId } from '../../../services/platform/ids.ts'
import { type Profiled, profileCommands } from '../../support/database/profile.ts'
import { deliverAllOutcomes } from '../../support/mail/all-outcomes.ts'
import { startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { runKills } from '../../support/mail/kills-under-load.ts'
import { startReceiver } from '../../support/mail/receiving-server.ts'
import { until } from '../../support/time/until.ts'

const NAMES = CELLED.map(({ definition }) => definition.name)
const CELLS = 3
const SLOTS = 8

/** Whether a filter names cells by equality, or a list of them. */
function namesCells({ cell, $and }: Record<string, unknown>): boolean {
  if (Array.isArray($and)) return $and.some(namesCells)
  if (typeof cell === 'number') return true
  return typeof cell === 'object' && cell !== null && '$in' in cell && Array.isArray(cell.$in)
}

const isOne = ({ cell }: Record<string, unknown>) => typeof cell === 'number'
const idsOf = (count: number) => Array.from({ length: count }, (_, n) => idInCell(newId('em'), n % CELLS))

const relayTo = (port: number) => ({ DELIVERY_MODE: 'relay', RELAY_URL: `smtp://127.0.0.1:${port}` })

describe.each(['direct', 'relay'] as const)('%s delivery', mode => {
  test('names cells in each command on mail, uses an index for each, and sends from all cells', async () => {
    const relay = await startReceiver()
    onTestFinished(() => relay.stop())
    const scene = await startDeliveryEnvironment({ cells: CELLS, env: mode === 'relay' ? relayTo(relay.port) : {} })
    const { received } = mode === 'relay' ? relay : scene.receiver
    const read = await profileCommands(scene.mongo, NAMES)
    const ids = await deliverAllOutcomes(scene, mode === 'relay')
    const commands = (await read()).filter(({ filters }) => filters.length > 0)
    expect(new Set(ids.map(cellOf))).toEqual(new Set([0, 1, 2]))
    expect(received).toHaveLength(12)
    expect(new Set(commands.map(({ collection }) => collection))).toEqual(new Set(NAMES))
    expect(commands.filter(({ filters }) => !filters.every(namesCells)).map(explain)).toEqual([])
    expect(commands.filter(({ plan }) => plan.includes('COLLSCAN')).map(explain)).toEqual([])
    // The steps of one delivery ask for what is in one cell: the rest is batches, and looks for what is due.
    const steps = commands.filter(({ filters }) => filters.every(({ _id }) => typeof _id === 'string'))
    expect(steps.length).toBeGreaterThan(20)
    expect(steps.filter(({ filters }) => !filters.every(isOne)).map(explain)).toEqual([])
    for (const name of NAMES) {
      const docs = await scene.mongo.db.collection<{ _id: string; cell?: number }>(name).find().toArray()
      expect(docs.filter(({ _id, cell }) => cell !== cellOf(_id))).toEqual([])
    }
  })
})

function explain({ op, collection, filters, plan }: Profiled): string {
  return `${op} ${collection} ${plan} ${JSON.stringify(filters)}`
}

test('a delivery lies in a slot of its cell, and all slots of all cells have an owner', async () => {
  const scene = await startDeliveryEnvironment({ cells: CELLS })
  const ids = await Promise.all(idsOf(9).map(() => scene.submit({ scheduled_at: new Date(Date.now() + 3_600_000) })))
  for (const { m, slot } of await scene.deliveries()) expect(cellOfSlot(slot, SLOTS)).toBe(cellOf(m))
  expect(new Set(ids.map(cellOf)).size).toBe(CELLS)
  await Promise.all([scene.work(), scene.work()])
  const slots = scene.mongo.db.collection<{ _id: number; owner: string }>('slots')
  await until(async () => {
    const owners = Map.groupBy(await slots.find().toArray(), ({ owner }) => owner)
    return !owners.has('') && owners.size === 2 && [...owners.values()].every(({ length }) => length === 12)
  }, 30_000)
  expect(await scene.metrics.registry.getSingleMetricAsString('postwright_slots')).toMatch(/^postwright_slots\S* 24$/m)
})

test('cells that are added while mail flows and workers and mongod are killed lose nothing', async () => {
  const report = await runKills({
    members: 1,
    workers: 2,
    namesCells: true,
    disruptions: ['cell', 'worker', 'cell', 'mongod'],
    pauseMs: 4_000,
    rate: 40,
  })
  expect(report).toMatchObject({ lost: 0, queued: 0, unexplained: 0 })
  expect(report.delivered).toBe(report.accepted)
  expect(Object.keys(report.cells)).toEqual(['0', '1', '2'])
}, 480_000)
