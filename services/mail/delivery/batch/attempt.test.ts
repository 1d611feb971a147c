/** Attempts whose content is read late; the way out is played by the test. */
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../../../test/support/database/test-database.ts'
import { until } from '../../../../test/support/time/until.ts'
import type { Mongo } from '../../../platform/database/mongo.ts'
import { silentLog } from '../../../platform/observability/log.ts'
import { DeliveryQueue } from '../../store/deliveries.ts'
import type { ClaimedDelivery } from '../../store/delivery.ts'
import type { Outgoing } from '../../store/outgoing.ts'
import type { FindCapture } from '../find-capture.ts'
import { routeOfCaptured } from '../routes.ts'
import { limitsOf } from '../rules/site-control.ts'
import type { Route, Sent, Transport } from '../smtp/transport.ts'
import { createAttempt } from './attempt.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const MIB = 1024 * 1024
const RAW = Buffer.from('Subject: hi\r\n\r\nhello\r\n')

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  return () => mongo.stop()
})

/** Sites named `silent` open no session; the others take what is opened, those named `slow` when the test ends. */
function scene({ signed = true } = {}) {
  const end = Promise.withResolvers<void>()
  onTestFinished(() => end.resolve())
  const opened: string[] = []
  const transport: Transport = {
    async send({ key }, given): Promise<Sent> {
      if (key === 'silent') await end.promise
      const transaction = 'open' in given ? await given.open() : given
      if (transaction) opened.push(transaction.origin.messageId)
      if (key === 'slow') await end.promise
      const kind = 'withheld' as const
      return { outcomes: given.recipients.map(() => ({ kind })), conversation: '', dsn: false, ms: 1 }
    },
    stop: async () => undefined,
  }
  const attempt = createAttempt({
    ...{ transport, queue: new DeliveryQueue(mongo), log: silentLog, mayFinish: () => true },
    findKeys: async () => (signed ? [] : undefined),
    findCapture: async () => undefined,
    context: () => ({ now: NOW, random: () => 0.5, logDays: 30 }),
  })
  const send = (id: string, user_id: string, key: string, size: number) => {
    const message = { _id: id, user_id, size, mail_from: 'a@example.com', rcpts: [{}], via: {}, created_at: NOW }
    const outgoing = { message, raw: async () => RAW } as unknown as Outgoing
    const delivery = {
      ...{ id: `${id}.0`, messageId: id, userId: user_id, recipient: 'b@example.net', site: key },
      ...{ attempts: 0, ambiguousAttempts: 0 },
    } as ClaimedDelivery
    const route = { key, hosts: [key] }
    return attempt({ outgoing, deliveries: [delivery], site: key, route }, limitsOf(key, { owned: 1, parts: 1 }, false))
  }
  return { send, opened }
}

test('large mail for sites that open no session does not keep back other large mail', async () => {
  const { send, opened } = scene()
  for (let n = 0; n < 6; n++) void send(`em_${n}`, 'usr_a', 'silent', 20 * MIB)
  await send('em_other', 'usr_b', 'good', 20 * MIB)
  expect(opened).toEqual(['em_other'])
})

test('large mail of one account that is under way for long leaves room for others', async () => {
  const { send, opened } = scene()
  for (let n = 0; n < 6; n++) void send(`em_${n}`, 'usr_a', 'slow', 20 * MIB)
  await until(() => opened.length === 2)
  await send('em_other', 'usr_b', 'good', 20 * MIB)
  expect(opened).toEqual(['em_0', 'em_1', 'em_other'])
})

test('mail that cannot be signed once its session is open waits, with the reason', async () => {
  const { send } = scene({ signed: false })
  const { results } = await send('em_1', 'usr_a', 'good', 20 * MIB)
  expect(results[0]?.event).toMatchObject({ type: 'deferred', text: 'not sent: its domain has no active DKIM key' })
})

test.each<[string, FindCapture, { recipient?: string; route?: Route }, expected: string[]]>([
  ['of a live domain', async () => undefined, {}, ['em_1.0']],
  ['of a domain that was set to capture after the route was found', async () => 'domain', {}, []],
  ['while the database is away', () => Promise.reject(new Error('not primary')), {}, []],
  ['that is captured', async () => 'domain', { route: routeOfCaptured('domain').route }, ['em_1.0']],
  ['for the simulator', async () => 'domain', { recipient: 'delivered@simulator.invalid' }, ['em_1.0']],
])('mail %s is marked only if it may leave', async (_, findCapture, given, expected) => {
  const { recipient = 'b@example.net', route = { key: 'good', hosts: ['good'] } } = given
  const marked: string[] = []
  const answers: boolean[] = []
  const transport: Transport = {
    async send(__, transaction): Promise<Sent> {
      if (!('open' in transaction)) answers.push(await transaction.mark())
      return { outcomes: [{ kind: 'withheld' }], conversation: '', dsn: false, ms: 1 }
    },
    stop: async () => undefined,
  }
  const attempt = createAttempt({
    ...{ transport, findCapture, log: silentLog, mayFinish: () => true, findKeys: async () => [] },
    queue: {
      async markDot(held) {
        const ids = held.map(({ id }) => id)
        marked.push(...ids)
        return new Set(ids)
      },
    },
    context: () => ({ now: NOW, random: () => 0.5, logDays: 30 }),
  })
  const message = { _id: 'em_1', user_id: 'usr_a', size: RAW.length, mail_from: 'a@example.com', rcpts: [{}], via: {} }
  const outgoing = { message, raw: async () => RAW, inMemory: true } as unknown as Outgoing
  const delivery = { id: 'em_1.0', messageId: 'em_1', userId: 'usr_a', recipient, site: 'good' } as ClaimedDelivery
  const { untouched } = await attempt(
    { outgoing, deliveries: [delivery], site: 'good', route },
    limitsOf('good', { owned: 1, parts: 1 }, false),
  )
  expect({ marked, answers, untouched }).toEqual({
    ...{ marked: expected, answers: [expected.length > 0] },
    untouched: [delivery],
  })
})
