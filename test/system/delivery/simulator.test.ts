/** Mail to the simulator in each mode of delivery: log, status, webhooks and explanation are real, nothing leaves. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { startConfiguredDelivery } from '../../../services/mail/delivery/setup.ts'
import { deliveryCollections } from '../../../services/mail/delivery-collections.ts'
import { createDkimKey } from '../../../services/mail/domains/dkim-keys.ts'
import { createSimulatedComplaints } from '../../../services/mail/inbound/simulated-complaints.ts'
import { statsOfDays } from '../../../services/mail/log/store/stats.ts'
import { createFindSuppressed } from '../../../services/mail/suppressions/find-suppressed.ts'
import { SUPPRESSIONS } from '../../../services/mail/suppressions/store/suppressions.ts'
import { createMailWebhook } from '../../../services/mail/webhooks/manage-webhooks.ts'
import { startMailWebhooks } from '../../../services/mail/webhooks/send-mail-webhooks.ts'
import { MAIL_WEBHOOK_EVENTS, webhookCollections } from '../../../services/mail/webhooks/store/webhook-collections.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveCredential, giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import { startPanelApi } from '../../support/http/panel-api.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { at, type DeliveryEnvironment, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { logInAs, startSubmission } from '../../support/mail/submission-service.ts'
import { testFoundation } from '../../support/processes/test-foundation.ts'
import { until } from '../../support/time/until.ts'

type Complain = ReturnType<typeof createSimulatedComplaints>

const to = (local: string) => `${local}@simulator.invalid`

async function startEnvironment(
  env: Record<string, string> = {},
  change: (complain: Complain) => Complain = same => same,
) {
  const environment = await startDeliveryEnvironment({ env: { WEBHOOK_ALLOW_PRIVATE: 'true', ...env } })
  const { mongo, clock, userId } = environment
  await ensureIndexes(mongo.db, webhookCollections)
  const settings = { name: 'test', url: 'http://127.0.0.1:9/hook', events: [], domain_ids: [], enabled: true }
  await createMailWebhook({ ...environment, ownDomains: async () => [] }, userId, settings)
  const complain = createSimulatedComplaints({ mongo, clock, logDays: 30 })
  const worker = await environment.work({ complain: change(complain) })
  return { ...environment, complain, worker }
}

const statuses = async ({ message }: DeliveryEnvironment, id: string) =>
  (await message(id)).rcpts.map(({ status }) => status)

/** Types of the queued webhook events, with their recipients. */
const hooked = async ({ mongo }: DeliveryEnvironment) => {
  const events = await collectionOf(mongo.db, MAIL_WEBHOOK_EVENTS).find().toArray()
  return events.map(({ type, data }) => `${type} ${data.to}`).toSorted()
}

async function attempts({ metrics }: DeliveryEnvironment): Promise<number> {
  const { values } = await metrics.attempts.get()
  return values.reduce((sum, { value }) => sum + value, 0)
}

describe('a message to the simulator', () => {
  test.each<[string, Record<string, string>]>([
    ['direct', {}],
    ['capture', { DELIVERY_MODE: 'capture' }],
    // No relay listens there.
    ['relay', { DELIVERY_MODE: 'relay', RELAY_URL: 'smtp://127.0.0.1:9' }],
  ])('in mode %s has the outcome that each recipient names', async (_, env) => {
    const environment = await startEnvironment(env)
    const names = ['delivered', 'bounced+7', 'complained', 'deferred', 'typo']
    const id = await environment.submit({ to: names.map(to), mail_from: '' })
    const first = ['delivered', 'bounced', 'complained', 'deferred', 'bounced']
    await until(async () => (await statuses(environment, id)).join() === first.join())
    await until(async () => (await environment.deliveries(id)).every(({ tok }) => !tok))
    const [waiting] = await environment.deliveries(id)
    expect(waiting).toMatchObject({ _id: `${id}.3`, att: 1, last: { code: 451, enhanced: '4.7.1' } })
    const events = await environment.events(id)
    const bounced = events.find(({ rcpt }) => rcpt === to('bounced+7'))
    expect(bounced).toMatchObject({
      type: 'bounced',
      code: 550,
      enhanced: '5.1.1',
      kind: 'address',
      mx: 'simulator.invalid',
    })
    expect(bounced?.text).toContain('simulated')
    expect(bounced?.conversation).toContain('opens no connection')
    expect(events.find(({ rcpt }) => rcpt === to('typo'))?.text).toContain('the simulator has delivered, deferred')

    environment.clock.advance(13_000)
    await until(async () => (await statuses(environment, id))[3] === 'delivered', 30_000)
    await until(async () => (await environment.deliveries(id)).length === 0)
    expect((await environment.message(id)).left).toBe(0)
    expect(environment.receiver.received).toEqual([])
    expect(await hooked(environment)).toEqual(
      [
        ...['email.bounced', 'email.bounced', 'email.complained', 'email.deferred'],
        ...['email.delivered', 'email.delivered', 'email.delivered'],
      ].map(
        (type, index) =>
          `${type} ${to(['bounced+7', 'typo', 'complained', 'deferred', 'complained', 'deferred', 'delivered'][index] ?? '')}`,
      ),
    )
  })

  test('changes no suppression, statistic or metric, and a repeated complaint nothing', async () => {
    const environment = await startEnvironment()
    const { mongo, clock, userId, complain } = environment
    // Without a sender that gets a report, which would be an attempt of its own.
    const id = await environment.submit({ to: ['bounced', 'complained'].map(to), mail_from: '' })
    await until(async () => (await statuses(environment, id)).join() === 'bounced,complained')
    await until(async () => (await environment.deliveries(id)).length === 0)
    expect(await collectionOf(mongo.db, SUPPRESSIONS).countDocuments()).toBe(0)
    expect(await attempts(environment)).toBe(0)
    const before = [await environment.events(id), await hooked(environment)]
    await complain([{ delivery: { id: `${id}.1`, messageId: id } }] as never)
    expect([await environment.events(id), await hooked(environment)]).toEqual(before)
    const today = clock.now().toISOString().slice(0, 10)
    const [day] = await statsOfDays(mongo.db, userId, [today], { now: clock.now(), logDays: 30 })
    expect(day).toMatchObject({ messages: 0, recipients: {}, domains: [] })
  })

  test('goes beside real recipients, which get the message', async () => {
    const environment = await startEnvironment()
    const id = await environment.submit({ to: [to('bounced'), at('b')] })
    await until(async () => (await statuses(environment, id)).join() === 'bounced,delivered')
    expect(environment.receiver.received.filter(({ from }) => from !== '')).toMatchObject([
      { rcpts: [{ email: at('b') }] },
    ])
    await until(async () => (await attempts(environment)) > 0)
  })
})

describe('complaints', () => {
  test('are recorded for ten recipients of a message; the attempts of the others say so', async () => {
    const environment = await startEnvironment()
    const id = await environment.submit({ to: Array.from({ length: 12 }, (_, n) => to(`complained+${n}`)) })
    const expected = [...Array.from({ length: 10 }, () => 'complained'), 'delivered', 'delivered']
    await until(async () => (await statuses(environment, id)).join() === expected.join())
    await until(async () => (await environment.deliveries(id)).length === 0)
    const events = await environment.events(id)
    expect(events.filter(({ type }) => type === 'complained')).toHaveLength(10)
    const explained = events.filter(({ text }) => text.includes('at most 10 recipients'))
    expect(explained.map(({ rcpt }) => rcpt).toSorted()).toEqual([to('complained+10'), to('complained+11')])
    expect((await hooked(environment)).filter(event => event.startsWith('email.complained'))).toHaveLength(10)
  })

  test('that take long delay the end of their own deliveries only', async () => {
    const gate = Promise.withResolvers<void>()
    const environment = await startEnvironment({}, complain => async results => {
      await gate.promise
      await complain(results)
    })
    onTestFinished(() => gate.resolve())
    const complaining = await environment.submit({ to: ['complained', 'delivered'].map(to) })
    await until(async () => (await statuses(environment, complaining)).join() === 'delivered,delivered')
    const other = await environment.submit({ to: [at('b')] })
    await until(async () => (await environment.deliveries()).map(({ _id }) => _id).join() === `${complaining}.0`)
    expect((await environment.message(other)).left).toBe(0)
    gate.resolve()
    await until(async () => (await environment.deliveries()).length === 0)
    expect(await statuses(environment, complaining)).toEqual(['complained', 'delivered'])
  })

  test('are recorded once when the worker ends before their deliveries have left the queue', async () => {
    let calls = 0
    const environment = await startEnvironment({}, complain => async results => {
      await complain(results)
      calls++
      throw new Error('the worker ends here')
    })
    const id = await environment.submit({ to: [to('complained')] })
    await until(() => calls > 1)
    expect(await environment.deliveries(id)).toHaveLength(1)
    await environment.worker.stop()
    await environment.work({ complain: environment.complain })
    await until(async () => (await environment.deliveries(id)).length === 0, 30_000)
    expect(await statuses(environment, id)).toEqual(['complained'])
    expect((await environment.events(id)).map(({ type }) => type).toSorted()).toEqual(['complained', 'delivered'])
    expect(await hooked(environment)).toEqual([
      `email.complained ${to('complained')}`,
      `email.delivered ${to('complained')}`,
    ])
  })
})

test('a receiver of webhooks gets the bounce and the complaint of mail sent over SMTP and over HTTP', async () => {
  // Captures the report to the sender over SMTP, the only mail that is not for the simulator.
  const mode = { DELIVERY_MODE: 'capture' }
  const env = { SESSION_SECRET: 'a secret of at least thirty-two bytes', WEBHOOK_ALLOW_PRIVATE: 'true', ...mode }
  const api = await startPanelApi(env)
  onTestFinished(() => api.stop())
  await ensureIndexes(api.db, deliveryCollections)
  const foundation = { ...testFoundation(api.mongo, env), secrets: api.secrets }
  const complain = createSimulatedComplaints({ ...foundation, logDays: 30 })
  const parts = [await startConfiguredDelivery(foundation, { complain }), startMailWebhooks(foundation)]
  onTestFinished(async () => void (await Promise.all(parts.map(part => part.stop()))))
  const submission = await startSubmission(api.mongo, env)
  const hooks = await startWebhookReceiver()

  const { user, client } = await api.newUser()
  const id = newId('dom')
  const key = await createDkimKey(api.secrets, id, 's1', 'ed25519-sha256', new Date())
  const verified = { _id: id, status: 'verified', verified_by: 'dns' } as const
  const domain = await giveDomain(api.db, user._id, 'example.com', { ...verified, dkim: [{ ...key, state: 'active' }] })
  const events = ['email.bounced', 'email.complained']
  hooks.secrets.push((await client.post('/api/v1/webhooks', { url: hooks.url, events })).body.secret)

  const credential = await giveCredential(api.db, user._id, 'login')
  const session = await logInAs(submission, { userId: user._id, domain, credential })
  const header = 'From: a@example.com\r\nSubject: over SMTP\r\n\r\nhello\r\n'
  expect((await session.submit('a@example.com', ['bounced', 'complained'].map(to), header)).code).toBe(250)
  session.destroy()
  const message = { from: 'a@example.com', to: ['bounced+http', 'complained+http'].map(to), subject: 'over HTTP' }
  expect((await client.post('/api/v1/emails', { ...message, text: 'hello' })).status).toBe(202)

  const received = await hooks.heard(4)
  expect(received.map(({ type, data }) => `${data.subject}: ${type} ${data.to}`).toSorted()).toEqual([
    `over HTTP: email.bounced ${to('bounced+http')}`,
    `over HTTP: email.complained ${to('complained+http')}`,
    `over SMTP: email.bounced ${to('bounced')}`,
    `over SMTP: email.complained ${to('complained')}`,
  ])
  expect(hooks.forged).toBe(0)
  for (const { type, data } of received) {
    if (type === 'email.complained') expect(data).toMatchObject({ feedback_type: 'abuse' })
    else expect(data).toMatchObject({ smtp_code: 550, enhanced_code: '5.1.1', kind: 'address' })
    const { status, body } = await client.get(`/api/v1/emails/${data.email_id}/explain`)
    expect(status).toBe(200)
    expect(body.recipients[0]).toMatchObject({
      ...{ recipient: { email: expect.stringMatching(/^bounced/) }, kind: 'address', responsible: 'recipient' },
      next_code: 'explain.do_check_address',
    })
  }
})

test('suppressed@ is suppressed for every account and stream, and nothing else is', async () => {
  const { mongo, clock } = await startDeliveryEnvironment()
  const find = createFindSuppressed(mongo.db, clock)
  const emails = [to('suppressed'), to('Suppressed+1'), to('bounced'), 'suppressed@example.com']
  const [one, other] = await find([
    { userId: 'usr_1', emails },
    { userId: 'usr_2', stream: 'bulk/news', emails: [to('bounced')] },
  ])
  expect([...(one?.keys() ?? [])]).toEqual(emails.slice(0, 2))
  expect(one?.get(to('suppressed'))).toMatchObject({ reason: 'hard_bounce' })
  expect(other?.size).toBe(0)
})
