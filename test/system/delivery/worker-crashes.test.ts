/**
 * A worker that dies between two writes of a settlement: whatever was written, the next worker brings log, queue and
 * message to the same end, sends nothing twice that was answered, and reports a failure once.
 */

import { describe, expect, test } from 'vitest'
import { type Result, resultOf, unrecordedResult } from '../../../services/mail/delivery/batch/attempt-result.ts'
import { createSettle } from '../../../services/mail/delivery/batch/settle.ts'
import { createReport } from '../../../services/mail/delivery/failure-report.ts'
import type { Sent } from '../../../services/mail/delivery/smtp/transport.ts'
import { createSuppress } from '../../../services/mail/delivery/suppress-bounced.ts'
import { RefusalRecorder } from '../../../services/mail/domains/record-refusals.ts'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { cellsOf } from '../../../services/mail/store/cells.ts'
import { DeliveryQueue } from '../../../services/mail/store/deliveries.ts'
import { type ClaimedDelivery, type ClaimRef, toDelivery } from '../../../services/mail/store/delivery.ts'
import { Outbox } from '../../../services/mail/store/outgoing.ts'
import { createEnqueue } from '../../../services/mail/submission/store/store-accepted.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

/** The writes of a settlement, as the crash finds them. */
type Write = 'report' | 'note' | 'remove' | 'reschedule'

class Crash extends Error {}

/** Does what it should, or dies before or after it. */
type Fate = (write: Write, work: () => Promise<unknown>) => Promise<never>

class DyingQueue extends DeliveryQueue {
  fate: Fate | undefined
  override remove(...args: Parameters<DeliveryQueue['remove']>): Promise<number> {
    return this.fate ? this.fate('remove', () => super.remove(...args)) : super.remove(...args)
  }
  override reschedule(...args: Parameters<DeliveryQueue['reschedule']>): Promise<number> {
    return this.fate ? this.fate('reschedule', () => super.reschedule(...args)) : super.reschedule(...args)
  }
}

class DyingOutbox extends Outbox {
  fate: Fate | undefined
  override note(...args: Parameters<Outbox['note']>): Promise<void> {
    return this.fate ? this.fate('note', () => super.note(...args)) : super.note(...args)
  }
}

const SENT: Sent = { outcomes: [], mx: 'mx.test', ip: '192.0.2.1', conversation: '', dsn: false, ms: 5 }
const reply = (code: number, enhanced: string) =>
  ({ kind: 'reply', stage: 'dot', reply: { code, enhanced, text: 'as it is' } }) as const

/** Result of an attempt, and the final state of log, queue and message. */
const OUTCOMES = {
  delivered: { code: 250, status: 'delivered', events: ['delivered'], reports: 0, left: 0 },
  bounced: { code: 550, status: 'bounced', events: ['bounced'], reports: 1, left: 0 },
  deferred: { code: 451, status: 'deferred', events: ['deferred'], reports: 0, left: 1 },
} as const
type Outcome = keyof typeof OUTCOMES

function settling(scene: DeliveryEnvironment, signal: AbortSignal) {
  const { mongo, metrics, clock } = scene
  const placement = { slots: 8, relay: false, bodyDays: 7, logDays: 30 }
  const enqueue = createEnqueue({ mongo, log: silentLog, metrics, wake: () => undefined, ...placement })
  const readRaw = (id: string, parts: number) => readBody(mongo, id, parts)
  const report = createReport({
    ...{ enqueue, readRaw, clock, from: 'postmaster@mail.test', hostname: 'mail.test' },
    findCapture: async () => undefined,
    cells: cellsOf(mongo.db),
  })
  const queue = new DyingQueue(mongo)
  const outbox = new DyingOutbox(mongo, 30)
  let fate: Fate | undefined
  const settle = createSettle({
    ...{ mongo, queue, outbox, metrics, signal, log: silentLog },
    suppress: createSuppress({ db: mongo.db, clock, metrics }),
    refusals: new RefusalRecorder({ db: mongo.db, clock }),
    report: results => (fate ? fate('report', () => report(results)) : report(results)),
  })
  return {
    settle,
    /** From now on the writes meet this fate. */
    meet(next: Fate | undefined) {
      fate = next
      queue.fate = next
      outbox.fate = next
    },
  }
}

/** A message whose one recipient is past the final dot of its first attempt. */
async function marked(scene: DeliveryEnvironment, message: { to?: string; ambiguous?: 'fail' } = {}) {
  const id = await scene.submit({
    to: [at(message.to ?? 'b')],
    mail_from: at('sender'),
    ambiguous: message.ambiguous ?? 'retry',
  })
  const [delivery] = await scene.deliveries(id)
  if (!delivery) throw new Error('no delivery')
  const held: ClaimedDelivery = { ...toDelivery(delivery), claimToken: 'old', epoch: 1 }
  await hold(scene, held)
  return { id, held, message: await scene.message(id) }
}

async function hold(scene: DeliveryEnvironment, { id, claimToken }: ClaimRef, ph: 'dot' | undefined = 'dot') {
  await scene.mongo.db
    .collection<{ _id: string }>('deliveries')
    .updateOne(
      { _id: id },
      { $set: { tok: claimToken, ...(ph && { ph }), due: new Date(Date.now() + 60_000) }, $unset: { flow: '' } },
    )
}

const contextOf = (scene: DeliveryEnvironment) => ({ now: scene.clock.now(), random: () => 0.5, logDays: 30 })
const reports = (scene: DeliveryEnvironment) =>
  scene.mongo.db.collection('messages').countDocuments({ user_id: 'system' })

async function resultFor(scene: DeliveryEnvironment, code: number): Promise<{ id: string; result: Result }> {
  const { id, held, message } = await marked(scene)
  const enhanced = `${Math.floor(code / 100)}.0.0`
  const result = resultOf(held, message, reply(code, enhanced), SENT, contextOf(scene))
  if (!result) throw new Error('no result')
  return { id, result }
}

/** Everything that was written when the crash came; the rest was not. */
const CRASHES: Record<Outcome, readonly (readonly Write[])[]> = {
  delivered: [[], ['report'], ['note'], ['report', 'note'], ['report', 'remove'], ['report', 'note', 'remove']],
  bounced: [[], ['report'], ['note'], ['report', 'note'], ['report', 'remove'], ['report', 'note', 'remove']],
  deferred: [[], ['report'], ['note'], ['report', 'note'], ['report', 'note', 'reschedule']],
}

describe('the worker dies', () => {
  const cases = (Object.keys(OUTCOMES) as Outcome[]).flatMap(outcome =>
    CRASHES[outcome].map(done => ({ outcome, done, name: ['log', ...done].join(', ') })),
  )
  test.each(cases)('with $outcome written to: $name', async ({ outcome, done }) => {
    const expected = OUTCOMES[outcome]
    const scene = await startDeliveryEnvironment()
    const { id, result } = await resultFor(scene, expected.code)
    const dead = new AbortController()
    const { settle, meet } = settling(scene, dead.signal)
    meet(async (write, work) => {
      dead.abort()
      if (done.includes(write)) await work()
      throw new Crash()
    })
    // A crash never resolves; a settlement whose every write succeeded would.
    await expect(settle(result)).rejects.toThrow(Crash)
    await scene.work()
    await until(async () => (await scene.message(id)).rcpts[0]?.status === expected.status)
    await until(async () => (await scene.deliveries(id)).every(({ tok, ph }) => !tok && !ph))
    expect(await scene.message(id)).toMatchObject({ left: expected.left, rcpts: [{ status: expected.status }] })
    expect((await scene.events(id)).map(({ type }) => type)).toEqual(expected.events)
    expect((await scene.deliveries(id)).map(({ att }) => att)).toEqual(expected.left === 0 ? [] : [1])
    expect(await reports(scene)).toBe(expected.reports)
    // The scene's receiver takes everything: what arrived there was sent again, apart from the report.
    expect(scene.receiver.received.filter(({ from }) => from !== '')).toEqual([])
  })

  test('before anything was written, past the dot: the outcome is unknown', async () => {
    const scene = await startDeliveryEnvironment()
    const { id } = await marked(scene, { ambiguous: 'fail' })
    await scene.work()
    await until(async () => (await scene.deliveries(id)).length === 0)
    expect(await scene.message(id)).toMatchObject({ left: 0, rcpts: [{ status: 'failed' }] })
    expect(await scene.events(id)).toMatchObject([{ type: 'failed', ambiguous: true }])
  })
})

describe('the database goes away in the middle of a settlement and comes back', () => {
  test.each((['report', 'note', 'remove'] as const).flatMap(lost => [true, false].map(done => ({ lost, done }))))(
    'at $lost (done all the same: $done): one log entry, one report, nothing left',
    async ({ lost, done }) => {
      const scene = await startDeliveryEnvironment()
      const { id, result } = await resultFor(scene, 550)
      const { settle, meet } = settling(scene, new AbortController().signal)
      let failures = 2
      meet(async (write, work) => {
        if (write === lost && failures-- > 0) {
          if (done) await work()
          throw new Error('not primary')
        }
        return (await work()) as never
      })
      await settle(result)
      expect((await scene.events(id)).map(({ type }) => type)).toEqual(['bounced'])
      expect(await scene.deliveries(id)).toEqual([])
      expect(await scene.message(id)).toMatchObject({ left: 0, rcpts: [{ status: 'bounced', code: 550 }] })
      expect(await reports(scene)).toBe(1)
    },
  )
})

describe('a result that comes after another worker took over', () => {
  /** Settles as a worker that has lost its claim: another one has settled the delivery, or holds it. */
  async function late(scene: DeliveryEnvironment, result: Result, times = 1) {
    const { settle, meet } = settling(scene, new AbortController().signal)
    let failures = times - 1
    meet(async (write, work) => {
      const answer = (await work()) as never
      if ((write === 'remove' || write === 'reschedule') && failures-- > 0) throw new Error('not primary')
      return answer
    })
    await settle(result)
  }
  const fenced = async (scene: DeliveryEnvironment) =>
    (await scene.metrics.registry.getSingleMetric('postwright_delivery_fenced_total')?.get())?.values[0]?.value

  test.each([
    [451, 'a refusal for now'],
    [550, 'a refusal'],
  ])('%i: does not undo "delivered"', async code => {
    const scene = await startDeliveryEnvironment()
    const { id, result } = await resultFor(scene, code)
    const other = resultOf(
      { ...result.delivery, claimToken: 'new' },
      result.message,
      reply(250, '2.0.0'),
      SENT,
      contextOf(scene),
    )
    await hold(scene, { ...result.delivery, claimToken: 'new' })
    if (other) await late(scene, other)
    const before = await scene.message(id)
    expect(before).toMatchObject({ left: 0, rcpts: [{ status: 'delivered', code: 250 }] })
    await late(scene, result)
    expect(await scene.message(id)).toEqual(before)
    expect(await scene.deliveries(id)).toEqual([])
    expect(await fenced(scene)).toBe(1)
  })

  test.each([451, 550])('%i: does not undo "delivered" for one of several recipients', async code => {
    const scene = await startDeliveryEnvironment()
    const id = await scene.submit({ to: [at('a'), at('b')] })
    const message = await scene.message(id)
    const [first, second] = (await scene.deliveries(id)).map(toDelivery)
    if (!first || !second) throw new Error('no deliveries')
    for (const delivery of [first, second]) await hold(scene, { ...delivery, claimToken: 'new' })
    for (const delivery of [first, second]) {
      const held = { ...delivery, claimToken: 'new', epoch: 2 }
      const result = resultOf(held, message, reply(250, '2.0.0'), SENT, contextOf(scene))
      if (result) await late(scene, result)
    }
    const before = await scene.message(id)
    expect(before).toMatchObject({ left: 0, rcpts: [{ status: 'delivered' }, { status: 'delivered' }] })
    const stale = resultOf(
      { ...second, claimToken: 'old', epoch: 1 },
      message,
      reply(code, '4.0.0'),
      SENT,
      contextOf(scene),
    )
    if (stale) await late(scene, stale)
    expect(await scene.message(id)).toEqual(before)
  })

  test.each([1, 2])('250 counts whoever owns the slot now, also when it takes %i writes', async times => {
    const scene = await startDeliveryEnvironment()
    const { id, result } = await resultFor(scene, 250)
    // The new owner found the mark without a note: unknown, so a second attempt is planned.
    const { delivery, message } = result
    await hold(scene, { ...delivery, claimToken: 'new' })
    await late(scene, unrecordedResult({ ...delivery, claimToken: 'new' }, message, contextOf(scene)))
    expect(await scene.deliveries(id)).toMatchObject([{ att: 1, amb: 1 }])
    await late(scene, result, times)
    expect(await scene.deliveries(id)).toEqual([])
    expect(await scene.message(id)).toMatchObject({ left: 0, rcpts: [{ status: 'delivered', code: 250 }] })
    expect(await scene.events(id)).toMatchObject([{ type: 'delivered', code: 250 }])
  })

  test('250 does not remove what the new owner has past its own dot', async () => {
    const scene = await startDeliveryEnvironment()
    const { id, result } = await resultFor(scene, 250)
    await hold(scene, { ...result.delivery, claimToken: 'new' })
    await late(scene, result)
    expect(await scene.deliveries(id)).toMatchObject([{ tok: 'new', ph: 'dot' }])
  })
})
