import { describe, expect, test } from 'vitest'
import {
  type DeliveryEnvironment,
  startDeliveryEnvironment,
} from '../../../../test/support/mail/delivery-environment.ts'
import { collectionOf } from '../../../platform/database/mongo.ts'
import { BODIES } from '../../store/bodies.ts'
import { DELIVERIES } from '../../store/deliveries.ts'
import { MESSAGES } from '../../store/messages.ts'
import { reschedule } from './reschedule.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const inHours = (scene: DeliveryEnvironment, hours: number) => new Date(scene.clock.now().getTime() + hours * HOUR)

/** A message that waits for its time, with three recipients and a body of two parts. */
async function scheduled(scene: DeliveryEnvironment, hours = 1): Promise<string> {
  return scene.submit({
    to: ['a@example.net', 'b@example.net', 'c@example.org'],
    scheduled_at: inHours(scene, hours),
    raw: Buffer.alloc(1_500_000, 'x'),
  })
}

async function move(scene: DeliveryEnvironment, id: string, at: Date): Promise<boolean> {
  return reschedule(scene.mongo, await scene.message(id), at, { now: scene.clock.now(), bodyDays: 7 })
}

/** Everything that is stored of a message. */
async function all(scene: DeliveryEnvironment, id: string) {
  const bodies = await collectionOf(scene.mongo.db, BODIES)
    .find({ m: id }, { projection: { exp: 1 } })
    .sort({ _id: 1 })
    .toArray()
  return { message: await scene.message(id), deliveries: await scene.deliveries(id), bodies }
}

describe('a message that waits for its time', () => {
  test.each([
    ['later', 30 * 24],
    ['earlier', 0.5],
  ])('moves %s with its lifetime, and its bytes stay as long as they may be needed', async (_, hours) => {
    const scene = await startDeliveryEnvironment()
    const id = await scheduled(scene)
    const before = await all(scene, id)
    const at = inHours(scene, hours)
    expect(await move(scene, id, at)).toBe(true)
    const { message, deliveries, bodies } = await all(scene, id)
    const expires = new Date(at.getTime() + 72 * HOUR)
    expect(message).toMatchObject({ scheduled_at: at, expires_at: expires, left: 3 })
    expect(deliveries).toHaveLength(3)
    for (const delivery of deliveries) expect(delivery).toMatchObject({ due: at, expires_at: expires, att: 0 })
    const least = (after: Date, days: number) => after.getTime() + days * DAY
    expect(message.exp.getTime()).toBe(Math.max(before.message.exp.getTime(), least(expires, 30)))
    expect(bodies.map(({ exp }) => exp.getTime())).toEqual(
      before.bodies.map(({ exp }) => Math.max(exp.getTime(), least(expires, 7))),
    )
    expect(bodies).toHaveLength(2)
  })

  test('may move again and again; the last time counts, and bytes never go before it', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scheduled(scene)
    for (const hours of [20 * 24, 2, 29 * 24, 28 * 24]) expect(await move(scene, id, inHours(scene, hours))).toBe(true)
    const { message, deliveries, bodies } = await all(scene, id)
    expect(new Set(deliveries.map(({ due }) => due.getTime()))).toEqual(new Set([message.scheduled_at?.getTime()]))
    for (const { exp } of bodies) expect(exp.getTime()).toBeGreaterThanOrEqual(message.expires_at.getTime() + 7 * DAY)
  })

  test('has one time after two calls in parallel', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scheduled(scene, 5)
    for (let round = 0; round < 15; round++) {
      const times = [10, 20, 30, 40].map(hours => inHours(scene, hours + round))
      await Promise.all(times.map(at => move(scene, id, at)))
      const { message, deliveries } = await all(scene, id)
      expect(new Set(deliveries.map(({ due }) => due.getTime()))).toEqual(new Set([message.scheduled_at?.getTime()]))
      expect(new Set(deliveries.map(({ expires_at }) => expires_at.getTime()))).toEqual(
        new Set([message.expires_at.getTime()]),
      )
    }
  })

  test('keeps its complete time when a part of the change fails', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scheduled(scene)
    const before = await all(scene, id)
    for (const { name } of [MESSAGES, BODIES]) {
      const collMod = (exp: object) => scene.mongo.db.command({ collMod: name, validator: { exp } })
      await collMod({ $lt: inHours(scene, 20 * 24) })
      await expect(move(scene, id, inHours(scene, 30 * 24))).rejects.toMatchObject({ code: 121 })
      await collMod({ $exists: true })
      expect(await all(scene, id)).toEqual(before)
    }
    expect(await move(scene, id, inHours(scene, 30 * 24))).toBe(true)
  })

  test('leaves the messages around it alone', async () => {
    const scene = await startDeliveryEnvironment()
    const ids = [await scheduled(scene), await scheduled(scene), await scheduled(scene)]
    const [first = '', second = '', third = ''] = ids
    const before = [await all(scene, first), await all(scene, third)]
    await move(scene, second, inHours(scene, 9))
    expect([await all(scene, first), await all(scene, third)]).toEqual(before)
  })
})

describe('nothing moves', () => {
  test.each<[string, Partial<Parameters<DeliveryEnvironment['submit']>[0]>, object]>([
    ['of a message that was never scheduled', {}, {}],
    ['once its time has come', { scheduled_at: new Date(Date.now() - 1) }, {}],
    ['once it was tried', { scheduled_at: new Date(Date.now() + HOUR) }, { $set: { att: 1 } }],
    ['while a worker holds it', { scheduled_at: new Date(Date.now() + HOUR) }, { $set: { tok: 'held' } }],
    ['when it is due already', { scheduled_at: new Date(Date.now() + HOUR) }, { $set: { due: new Date(0) } }],
  ])('%s', async (_, given, change) => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit(given)
    if (Object.keys(change).length > 0) await collectionOf(scene.mongo.db, DELIVERIES).updateMany({ m: id }, change)
    const before = await all(scene, id)
    expect(await move(scene, id, inHours(scene, 3))).toBe(false)
    expect(await all(scene, id)).toEqual(before)
  })

  test('of a message whose recipients are all final', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scheduled(scene)
    await collectionOf(scene.mongo.db, DELIVERIES).deleteMany({ m: id })
    const before = await all(scene, id)
    expect(await move(scene, id, inHours(scene, 3))).toBe(false)
    expect(await all(scene, id)).toEqual(before)
  })
})
