/** Holds, actions on much mail, and limits of destinations, with workers that deliver. */
import { describe, expect, test } from 'vitest'
import {
  countWaiting,
  hold,
  type QueueDeps,
  release,
  requestAction,
} from '../../../services/mail/delivery/control/manage-queue.ts'
import { countHeld, workOnQueue } from '../../../services/mail/delivery/control/queue-worker.ts'
import { findHolds } from '../../../services/mail/delivery/control/store/holds.ts'
import {
  listActions,
  lockQueueControl,
  noteProgress,
} from '../../../services/mail/delivery/control/store/queue-actions.ts'
import { createReadDestinationLimits } from '../../../services/mail/limits/find-limits.ts'
import { putLimit, removeLimit } from '../../../services/mail/limits/store/sending-limits.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const SITE = '[127.0.0.1]'

function depsOf(scene: DeliveryEnvironment): QueueDeps {
  return {
    ...{ mongo: scene.mongo, clock: scene.clock, logDays: 30 },
    findDomain: async (_, id) => (id === scene.domain._id ? { id, name: scene.domain.name } : undefined),
    findAccount: async id => ({ id, name: id }),
    destinationOf: written => written,
  }
}

const owner = (scene: DeliveryEnvironment) => ({ id: scene.userId, name: 'ann', admin: false })
const boss = { id: 'usr_boss', name: 'boss', admin: true }
const statusOf = async (scene: DeliveryEnvironment, id: string) => (await scene.message(id)).rcpts[0]?.status
const heldOf = async (scene: DeliveryEnvironment, id: string) => countHeld(scene.mongo, id, 10_000)
const submitMany = (scene: DeliveryEnvironment, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => scene.submit({ to: [at(`u${n}`)] })))
const allHave = async (scene: DeliveryEnvironment, ids: readonly string[], status: string) => {
  const filter = { _id: { $in: [...ids] }, 'rcpts.0.status': status as 'delivered' }
  return (await collectionOf(scene.mongo.db, MESSAGES).countDocuments(filter)) === ids.length
}
const sentTo = (scene: DeliveryEnvironment, local: string) =>
  scene.receiver.received.filter(({ rcpts }) => rcpts.some(({ email }) => email.startsWith(local)))
const workOptions = (scene: DeliveryEnvironment) => ({
  ...{ mongo: scene.mongo, clock: scene.clock, log: silentLog, owner: 'test', logDays: 30 },
})

describe('a hold', () => {
  test.each<[scope: 'account' | 'domain' | 'destination', value: (scene: DeliveryEnvironment) => string]>([
    ['account', scene => scene.userId],
    ['domain', scene => scene.domain._id],
    ['destination', () => SITE],
  ])('by %s keeps what waits and what comes later, and its release delivers each once', async (scope, value) => {
    const scene = await startDeliveryEnvironment()
    const before = await submitMany(scene, 30)
    const made = await hold(depsOf(scene), owner(scene), { scope, value: value(scene), reason: 'a mistake' })
    await scene.work()
    const after = await submitMany(scene, 30)
    await until(async () => (await heldOf(scene, made._id)) === 60)
    expect(scene.receiver.received).toEqual([])
    expect((await scene.deliveries()).map(({ att, tok, flow }) => [att, tok, flow])).toEqual(
      Array.from({ length: 60 }, () => [0, undefined, `h ${made._id}`]),
    )
    const [known] = await findHolds(scene.mongo.db, [made._id])
    await release(depsOf(scene), owner(scene), known)
    await until(() => allHave(scene, [...before, ...after], 'delivered'), 60_000)
    await until(async () => (await scene.deliveries()).length === 0)
    expect(scene.receiver.received).toHaveLength(60)
  })

  test('of one message lets the others pass, and ends at its time', async () => {
    const scene = await startDeliveryEnvironment()
    const [id = '', other = ''] = await submitMany(scene, 2)
    const until_ = new Date(scene.clock.now().getTime() + 3_600_000).toISOString()
    const made = await hold(depsOf(scene), owner(scene), { scope: 'message', value: id, reason: 'look', until: until_ })
    await scene.work()
    await until(async () => (await statusOf(scene, other)) === 'delivered' && (await heldOf(scene, made._id)) === 1)
    expect(await statusOf(scene, id)).toBe('queued')
    scene.clock.advance(3_600_000)
    await until(async () => (await statusOf(scene, id)) === 'delivered', 60_000)
  })

  test('does not stop the lifetime: held mail expires without an attempt', async () => {
    const scene = await startDeliveryEnvironment()
    const [id = ''] = await submitMany(scene, 1)
    const made = await hold(depsOf(scene), owner(scene), { scope: 'account', value: scene.userId, reason: 'look' })
    await scene.work()
    await until(async () => (await heldOf(scene, made._id)) === 1)
    scene.clock.advance(73 * 3_600_000)
    await until(async () => (await statusOf(scene, id)) === 'failed', 60_000)
    expect(sentTo(scene, 'u0')).toEqual([])
  })

  test('of an admin is not released by the owner, and one of an account holds no other account', async () => {
    const scene = await startDeliveryEnvironment()
    const deps = depsOf(scene)
    const made = await hold(deps, boss, { scope: 'destination', value: SITE, reason: 'abuse', user_id: 'usr_other' })
    await expect(release(deps, owner(scene), made)).rejects.toMatchObject({ code: 'not_found' })
    const [id = ''] = await submitMany(scene, 1)
    await scene.work()
    await until(async () => (await statusOf(scene, id)) === 'delivered')
    await release(deps, boss, made)
    await expect(release(deps, boss, made)).rejects.toMatchObject({ code: 'not_found' })
  })

  test.each([
    ['an end in the past', { until: '2020-01-01T00:00:00.000Z' }, 'validation_failed'],
    ['a foreign domain', { scope: 'domain' as const, value: 'dom_other' }, 'not_found'],
    ['a foreign message', { scope: 'message' as const, value: 'em_none' }, 'not_found'],
  ])('is refused with %s', async (_, change, code) => {
    const scene = await startDeliveryEnvironment()
    const wish = { scope: 'account' as const, value: scene.userId, reason: 'look', ...change }
    await expect(hold(depsOf(scene), owner(scene), wish)).rejects.toMatchObject({ code })
  })

  test('the number of holds of an account is bounded', async () => {
    const scene = await startDeliveryEnvironment()
    const one = () => hold(depsOf(scene), owner(scene), { scope: 'account', value: '', reason: 'look' })
    for (let n = 0; n < 50; n++) await one()
    await expect(one()).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('the number of messages that an action is about', () => {
  test('has those of the selection that wait, each once', async () => {
    const scene = await startDeliveryEnvironment()
    const [id = ''] = [await scene.submit({ to: [at('ann'), at('bob')] }), ...(await submitMany(scene, 3))]
    const count = (by: Parameters<typeof countWaiting>[1], scope: 'account' | 'domain' | 'destination' | 'message') => {
      const value = { account: scene.userId, domain: scene.domain._id, destination: SITE, message: id }[scope]
      return countWaiting(depsOf(scene), by, { scope, value })
    }
    for (const by of [owner(scene), boss]) {
      expect(await count(by, 'account')).toEqual({ name: scene.userId, count: 4, more: false })
      expect(await count(by, 'domain')).toEqual({ name: scene.domain.name, count: 4, more: false })
      expect(await count(by, 'destination')).toEqual({ name: SITE, count: 4, more: false })
      expect(await count(by, 'message')).toMatchObject({ count: 1, more: false })
    }
    const stranger = { id: 'usr_other', name: 'eve', admin: false }
    expect(await count(stranger, 'destination')).toEqual({ name: SITE, count: 0, more: false })
    await expect(count(stranger, 'domain').then(({ count }) => count)).resolves.toBe(0)
    await expect(count(stranger, 'message')).rejects.toMatchObject({ code: 'not_found' })
    const elsewhere = { scope: 'destination' as const, value: 'example.org' }
    expect(await countWaiting(depsOf(scene), boss, elsewhere)).toMatchObject({ count: 0, more: false })
    expect(await listActions(scene.mongo.db, undefined)).toEqual([])
  })

  test('goes through several batches, and says when it looked at a part of the queue only', async () => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('ann')] })
    const deliveries = collectionOf(scene.mongo.db, DELIVERIES)
    const first = (await deliveries.findOne({ m: id })) ?? expect.fail('the delivery is missing')
    const copies = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ ...first, _id: `em_0${from + n}.0`, m: `em_0${from + n}` }))
    const mine = { scope: 'account' as const, value: scene.userId }
    // Its batches take more than a second on a busy machine.
    const patient = { ...depsOf(scene), countMs: 60_000 }
    await deliveries.insertMany(copies(100_000, 102_500))
    expect(await countWaiting(patient, boss, mine)).toMatchObject({ count: 2_501, more: false })
    await deliveries.insertMany(copies(102_500, 120_100))
    expect(await countWaiting(patient, boss, mine)).toMatchObject({ count: 20_000, more: true })
  })
})

describe('canceling much mail', () => {
  test('cancels what waited when it was requested, in batches with progress', async () => {
    const scene = await startDeliveryEnvironment()
    const ids = await submitMany(scene, 1_200)
    await requestAction(depsOf(scene), owner(scene), { action: 'cancel', scope: 'account', value: '' })
    scene.clock.advance(1_000)
    const later = await scene.submit({ to: [at('later')] })
    await workOnQueue(workOptions(scene), new AbortController().signal)
    const [action] = await listActions(scene.mongo.db, scene.userId)
    expect(action).toMatchObject({ scanned: 1_201, done: 1_200, finished_at: expect.any(Date) })
    expect(await allHave(scene, ids, 'canceled')).toBe(true)
    expect((await scene.deliveries()).map(({ m }) => m)).toEqual([later])
  })

  test('goes on where a killed worker left it; until then nothing of it goes out', async () => {
    const scene = await startDeliveryEnvironment()
    const ids = await submitMany(scene, 20)
    const action = await requestAction(depsOf(scene), owner(scene), { action: 'cancel', scope: 'account', value: '' })
    // A worker took the lock, canceled a first batch, whose cursor it did not note, and was killed. The lock holds longer than
    // the next worker takes to begin.
    const LOCK_MS = 300_000
    const now = scene.clock.now()
    await lockQueueControl(scene.mongo, 'killed', now, LOCK_MS)
    await collectionOf(scene.mongo.db, DELIVERIES).updateMany(
      { m: { $in: ids.slice(0, 5) } },
      { $set: { tok: 'cancel:killed', due: now }, $unset: { flow: '' } },
    )
    await scene.work()
    await until(async () => (await heldOf(scene, action._id)) === 20)
    expect(scene.receiver.received).toEqual([])
    scene.clock.advance(LOCK_MS)
    await until(() => allHave(scene, ids, 'canceled'), 60_000)
    await until(async () => (await scene.deliveries()).length === 0)
    expect(scene.receiver.received).toEqual([])
  })

  test('looks only from its cursor on', async () => {
    const scene = await startDeliveryEnvironment()
    const ids = await submitMany(scene, 3)
    const action = await requestAction(depsOf(scene), boss, { action: 'cancel', scope: 'destination', value: SITE })
    const [first = ''] = ids.toSorted()
    await noteProgress(scene.mongo.db, action._id, { cursor: `${first}.0` }, { scanned: 1, done: 1 })
    await workOnQueue(workOptions(scene), new AbortController().signal)
    expect(await statusOf(scene, first)).toBe('queued')
    expect((await listActions(scene.mongo.db, undefined))[0]).toMatchObject({ scanned: 3, done: 3 })
  })
})

test('trying much mail now concerns what waits for another attempt', async () => {
  const scene = await startDeliveryEnvironment()
  const [tried = '', fresh = ''] = await submitMany(scene, 2)
  const due = new Date(scene.clock.now().getTime() + 3_600_000)
  const change = { $set: { due }, $unset: { flow: '' as const } }
  await collectionOf(scene.mongo.db, DELIVERIES).updateMany({ m: { $in: [tried, fresh] } }, change)
  await collectionOf(scene.mongo.db, DELIVERIES).updateMany({ m: tried }, { $set: { att: 1 } })
  await requestAction(depsOf(scene), owner(scene), { action: 'retry', scope: 'domain', value: scene.domain._id })
  await scene.work()
  await until(async () => (await statusOf(scene, tried)) === 'delivered')
  expect(await statusOf(scene, fresh)).toBe('queued')
})

describe('the limit of an account at a destination', () => {
  const limit = { scope: 'destination', subject: SITE, name: SITE, byAdmin: true, perMinute: 120 } as const

  test('holds its mail back at two workers, costs no attempt, and no other account waits', async () => {
    const scene = await startDeliveryEnvironment()
    const other = await giveUser(scene.mongo.db)
    await putLimit(scene.mongo.db, scene.userId, limit, scene.clock.now())
    const ids = await submitMany(scene, 12)
    // Before the first of them sends.
    const began = performance.now()
    await scene.work()
    await scene.work()
    const free = await Promise.all(
      Array.from({ length: 12 }, (_, n) => scene.submit({ to: [at(`free${n}`)], user_id: other._id })),
    )
    await until(() => allHave(scene, free, 'delivered'))
    const limited = () => sentTo(scene, 'u').length
    const most = () => 1 + 2 + (2 * (performance.now() - began + 1_000)) / 1000
    expect(limited()).toBeLessThanOrEqual(most())
    const waiting = (await scene.deliveries()).filter(({ user_id }) => user_id === scene.userId)
    expect(waiting.every(({ att }) => att === 0)).toBe(true)
    await until(() => allHave(scene, ids, 'delivered'), 150_000)
    // Twelve at two a second: the last one not before five seconds.
    expect(performance.now() - began).toBeGreaterThan(4_000)
    expect(limited()).toBe(12)
  }, 240_000)

  test('ends when it is removed', async () => {
    const scene = await startDeliveryEnvironment()
    await putLimit(scene.mongo.db, scene.userId, { ...limit, perMinute: 0.1 }, scene.clock.now())
    const ids = await submitMany(scene, 5)
    await scene.work()
    await until(() => scene.receiver.received.length === 1)
    await removeLimit(scene.mongo.db, scene.userId, limit)
    await until(() => allHave(scene, ids, 'delivered'), 60_000)
  })

  test('is read again only when one was changed', async () => {
    const scene = await startDeliveryEnvironment()
    const read = createReadDestinationLimits(scene.mongo.db)
    expect(await read()).toEqual(new Map())
    expect(await read()).toBeUndefined()
    await putLimit(scene.mongo.db, scene.userId, limit, scene.clock.now())
    expect((await read())?.get(scene.userId)).toMatchObject([{ subject: SITE, perMinute: 120 }])
    await removeLimit(scene.mongo.db, scene.userId, limit)
    expect(await read()).toEqual(new Map())
  })
})
