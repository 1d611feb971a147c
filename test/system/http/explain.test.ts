/** GET /api/v1/emails/{id}/explain: reason, side and next step of each recipient, with the evidence of the database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { domains } from '../../../services/mail/domains/store/domain-model.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import type { DeliveryDoc, MessageDoc } from '../../../services/mail/store/documents.ts'
import { SITES } from '../../../services/mail/store/sites.ts'
import { SUPPRESSIONS } from '../../../services/mail/suppressions/store/suppressions.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, startSendApi } from '../../support/http/send-api.ts'
import { giveEvent, giveMessage } from '../../support/mail/stored-messages.ts'

interface Recipient {
  recipient: { email: string }
  what: string
  what_code: string
  why_code: string | null
  responsible: string
  next_code: string
  kind: string | null
  evidence: Record<string, unknown>[]
}

let api: SendApi
let message: MessageDoc
const since = new Date('2026-11-20T00:00:00Z')
const EMAILS = ['gone', 'spf', 'slow', 'listed'].map(local => `${local}@example.net`)

beforeAll(async () => {
  api = await startSendApi()
  const { db } = api.mongo
  message = await giveMessage(db, api.user._id, {
    domain_id: api.domainId,
    left: 1,
    rcpts: [
      { email: EMAILS[0] as string, type: 'to', status: 'bounced', code: 550, enhanced: '5.1.1', at: since },
      { email: EMAILS[1] as string, type: 'to', status: 'bounced', code: 550, enhanced: '5.7.27', at: since },
      { email: EMAILS[2] as string, type: 'to', status: 'deferred', code: 421, at: since },
      { email: EMAILS[3] as string, type: 'to', status: 'suppressed', at: since },
    ],
  })
  const events = [
    { type: 'bounced', code: 550, enhanced: '5.1.1', kind: 'address', text: '550 5.1.1 User unknown' },
    { type: 'bounced', code: 550, enhanced: '5.7.27', kind: 'authentication', text: '550 5.7.27 SPF did not pass' },
    { type: 'deferred', code: 421, kind: 'throttled', text: '421 4.7.0 too many messages' },
    { type: 'suppressed', text: 'on the suppression list' },
  ] as const
  for (const [n, event] of events.entries())
    await giveEvent(db, message, { ...event, _id: `${message._id}.${n}#1`, rcpt: EMAILS[n] as string })
  await collectionOf(db, domains).updateOne({ _id: api.domainId }, {
    $set: {
      check: {
        ...{ at: since, attempts: 1, failures: 0, errors: [] },
        records: ['ownership', 'spf', 'dkim:s1', 'dmarc'].map(row => ({
          ...{ row, status: row === 'spf' ? 'failed' : 'verified', observed: row === 'spf' ? ['v=spf1 -all'] : [] },
          ...{ errors: [], warnings: [], instructions: [] },
        })),
      },
    },
  } as never)
  const delivery = { _id: `${message._id}.2`, m: message._id, user_id: api.user._id, rcpt: EMAILS[2], site: 'google' }
  await collectionOf(db, DELIVERIES).insertOne({
    ...delivery,
    ...{ slot: 0, lane: 'transactional', due: new Date(Date.now() + 60_000), att: 1 },
    ...{ expires_at: message.expires_at, created_at: since },
  } as DeliveryDoc)
  await collectionOf(db, SITES).insertOne({
    ...{ _id: 'google', state: 'throttled', since, reason: '421 4.7.0 too many', limit: 1, updated_at: new Date() },
  })
  await collectionOf(db, SUPPRESSIONS).insertOne({
    ...{ _id: newId('sup'), user_id: api.user._id, email: EMAILS[3] as string, stream: '', reason: 'complaint' },
    ...{ origin: 'report', created_at: since },
  })
})
afterAll(() => api.stop())

const explain = (id = message._id, token?: string) =>
  api.call('GET', `/api/v1/emails/${id}/explain`, token === undefined ? {} : { token })

describe('an explanation', () => {
  test('has each recipient, in the order of the message', async () => {
    const { status, body } = await explain()
    expect(status).toBe(200)
    const { recipients } = body as { recipients: Recipient[] }
    expect(recipients.map(({ recipient }) => recipient.email)).toEqual(EMAILS)
    expect(recipients.map(({ responsible, next_code, kind }) => [responsible, next_code, kind])).toEqual([
      ['recipient', 'explain.do_check_address', 'address'],
      ['sender_dns', 'authentication.fix_spf', 'authentication'],
      ['receiver', 'explain.do_slow_down', 'throttled'],
      ['recipient', 'explain.do_remove_suppression', null],
    ])
    expect(recipients[0]?.what).toMatch(/^mx\.example\.net rejected the message permanently at \d{4}-/)
  })

  test('rests on the reply, the DNS check, the state of the destination, and the suppression', async () => {
    const { recipients } = (await explain()).body as { recipients: Recipient[] }
    const [gone, spf, slow, listed] = recipients.map(({ evidence }) => evidence)
    expect(gone).toMatchObject([
      { type: 'reply', smtp_code: 550, enhanced_code: '5.1.1', text: '550 5.1.1 User unknown' },
    ])
    expect(spf?.slice(1)).toEqual([
      {
        ...{ type: 'dns_record', record: 'spf', status: 'failed', observed: ['v=spf1 -all'] },
        checked_at: since.toISOString(),
      },
      expect.objectContaining({ record: 'dkim:s1', status: 'verified' }),
      expect.objectContaining({ record: 'dmarc' }),
    ])
    expect(slow?.slice(1)).toEqual([
      {
        ...{ type: 'destination', site: 'google', state: 'throttled', since: since.toISOString() },
        reason: '421 4.7.0 too many',
      },
    ])
    expect(listed?.slice(1)).toEqual([
      {
        ...{ type: 'suppression', email: EMAILS[3], stream: null, reason: 'complaint' },
        ...{ since: since.toISOString(), expires_at: null },
      },
    ])
  })

  test('of a suppression that was removed since has no entry', async () => {
    const { db } = api.mongo
    const removed = await collectionOf(db, SUPPRESSIONS).findOneAndDelete({ email: EMAILS[3] as string })
    const { recipients } = (await explain()).body as { recipients: Recipient[] }
    expect(recipients[3]?.evidence.map(({ type }) => type)).toEqual(['reply'])
    if (removed) await collectionOf(db, SUPPRESSIONS).insertOne(removed)
  })

  test('of a message that was just accepted says that it waits', async () => {
    const body = { from: 'ann@example.com', to: 'new@example.net', subject: 's', text: 't' }
    const { id } = (await api.call('POST', '/api/v1/emails', { body })).body as { id: string }
    const { recipients } = (await explain(id)).body as { recipients: Recipient[] }
    expect(recipients).toMatchObject([
      { what_code: 'explain.queued', responsible: 'none', why_code: null, kind: null, evidence: [] },
    ])
  })

  test('is for the account alone', async () => {
    const stranger = await giveToken(api.mongo.db, (await giveUser(api.mongo.db))._id)
    expect((await explain(message._id, stranger.value)).status).toBe(404)
    const mute = await giveToken(api.mongo.db, api.user._id, { scopes: ['emails:send'] })
    expect((await explain(message._id, mute.value)).status).toBe(403)
    expect((await explain(`em_${'0'.repeat(26)}`)).status).toBe(404)
  })
})
