import { describe, expect, test } from 'vitest'
import {
  at,
  type DeliveryEnvironment,
  startDeliveryEnvironment,
} from '../../../test/support/mail/delivery-environment.ts'
import { until } from '../../../test/support/time/until.ts'
import { collectionOf } from '../../platform/database/mongo.ts'
import type { ClaimedDelivery } from '../store/delivery.ts'
import { addSuppressions } from '../suppressions/add-suppressions.ts'
import { SUPPRESSIONS } from '../suppressions/store/suppressions.ts'
import { localResult, type Result, recordedResult, unrecordedResult } from './batch/attempt-result.ts'
import type { FailureKind } from './rules/classify-reply.ts'
import { createSuppress } from './suppress-bounced.ts'

const listed = ({ mongo }: DeliveryEnvironment) =>
  collectionOf(mongo.db, SUPPRESSIONS)
    .find({}, { projection: { _id: 0 } })
    .sort({ email: 1 })
    .toArray()
const context = ({ clock }: DeliveryEnvironment) => ({ now: clock.now(), random: () => 0.5, logDays: 30 })

async function claimed(scene: DeliveryEnvironment, to = 'gone') {
  const id = await scene.submit({ to: [at(to)] })
  const [delivery] = await scene.deliveries(id)
  const message = await scene.message(id)
  const held: ClaimedDelivery = {
    ...{ id: delivery?._id ?? '', messageId: id, userId: scene.userId, recipient: at(to), site: '[127.0.0.1]' },
    ...{ slot: 0, lane: 'transactional', due: scene.clock.now(), attempts: 0, ambiguousAttempts: 0, isMarked: false },
    ...{
      expiresAt: message.expires_at,
      createdAt: message.created_at,
      claimToken: 't',
      epoch: 1,
      lastAttempt: undefined,
    },
  } as ClaimedDelivery
  return { held, message, id }
}

async function failed(scene: DeliveryEnvironment, kind: FailureKind, outcome: 'bounced' | 'deferred' = 'bounced') {
  const { held, message } = await claimed(scene)
  const failure = { classification: { outcome, kind }, code: 550, enhanced: '5.1.1', text: 'no such user' }
  return localResult(held, message, failure, context(scene))
}

test('an address that does not exist is suppressed for all mail of its account', async () => {
  const scene = await startDeliveryEnvironment()
  const suppress = createSuppress({ ...scene, db: scene.mongo.db })
  const result = await failed(scene, 'address')
  const noted = { ...{ user_id: scene.userId, email: at('gone'), stream: '' }, reason: 'hard_bounce' }
  for (let times = 0; times < 2; times++) {
    await suppress([result])
    expect(await listed(scene)).toEqual([
      {
        ...noted,
        origin: 'delivery',
        email_id: result.message._id,
        detail: 'no such user',
        created_at: expect.any(Date),
      },
    ])
  }
  const added = await scene.metrics.registry.getSingleMetric('postwright_suppressions_added_total')?.get()
  expect(added?.values).toMatchObject([{ value: 1, labels: { reason: 'hard_bounce' } }])
})

describe('nothing is suppressed after', () => {
  const kinds: FailureKind[] = [
    ...(['mailbox_full', 'policy', 'size', 'unsupported', 'dns', 'network', 'tls', 'relay_login', 'other'] as const),
  ]
  test.each(kinds)('a final failure of kind %s', async kind => {
    const scene = await startDeliveryEnvironment()
    await createSuppress({ ...scene, db: scene.mongo.db })([await failed(scene, kind)])
    expect(await listed(scene)).toEqual([])
  })

  test.each<[string, (scene: DeliveryEnvironment) => Promise<Result>]>([
    ['a passing failure of the address', scene => failed(scene, 'address', 'deferred')],
    [
      'an attempt whose outcome is unknown',
      async scene => {
        const { held, message } = await claimed(scene)
        return unrecordedResult(held, { ...message, ambiguous: 'fail' }, context(scene))
      },
    ],
    [
      'mail of the system itself',
      async scene => {
        const result = await failed(scene, 'address')
        return { ...result, message: { ...result.message, via: { channel: 'system' } } }
      },
    ],
  ])('%s', async (_, given) => {
    const scene = await startDeliveryEnvironment()
    await createSuppress({ ...scene, db: scene.mongo.db })([await given(scene)])
    expect(await listed(scene)).toEqual([])
  })
})

test('a worker that died after its log entry leaves it to the next one', async () => {
  const scene = await startDeliveryEnvironment()
  const { event, delivery, message } = await failed(scene, 'address')
  await createSuppress({ ...scene, db: scene.mongo.db })([recordedResult(delivery, message, event, context(scene))])
  expect(await listed(scene)).toMatchObject([{ email: at('gone') }])
})

describe('a worker', () => {
  test('suppresses what a server refuses, and delivers it no second message', async () => {
    const scene = await startDeliveryEnvironment()
    await scene.work()
    const first = await scene.submit({ to: [at('rcpt-550-5.1.1'), at('bob')] })
    await until(async () => (await scene.message(first)).left === 0)
    await until(async () => (await listed(scene)).length === 1)
    expect(await listed(scene)).toMatchObject([{ email: at('rcpt-550-5.1.1'), email_id: first }])
    const second = await scene.submit({ to: [at('rcpt-550-5.1.1'), at('bob')] })
    await until(async () => (await scene.deliveries(second)).length === 0)
    expect(await scene.message(second)).toMatchObject({
      left: 0,
      rcpts: [{ status: 'suppressed' }, { status: 'delivered' }],
    })
    expect((await scene.events(second)).map(({ type }) => type)).toEqual(['suppressed', 'delivered'])
    expect(scene.receiver.received.filter(({ from }) => from !== '')).toHaveLength(2)
  })

  test('looks again before each attempt, for the stream of the message', async () => {
    const scene = await startDeliveryEnvironment()
    const transactional = await scene.submit({ to: [at('ann')] })
    const bulk = await scene.submit({ to: [at('ann')], lane: 'bulk' })
    const observed = { userId: scene.userId, email: at('ann'), reason: 'unsubscribe', origin: 'unsubscribe' } as const
    await addSuppressions({ db: scene.mongo.db, clock: scene.clock }, [{ ...observed, stream: 'bulk' }])
    await scene.work()
    for (const id of [transactional, bulk]) await until(async () => (await scene.message(id)).left === 0)
    const statuses = await Promise.all(
      [transactional, bulk].map(async id => (await scene.message(id)).rcpts[0]?.status),
    )
    expect(statuses).toEqual(['delivered', 'suppressed'])
    // The sender's account suppressed it: there is no report.
    expect(await scene.mongo.db.collection('messages').countDocuments({ user_id: 'system' })).toBe(0)
  })
})
