/** Each step that the engine takes with a message, for tests of where its commands go. */
import { expect } from 'vitest'
import { hold, type QueueDeps, release, requestAction } from '../../../services/mail/delivery/control/manage-queue.ts'
import { cancel, retryNow, retrySite } from '../../../services/mail/delivery/queue-control.ts'
import { deliveriesOf, eventsOf, findMessage, hasBody } from '../../../services/mail/log/store/message-log.ts'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { findReported, noteReport } from '../../../services/mail/store/recipient-reports.ts'
import { cellOf } from '../../../services/mail/store/rules/cell.ts'
import { until } from '../time/until.ts'
import { at, type DeliveryEnvironment } from './delivery-environment.ts'

function controls({ mongo, clock }: DeliveryEnvironment): QueueDeps {
  return {
    ...{ mongo, clock, logDays: 30 },
    findDomain: async () => undefined,
    findAccount: async id => ({ id, name: id }),
    destinationOf: written => written,
  }
}

/**
 * Delivers mail, holds and releases it, schedules and cancels it, tries it again and reports a bounce; checks the log of each.
 * Resolves to the ids of all messages, of which the receiver got twelve.
 */
export async function deliverAllOutcomes(scene: DeliveryEnvironment, relay: boolean): Promise<string[]> {
  const { mongo, clock, userId } = scene
  const owner = { id: userId, name: 'ann', admin: false }
  const queue = { mongo, clock, logDays: 30 }
  const held = await hold(controls(scene), owner, { scope: 'account', value: userId, reason: 'look' })
  const later = new Date(clock.now().getTime() + 3_600_000)
  const ids = [
    ...(await Promise.all(Array.from({ length: 9 }, () => scene.submit()))),
    ...(await Promise.all(Array.from({ length: 3 }, () => scene.submit({ to: [at('a'), at('b'), at('c')] })))),
  ]
  const scheduled = await Promise.all(Array.from({ length: 3 }, () => scene.submit({ scheduled_at: later })))
  await Promise.all([scene.work(), scene.work()])
  for (const id of scheduled) expect(await cancel(queue, userId, id)).toBe(1)
  await until(async () => (await scene.deliveries()).every(({ flow }) => flow === `h ${held._id}`), 60_000)
  await release(controls(scene), owner, held)
  await requestAction(controls(scene), owner, { action: 'retry', scope: 'account', value: userId })
  await retrySite(queue, { site: '[127.0.0.1]', slots: scene.config.SLOTS, relay })
  for (const id of ids) await retryNow(queue, userId, id)
  await until(async () => (await scene.deliveries()).length === 0, 60_000)
  for (const id of ids) {
    const message = await findMessage(mongo.db, userId, id)
    expect([message?.left, message?.cell]).toEqual([0, cellOf(id)])
    expect(await eventsOf(mongo.db, id)).toHaveLength(message?.rcpts.length ?? 0)
    expect([await deliveriesOf(mongo.db, id), await hasBody(mongo.db, id)]).toEqual([[], true])
    expect(await readBody(mongo, id, 1)).toBeDefined()
    expect(await findReported(mongo, id, 0)).toBeDefined()
  }
  const report = { status: 'bounced', at: clock.now(), report: 'in_1' } as const
  expect(await noteReport(mongo, ids[0] ?? '', 0, report)).toBe(true)
  return [...ids, ...scheduled]
}
