/** Outcomes of deliveries: from the queue over a real socket to a receiver, and into log, queue and message. */
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { describe, expect, test } from 'vitest'
import { dkimName, dkimRecord } from '../../../services/mail/dns/records/dkim.ts'
import { listCaptured, readCaptured } from '../../../services/mail/store/captured.ts'
import {
  at,
  type DeliveryEnvironment,
  PATIENT,
  startDeliveryEnvironment,
} from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const MINUTE = 60_000

/** Waits until no delivery of the message remains, and returns the message. */
async function finished(environment: DeliveryEnvironment, id: string) {
  await until(async () => (await environment.message(id)).left === 0 && (await environment.deliveries(id)).length === 0)
  return environment.message(id)
}

/** Waits until an attempt was recorded. */
async function attempted(environment: DeliveryEnvironment, id: string, attempts = 1) {
  await until(
    async () =>
      (await environment.events(id)).length >= attempts && (await environment.deliveries(id)).every(({ tok }) => !tok),
  )
  return {
    message: await environment.message(id),
    deliveries: await environment.deliveries(id),
    events: await environment.events(id),
  }
}

const metric = async (environment: DeliveryEnvironment, name: string) =>
  (await environment.metrics.registry.getSingleMetric(`postwright_${name}`)?.get())?.values.reduce(
    (sum, { value }) => sum + value,
    0,
  ) ?? 0

describe('a message', () => {
  test('is delivered, signed so that an independent verifier accepts it, and logged', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit()
    const message = await finished(environment, id)
    expect(message.rcpts).toMatchObject([{ status: 'delivered', code: 250, enhanced: '2.0.0' }])
    expect(message.final_at).toBeInstanceOf(Date)
    expect(await environment.deliveries(id)).toEqual([])
    const [key] = environment.domain.dkim
    const { results } = await dkimVerify(environment.receiver.received[0]?.content ?? Buffer.alloc(0), {
      resolver: async (name: string) =>
        name === dkimName('s1', 'example.com') ? [[dkimRecord('rsa-sha256', key?.public_key ?? '')]] : [],
    })
    expect(results.map(({ status, signingDomain }) => `${signingDomain} ${status.result}`)).toEqual([
      'example.com pass',
    ])
    const [event] = await environment.events(id)
    expect(event).toMatchObject({
      _id: `${id}.0#1`,
      type: 'delivered',
      attempt: 1,
      code: 250,
      mx: '127.0.0.1',
      ip: '127.0.0.1',
    })
    expect(event?.conversation).toContain('C: MAIL FROM:<a@example.com>')
    expect(event?.conversation).not.toContain('hello')
    expect(environment.receiver.protocolErrors).toEqual([])
  })

  test('to several recipients of one site is sent once, and each recipient gets its own result', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({ to: ['a', 'rcpt-550-5.1.1', 'b', 'rcpt-451-4.2.0'].map(at) })
    await until(async () => {
      const { left, rcpts } = await environment.message(id)
      return left === 1 && rcpts[3]?.status === 'deferred'
    })
    await until(async () => (await environment.deliveries(id)).every(({ tok }) => !tok))
    const message = await environment.message(id)
    expect(message.rcpts.map(({ status }) => status)).toEqual(['delivered', 'bounced', 'delivered', 'deferred'])
    expect(message.final_at).toBeUndefined()
    expect(environment.receiver.received.filter(({ from }) => from !== '')).toHaveLength(1)
    expect(await environment.deliveries(id)).toMatchObject([
      { _id: `${id}.3`, att: 1, last: { code: 451, enhanced: '4.2.0' } },
    ])
  })

  test.each([
    ['rejected temporarily', 'rcpt-451-4.3.0', 0.8, 1.2],
    ['rejected because of its rate', 'dot-450-4.7.0', 4 / 60, 6 / 60],
  ])('%s is retried later', async (_, local, least, most) => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({ to: [at(local)] })
    const { deliveries, events } = await attempted(environment, id)
    expect(events).toMatchObject([{ type: 'deferred' }])
    const wait = ((deliveries[0]?.due.getTime() ?? 0) - (events[0]?.at.getTime() ?? 0)) / MINUTE
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(most)
    expect(deliveries[0]?.ph).toBeUndefined()
  })

  test('that is rejected temporarily until it expires is reported to its sender', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({
      to: [at('rcpt-451-4.3.0')],
      mail_from: at('sender'),
      expires_at: new Date(environment.clock.now().getTime() + 30_000),
    })
    await attempted(environment, id)
    environment.clock.advance(31_000)
    const message = await finished(environment, id)
    expect(message.rcpts).toMatchObject([{ status: 'failed' }])
    expect((await environment.events(id)).map(({ type }) => type)).toEqual(['deferred', 'expired'])
    await until(() => environment.receiver.received.length === 1)
    expect(environment.receiver.received[0]?.content.toString()).toContain('Status: 5.4.7')
  })
})

describe('a final failure', () => {
  test('is reported to the sender once for all recipients, with a null sender', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({
      to: [at('rcpt-550-5.1.1'), at('dot-554-5.7.1')],
      mail_from: at('sender'),
      dsn: { ret: 'FULL', envid: 'E42' },
    })
    const message = await finished(environment, id)
    expect(message.rcpts.map(({ status }) => status)).toEqual(['bounced', 'bounced'])
    await until(() => environment.receiver.received.length > 0)
    const [report] = environment.receiver.received
    expect(report).toMatchObject({ from: '', rcpts: [{ email: at('sender') }] })
    const text = report?.content.toString() ?? ''
    expect(text).toContain('Original-Envelope-Id: E42')
    expect(text.match(/Action: failed/g)).toHaveLength(2)
    expect(text).toContain(`Message-ID: <${id}@example.com>`)
    expect(text).toContain('\r\nhello\r\n')
  })

  test.each([
    ['of a report', { mail_from: '' }],
    [
      'when NOTIFY=NEVER',
      {
        mail_from: at('sender'),
        recipients: [{ email: at('rcpt-550-5.1.1'), type: 'envelope' as const, notify: ['NEVER'] }],
      },
    ],
  ])('%s is not reported', async (_, given) => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({ to: [at('rcpt-550-5.1.1')], ...given })
    await finished(environment, id)
    expect(await environment.mongo.db.collection('messages').countDocuments()).toBe(1)
  })
})

describe('an attempt whose reply to the dot is lost', () => {
  test.each(['drop', 'hang'])('(%s) is repeated after 15 minutes and marked as ambiguous', async local => {
    const environment = await startDeliveryEnvironment()
    await environment.work({ deadlines: { ...PATIENT, dot: 500 } })
    const id = await environment.submit({ to: [at(local)] })
    const { deliveries, events } = await attempted(environment, id)
    expect(events).toMatchObject([{ type: 'deferred', ambiguous: true }])
    expect(deliveries).toMatchObject([{ amb: 1, att: 1 }])
    expect((deliveries[0]?.due.getTime() ?? 0) - (events[0]?.at.getTime() ?? 0)).toBeGreaterThanOrEqual(15 * MINUTE)
    await until(async () => (await metric(environment, 'delivery_ambiguous_total')) === 1)
  })

  test('is never repeated under the policy "fail"', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.work()
    const id = await environment.submit({ to: [at('drop')], ambiguous: 'fail' })
    const message = await finished(environment, id)
    expect(message.rcpts).toMatchObject([{ status: 'failed' }])
    expect(await environment.events(id)).toMatchObject([{ type: 'failed', ambiguous: true }])
    expect(environment.receiver.received.filter(({ from }) => from !== '')).toHaveLength(1)
  })
})

describe('mail that must not go out', () => {
  test('waits while its domain has no active key, instead of being sent unsigned', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.mongo.db.collection('domains').updateOne({}, { $set: { 'dkim.0.state': 'retiring' } })
    await environment.work()
    const id = await environment.submit()
    const { events } = await attempted(environment, id)
    expect(events).toMatchObject([{ type: 'deferred', enhanced: '4.7.7' }])
    expect(environment.receiver.connections()).toBe(0)
  })

  test('waits while its account is suspended, without counting attempts', async () => {
    const environment = await startDeliveryEnvironment()
    await environment.mongo.db.collection('users').updateOne({}, { $set: { status: 'suspended' } })
    await environment.work()
    const id = await environment.submit()
    await until(async () => (await environment.deliveries(id)).some(({ due }) => due > environment.clock.now()))
    await until(async () => (await environment.deliveries(id)).every(({ tok }) => !tok))
    expect(await environment.deliveries(id)).toMatchObject([{ att: 0 }])
    await environment.mongo.db.collection('users').updateOne({}, { $set: { status: 'active' } })
    environment.clock.advance(31_000)
    expect(await finished(environment, id)).toMatchObject({ rcpts: [{ status: 'delivered' }] })
  })

  test('to a domain with private addresses only bounces without a connection', async () => {
    const environment = await startDeliveryEnvironment({ env: { DELIVERY_ALLOW_PRIVATE: 'false' } })
    await environment.work()
    const id = await environment.submit()
    expect(await finished(environment, id)).toMatchObject({ rcpts: [{ status: 'bounced', enhanced: '5.4.4' }] })
    expect(environment.receiver.connections()).toBe(0)
  })
})

describe('modes', () => {
  test('relay: sends everything to the relay, with all recipients of a message in one transaction', async () => {
    const environment = await startDeliveryEnvironment()
    const relayed = await startDeliveryEnvironment({
      env: { DELIVERY_MODE: 'relay', RELAY_URL: `smtp://127.0.0.1:${environment.receiver.port}` },
    })
    await relayed.work()
    const id = await relayed.submit({ to: ['a@one.example', 'b@two.example', 'c@gmail.com'] })
    expect(await finished(relayed, id)).toMatchObject({ left: 0 })
    expect(environment.receiver.received.map(({ rcpts }) => rcpts.length)).toEqual([3])
  })

  test('capture: sends nothing and stores the signed mail for the account', async () => {
    const environment = await startDeliveryEnvironment({ env: { DELIVERY_MODE: 'capture' } })
    await environment.work()
    const id = await environment.submit({ to: ['a@one.example', 'b@one.example', 'c@two.example'] })
    expect(await finished(environment, id)).toMatchObject({
      rcpts: [{ status: 'delivered' }, { status: 'delivered' }, { status: 'delivered' }],
    })
    expect(environment.receiver.connections()).toBe(0)
    expect(
      (await listCaptured(environment.mongo, environment.userId, 10)).map(({ rcpts }) => rcpts.length).sort(),
    ).toEqual([1, 2])
    const mails = await readCaptured(environment.mongo, environment.userId, id)
    expect(mails.every(({ raw }) => raw.toString().startsWith('DKIM-Signature:'))).toBe(true)
    expect(await readCaptured(environment.mongo, 'usr_other', id)).toEqual([])
  })

  test('capture: what a domain captures stays captured when the installation sends', async () => {
    const environment = await startDeliveryEnvironment({ env: { DELIVERY_MODE: 'capture' } })
    const capturing = await environment.work()
    const now = await environment.submit({ to: ['a@one.example', 'b@two.example'], capture: 'domain' })
    await finished(environment, now)
    const soon = new Date(environment.clock.now().getTime() + 60_000)
    const later = await environment.submit({ capture: 'domain', scheduled_at: soon })
    await capturing.stop()
    environment.config.DELIVERY_MODE = 'direct'
    await environment.work()
    environment.clock.advance(61_000)
    await finished(environment, later)
    const mails = await listCaptured(environment.mongo, environment.userId, 10)
    expect(mails.map(({ m, rcpts }) => [m, rcpts])).toEqual([
      [later, [at('b')]],
      [now, ['a@one.example', 'b@two.example']],
    ])
    expect(environment.receiver.connections()).toBe(0)
  })

  test('capture: stores a requested success report in the inbox of the account', async () => {
    const environment = await startDeliveryEnvironment({ env: { DELIVERY_MODE: 'capture' } })
    await environment.work()
    const recipients = [
      {
        email: 'a@one.example',
        type: 'envelope' as const,
        notify: ['SUCCESS', 'FAILURE'],
        orcpt: 'rfc822;a@one.example',
      },
      { email: 'b@one.example', type: 'envelope' as const },
    ]
    const id = await environment.submit({ recipients, dsn: { envid: 'E1' } })
    const reports = async () =>
      (await listCaptured(environment.mongo, environment.userId, 10)).filter(({ mail_from }) => mail_from === '')
    await until(async () => (await reports()).length > 0)
    const [report, ...more] = await reports()
    expect([report?.rcpts, more]).toEqual([['a@example.com'], []])
    const [{ raw } = { raw: Buffer.alloc(0) }] = await readCaptured(
      environment.mongo,
      environment.userId,
      report?.m ?? '',
    )
    expect(raw.toString()).toContain(
      'Original-Recipient: rfc822;a@one.example\r\nFinal-Recipient: rfc822; a@one.example\r\nAction: delivered\r\nStatus: 2.0.0\r\n',
    )
    expect(raw.toString()).toContain('Original-Envelope-Id: E1\r\n')
    expect(raw.toString()).not.toContain('b@one.example')
    expect(await finished(environment, id)).toMatchObject({ left: 0 })
  })
})
