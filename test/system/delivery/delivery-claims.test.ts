/** Slots and claims across several workers, recovery after a worker's death, cancelation, retries and draining. */
import { describe, expect, test } from 'vitest'
import { cancel, retryNow } from '../../../services/mail/delivery/queue-control.ts'
import type { DeliveryDoc, SlotDoc } from '../../../services/mail/store/documents.ts'
import {
  at,
  type DeliveryEnvironment,
  PATIENT,
  startDeliveryEnvironment,
} from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const slots = (environment: DeliveryEnvironment) => environment.mongo.db.collection<SlotDoc>('slots').find().toArray()
const ownersOf = async (environment: DeliveryEnvironment) =>
  new Set((await slots(environment)).map(({ owner }) => owner).filter(Boolean))
const finished = (environment: DeliveryEnvironment, id: string) =>
  until(async () => (await environment.message(id)).left === 0 && (await environment.deliveries(id)).length === 0)

/** Puts a delivery into the state that a dead worker leaves. */
async function abandon(environment: DeliveryEnvironment, id: string, change: Partial<DeliveryDoc>) {
  const due = new Date(environment.clock.now().getTime() + 60_000)
  await environment.mongo.db
    .collection<DeliveryDoc>('deliveries')
    .updateOne({ _id: `${id}.0` }, { $set: { due, tok: '0:1:gone', ...change }, $unset: { flow: '' } })
}

describe('slots', () => {
  test('are balanced across new workers, and taken over from a stopped one', async () => {
    const environment = await startDeliveryEnvironment()
    const first = await environment.work()
    await until(async () => (await slots(environment)).every(({ owner }) => owner !== ''))
    await environment.work()
    await until(async () => (await ownersOf(environment)).size === 2, 30_000)
    await until(async () => {
      const counts = Map.groupBy(await slots(environment), ({ owner }) => owner)
      return [...counts.values()].every(({ length }) => length === 4)
    }, 30_000)
    await first.stop()
    await until(
      async () =>
        (await ownersOf(environment)).size === 1 && (await slots(environment)).every(({ owner }) => owner !== ''),
    )
    const id = await environment.submit()
    await finished(environment, id)
  })

  test('are balanced and taken over even if Agenda starts no job', async () => {
    const environment = await startDeliveryEnvironment()
    const invited = Array.from({ length: 8 }, (_, slot) => ({
      ...{ name: 'delivery-slot', type: 'single', priority: 0, data: { key: String(slot) }, repeatInterval: 5_000 },
      ...{ nextRunAt: new Date(), lockedAt: new Date(Date.now() + 86_400_000) },
    }))
    await environment.mongo.db.collection('slot_jobs').insertMany(invited)
    const first = await environment.work()
    await until(async () => (await slots(environment)).every(({ owner }) => owner !== ''))
    await environment.work()
    await until(async () => {
      const counts = Map.groupBy(await slots(environment), ({ owner }) => owner)
      return counts.size === 2 && [...counts.values()].every(({ length }) => length === 4)
    }, 30_000)
    await first.stop()
    await until(
      async () =>
        (await ownersOf(environment)).size === 1 && (await slots(environment)).every(({ owner }) => owner !== ''),
    )
    const id = await environment.submit()
    await finished(environment, id)
  })

  test('of a dead worker are taken over without Agenda', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.mongo.db
      .collection<SlotDoc>('slots')
      .updateMany({}, { $set: { owner: 'vanished', epoch: 7, until: new Date(0) } })
    const id = await environment.submit()
    await environment.work()
    await finished(environment, id)
    expect((await slots(environment)).every(({ owner, epoch }) => owner !== 'vanished' && epoch >= 8)).toBe(true)
  })
})

describe('a delivery that a worker abandoned', () => {
  test('is sent immediately by the new owner if it was not marked, as one attempt', async () => {
    const environment = await startDeliveryEnvironment()
    const id = await environment.submit()
    await abandon(environment, id, {})
    await environment.work()
    await finished(environment, id)
    expect((await environment.events(id)).map(({ type, attempt }) => `${type} ${attempt}`)).toEqual(['delivered 1'])
  })

  test('has an unknown outcome if it was marked', async () => {
    const environment = await startDeliveryEnvironment()
    const id = await environment.submit()
    await abandon(environment, id, { ph: 'dot' })
    await environment.work()
    await until(async () => (await environment.deliveries(id))[0]?.amb === 1)
    expect(await environment.events(id)).toMatchObject([{ type: 'deferred', ambiguous: true, attempt: 1 }])
    expect(environment.receiver.received).toHaveLength(0)
  })

  test('is only removed if its 250 was recorded', async () => {
    const environment = await startDeliveryEnvironment()
    const id = await environment.submit()
    await environment.mongo.db.collection('events').insertOne({
      _id: `${id}.0#1`,
      m: id,
      user_id: environment.userId,
      rcpt: at('b'),
      type: 'delivered',
      attempt: 1,
      at: environment.clock.now(),
      ms: 5,
      text: '250 ok',
      code: 250,
    } as never)
    await abandon(environment, id, { ph: 'dot' })
    await environment.work()
    await finished(environment, id)
    expect(await environment.message(id)).toMatchObject({ rcpts: [{ status: 'delivered', code: 250 }] })
    expect(await environment.deliveries(id)).toEqual([])
    expect(environment.receiver.received).toHaveLength(0)
  })

  test('was never accepted if its message is missing: it waits and is removed after ten minutes', async () => {
    const environment = await startDeliveryEnvironment()
    const id = await environment.submit()
    await environment.mongo.db.collection('messages').deleteMany({})
    await environment.work()
    await until(async () =>
      (await environment.deliveries(id)).every(({ due, tok }) => !tok && due > environment.clock.now()),
    )
    environment.clock.advance(11 * 60_000)
    await until(async () => (await environment.deliveries(id)).length === 0)
    expect(environment.receiver.connections()).toBe(0)
  })
})

describe('an account', () => {
  test('cancels deliveries that are not in flight', async () => {
    const environment = await startDeliveryEnvironment()
    const id = await environment.submit({ to: [at('a'), at('b')] })
    const options = { ...environment, logDays: 30 }
    await expect(cancel(options, 'usr_other', id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await cancel(options, environment.userId, id)).toBe(2)
    await expect(cancel(options, environment.userId, id)).rejects.toMatchObject({ code: 'not_cancelable' })
    expect(await environment.message(id)).toMatchObject({
      left: 0,
      rcpts: [{ status: 'canceled' }, { status: 'canceled' }],
    })
    expect((await environment.events(id)).map(({ type }) => type)).toEqual(['canceled', 'canceled'])
    await environment.work()
    const other = await environment.submit()
    await finished(environment, other)
    expect(environment.receiver.received).toHaveLength(1)
  })

  test('cannot cancel a delivery that may be in flight', async () => {
    const environment = await startDeliveryEnvironment()
    const id = await environment.submit()
    await abandon(environment, id, { ph: 'dot' })
    await expect(cancel({ ...environment, logDays: 30 }, environment.userId, id)).rejects.toMatchObject({
      code: 'not_cancelable',
    })
  })

  test('retries waiting mail immediately', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({ scheduled_at: new Date(environment.clock.now().getTime() + 3_600_000) })
    await environment.mongo.db.collection<DeliveryDoc>('deliveries').updateOne({ _id: `${id}.0` }, { $set: { att: 1 } })
    const options = { ...environment, logDays: 30 }
    await expect(retryNow(options, 'usr_other', id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await retryNow(options, environment.userId, id)).toBe(1)
    await finished(environment, id)
  })
})

describe('order', () => {
  test('bulk mail that was queued before does not prevent the delivery of urgent mail, and is delivered as well', async () => {
    const environment = await startDeliveryEnvironment({ env: { DELIVERY_MODE: 'capture' } })
    for (let i = 0; i < 40; i++) await environment.submit({ lane: 'bulk' })
    const urgent = await environment.submit()
    await environment.work()
    await finished(environment, urgent)
    await until(async () => (await environment.deliveries()).length === 0)
  })
})

describe('a worker that stops', () => {
  test('finishes what is in flight and releases the rest', async () => {
    const environment = await startDeliveryEnvironment({ env: { SLOTS: '1' } })
    // All that is in flight ends before the worker does, however long that takes.
    const worker = await environment.work({ deadlines: { ...PATIENT, dot: 500 }, graceMs: 60_000 })
    const ids = []
    for (let i = 0; i < 60; i++) ids.push(await environment.submit({ to: [at(i % 2 ? 'hang' : 'b')] }))
    await until(() => environment.receiver.received.length > 0)
    await worker.stop()
    expect((await slots(environment)).map(({ owner }) => owner)).toEqual([''])
    const left = await environment.deliveries()
    expect(left.every(({ tok, ph }) => tok === undefined && ph === undefined)).toBe(true)
    const sent = new Set((await Promise.all(ids.map(id => environment.events(id)))).flat().map(({ m }) => m))
    expect(sent.size + left.filter(({ att }) => att === 0).length).toBe(60)
  })

  test('does not wait for a receiver that never answers; the next worker records that delivery as ambiguous', async () => {
    const environment = await startDeliveryEnvironment()
    const worker = await environment.work({ deadlines: { ...PATIENT, dot: 600_000 }, graceMs: 300 })
    const id = await environment.submit({ to: [at('hang')], ambiguous: 'fail' })
    await until(() => environment.receiver.received.length === 1)
    const began = performance.now()
    await worker.stop()
    expect(performance.now() - began).toBeLessThan(60_000)
    const [held] = await environment.deliveries(id)
    expect(held).toMatchObject({ ph: 'dot', tok: expect.any(String) })
    const kept = (await slots(environment)).filter(({ owner }) => owner !== '')
    expect(kept.map(({ _id }) => _id)).toEqual([held?.slot])
    await environment.work()
    await finished(environment, id)
    expect(await environment.events(id)).toMatchObject([{ type: 'failed', ambiguous: true }])
  })
})
