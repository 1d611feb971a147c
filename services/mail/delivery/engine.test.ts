/** The connected engine on a real queue; the transport is played by the test. */
import { expect, onTestFinished, test } from 'vitest'
import { type DeliveryEnvironment, startDeliveryEnvironment } from '../../../test/support/mail/delivery-environment.ts'
import { until } from '../../../test/support/time/until.ts'
import { collectionOf } from '../../platform/database/mongo.ts'
import { createJobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/observability/log.ts'
import { fixSlotCount, livingWorkers, SLOTS } from '../store/slots.ts'
import { wakeOf } from '../store/wake.ts'
import { createFindSuppressed } from '../suppressions/find-suppressed.ts'
import { createDeliveryEngine, type EngineOptions } from './engine.ts'
import { captureRoute } from './routes.ts'
import type { RecipientOutcome, Sent, Transport } from './smtp/transport.ts'

/** No lease ends by itself, however busy the machine is. */
const TIMES = { ttl: 20_000, renew: 300, margin: 500, run: 1_000 }
const DELIVERED: RecipientOutcome = { kind: 'reply', stage: 'dot', reply: { code: 250, text: 'taken' } }

/** Takes everything once `may` resolves, and records what began. */
function transportOf(may: Promise<unknown> = Promise.resolve()) {
  const began: string[] = []
  const transport: Transport = {
    async send(_route, given): Promise<Sent> {
      const transaction = 'open' in given ? await given.open() : given
      began.push(transaction?.origin.messageId ?? '')
      await may
      const isOurs = transaction && (await transaction.mark()) && transaction.mayFinish()
      const outcome: RecipientOutcome = isOurs ? DELIVERED : { kind: 'withheld' }
      return { outcomes: given.recipients.map(() => outcome), conversation: '', dsn: false, ms: 1 }
    },
    stop: async () => undefined,
  }
  return { transport, began }
}

/** An engine that is stopped with the test, and what it logged as a warning or an error. */
async function engineOf(scene: DeliveryEnvironment, change: Partial<EngineOptions>) {
  const { mongo, metrics, clock } = scene
  const reported: string[] = []
  const note = (_: object, text: string) => void reported.push(text)
  const log: Log = { debug: () => undefined, info: () => undefined, warn: note, error: note }
  const engine = createDeliveryEngine({
    ...{ mongo, metrics, clock, log, owner: 'one', relay: false, logDays: 30, times: TIMES, graceMs: 10_000 },
    jobs: await createJobs(mongo, log, metrics, { collection: 'slot_jobs', pollMs: 1_000, clock }),
    slots: await fixSlotCount(mongo, 8),
    ...transportOf(),
    findRoute: captureRoute,
    findCapture: async () => undefined,
    findPersonalFields: () => undefined,
    findTracking: async () => undefined,
    findReturnPath: async () => undefined,
    findKeys: async () => [],
    isSuspended: async () => false,
    findSuppressed: createFindSuppressed(mongo.db, clock),
    suppress: async () => undefined,
    readLimits: async () => undefined,
    defaultLimits: { destinationPerMinute: 0 },
    report: async () => undefined,
    wake: wakeOf(mongo),
    random: () => 0.5,
    ...change,
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= engine.stop()
    return stopped
  }
  onTestFinished(stop)
  return { start: () => engine.start(), stop, reported }
}

const statusOf = async (scene: DeliveryEnvironment, id: string) => (await scene.message(id)).rcpts[0]?.status

test('delivers what was waiting and what comes in, and gives its slots back at the stop', async () => {
  const scene = await startDeliveryEnvironment()
  const { start, stop, reported } = await engineOf(scene, {})
  const before = await scene.submit()
  await start()
  const after = await scene.submit()
  for (const id of [before, after]) await until(async () => (await statusOf(scene, id)) === 'delivered')
  await until(async () => (await scene.deliveries()).length === 0)
  await stop()
  const slots = await collectionOf(scene.mongo.db, SLOTS).find().toArray()
  expect(new Set(slots.map(({ owner }) => owner))).toEqual(new Set(['']))
  expect(await livingWorkers(scene.mongo)).toBe(0)
  expect(reported).toEqual([])
})

test('a stop lets what is in flight finish and settle, and begins nothing more', async () => {
  const scene = await startDeliveryEnvironment()
  const answer = Promise.withResolvers<void>()
  const { transport, began } = transportOf(answer.promise)
  const { start, stop } = await engineOf(scene, { transport })
  await start()
  const first = await scene.submit()
  await until(() => began.length === 1)
  const stopped = stop()
  const second = await scene.submit()
  answer.resolve()
  await stopped
  expect([await statusOf(scene, first), await statusOf(scene, second)]).toEqual(['delivered', 'queued'])
  expect(began).toEqual([first])
  expect(await scene.deliveries(second)).toMatchObject([{ att: 0, flow: expect.any(String) }])
})

test('a stop does not wait longer than its grace time; the delivery stays claimed for the next worker to find', async () => {
  const scene = await startDeliveryEnvironment()
  const answer = Promise.withResolvers<void>()
  const { transport, began } = transportOf(answer.promise)
  const { start, stop } = await engineOf(scene, { transport, graceMs: 50 })
  await start()
  const id = await scene.submit()
  await until(() => began.length === 1)
  await stop()
  const [delivery] = await scene.deliveries(id)
  expect(delivery).toMatchObject({ att: 0, tok: expect.any(String) })
  const [slot] = await collectionOf(scene.mongo.db, SLOTS)
    .find({ _id: delivery?.slot ?? -1 })
    .toArray()
  expect(slot?.owner).toBe('one') // until its lease ends, so that no worker sends it a second time
  answer.resolve()
  await until(async () => (await statusOf(scene, id)) === 'queued')
})

test.each([
  ['the check for suspended accounts', 'isSuspended', 'nothing could be claimed'],
  ['the report of a result', 'report', 'results not written; trying again'],
  ['the search for a route', 'findRoute', 'no route was found; trying again'],
  ['the search for a return path', 'findReturnPath', 'no route was found; trying again'],
  ['the search for keys', 'findKeys', 'an attempt could not be made'],
] as const)('%s throws: it is reported, and the mail goes out once it no longer does', async (_, part, expected) => {
  const scene = await startDeliveryEnvironment()
  let failures = 2
  const failing =
    <A extends unknown[], R>(work: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      if (failures-- > 0) throw new Error('this part is broken')
      return work(...given)
    }
  const parts = {
    isSuspended: failing(async () => false),
    report: failing(async () => undefined),
    findRoute: failing(captureRoute),
    findReturnPath: failing(async () => undefined),
    findKeys: failing(async () => []),
  }
  const { start, reported } = await engineOf(scene, { [part]: parts[part] })
  await start()
  const id = await scene.submit()
  await until(async () => {
    const left = await scene.deliveries()
    // What was given back is found by the scan of the index, which is rare on a busy machine: hints are not.
    for (const { slot, flow } of left) if (flow) wakeOf(scene.mongo).ring([slot], [flow])
    return left.length === 0
  })
  expect(await statusOf(scene, id)).toBe('delivered')
  expect(reported).toEqual([expected, expected])
})
