/** Events of mail on their way to webhooks: from acceptance, attempts, cancellations and DNS checks to the receiver. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { updateUser } from '../../../services/accounts/store/users.ts'
import { cancel } from '../../../services/mail/delivery/queue-control.ts'
import type { NewMessage } from '../../../services/mail/submission/store/message-documents.ts'
import { createEnqueue } from '../../../services/mail/submission/store/store-accepted.ts'
import {
  changeMailWebhook,
  createMailWebhook,
  type WebhookDeps,
  type WebhookSettings,
} from '../../../services/mail/webhooks/manage-webhooks.ts'
import { acceptedEvents } from '../../../services/mail/webhooks/message-events.ts'
import { mailWebhooksOf, queueMailEvents } from '../../../services/mail/webhooks/queue-mail-events.ts'
import { announceDisabled, mailWebhookSending } from '../../../services/mail/webhooks/send-mail-webhooks.ts'
import {
  MAIL_WEBHOOK_EVENTS,
  type MailWebhookEventDoc,
  webhookCollections,
} from '../../../services/mail/webhooks/store/webhook-collections.ts'
import { collectionOf, ensureIndexes } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { silentLog } from '../../../services/platform/observability/log.ts'
import { sendEvents } from '../../../services/platform/webhooks/deliver-events.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { at, startDeliveryEnvironment } from '../../support/mail/delivery-environment.ts'
import { until } from '../../support/time/until.ts'

const never = new AbortController().signal
const SETTINGS: WebhookSettings = { name: 'test', url: '', events: [], domain_ids: [], enabled: true }

/** A delivery environment whose account has a webhook at a receiver. */
async function hooked(more: Partial<WebhookSettings> = {}) {
  const env = await startDeliveryEnvironment({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
  await ensureIndexes(env.mongo.db, webhookCollections)
  const hooks = await startWebhookReceiver()
  const deps: WebhookDeps = { ...env, ownDomains: async (_, ids) => ids.filter(id => id === env.domain._id) }
  const { webhook, secret } = await createMailWebhook(deps, env.userId, { ...SETTINGS, url: hooks.url, ...more })
  hooks.secrets.push(secret)
  const webhooks = mailWebhooksOf(env)
  const slots = { slots: 8, relay: false, bodyDays: 7, logDays: 30 }
  const enqueue = createEnqueue({
    ...{ mongo: env.mongo, log: silentLog, metrics: env.metrics, wake: () => undefined, ...slots },
    webhookEvents: writes => acceptedEvents(webhooks, writes),
  })
  const accept = async (given: Partial<NewMessage> = {}) => {
    const id = newId('em')
    const outcome = await enqueue({
      ...{ id, user_id: env.userId, domain_id: env.domain._id, via: { channel: 'http' }, mail_from: 'a@example.com' },
      ...{ from: 'a@example.com', subject: 'hello', message_id: `<${id}@example.com>`, lane: 'transactional' },
      ...{ ambiguous: 'retry', created_at: env.clock.now(), recipients: [{ email: at('b'), type: 'to' }] },
      raw: Buffer.from(`From: a@example.com\r\nSubject: hello\r\nMessage-ID: <${id}@example.com>\r\n\r\nhello\r\n`),
      ...given,
    } as NewMessage)
    return { id, outcome }
  }
  const events = collectionOf(env.mongo.db, MAIL_WEBHOOK_EVENTS)
  const queued = () => events.find().sort({ at: 1, type: 1, _id: 1 }).toArray()
  const sending = mailWebhookSending({ ...env, log: silentLog })
  return { ...env, hooks, deps, webhook, webhooks, accept, events, queued, send: () => sendEvents(sending, never) }
}

const summary = ({ type, data }: Pick<MailWebhookEventDoc, 'type' | 'data'>) =>
  `${type} ${String(data.to ?? data.name)}`

describe('acceptance', () => {
  test('queues one event for each recipient, in the same transaction', async () => {
    const { accept, queued, webhook, hooks, send, domain } = await hooked()
    const tags = [{ name: 'kind', value: 'receipt' }]
    const { id } = await accept({
      ...{ tags, metadata: { order: '7' }, stream: 'transactional' },
      recipients: [
        { email: at('b'), type: 'to' },
        { email: at('c'), type: 'cc' },
      ],
    })
    const found = await queued()
    expect(found.map(summary).toSorted()).toEqual([`email.accepted ${at('b')}`, `email.accepted ${at('c')}`])
    expect(found[0]).toMatchObject({
      webhook_id: webhook._id,
      state: 'waiting',
      _id: expect.stringMatching(/^msg_[\w-]{32}$/),
    })
    expect(await send()).toBe(2)
    const received = hooks.received.find(({ data }) => data.to === at('b'))
    expect(received).toMatchObject({ type: 'email.accepted', timestamp: expect.stringMatching(/Z$/) })
    expect(received?.data).toEqual({
      ...{ email_id: id, message_id: `<${id}@example.com>`, from: 'a@example.com', to: at('b'), subject: 'hello' },
      ...{ domain: domain.name, tags, metadata: { order: '7' }, stream: 'transactional' },
    })
    expect(hooks.forged).toBe(0)
  })

  test('stores neither message nor event when the insert of events fails', async () => {
    const { accept, queued, mongo } = await hooked()
    await mongo.db.command({ collMod: MAIL_WEBHOOK_EVENTS.name, validator: { never: { $exists: true } } })
    const { outcome, id } = await accept()
    expect(outcome.kind).toBe('unavailable')
    expect([
      await mongo.db.collection<{ _id: string }>('messages').countDocuments({ _id: id }),
      await queued(),
    ]).toEqual([0, []])
  })

  test('of a test message has its simulated outcome as well', async () => {
    const { accept, queued } = await hooked()
    await accept({ test: true, recipients: [{ email: 'bounced@example.net', type: 'to' }] })
    const found = await queued()
    expect(found.map(({ type }) => type).toSorted()).toEqual(['email.accepted', 'email.bounced'])
    expect(found.every(({ data }) => data.test === true)).toBe(true)
  })

  test.each<[string, Partial<WebhookSettings>, number]>([
    ['of other types', { events: ['email.delivered'] }, 0],
    ['of this type', { events: ['email.accepted'] }, 1],
    ['that is off', { enabled: false }, 0],
  ])('leaves out a webhook %s: %#', async (_, settings, count) => {
    const { accept, queued } = await hooked(settings)
    await accept()
    expect(await queued()).toHaveLength(count)
  })

  test('is limited to domains where the webhook is; a change counts at once', async () => {
    const { accept, queued, deps, webhook, userId, domain } = await hooked()
    await changeMailWebhook(deps, userId, webhook._id, { domain_ids: [domain._id] })
    await accept({ domain_id: 'dom_other' })
    expect(await queued()).toEqual([])
    await accept()
    expect(await queued()).toHaveLength(1)
    await expect(changeMailWebhook(deps, userId, webhook._id, { domain_ids: ['dom_other'] })).rejects.toThrow()
  })

  test('metadata that is too large for an event is left out of it', async () => {
    const { accept, queued } = await hooked()
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, '密'.repeat(512)]))
    await accept({ metadata })
    const [event] = await queued()
    expect(event?.data).toMatchObject({ metadata: {}, metadata_omitted: true })
    expect(JSON.stringify(event?.data).length).toBeLessThan(20_000)
  })
})

describe('an attempt', () => {
  test.each<[string, string, string, object]>([
    ['delivered', 'b', 'email.delivered', { status: 'delivered', smtp_code: 250, attempt: 1 }],
    [
      'bounced',
      'rcpt-550-5.1.1',
      'email.bounced',
      { status: 'bounced', smtp_code: 550, enhanced_code: '5.1.1', kind: expect.any(String), attempt: 1 },
    ],
    [
      'deferred',
      'dot-451-4.3.0',
      'email.deferred',
      { status: 'deferred', smtp_code: 451, enhanced_code: '4.3.0', diagnostic: expect.stringContaining('451') },
    ],
  ])('%s: one event with its details', async (_, local, type, data) => {
    const { submit, work, events, queued } = await hooked()
    const id = await submit({ to: [at(local)] })
    await work()
    await until(async () => (await events.countDocuments({ type: type as never })) > 0)
    const [event] = (await queued()).filter(one => one.type === type)
    expect(event?.data).toMatchObject({ email_id: id, to: at(local), domain: 'example.com', ...data })
  })

  test('of an account without webhooks queues nothing', async () => {
    const { submit, work, queued, message, deps, userId, webhook } = await hooked()
    await changeMailWebhook(deps, userId, webhook._id, { enabled: false })
    const id = await submit()
    await work()
    await until(async () => (await message(id)).left === 0)
    expect(await queued()).toEqual([])
  })
})

test('a cancellation queues an event for each recipient that was canceled', async () => {
  const { accept, queued, mongo, clock, userId } = await hooked({ events: ['email.canceled'] })
  const { id } = await accept({ scheduled_at: new Date(clock.now().getTime() + 3_600_000) })
  await cancel({ mongo, clock, logDays: 30 }, userId, id)
  expect((await queued()).map(summary)).toEqual([`email.canceled ${at('b')}`])
})

describe('a queued event', () => {
  const given = (env: { userId: string; clock: { now(): Date } }, key: string) => ({
    ...{ type: 'suppression.added' as const, userId: env.userId, at: env.clock.now(), key },
    data: { suppression_id: 'sup_1', email: 'x@example.net', reason: 'bounced' },
  })

  test('is stored once under its key, with and without a transaction', async () => {
    const env = await hooked()
    for (let n = 0; n < 2; n++) {
      await queueMailEvents(env.webhooks, [given(env, 'a'), given(env, 'b')])
      await env.mongo.transaction(session => queueMailEvents(env.webhooks, [given(env, 'b'), given(env, 'c')], session))
    }
    expect(await env.queued()).toHaveLength(3)
  })

  test('of a transaction that ends in vain is not stored', async () => {
    const env = await hooked()
    const work = env.mongo.transaction(async session => {
      await queueMailEvents(env.webhooks, [given(env, 'a')], session)
      throw new Error('changed its mind')
    })
    await expect(work).rejects.toThrow('changed its mind')
    expect(await env.queued()).toEqual([])
  })
})

test.each([
  ['en', 'Webhook disabled: test', 'it wants no more events'],
  ['zh', 'Webhook 已停用：test', '不再接收事件'],
] as const)(
  'the owner of a disabled webhook is told once, in the language of the account: %s',
  async (lang, subject, reason) => {
    const { hooks, accept, send, mongo, userId } = await hooked({ notice_email: 'ops@example.net' })
    await updateUser(mongo.db, userId, { lang })
    onTestFinished(() => hooks.stop())
    hooks.reply = response => void response.writeHead(410).end()
    await accept()
    await send()
    const mails: { key: string; to: string; subject: string; text: string }[] = []
    const lost = announceDisabled(mongo.db, () => Promise.reject(new Error('the queue is full')), 'http://panel')
    await expect(lost).rejects.toThrow('the queue is full')
    for (let n = 0; n < 2; n++)
      await announceDisabled(mongo.db, async mail => void mails.push(mail), 'http://panel.example')
    expect(mails).toHaveLength(1)
    expect(mails[0]).toMatchObject({ to: 'ops@example.net', subject, text: expect.stringContaining(reason) })
  },
)

test('an owner whose account is gone is told in English', async () => {
  const { hooks, accept, send, mongo, userId } = await hooked({ notice_email: 'ops@example.net' })
  onTestFinished(() => hooks.stop())
  hooks.reply = response => void response.writeHead(410).end()
  await accept()
  await send()
  await mongo.db.collection<{ _id: string }>('users').deleteOne({ _id: userId })
  const mails: { subject: string }[] = []
  await announceDisabled(mongo.db, async mail => void mails.push(mail), 'http://panel.example')
  expect(mails.map(mail => mail.subject)).toEqual(['Webhook disabled: test'])
})
