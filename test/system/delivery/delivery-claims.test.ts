/** Slots and claims across several workers, recovery after a worker's death, cancelation, retries and draining. */
import { describe, expect, test } from 'vitest'
import { cancel, retryNow } from '../../../services/mail/delivery/queue-control.ts'
import type { DeliveryDoc, SlotDoc } from '../../../services/mail/store/documents.ts'
import { at, deliveryScene, type Scene } from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const slots = (scene: Scene) => scene.mongo.db.collection<SlotDoc>('slots').find().toArray()
const ownersOf = async (scene: Scene) => new Set((await slots(scene)).map(({ owner }) => owner).filter(Boolean))
const finished = (scene: Scene, id: string) =>
  until(async () => (await scene.message(id)).left === 0 && (await scene.deliveries(id)).length === 0)

const PATIENT = { connect: 2_000, greeting: 2_000, command: 2_000, data: 2_000, block: 2_000, dot: 2_000 }

/** Puts a delivery into the state that a dead worker leaves. */
async function abandon(scene: Scene, id: string, change: Partial<DeliveryDoc>) {
  const due = new Date(scene.clock.now().getTime() + 60_000)
  await scene.mongo.db
    .collection<DeliveryDoc>('deliveries')
    .updateOne({ _id: `${id}.0` }, { $set: { due, tok: '0:1:gone', ...change }, $unset: { flow: '' } })
}

describe('slots', () => {
  test('are balanced across new workers, and taken over from a stopped one', async () => {
    const scene = await deliveryScene()
    const first = await scene.work()
    await until(async () => (await slots(scene)).every(({ owner }) => owner !== ''))
    await scene.work()
    await until(async () => (await ownersOf(scene)).size === 2, 30_000)
    await until(async () => {
      const counts = Map.groupBy(await slots(scene), ({ owner }) => owner)
      return [...counts.values()].every(({ length }) => length === 4)
    }, 30_000)
    await first.stop()
    await until(
      async () => (await ownersOf(scene)).size === 1 && (await slots(scene)).every(({ owner }) => owner !== ''),
    )
    const id = await scene.submit()
    await finished(scene, id)
  })

  test('are balanced and taken over even if Agenda starts no job', async () => {
    const scene = await deliveryScene()
    const invited = Array.from({ length: 8 }, (_, slot) => ({
      ...{ name: 'delivery-slot', type: 'single', priority: 0, data: { key: String(slot) }, repeatInterval: 5_000 },
      ...{ nextRunAt: new Date(), lockedAt: new Date(Date.now() + 86_400_000) },
    }))
    await scene.mongo.db.collection('slot_jobs').insertMany(invited)
    const first = await scene.work()
    await until(async () => (await slots(scene)).every(({ owner }) => owner !== ''))
    await scene.work()
    await until(async () => {
      const counts = Map.groupBy(await slots(scene), ({ owner }) => owner)
      return counts.size === 2 && [...counts.values()].every(({ length }) => length === 4)
    }, 30_000)
    await first.stop()
    await until(
      async () => (await ownersOf(scene)).size === 1 && (await slots(scene)).every(({ owner }) => owner !== ''),
    )
    const id = await scene.submit()
    await finished(scene, id)
  })

  test('of a dead worker are taken over without Agenda', async () => {
    const scene = await deliveryScene()
    await scene.mongo.db
      .collection<SlotDoc>('slots')
      .updateMany({}, { $set: { owner: 'vanished', epoch: 7, until: new Date(0) } })
    const id = await scene.submit()
    await scene.work()
    await finished(scene, id)
    expect((await slots(scene)).every(({ owner, epoch }) => owner !== 'vanished' && epoch >= 8)).toBe(true)
  })
})

describe('a delivery that a worker abandoned', () => {
  test('is sent immediately by the new owner if it was not marked, as one attempt', async () => {
    const scene = await deliveryScene()
    const id = await scene.submit()
    await abandon(scene, id, {})
    await scene.work()
    await finished(scene, id)
    expect((await scene.events(id)).map(({ type, attempt }) => `${type} ${attempt}`)).toEqual(['delivered 1'])
  })

  test('has an unknown outcome if it was marked', async () => {
    const scene = await deliveryScene()
    const id = await scene.submit()
    await abandon(scene, id, { ph: 'dot' })
    await scene.work()
    await until(async () => (await scene.deliveries(id))[0]?.amb === 1)
    expect(await scene.events(id)).toMatchObject([{ type: 'deferred', ambiguous: true, attempt: 1 }])
    expect(scene.receiver.received).toHaveLength(0)
  })

  test('is only removed if its 250 was recorded', async () => {
    const scene = await deliveryScene()
    const id = await scene.submit()
    await scene.mongo.db.collection('events').insertOne({
      _id: `${id}.0#1`,
      m: id,
      type: 'delivered',
      attempt: 1,
      at: scene.clock.now(),
      ms: 5,
      text: '250 ok',
      code: 250,
    } as never)
    await abandon(scene, id, { ph: 'dot' })
    await scene.work()
    await finished(scene, id)
    expect(await scene.message(id)).toMatchObject({ rcpts: [{ status: 'delivered', code: 250 }] })
    expect(await scene.deliveries(id)).toEqual([])
    expect(scene.receiver.received).toHaveLength(0)
  })

  test('was never accepted if its message is missing: it waits and is removed after ten minutes', async () => {
    const scene = await deliveryScene()
    const id = await scene.submit()
    await scene.mongo.db.collection('messages').deleteMany({})
    await scene.work()
    await until(async () => (await scene.deliveries(id)).every(({ due, tok }) => !tok && due > scene.clock.now()))
    scene.clock.advance(11 * 60_000)
    await until(async () => (await scene.deliveries(id)).length === 0)
    expect(scene.receiver.connections()).toBe(0)
  })
})

describe('an account', () => {
  test('cancels deliveries that are not in flight', async () => {
    const scene = await deliveryScene()
    const id = await scene.submit({ to: [at('a'), at('b')] })
    const options = { ...scene, logDays: 30 }
    await expect(cancel(options, 'usr_other', id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await cancel(options, scene.userId, id)).toBe(2)
    await expect(cancel(options, scene.userId, id)).rejects.toMatchObject({ code: 'not_cancelable' })
    expect(await scene.message(id)).toMatchObject({ left: 0, rcpts: [{ status: 'canceled' }, { status: 'canceled' }] })
    expect((await scene.events(id)).map(({ type }) => type)).toEqual(['canceled', 'canceled'])
    await scene.work()
    const other = await scene.submit()
    await finished(scene, other)
    expect(scene.receiver.received).toHaveLength(1)
  })

  test('cannot cancel a delivery that may be in flight', async () => {
    const scene = await deliveryScene()
    const id = await scene.submit()
    await abandon(scene, id, { ph: 'dot' })
    await expect(cancel({ ...scene, logDays: 30 }, scene.userId, id)).rejects.toMatchObject({ code: 'not_cancelable' })
  })

  test('retries waiting mail immediately', async () => {
    const scene = await deliveryScene()
    await scene.work()
    const id = await scene.submit({ scheduled_at: new Date(scene.clock.now().getTime() + 3_600_000) })
    await scene.mongo.db.collection<DeliveryDoc>('deliveries').updateOne({ _id: `${id}.0` }, { $set: { att: 1 } })
    const options = { ...scene, logDays: 30 }
    await expect(retryNow(options, 'usr_other', id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await retryNow(options, scene.userId, id)).toBe(1)
    await finished(scene, id)
  })
})

describe('order', () => {
  test('bulk mail that was queued before does not prevent the delivery of urgent mail, and is delivered as well', async () => {
    const scene = await deliveryScene({ env: { DELIVERY_MODE: 'capture' } })
    for (let i = 0; i < 40; i++) await scene.submit({ lane: 'bulk' })
    const urgent = await scene.submit()
    await scene.work()
    await finished(scene, urgent)
    await until(async () => (await scene.deliveries()).length === 0)
  })
})

describe('a worker that stops', () => {
  test('finishes what is in flight and releases the rest', async () => {
    const scene = await deliveryScene({ env: { SLOTS: '1' } })
    const worker = await scene.work()
    const ids = []
    for (let i = 0; i < 60; i++) ids.push(await scene.submit({ to: [at(i % 2 ? 'hang' : 'b')] }))
    await until(() => scene.receiver.received.length > 0)
    await worker.stop()
    expect((await slots(scene)).map(({ owner }) => owner)).toEqual([''])
    const left = await scene.deliveries()
    expect(left.every(({ tok, ph }) => tok === undefined && ph === undefined)).toBe(true)
    const sent = new Set((await Promise.all(ids.map(id => scene.events(id)))).flat().map(({ m }) => m))
    expect(sent.size + left.filter(({ att }) => att === 0).length).toBe(60)
  })

  test('does not wait for a receiver that never answers; the next worker records that delivery as ambiguous', async () => {
    const scene = await deliveryScene()
    const worker = await scene.work({ deadlines: { ...PATIENT, dot: 600_000 }, graceMs: 300 })
    const id = await scene.submit({ to: [at('hang')], ambiguous: 'fail' })
    await until(() => scene.receiver.received.length === 1)
    const began = performance.now()
    await worker.stop()
    expect(performance.now() - began).toBeLessThan(10_000)
    const [held] = await scene.deliveries(id)
    expect(held).toMatchObject({ ph: 'dot', tok: expect.any(String) })
    const kept = (await slots(scene)).filter(({ owner }) => owner !== '')
    expect(kept.map(({ _id }) => _id)).toEqual([held?.slot])
    await scene.work()
    await finished(scene, id)
    expect(await scene.events(id)).toMatchObject([{ type: 'failed', ambiguous: true }])
  })
})
