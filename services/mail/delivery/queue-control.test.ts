/** What an account does with its waiting mail while workers are at it: who wins, and that a half-done cancel can be repeated. */
import { describe, expect, test } from 'vitest'
import {
  at,
  type DeliveryEnvironment,
  startDeliveryEnvironment,
} from '../../../test/support/mail/delivery-environment.ts'
import { until } from '../../../test/support/time/until.ts'
import { collectionOf } from '../../platform/database/mongo.ts'
import { DELIVERIES, DeliveryQueue, underClaim } from '../store/deliveries.ts'
import { type ClaimedDelivery, toDelivery } from '../store/delivery.ts'
import type { DeliveryDoc } from '../store/documents.ts'
import { EVENTS } from '../store/events.ts'
import { MESSAGES } from '../store/messages.ts'
import { slotsOf } from '../store/rules/assign-slot.ts'
import { wakeOf } from '../store/wake.ts'
import { cancel, retryNow, retrySite } from './queue-control.ts'

const MINUTE = 60_000
const options = (scene: DeliveryEnvironment) => ({ mongo: scene.mongo, clock: scene.clock, logDays: 30 })
const soon = (scene: DeliveryEnvironment, ms: number) => new Date(scene.clock.now().getTime() + ms)
const set = (scene: DeliveryEnvironment, id: string, change: Partial<DeliveryDoc>) =>
  collectionOf(scene.mongo.db, DELIVERIES).updateMany(
    { m: id },
    // What waits for a later time is in no flow.
    { $set: change, ...(change.due && change.due > scene.clock.now() && { $unset: { flow: '' } }) },
  )

/** The deliveries of a message, claimed by a worker. */
async function claim(scene: DeliveryEnvironment, id: string): Promise<readonly ClaimedDelivery[]> {
  const found = (await scene.deliveries(id)).map(toDelivery)
  const epochs = new Map(found.map(({ slot }) => [slot, 1]))
  const scope = { epochs, claimToken: 'worker', now: scene.clock.now(), until: soon(scene, 2 * MINUTE) }
  return new DeliveryQueue(scene.mongo).claim(underClaim(found, scope), scope)
}

const statuses = async (scene: DeliveryEnvironment, id: string) =>
  (await scene.message(id)).rcpts.map(({ status }) => status)

/** Slots that were rung for. */
function rings(scene: DeliveryEnvironment): number[] {
  const heard: number[] = []
  wakeOf(scene.mongo).listen(slots => heard.push(...slots))
  return heard
}

describe('canceling', () => {
  test('takes deliveries in flight of a worker, whose mark and results are then ignored', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('a'), at('b')] })
    const held = await claim(scene, id)
    expect(await cancel(options(scene), scene.userId, id)).toBe(2)
    const queue = new DeliveryQueue(scene.mongo)
    expect(await queue.markDot(held)).toEqual(new Set())
    expect(await queue.remove(held)).toBe(0)
    await queue.release(held, scene.clock.now())
    expect(await scene.deliveries(id)).toEqual([])
    expect(await statuses(scene, id)).toEqual(['canceled', 'canceled'])
  })

  test('stops some of the recipients when others are past their final dot; those keep their way', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('a'), at('b'), at('c')] })
    const held = await claim(scene, id)
    const [first] = held
    if (!first) throw new Error('nothing was claimed')
    const queue = new DeliveryQueue(scene.mongo)
    await queue.markDot([first])
    expect(await cancel(options(scene), scene.userId, id)).toBe(2)
    expect(await scene.deliveries(id)).toMatchObject([{ _id: first.id, tok: 'worker', ph: 'dot' }])
    const message = await scene.message(id)
    expect(message).toMatchObject({
      left: 1,
      rcpts: [{ status: 'queued' }, { status: 'canceled' }, { status: 'canceled' }],
    })
    expect(message.final_at).toBeUndefined()
    expect(await queue.remove([first])).toBe(1)
  })

  test('against marks at the same moment: each recipient is either canceled or sent, never both', async () => {
    const scene = await startDeliveryEnvironment()
    const queue = new DeliveryQueue(scene.mongo)
    for (let round = 0; round < 15; round++) {
      const id = await scene.submit({ to: ['a', 'b', 'c', 'd'].map(at) })
      const held = await claim(scene, id)
      const marks = held.map(async one => [...(await queue.markDot([one]))])
      const canceled = await cancel(options(scene), scene.userId, id).catch(() => 0)
      const sent = (await Promise.all(marks)).flat()
      expect(sent.length + canceled).toBe(4)
      expect((await scene.deliveries(id)).map(({ _id }) => _id)).toEqual(sent.toSorted())
      expect((await statuses(scene, id)).filter(status => status === 'canceled')).toHaveLength(canceled)
    }
  })

  test('by two callers in parallel cancels everything once', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: ['a', 'b', 'c'].map(at) })
    await Promise.allSettled([1, 2, 3].map(() => cancel(options(scene), scene.userId, id)))
    expect(await scene.deliveries(id)).toEqual([])
    expect((await scene.events(id)).map(({ type }) => type)).toEqual(['canceled', 'canceled', 'canceled'])
    expect(await scene.message(id)).toMatchObject({ left: 0 })
  })

  test('does not touch recipients that are final already', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('a'), at('rcpt-550-5.1.1'), at('rcpt-451-4.3.0')] })
    await scene.work()
    await until(
      async () => (await scene.deliveries(id)).map(({ att, tok }) => `${att} ${tok}`).join() === '1 undefined',
    )
    expect(await cancel(options(scene), scene.userId, id)).toBe(1)
    expect(await statuses(scene, id)).toEqual(['delivered', 'bounced', 'canceled'])
    const last = (await scene.events(id)).filter(({ rcpt }) => rcpt === at('rcpt-451-4.3.0'))
    expect(last.map(({ type, attempt }) => `${type} ${attempt}`)).toEqual(['deferred 1', 'canceled 2'])
  })

  test.each([EVENTS.name, MESSAGES.name])('that fails while it writes %s goes on when it is repeated', async name => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('a'), at('b')] })
    const refuse = (on: boolean) =>
      scene.mongo.db.command({
        collMod: name,
        validator: on ? { type: { $ne: 'canceled' }, 'rcpts.status': { $ne: 'canceled' } } : {},
      })
    await refuse(true)
    await expect(cancel(options(scene), scene.userId, id)).rejects.toMatchObject({ code: 121 })
    // No worker sends it until then, and it becomes ready if the call is not repeated.
    for (const { due } of await scene.deliveries(id)) {
      expect(due.getTime()).toBeGreaterThan(scene.clock.now().getTime() + MINUTE / 2)
      expect(due.getTime()).toBeLessThanOrEqual(scene.clock.now().getTime() + MINUTE)
    }
    await refuse(false)
    expect(await cancel(options(scene), scene.userId, id)).toBe(2)
    expect(await scene.deliveries(id)).toEqual([])
    expect((await scene.events(id)).map(({ type }) => type)).toEqual(['canceled', 'canceled'])
    expect(await scene.message(id)).toMatchObject({ left: 0, rcpts: [{ status: 'canceled' }, { status: 'canceled' }] })
  })

  test('that dies before the last of its writes is kept by the next worker: nothing canceled goes out', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('a'), at('b')] })
    const left = await scene.deliveries(id)
    await cancel(options(scene), scene.userId, id)
    await collectionOf(scene.mongo.db, DELIVERIES).insertMany(left)
    const other = await scene.submit({ to: [at('c')] })
    await scene.work()
    await until(async () => (await scene.deliveries()).length === 0)
    expect(await statuses(scene, other)).toEqual(['delivered'])
    expect(await statuses(scene, id)).toEqual(['canceled', 'canceled'])
    expect(scene.receiver.received.flatMap(({ rcpts }) => rcpts.map(({ email }) => email))).toEqual([at('c')])
  })

  test('leaves messages around it alone', async () => {
    const scene = await startDeliveryEnvironment()
    const ids = [await scene.submit(), await scene.submit(), await scene.submit()]
    await cancel(options(scene), scene.userId, ids[1] ?? '')
    expect((await scene.deliveries()).map(({ m }) => m)).toEqual([ids[0], ids[2]])
  })
})

describe('"retry now" for a message', () => {
  test('makes what waits for another attempt due, and wakes the workers of its slots', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: ['a@example.net', 'b@example.net', 'c@other.example'] })
    await set(scene, id, { att: 2, due: soon(scene, 60 * MINUTE) })
    const heard = rings(scene)
    expect(await retryNow(options(scene), scene.userId, id)).toBe(3)
    const deliveries = await scene.deliveries(id)
    for (const { due, att } of deliveries) expect([due <= scene.clock.now(), att]).toEqual([true, 2])
    expect(new Set(heard)).toEqual(new Set(deliveries.map(({ slot }) => slot)))
  })

  test.each<[string, Partial<DeliveryDoc>]>([
    ['was never tried: it is scheduled', { att: 0 }],
    ['a worker holds', { att: 1, tok: 'worker' }],
  ])('leaves alone what %s', async (_, change) => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit()
    await set(scene, id, { due: soon(scene, 60 * MINUTE), ...change })
    const before = await scene.deliveries(id)
    const heard = rings(scene)
    expect(await retryNow(options(scene), scene.userId, id)).toBe(0)
    expect(await scene.deliveries(id)).toEqual(before)
    expect(heard).toEqual([])
  })

  test('does not send what is due to the end of the queue', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit()
    const due = soon(scene, -10 * MINUTE)
    await set(scene, id, { att: 1, due })
    expect(await retryNow(options(scene), scene.userId, id)).toBe(1)
    expect(await scene.deliveries(id)).toMatchObject([{ due }])
  })

  test('tries the recipients that were refused, not those that wait for their first turn', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: ['a@example.net', 'b@example.net'] })
    await set(scene, id, { due: soon(scene, 60 * MINUTE) })
    await collectionOf(scene.mongo.db, DELIVERIES).updateOne({ _id: `${id}.1` }, { $set: { att: 1 } })
    expect(await retryNow(options(scene), scene.userId, id)).toBe(1)
    expect((await scene.deliveries(id)).map(({ due }) => due <= scene.clock.now())).toEqual([false, true])
  })

  test('of another account, or of none, is not found', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit()
    for (const [user, message] of [['usr_other', id] as const, [scene.userId, 'em_none'] as const])
      for (const act of [retryNow, cancel])
        await expect(act(options(scene), user, message)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('"retry now" for a destination', () => {
  const direct = { slots: 8, relay: false }

  test('reaches every part of a provider, for all accounts and lanes, and nothing else', async () => {
    const scene = await startDeliveryEnvironment()
    const tried = { att: 1, due: soon(scene, 60 * MINUTE) }
    const gmail = []
    for (let n = 0; n < 12; n++) {
      const lane = n % 2 === 0 ? ('bulk' as const) : ('transactional' as const)
      gmail.push(await scene.submit({ to: [`u${n}@gmail.com`], lane, user_id: `usr_${n}` }))
    }
    const other = await scene.submit({ to: ['a@example.net'] })
    for (const id of [...gmail, other]) await set(scene, id, tried)
    const heard = rings(scene)
    expect(await retrySite(scene, { site: 'google', ...direct })).toBe(12)
    const due = (await scene.deliveries()).filter(one => one.due <= scene.clock.now()).map(({ m }) => m)
    expect(due.toSorted()).toEqual(gmail.toSorted())
    expect(heard).toEqual(slotsOf('google', 8, false))
  })

  test('reads what waits for a later time, not the queue', async () => {
    const scene = await startDeliveryEnvironment()
    for (let n = 0; n < 20; n++) await scene.submit({ to: [`a${n}@example.net`] })
    const id = await scene.submit({ to: ['late@example.net'] })
    await set(scene, id, { att: 1, due: soon(scene, 60 * MINUTE) })
    const { db } = scene.mongo
    await db.setProfilingLevel('all')
    expect(await retrySite(scene, { site: 'example.net', ...direct })).toBe(1)
    await db.setProfilingLevel('off')
    const ran = { op: 'update', ns: `${db.databaseName}.${DELIVERIES.name}` }
    expect(await db.collection('system.profile').find(ran).toArray()).toMatchObject([
      { planSummary: expect.stringMatching(/^IXSCAN/), docsExamined: 1 },
    ])
  })

  test.each<[string, Partial<DeliveryDoc>]>([
    ['was never tried', { att: 0 }],
    ['a worker holds', { tok: 'worker' }],
    ['is due already', { due: new Date(0) }],
  ])('leaves alone what %s', async (_, change) => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: ['a@example.net'] })
    await set(scene, id, { att: 1, due: soon(scene, 60 * MINUTE), ...change })
    const before = await scene.deliveries(id)
    const heard = rings(scene)
    expect(await retrySite(scene, { site: 'example.net', ...direct })).toBe(0)
    expect([await scene.deliveries(id), heard]).toEqual([before, []])
  })
})
