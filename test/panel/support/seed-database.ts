/** Test data that cannot be created through the API: failed deliveries, resources, certificates, a queue, users of an app. */
import { findUserByName } from '../../../services/accounts/store/users.ts'
import { CERTIFICATES } from '../../../services/mail/administration/store/certificates.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import type { ResourceState } from '../../../services/mail/store/documents.ts'
import { explained } from '../../../services/mail/store/rules/explanation.ts'
import { writeSites } from '../../../services/mail/store/sites.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { sentence } from '../../../services/platform/sentences/sentence.ts'
import { openSubscriptions } from '../../../services/subscriptions/context.ts'
import { upsertUser } from '../../../services/subscriptions/people/manage-end-users.ts'
import { giveDomain, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { giveEvent, giveMessage } from '../../support/mail/stored-messages.ts'
import type { PanelService } from './panel-service.ts'

/** The id of a message to a domain that does not exist: no receiving server was involved. */
export const UNROUTED = 'em_01kabcdefghjkmnpqrstvwxyz1'

/** The id of a rejected message with texts of the receiving server. */
export const REFUSED = 'em_01kabcdefghjkmnpqrstvwxyz0'

const HOUR_MS = 3_600_000

/** Inserts all data for the admin, with `text` wherever a third party controls the content. Requires the app `shop`. */
export async function seedStored({ mongo, foundation, admin }: PanelService, text: string): Promise<void> {
  const { db } = mongo
  const userId = (await findUserByName(db, admin.username))?._id ?? ''
  const now = Date.now()

  const message = await giveMessage(db, userId, {
    _id: REFUSED,
    raw: `From: ${text} <hello@sandbox.mail.example.com>\r\nX-Odd: ${text}\r\nSubject: ${text}\r\n\r\n${text}\r\n`,
    subject: text,
    from: 'hello@sandbox.mail.example.com',
    tags: [{ name: 'campaign', value: text }],
    metadata: { note: text },
    rcpts: [{ email: 'nobody@example.net', type: 'to', status: 'bounced', code: 550, enhanced: '5.1.1' }],
  })
  await giveEvent(db, message, { type: 'deferred', code: 451, enhanced: '4.7.1', text: `451 4.7.1 ${text}` })
  await giveEvent(db, message, {
    attempt: 2,
    type: 'bounced',
    code: 550,
    enhanced: '5.1.1',
    mx: 'mx.example.net',
    text: `550 5.1.1 ${text}`,
    conversation: `S: 220 ${text}\nC: EHLO mail.example.com\nS: 550 5.1.1 ${text}`,
  })

  const unrouted = await giveMessage(db, userId, {
    _id: UNROUTED,
    subject: 'unrouted',
    rcpts: [{ email: 'a@no.example', type: 'to', status: 'bounced', code: 550, enhanced: '5.1.2' }],
  })
  await giveEvent(db, unrouted, {
    ...{ type: 'bounced', code: 550, enhanced: '5.1.2' },
    ...explained(sentence('delivery.domain_missing', { domain: 'no.example' })),
  })

  const state: ResourceState = {
    ready: false,
    reason: 'RecordsMissing',
    message: text,
    conditions: [
      { type: 'Ready', status: 'False', reason: 'RecordsMissing', message: text },
      { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'The resource is valid.' },
    ],
    observed_at: new Date(now - 60_000),
  }
  const by = (kind: string, name: string) => ({ kind, namespace: 'web', name, uid: newId('u') })
  const owner = await giveUser(db, { username: 'k8s-web', managed_by: by('Namespace', 'web') })
  await giveDomain(db, owner._id, 'declared.example', { managed_by: by('MailDomain', 'declared'), k8s: state })
  await giveDomain(db, userId, 'own.example', {
    managed_by: by('MailDomain', 'own'),
    k8s: { ...state, ready: true, message: 'Everything is in place.', conditions: [] },
    check: {
      at: new Date(now),
      attempts: 1,
      failures: 1,
      errors: [text],
      records: [
        {
          row: 'ownership',
          status: 'failed',
          observed: [text],
          errors: [text],
          warnings: [text],
          instructions: [text],
        },
      ],
    },
  })

  await collectionOf(db, CERTIFICATES).insertMany(
    [20, 300].map(days => ({
      _id: `AB:${days}`,
      names: [text, 'mail.example.com'],
      issuer: text,
      key: 'RSA 2048',
      notBefore: new Date(now - 24 * HOUR_MS),
      notAfter: new Date(now + days * 24 * HOUR_MS),
      selfSigned: days > 100,
      file: '/tls/tls.crt',
      seen_at: new Date(now),
    })),
  )

  const waiting = (site: string, n: number) => ({
    _id: `${newId('em')}.${n}`,
    m: newId('em'),
    user_id: userId,
    rcpt: `u${n}@${site}`,
    site,
    slot: 0,
    lane: 'bulk' as const,
    due: new Date(now + HOUR_MS * (n + 1)),
    att: 2,
    expires_at: new Date(now + 72 * HOUR_MS),
    created_at: new Date(now),
  })
  await collectionOf(db, DELIVERIES).insertMany([
    ...[0, 1, 2].map(n => waiting('slow.example', n)),
    waiting('paused.example', 0),
  ])
  await writeSites(mongo, [
    {
      ...{ _id: 'paused.example', state: 'down', since: new Date(now - HOUR_MS), limit: 1, updated_at: new Date(now) },
      suspended_until: new Date(now + HOUR_MS),
      reason: '192.0.2.25: no connection within 30 s',
      explanation: sentence('delivery.at_host', {
        host: '192.0.2.25',
        reason: sentence('delivery.no_connection', { seconds: 30 }),
      }),
    },
  ])

  const context = openSubscriptions(foundation)
  const profile = { nickname: text.slice(0, 60), platform: 'ios', email: 'ada@example.org' }
  await upsertUser(context, 'shop', { identities: { openid: 'one' }, profile })
  await context.collections.plans.updateOne(
    { app_key: 'shop', sort_order: { $gte: 0 } },
    { $set: { managed_by: by('SubscriptionPlan', 'monthly'), k8s: state } },
  )
}
