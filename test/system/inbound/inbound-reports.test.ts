/** Reports over real sockets: what a bounce or a complaint changes, and what leaves everything as it is. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { findDomainById, updateDomain } from '../../../services/mail/domains/store/domains.ts'
import type { InboundDoc } from '../../../services/mail/inbound/store/inbound-messages.ts'
import { reportAddress, reportToken } from '../../../services/mail/message/report-address.ts'
import type { MessageDoc, RecipientStatus } from '../../../services/mail/store/documents.ts'
import { createMailWebhook } from '../../../services/mail/webhooks/manage-webhooks.ts'
import { MAIL_WEBHOOK_EVENTS } from '../../../services/mail/webhooks/store/webhook-collections.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { DAY_MS } from '../../../services/platform/durations.ts'
import { at } from '../../support/mail/delivery-environment.ts'
import { dmarcXml, tlsReport } from '../../support/mail/domain-reports.ts'
import {
  BOUNCES,
  complaint,
  type InboundEnvironment,
  OWN,
  startInboundEnvironment,
  statusReport,
} from '../../support/mail/inbound-environment.ts'
import { until } from '../../support/time/until.ts'

/** A message that was delivered, with the envelope sender that the receiver saw. */
async function delivered(environment: InboundEnvironment, given: Parameters<InboundEnvironment['submit']>[0] = {}) {
  await updateDomain(environment.mongo.db, environment.domain._id, { dns: { manage: false, return_path: 'shared' } })
  await environment.work()
  const id = await environment.submit(given)
  await until(async () => (await environment.message(id)).left === 0)
  return { id, from: environment.receiver.received[0]?.from ?? '' }
}

/** A message in the log without a delivery; its recipient has this status. */
async function logged(environment: InboundEnvironment, status: RecipientStatus = 'delivered') {
  const id = await environment.submit({ scheduled_at: new Date(environment.clock.now().getTime() + DAY_MS) })
  await environment.mongo.db
    .collection<MessageDoc>('messages')
    .updateOne({ _id: id }, { $set: { 'rcpts.0.status': status, left: 0 } })
  return { id, to: `${environment.token(id)}@${OWN}` }
}
/** Waits until the only message was processed and is to be processed again later. */
const postponed = ({ mongo, clock }: InboundEnvironment) =>
  until(async () => {
    const [doc] = await mongo.db.collection<InboundDoc>('inbound_messages').find().toArray()
    const waitMs = (doc?.due?.getTime() ?? 0) - clock.now().getTime()
    return doc?.attempts === 1 && waitMs > 0 && waitMs <= 15_000
  })
const statusOf = async (environment: InboundEnvironment, id: string) => (await environment.message(id)).rcpts[0]?.status
const outcomesOf = async (environment: InboundEnvironment, messages = 1) =>
  (await environment.processed(messages)).map(({ outcomes }) => outcomes)

describe('a message that was delivered', () => {
  test('bounces when a report comes to its return path, and its sender gets a report', async () => {
    const environment = await startInboundEnvironment()
    const { id, from } = await delivered(environment, { mail_from: `verp+1@[127.0.0.1]` })
    expect(from).toMatch(/^[a-z0-9]{49}@bounces\.mail\.test$/)
    expect(await environment.bring(from.toUpperCase(), statusReport())).toMatch(/^250 2\.0\.0 accepted as in_/)
    expect(await outcomesOf(environment)).toEqual([['bounced']])
    expect((await environment.message(id)).rcpts[0]).toMatchObject({ status: 'bounced', code: 550, enhanced: '5.1.1' })
    expect((await environment.events(id)).map(({ _id, type, text, attempt }) => [_id, type, text, attempt])).toEqual([
      [`${id}.0#1`, 'delivered', expect.any(String), 1],
      [`${id}.0#report-bounced`, 'bounced', '550 5.1.1 no such user', 0],
    ])
    expect(await environment.suppressed()).toMatchObject([
      { user_id: environment.userId, email: at('b'), reason: 'hard_bounce', origin: 'report', email_id: id },
    ])
    await until(async () => environment.receiver.received.length === 2)
    const [, report] = environment.receiver.received
    expect(report?.from).toBe('')
    expect(report?.rcpts.map(({ email }) => email)).toEqual(['verp+1@[127.0.0.1]'])
    expect(report?.content.toString()).toContain('Diagnostic-Code: smtp; 550 5.1.1 no such user')
  })

  test('bounces once, however often the report comes', async () => {
    const environment = await startInboundEnvironment()
    const { id, from } = await delivered(environment, { mail_from: at('sender') })
    for (let n = 0; n < 3; n++) await environment.bring(from, statusReport())
    expect((await outcomesOf(environment, 3)).flat().toSorted()).toEqual(['bounced', 'duplicate', 'duplicate'])
    await until(async () => environment.receiver.received.length === 2)
    expect(await environment.events(id)).toHaveLength(2)
    expect(await environment.suppressed()).toHaveLength(1)
    await until(async () => (await environment.deliveries()).length === 0)
    expect(environment.receiver.received).toHaveLength(2)
  })
})

describe('a failure of authentication that another server reports', () => {
  test.each<[string, string, string]>([
    ['for good', statusReport({ diagnostic: '550 5.7.26 DMARC', status: '5.7.26' }), 'bounced'],
    [
      'while it tries again',
      statusReport({ action: 'delayed', diagnostic: '421 4.7.32 From: is not aligned', status: '4.7.32' }),
      'reported',
    ],
  ])('%s is noted with the domain, and suppresses nothing', async (_, report, outcome) => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment)
    await environment.bring(to, report)
    expect(await outcomesOf(environment)).toEqual([[outcome]])
    expect(await environment.events(id)).toMatchObject([{ kind: 'authentication' }])
    const refusals = async () =>
      (await findDomainById(environment.mongo.db, environment.domain._id))?.authentication?.refusals.map(
        ({ site, text }) => ({
          ...{ site, text },
        }),
      )
    await until(async () => ((await refusals()) ?? []).length === 1)
    expect(await refusals()).toEqual([{ site: '[127.0.0.1]', text: expect.stringMatching(/^(550 5|421 4)\.7\./) }])
    expect(await environment.suppressed()).toEqual([])
  })

  test('is noted once for a recipient, however often its server reports it', async () => {
    const environment = await startInboundEnvironment()
    const { to } = await logged(environment)
    const other = await logged(environment)
    const report = statusReport({ action: 'delayed', diagnostic: '421 4.7.32 not aligned', status: '4.7.32' })
    for (const address of [to, to, to, other.to]) await environment.bring(address, report)
    expect((await outcomesOf(environment, 4)).flat()).toEqual(['reported', 'reported', 'reported', 'reported'])
    const counted = async () =>
      (await findDomainById(environment.mongo.db, environment.domain._id))?.authentication?.refusals[0]?.days[0]?.count
    await until(async () => (await counted()) === 2)
    const metric = await environment.metrics.registry.getSingleMetricAsString(
      'postwright_authentication_refusals_total',
    )
    expect(metric).toMatch(/\{site="other",service="test"\} 2$/m)
  })
})

describe('what a report says', () => {
  test.each<[string, string, RecipientStatus, string, string | undefined]>([
    [
      'a full mailbox',
      statusReport({ status: '5.2.2', diagnostic: '552 5.2.2 full' }),
      'bounced',
      'bounced',
      undefined,
    ],
    [
      'another address than the token names',
      statusReport({ about: 'victim@example.org' }),
      'bounced',
      'bounced',
      'hard_bounce',
    ],
    ['a delay', statusReport({ action: 'delayed', status: '4.4.1' }), 'delivered', 'reported', undefined],
    ['a delivery', statusReport({ action: 'delivered', status: '2.0.0' }), 'delivered', 'reported', undefined],
    ['a complaint', complaint(), 'complained', 'complained', 'complaint'],
    ['that it is no spam', complaint({ type: 'not-spam' }), 'delivered', 'no_complaint', undefined],
    [
      'an absence',
      'From: b@example.net\r\nAuto-Submitted: auto-replied\r\nSubject: away\r\n\r\nI am away',
      'delivered',
      'auto_reply',
      undefined,
    ],
    ['nothing that is known', 'From: b@example.net\r\nSubject: Re: hello\r\n\r\nHi', 'delivered', 'unknown', undefined],
    ['nothing at all', '', 'delivered', 'unknown', undefined],
    [
      'a bounce of a bounce',
      statusReport({ original: 'Return-Path: <>\r\nAuto-Submitted: auto-replied\r\nFrom: postmaster@mail.test' }),
      'delivered',
      'bounce_of_bounce',
      undefined,
    ],
  ])('%s', async (_, report, status, outcome, suppressed) => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment)
    expect(await environment.bring(to, report)).toMatch(/^250/)
    expect(await outcomesOf(environment)).toEqual([[outcome]])
    expect(await statusOf(environment, id)).toBe(status)
    expect((await environment.suppressed()).map(({ reason }) => reason)).toEqual(suppressed ? [suppressed] : [])
    const isLogged = ['bounced', 'complained', 'reported'].includes(outcome)
    expect((await environment.events(id)).map(({ type }) => type)).toEqual(isLogged ? [outcome] : [])
  })

  test('a confirmation goes to a sender that asked for it', async () => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment)
    await environment.mongo.db
      .collection<MessageDoc>('messages')
      .updateOne({ _id: id }, { $set: { 'rcpts.0.notify': ['SUCCESS'], mail_from: at('sender') } })
    await environment.bring(to, statusReport({ action: 'delivered', status: '2.0.0' }))
    await environment.processed()
    await environment.work()
    await until(async () => environment.receiver.received.length === 1)
    expect(environment.receiver.received[0]?.content.toString()).toContain('Action: delivered')
  })
})

test.each<[string, string, object]>([
  [
    'a bounce',
    statusReport({ status: '5.2.2', diagnostic: '552 5.2.2 full' }),
    {
      type: 'email.bounced',
      data: { status: 'bounced', smtp_code: 552, enhanced_code: '5.2.2', kind: 'mailbox_full' },
    },
  ],
  [
    'a complaint',
    complaint(),
    {
      type: 'email.complained',
      data: { feedback_type: 'abuse', user_agent: 'Provider/1.0', arrived_at: '2026-11-23T08:00:00.000Z' },
    },
  ],
])('webhooks hear of %s', async (_, report, event) => {
  const environment = await startInboundEnvironment({ env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
  const settings = { name: '', url: 'http://127.0.0.1:9/', domain_ids: [], enabled: true }
  const deps = { ...environment, ownDomains: async () => [] }
  await createMailWebhook(deps, environment.userId, { ...settings, events: ['email.bounced', 'email.complained'] })
  const { id, to } = await logged(environment)
  await environment.bring(to, report)
  await environment.processed()
  const events = await collectionOf(environment.mongo.db, MAIL_WEBHOOK_EVENTS).find().toArray()
  expect(events).toMatchObject([event])
  expect(events[0]?.data).toMatchObject({ email_id: id, to: at('b'), domain: 'example.com' })
})

describe('complaints of a provider at a fixed address', () => {
  test.each([
    ['abuse', 'complained', 'complained'],
    ['postmaster', 'complained', 'complained'],
  ])('%s find the recipient by the envelope sender of the original', async (name, outcome, status) => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment)
    expect(await environment.bring(`${name}@${BOUNCES}`, complaint({ from: to }))).toMatch(/^250/)
    expect(await outcomesOf(environment)).toEqual([[outcome]])
    expect(await statusOf(environment, id)).toBe(status)
  })

  test.each<[string, (to: string) => string]>([
    ['Return-Path', to => `Return-Path: <${to}>`],
    ['CFBL-Address', to => `CFBL-Address: feedback+${to};\r\n report=arf`],
  ])('find the recipient by %s in the header of the original', async (_, line) => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment)
    await environment.bring(`abuse@${BOUNCES}`, complaint({ header: [line(to)] }))
    expect(await outcomesOf(environment)).toEqual([['complained']])
    expect(await statusOf(environment, id)).toBe('complained')
  })

  test('the address for complaints of one recipient', async () => {
    const environment = await startInboundEnvironment()
    const { id } = await logged(environment)
    const token = environment.token(id, { host: BOUNCES })
    expect(await environment.bring(`feedback+${token}@${BOUNCES}`, complaint())).toMatch(/^250/)
    await environment.processed()
    expect(await statusOf(environment, id)).toBe('complained')
  })

  test.each([
    ['without an envelope sender', complaint(), 'unidentified'],
    ['with a forged one', complaint({ from: `${'b'.padEnd(49, '0')}@${OWN}` }), 'unidentified'],
    [
      'with a forged address for complaints',
      complaint({ header: [`CFBL-Address: feedback+${'b'.padEnd(49, '0')}@${OWN}`] }),
      'unidentified',
    ],
    ['that is a bounce', statusReport(), 'unidentified'],
    ['that is mail of a person', 'From: b@example.net\r\n\r\nHi', 'unknown'],
  ])('%s changes nothing', async (_, report, outcome) => {
    const environment = await startInboundEnvironment()
    const { id } = await logged(environment)
    await environment.bring(`abuse@${BOUNCES}`, report)
    expect(await outcomesOf(environment)).toEqual([[outcome]])
    expect(await statusOf(environment, id)).toBe('delivered')
  })
})

describe('a report that comes', () => {
  test('before the result of the delivery is written waits for it', async () => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment, 'deferred')
    await environment.bring(to, statusReport())
    await postponed(environment)
    expect(await statusOf(environment, id)).toBe('deferred')
    await environment.mongo.db
      .collection<MessageDoc>('messages')
      .updateOne({ _id: id }, { $set: { 'rcpts.0.status': 'delivered' } })
    environment.clock.advance(60_000)
    expect(await outcomesOf(environment)).toEqual([['bounced']])
  })

  test('for a delivery that never ends is given up', async () => {
    const environment = await startInboundEnvironment()
    const { to } = await logged(environment, 'queued')
    await environment.bring(to, statusReport())
    await postponed(environment)
    environment.clock.advance(6 * DAY_MS)
    expect(await outcomesOf(environment)).toEqual([['given_up']])
  })

  test('after the message is gone is dropped', async () => {
    const environment = await startInboundEnvironment()
    const { id, to } = await logged(environment)
    await environment.mongo.db.collection<MessageDoc>('messages').deleteOne({ _id: id })
    await environment.bring(to, statusReport())
    expect(await outcomesOf(environment)).toEqual([['gone']])
  })
})

describe('an address beside the return path', () => {
  test.each<[string, string]>([
    ['at the own domain', OWN],
    ['at the shared domain', BOUNCES],
  ])('takes complaints %s', async (_, host) => {
    const environment = await startInboundEnvironment()
    const { id } = await logged(environment)
    await environment.bring(`Feedback+${environment.token(id, { host })}@${host}`, complaint())
    expect(await outcomesOf(environment)).toEqual([['complained']])
    expect(await statusOf(environment, id)).toBe('complained')
  })

  test.each<[string, object, string]>([
    ['its list', { lane: 'bulk', list: 'weekly' }, 'bulk/weekly'],
    ['all bulk mail', { lane: 'bulk' }, 'bulk'],
  ])('ends %s by any mail of a person', async (_, given, stream) => {
    const environment = await startInboundEnvironment()
    const { id } = await logged(environment)
    await environment.mongo.db.collection<MessageDoc>('messages').updateOne({ _id: id }, { $set: given })
    const to = `unsubscribe+${environment.token(id)}@${OWN}`
    expect(await environment.bring(to, 'From: b@example.net\r\n\r\n', 'b@example.net')).toMatch(/^250/)
    await environment.bring(to, 'From: b@example.net\r\n\r\nagain', 'b@example.net')
    expect(await outcomesOf(environment, 2)).toEqual([['unsubscribed'], ['unsubscribed']])
    expect(await environment.suppressed()).toMatchObject([
      {
        user_id: environment.userId,
        email: at('b'),
        stream,
        reason: 'unsubscribe',
        origin: 'unsubscribe',
        email_id: id,
      },
    ])
    expect((await environment.events(id)).map(({ type }) => type)).toEqual(['unsubscribed'])
    expect(await statusOf(environment, id)).toBe('delivered')
  })

  test('does not unsubscribe by a bounce', async () => {
    const environment = await startInboundEnvironment()
    const { id } = await logged(environment)
    await environment.bring(`unsubscribe+${environment.token(id)}@${OWN}`, statusReport())
    expect(await outcomesOf(environment)).toEqual([['unidentified']])
    expect(await environment.suppressed()).toEqual([])
  })

  test.each(['unsubscribe+', 'feedback+', 'other+', 'unsubscribe+feedback+'])(
    '%s with a bad token is refused',
    async prefix => {
      const environment = await startInboundEnvironment()
      const { id } = await logged(environment)
      const token = environment.token(id, { host: 'bounce.example.org' })
      expect(await environment.bring(`${prefix}${token}@${OWN}`, 'x')).toMatch(/^550/)
    },
  )
})

describe('reports about a domain by mail', () => {
  const addressOf = ({ secrets, domain }: InboundEnvironment, kind: 'dmarc' | 'tls', host = BOUNCES) =>
    reportAddress(
      kind,
      reportToken(kind, domain._id, value => secrets.macs('report-address', value)),
      host,
    )
  const mailWith = (file: string) =>
    [
      ...['From: noreply@receiver.example', 'Content-Type: application/gzip; name="r.xml.gz"'],
      ...['Content-Transfer-Encoding: base64', '', gzipSync(file).toString('base64').replaceAll(/.{76}/g, '$&\r\n')],
    ].join('\r\n')
  const counted = ({ mongo }: InboundEnvironment) => mongo.db.collection('domain_reports').countDocuments()

  test('are counted, once', async () => {
    const environment = await startInboundEnvironment()
    for (let n = 0; n < 2; n++) {
      await environment.bring(
        addressOf(environment, 'dmarc').toUpperCase(),
        mailWith(dmarcXml()),
        'noreply@receiver.example',
      )
      await environment.bring(addressOf(environment, 'tls'), mailWith(JSON.stringify(tlsReport())), '')
    }
    expect(await outcomesOf(environment, 4)).toEqual([['taken'], ['taken'], ['taken'], ['taken']])
    expect(await counted(environment)).toBe(2)
  })

  test.each<[string, string]>([
    ['a text', 'From: a@receiver.example\r\n\r\nhello'],
    ['a report about another domain', mailWith(dmarcXml({ domain: 'example.org' }))],
    ['XML with a document type', mailWith('<!DOCTYPE a [<!ENTITY x "y">]><feedback>&x;</feedback>')],
    ['octets that grow', mailWith(' '.repeat(60 * 1024 * 1024))],
  ])('%s is refused without another attempt', async (_, mail) => {
    const environment = await startInboundEnvironment()
    await environment.bring(addressOf(environment, 'dmarc'), mail)
    expect(await outcomesOf(environment)).toEqual([['refused']])
    expect(await counted(environment)).toBe(0)
  })

  test.each<[string, (environment: InboundEnvironment) => string]>([
    ['at another host', environment => addressOf(environment, 'dmarc', OWN)],
    ['of another kind', environment => addressOf(environment, 'dmarc').replace('dmarc+', 'tlsrpt+')],
    ['with another signature', environment => addressOf(environment, 'dmarc').replace(/.@/, '_@')],
  ])('an address %s is refused', async (_, addressIn) => {
    const environment = await startInboundEnvironment()
    expect(await environment.bring(addressIn(environment), 'x')).toMatch(/^550/)
  })
})
