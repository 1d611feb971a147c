import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { systemClock } from '../../platform/clock.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createMetrics } from '../../platform/observability/metrics.ts'
import { inEnglish, sentence } from '../../platform/sentences/sentence.ts'
import type { SenderDomain } from '../domains/store/domains.ts'
import { recipientsToday } from '../limits/store/quota-leases.ts'
import { BODIES, readBody } from '../store/bodies.ts'
import { MESSAGES } from '../store/messages.ts'
import { type AcceptOptions, createAccept } from './accept.ts'
import { createEnqueue, type Enqueue } from './store/store-accepted.ts'
import type { Accepted, Refused, Submission, Submitter } from './submission.ts'

let mongo: Mongo
let enqueue: Enqueue
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, BODIES])
  const placement = { slots: 64, relay: false, bodyDays: 7, logDays: 30 }
  enqueue = createEnqueue({ ...placement, mongo, log: silentLog, metrics: createMetrics('test'), wake() {} })
})
afterAll(() => mongo.stop())

/** Account usr_1 owns example.org (verified), example.net (verified) and new.example (not yet); usr_2 the victim's. */
const DOMAINS: Record<string, SenderDomain> = {
  'usr_1 example.org': { id: 'dom_org', maySend: true, isAuthenticated: true },
  'usr_1 example.net': { id: 'dom_net', maySend: true, isAuthenticated: true },
  'usr_1 xn--mnchen-3ya.example': { id: 'dom_idn', maySend: true, isAuthenticated: true },
  'usr_1 new.example': { id: 'dom_new', maySend: false, isAuthenticated: true },
  'usr_2 victim.example': { id: 'dom_victim', maySend: true, isAuthenticated: true },
}

const OPTIONS: AcceptOptions['config'] = {
  MAIL_HOSTNAME: 'mail.example.com',
  MAX_MESSAGE_BYTES: 10_000,
  MAX_RECIPIENTS: 3,
  RECEIVED_SHOWS_CLIENT: false,
  APP_BASE_URL: 'https://mail.example.com',
  DELIVERY_MODE: 'direct',
}

function service(over: Partial<AcceptOptions> = {}) {
  return createAccept({
    mongo,
    config: OPTIONS,
    clock: systemClock,
    log: silentLog,
    metrics: createMetrics('test'),
    enqueue,
    findSenderDomain: async (userId, name) => DOMAINS[`${userId} ${name}`],
    isSuspended: async userId => userId === 'usr_suspended',
    findSuppressed: async () => new Map(),
    recipientsPerDay: async () => 0,
    findLimits: async () => [],
    defaultLimits: { accountPerSecond: 0, accountPerHour: 0, destinationPerMinute: 0 },
    ...over,
  })
}

const AWAY = sentence('detail.database_unavailable')

const login: Submitter = {
  userId: 'usr_1',
  via: { channel: 'smtp', id: 'crd_1' },
  allowedSenders: [],
  messagesPerHour: 0,
}

function submission(over: Partial<Submission> & { text?: string } = {}): Submission {
  const { text = 'From: a@example.org\r\nSubject: hello\r\n\r\nhi\r\n', ...rest } = over
  return {
    submitter: login,
    mailFrom: 'bounce@example.net',
    recipients: [{ email: 'b@example.com', type: 'envelope' }],
    raw: Buffer.from(text),
    received: { from: 'client.example', ip: '192.0.2.1', protocol: 'ESMTPSA' },
    ...rest,
  }
}

const stored = (id: string) => collectionOf(mongo.db, MESSAGES).findOne({ _id: id })

function accepted(answer: Accepted | Refused): Accepted {
  if (answer.kind !== 'accepted') throw new Error(`${answer.code}: ${inEnglish(answer.detail)}`)
  return answer
}

describe('a message that passes', () => {
  test('is stored as answered, with the finished bytes', async () => {
    const { accept } = service()
    const answer = accepted(
      await accept(submission({ dsn: { ret: 'HDRS', envid: 'e1' }, tags: [{ name: 'a', value: 'b' }] })),
    )
    expect(answer).toMatchObject({
      replayed: false,
      messageId: `<${answer.id}@example.org>`,
      recipients: [{ email: 'b@example.com', type: 'envelope', status: 'queued' }],
    })
    expect(await stored(answer.id)).toMatchObject({
      user_id: 'usr_1',
      domain_id: 'dom_org',
      via: { channel: 'smtp', id: 'crd_1' },
      mail_from: 'bounce@example.net',
      from: 'a@example.org',
      subject: 'hello',
      dsn: { ret: 'HDRS', envid: 'e1' },
      tags: [{ name: 'a', value: 'b' }],
      lane: 'transactional',
      ambiguous: 'retry',
      created_at: answer.createdAt,
    })
    const raw = await readBody(mongo, answer.id, 1)
    expect(raw?.toString()).toMatch(/^Received: by mail\.example\.com with ESMTPSA id em_/)
    expect(raw?.toString()).toContain(`Message-ID: ${answer.messageId}\r\nFrom: a@example.org`)
  })

  test('the validated form of the addresses is the stored one', async () => {
    const answer = accepted(
      await service().accept(
        submission({
          mailFrom: 'x@MÜNCHEN.example',
          text: 'From: Ann <a@Example.ORG>\r\n\r\n',
          recipients: [{ email: 'b@BÜCHER.example', type: 'to' }],
        }),
      ),
    )
    expect(answer.recipients).toMatchObject([{ email: 'b@xn--bcher-kva.example' }])
    expect(await stored(answer.id)).toMatchObject({
      mail_from: 'x@xn--mnchen-3ya.example',
      from: 'a@example.org',
      rcpts: [{ email: 'b@xn--bcher-kva.example' }],
    })
  })

  test('in the name of others of the account it is sent, too, and the log records its origin', async () => {
    const lines: unknown[] = []
    const log = { ...silentLog, info: (line: unknown) => lines.push(line) }
    const text = 'Sender: s@example.net\r\nResent-From: R <r@example.org>\r\nFrom: a@example.org\r\n\r\n'
    const answer = accepted(await service({ log: log as typeof silentLog }).accept(submission({ text })))
    expect((await readBody(mongo, answer.id, 1))?.toString()).not.toMatch(/client\.example|192\.0\.2\.1/)
    expect(lines).toMatchObject([{ id: answer.id, ip: '192.0.2.1', helo: 'client.example' }])
  })

  test('the position of a foreign address is reported', async () => {
    const text = 'From: a@example.org\r\nSender: x@victim.example\r\n\r\n'
    expect(await service().accept(submission({ text }))).toMatchObject({
      detail: sentence('detail.of_field', {
        field: 'Sender',
        reason: sentence('detail.sender_domain', { domain: 'victim.example' }),
      }),
    })
  })

  test('scheduled and test messages are marked', async () => {
    const later = new Date(Date.now() + 60_000)
    const { accept } = service()
    const scheduled = accepted(await accept(submission({ scheduledAt: later })))
    expect(scheduled.recipients).toMatchObject([{ status: 'scheduled' }])
    const past = accepted(await accept(submission({ scheduledAt: new Date(0) })))
    expect(past.recipients).toMatchObject([{ status: 'queued' }])
    const simulated = accepted(await accept(submission({ submitter: { ...login, test: true } })))
    expect(await stored(simulated.id)).toMatchObject({ test: true, left: 0 })
  })
})

describe('a login with a fallback sender', () => {
  const machine: Submitter = { ...login, fallbackSender: 'ops@example.org' }

  test.each([
    ['root@web1', 'From: root@web1 (Cron Daemon)', '"Cron Daemon" <ops@example.org>'],
    ['root', 'From: root', '"root" <ops@example.org>'],
    ['root@web_1.internal', 'From: root@web_1.internal', '"root at web_1.internal" <ops@example.org>'],
    ['x@victim.example', 'From: "Mail \\"Sys\\"" <x@victim.example>', '"Mail \\"Sys\\"" <ops@example.org>'],
    ['x@victim.example', 'From: J\u00fcrgen <x@victim.example>', '=?utf-8?Q?J=C3=BCrgen?= <ops@example.org>'],
    [
      'x@victim.example',
      'Sender: y@web1\r\nFrom: a@example.org, b@web1',
      '"a at example.org, b at web1" <ops@example.org>',
    ],
  ])('sends in its name what comes from %s: %s', async (mailFrom, fields, author) => {
    const answer = accepted(
      await service().accept(
        submission({ submitter: machine, mailFrom, text: `${fields}\r\nSubject: x\r\n\r\nhi\r\n` }),
      ),
    )
    expect(await stored(answer.id)).toMatchObject({
      mail_from: 'ops@example.org',
      from: 'ops@example.org',
      domain_id: 'dom_org',
      message_id: `<${answer.id}@example.org>`,
    })
    const raw = (await readBody(mongo, answer.id, 1))?.toString()
    expect(raw).toContain(`From: ${author}\r\nSubject: x\r\n\r\nhi\r\n`)
    expect(raw).not.toMatch(/^Sender:/m)
  })

  test.each([
    ['a foreign Sender', 'root@web1.internal'],
    ['a Sender that is no address', 'root@web1'],
    ['a Sender of another account', 'x@victim.example'],
  ])('keeps an author that it may use and drops %s', async (_, sender) => {
    const text = `Sender: ${sender}\r\nFrom: Ann <a@example.net>\r\n\r\nhi\r\n`
    const answer = accepted(await service().accept(submission({ submitter: machine, mailFrom: 'b@example.net', text })))
    expect(await stored(answer.id)).toMatchObject({ mail_from: 'b@example.net', from: 'a@example.net' })
    const raw = (await readBody(mongo, answer.id, 1))?.toString()
    expect(raw).toContain('From: Ann <a@example.net>\r\n\r\nhi')
    expect(raw).not.toMatch(/^Sender:/m)
  })

  test('keeps senders that it may use, and reports own domains that may not send yet', async () => {
    const text = 'Sender: s@example.net\r\nFrom: Ann <a@example.net>\r\n\r\nhi\r\n'
    const answer = accepted(await service().accept(submission({ submitter: machine, mailFrom: 'b@example.net', text })))
    expect(await stored(answer.id)).toMatchObject({ mail_from: 'b@example.net', from: 'a@example.net' })
    expect((await readBody(mongo, answer.id, 1))?.toString()).toContain(
      'Sender: s@example.net\r\nFrom: Ann <a@example.net>',
    )
    for (const over of [{ mailFrom: 'a@new.example' }, { text: 'From: a@new.example\r\n\r\n' }])
      expect(await service().accept(submission({ submitter: machine, ...over }))).toMatchObject({
        code: 'domain_not_verified',
      })
  })

  test.each<[string, Partial<Submitter>, Partial<Submission> & { text?: string }, string, RegExp]>([
    ['an empty sender without leave', {}, { mailFrom: '' }, 'null_sender_refused', /empty envelope sender/],
    [
      'a foreign Resent-From',
      {},
      { text: 'Resent-From: x@victim.example\r\nFrom: a@example.org\r\n\r\n' },
      'sender_not_allowed',
      /^Resent-From: /,
    ],
    [
      'a fallback of another account',
      { fallbackSender: 'x@victim.example' },
      { mailFrom: 'root@web1' },
      'sender_not_allowed',
      /^The fallback sender of this login cannot be used\. victim\.example/,
    ],
    [
      'a fallback that is not verified',
      { fallbackSender: 'x@new.example' },
      { mailFrom: 'root' },
      'domain_not_verified',
      /^The fallback sender/,
    ],
    [
      'a fallback outside of the login',
      { allowedSenders: ['@example.net'] },
      { mailFrom: 'root' },
      'sender_not_allowed',
      /^The fallback sender/,
    ],
  ])('is refused %s', async (_, change, over, code, detail) => {
    const answer = await service().accept(submission({ submitter: { ...machine, ...change }, ...over }))
    expect(answer).toMatchObject({ kind: 'refused', code })
    expect(answer.kind === 'refused' && inEnglish(answer.detail)).toMatch(detail)
  })
})

test('a login marked for it sends with an empty envelope sender, in a name of its own', async () => {
  const bouncer: Submitter = { ...login, allowNullSender: true }
  const answer = accepted(await service().accept(submission({ submitter: bouncer, mailFrom: '' })))
  expect(await stored(answer.id)).toMatchObject({ mail_from: '', from: 'a@example.org' })
  const foreign = submission({ submitter: bouncer, mailFrom: '', text: 'From: x@victim.example\r\n\r\n' })
  expect(await service().accept(foreign)).toMatchObject({ code: 'sender_not_allowed' })
})

describe('a refused message stores nothing', () => {
  const many = (n: number) => Array.from({ length: n }, (_, i) => ({ email: `r${i}@example.com`, type: 'to' as const }))
  test.each<[string, Parameters<typeof submission>[0], string]>([
    ['null sender', { mailFrom: '' }, 'null_sender_refused'],
    ['sender that is no address', { mailFrom: 'x' }, 'sender_not_allowed'],
    ['foreign envelope domain', { mailFrom: 'x@victim.example' }, 'sender_not_allowed'],
    ['parent of an own domain', { mailFrom: 'x@sub.example.org' }, 'sender_not_allowed'],
    ['foreign author', { text: 'From: a@victim.example\r\n\r\n' }, 'sender_not_allowed'],
    ['one foreign author of two', { text: 'From: a@example.org, b@victim.example\r\n\r\n' }, 'sender_not_allowed'],
    ['unverified author', { text: 'From: a@new.example\r\n\r\n' }, 'domain_not_verified'],
    ['unverified envelope', { mailFrom: 'a@new.example' }, 'domain_not_verified'],
    ['author hidden in a display name', { text: 'From: a@example.org <b@victim.example>\r\n\r\n' }, 'bad_header'],
    ['foreign Sender', { text: 'From: a@example.org\r\nSender: x@victim.example\r\n\r\n' }, 'sender_not_allowed'],
    [
      'foreign Resent-From',
      { text: 'Resent-From: x@victim.example\r\nFrom: a@example.org\r\n\r\n' },
      'sender_not_allowed',
    ],
    [
      'unverified Resent-Sender',
      { text: 'Resent-Sender: x@new.example\r\nFrom: a@example.org\r\n\r\n' },
      'domain_not_verified',
    ],
    ['two Subject fields', { text: 'From: a@example.org\r\nSubject: a\r\nsubject: b\r\n\r\n' }, 'bad_header'],
    ['two From fields', { text: 'From: a@example.org\r\nFrom: b@example.org\r\n\r\n' }, 'bad_header'],
    ['bare LF', { text: 'From: a@example.org\r\n\r\na\nb' }, 'bad_line_endings'],
    ['too large', { text: `From: a@example.org\r\n\r\n${'x\r\n'.repeat(4000)}` }, 'message_too_large'],
    ['no recipient', { recipients: [] }, 'bad_recipient'],
    ['recipient that is none', { recipients: [{ email: 'b', type: 'to' }] }, 'bad_recipient'],
    ['recipient with a line break', { recipients: [{ email: 'b@example.com\r\nX: y', type: 'to' }] }, 'bad_recipient'],
    ['UTF-8 recipient without SMTPUTF8', { recipients: [{ email: 'ü@example.com', type: 'to' }] }, 'bad_recipient'],
    ['UTF-8 sender without SMTPUTF8', { mailFrom: 'ü@example.org' }, 'sender_not_allowed'],
    ['too many recipients', { recipients: many(4) }, 'too_many_recipients'],
    ['bad key', { text: `X-Idempotency-Key: ${'k'.repeat(257)}\r\nFrom: a@example.org\r\n\r\n` }, 'bad_header'],
    ['suspended account', { submitter: { ...login, userId: 'usr_suspended' } }, 'account_suspended'],
    ['sender outside the login', { submitter: { ...login, allowedSenders: ['@example.org'] } }, 'sender_not_allowed'],
  ])('%s', async (_, over, code) => {
    const before = await mongo.db.collection('messages').estimatedDocumentCount()
    expect(await service().accept(submission(over))).toMatchObject({ kind: 'refused', code })
    expect(await mongo.db.collection('messages').estimatedDocumentCount()).toBe(before)
  })

  test('a refusal is counted by its code', async () => {
    const metrics = createMetrics('test')
    const { accept } = service({ metrics })
    await accept(submission({ mailFrom: '' }))
    await accept(submission())
    expect((await metrics.refused.get()).values).toMatchObject([
      { labels: { channel: 'smtp', code: 'null_sender_refused' }, value: 1 },
    ])
    expect((await metrics.accepted.get()).values).toMatchObject([{ labels: { channel: 'smtp' }, value: 1 }])
  })

  test.each<[string, Partial<AcceptOptions>, string]>([
    ['look-up fails', { findSenderDomain: () => Promise.reject(new Error('away')) }, 'problem.queue_unavailable'],
    ['store fails', { enqueue: async () => ({ kind: 'unavailable', reason: AWAY }) }, AWAY.code],
  ])('"try again" when the %s', async (_, over, code) => {
    const refused = { kind: 'refused', code: 'queue_unavailable', detail: { code } }
    expect(await service(over).accept(submission())).toMatchObject(refused)
  })
})

describe('messages per hour', () => {
  const limited: Submitter = { ...login, via: { channel: 'smtp', id: 'crd_limited' }, messagesPerHour: 2 }

  test('the limit counts accepted messages only', async () => {
    let away = true
    const { accept } = service({
      enqueue: async message => (away ? { kind: 'unavailable', reason: AWAY } : enqueue(message)),
    })
    const one = () => accept(submission({ submitter: limited }))
    expect(await one()).toMatchObject({ code: 'queue_unavailable' })
    await accept(submission({ submitter: limited, mailFrom: '' }))
    away = false
    expect([await one(), await one(), await one()]).toMatchObject([
      { kind: 'accepted' },
      { kind: 'accepted' },
      { kind: 'refused', code: 'quota_exceeded' },
    ])
  })
})

describe('recipients per day', () => {
  const to = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ email: `r${i}@example.com`, type: 'envelope' as const }))
  /** An account that may send to so many, over SMTP with a login and over HTTP with a token. */
  function account(perDay: number, over: Partial<AcceptOptions> = {}) {
    const userId = newId('usr')
    const { accept, stop } = service({
      findSenderDomain: async () => ({ id: 'dom_org', maySend: true, isAuthenticated: true }),
      recipientsPerDay: async id => (id === userId ? perDay : 0),
      ...over,
    })
    const by = (channel: 'smtp' | 'http', more: Partial<Submitter> = {}): Submitter => ({
      ...login,
      userId,
      via: { channel, id: newId(channel === 'smtp' ? 'crd' : 'tok') },
      ...more,
    })
    const send = (recipients: number, submitter = by('smtp'), more: Parameters<typeof submission>[0] = {}) =>
      accept(submission({ recipients: to(recipients), submitter, ...more }))
    const used = async () => {
      await stop()
      return (await recipientsToday(mongo.db, [userId], systemClock.now())).get(userId) ?? 0
    }
    return { by, send, used }
  }

  test('SMTP and HTTP share the daily quota of the account; a submission beyond it is refused completely, with the rest of the quota', async () => {
    const { by, send, used } = account(6)
    expect(await send(3, by('smtp'))).toMatchObject({ kind: 'accepted' })
    expect(await send(1, by('http'))).toMatchObject({ kind: 'accepted' })
    const before = await mongo.db.collection('messages').estimatedDocumentCount()
    const refused = await send(3, by('http'))
    expect(refused).toMatchObject({
      kind: 'refused',
      code: 'daily_quota_exceeded',
      detail: sentence('detail.daily_limit', { limit: 6, left: 2 }),
      quota: { limit: 6, left: 2 },
    })
    expect(await mongo.db.collection('messages').estimatedDocumentCount()).toBe(before)
    expect(await send(2, by('smtp'))).toMatchObject({ kind: 'accepted' })
    expect(await send(1, by('smtp'))).toMatchObject({ code: 'daily_quota_exceeded', quota: { left: 0 } })
    expect(await used()).toBe(6)
  })

  test.each([
    ['2026-11-21T00:00:00.000Z', 86_400],
    ['2026-11-21T23:59:58.500Z', 2],
    ['2026-11-21T23:59:59.999Z', 1],
  ])('refused at %s it restarts in %i s', async (time, resetSeconds) => {
    const clock = testClock(new Date(time))
    const { send } = account(1, { clock })
    expect(await send(2)).toMatchObject({ quota: { limit: 1, left: 1, resetSeconds } })
    clock.advance(resetSeconds * 1000)
    expect(await send(1)).toMatchObject({ kind: 'accepted' })
  })

  test('test mode is free', async () => {
    const { by, send, used } = account(1)
    expect(await send(3, by('http', { test: true }))).toMatchObject({ kind: 'accepted' })
    expect(await send(1)).toMatchObject({ kind: 'accepted' })
    expect(await send(3, by('http', { test: true }))).toMatchObject({ kind: 'accepted' })
    expect(await used()).toBe(1)
  })

  test('what is refused or not stored costs nothing, of the day nor of the hour', async () => {
    let away = true
    const { by, send, used } = account(2, {
      enqueue: async message => (away ? { kind: 'unavailable', reason: AWAY } : enqueue(message)),
    })
    const hourly = by('smtp', { messagesPerHour: 1 })
    expect(await send(2, hourly)).toMatchObject({ code: 'queue_unavailable' })
    expect(await send(2, hourly, { mailFrom: '' })).toMatchObject({ code: 'null_sender_refused' })
    away = false
    expect(await send(3, hourly)).toMatchObject({ code: 'daily_quota_exceeded' })
    expect(await send(1, hourly)).toMatchObject({ kind: 'accepted' })
    expect(await send(1, hourly)).toMatchObject({ code: 'quota_exceeded' })
    expect(await send(1)).toMatchObject({ kind: 'accepted' })
    expect(await used()).toBe(2)
  })

  test('the hour gets its message back when the limit of the day cannot be read', async () => {
    let away = true
    const { by, send } = account(0, {
      recipientsPerDay: () => (away ? Promise.reject(new Error('away')) : Promise.resolve(0)),
    })
    const hourly = by('smtp', { messagesPerHour: 1 })
    expect(await send(1, hourly)).toMatchObject({ code: 'queue_unavailable' })
    away = false
    expect(await send(1, hourly)).toMatchObject({ kind: 'accepted' })
  })

  test('a replay and the loser of a race for a key cost nothing', async () => {
    const { by, send, used } = account(100)
    const submitter = by('http')
    const idem = { key: 'send:day', hash: 'h' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(3, submitter, { idem })))
    expect(answers.filter(answer => accepted(answer).replayed)).toHaveLength(9)
    accepted(await send(3, submitter, { idem }))
    expect(await used()).toBe(3)
  })

  test('a limit that changes counts from the next message, and accounts without one write nothing', async () => {
    let perDay = 0
    const { by, send, used } = account(0, { recipientsPerDay: async () => perDay })
    const submitter = by('http')
    await send(3, submitter)
    perDay = 2
    expect(await send(3, submitter)).toMatchObject({ code: 'daily_quota_exceeded' })
    expect(await send(2, submitter)).toMatchObject({ kind: 'accepted' })
    perDay = 3
    expect(await send(1, submitter)).toMatchObject({ kind: 'accepted' })
    perDay = 0
    expect(await send(3, submitter)).toMatchObject({ kind: 'accepted' })
    expect(await used()).toBe(3)
  })
})

describe('idempotency', () => {
  const withKey = (key: string, body = 'hi', over: Partial<Submission> = {}) =>
    submission({ text: `From: a@example.org\r\nX-Idempotency-Key: ${key}\r\n\r\n${body}\r\n`, ...over })

  test('20 parallel submissions with one key over two processes make one message and one answer', async () => {
    const services = [service(), service()]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => services[i % 2]?.accept(withKey('parallel'))),
    )
    const all = answers.map(answer => accepted(answer as Accepted))
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await mongo.db.collection('messages').countDocuments({ 'idem.key': 'smtp:parallel' })).toBe(1)
    expect(await mongo.db.collection('deliveries').countDocuments({ m: all[0]?.id })).toBe(1)
  })

  test('the replay is the stored answer; the field itself goes nowhere', async () => {
    const { accept } = service()
    const first = accepted(await accept(withKey('again')))
    expect(await accept(withKey('again'))).toEqual({ ...first, replayed: true })
    expect((await readBody(mongo, first.id, 1))?.toString()).not.toContain('again')
  })

  test.each<[string, Submission]>([
    ['body', withKey('reused', 'other')],
    ['recipient', withKey('reused', 'hi', { recipients: [{ email: 'c@example.com', type: 'envelope' }] })],
  ])('another %s under the same key is refused', async (_, other) => {
    const { accept } = service()
    accepted(await accept(withKey('reused')))
    expect(await accept(other)).toMatchObject({ kind: 'refused', code: 'idempotency_key_reused' })
  })

  test('the key of the channel counts, not the field', async () => {
    const { accept } = service()
    const http = { ...login, via: { channel: 'http' as const, id: 'tok_1' } }
    const idem = { key: 'send:k', hash: 'h1' }
    const first = accepted(await accept(withKey('field', 'hi', { submitter: http, idem })))
    expect(await accept(withKey('field', 'other', { submitter: http, idem }))).toEqual({ ...first, replayed: true })
    expect(await accept(submission({ submitter: http, idem: { ...idem, hash: 'h2' } }))).toMatchObject({
      code: 'idempotency_key_reused',
    })
    expect(accepted(await accept(withKey('field', 'hi', { submitter: http }))).replayed).toBe(false)
  })

  test('a replay costs nothing of the hour', async () => {
    const submitter: Submitter = { ...login, via: { channel: 'smtp', id: 'crd_replay' }, messagesPerHour: 1 }
    const { accept } = service()
    accepted(await accept(withKey('hour', 'hi', { submitter })))
    expect(accepted(await accept(withKey('hour', 'hi', { submitter }))).replayed).toBe(true)
  })
})

describe('a message whose domain or token does not let it go to its recipients', () => {
  const CAPTURE = { mode: 'capture' } as const
  const REDIRECT = { mode: 'redirect', to: 'qa@team.example' } as const
  const ORIGINAL = [{ email: 'b@example.com', type: 'envelope' }]
  const withSender = 'From: a@example.org\r\nSender: c@example.net\r\nSubject: hello\r\n\r\nhi\r\n'
  const withAuthors = 'From: a@example.org, c@example.net\r\nSender: a@example.org\r\nSubject: hello\r\n\r\nhi\r\n'
  type Case = [
    string,
    Record<string, SenderDomain['diversion']>,
    Partial<Submission> & { text?: string },
    { capture?: string; redirected_from?: object; to?: string },
  ]

  test.each<Case>([
    ['nothing', {}, {}, {}],
    ['its author', { 'example.org': CAPTURE }, {}, { capture: 'domain' }],
    ['its envelope sender', { 'example.net': CAPTURE }, {}, { capture: 'domain' }],
    ['its Sender', { 'example.net': CAPTURE }, { mailFrom: 'x@example.org', text: withSender }, { capture: 'domain' }],
    [
      'a further author',
      { 'example.net': CAPTURE },
      { mailFrom: 'x@example.org', text: withAuthors },
      { capture: 'domain' },
    ],
    ['its token', {}, { submitter: { ...login, capture: true } }, { capture: 'token' }],
    [
      'its token, whatever the domain does',
      { 'example.org': REDIRECT },
      { submitter: { ...login, capture: true } },
      { capture: 'token' },
    ],
    ['a redirect', { 'example.org': REDIRECT }, {}, { redirected_from: ORIGINAL, to: 'qa@team.example' }],
    ['a redirect and a capture', { 'example.org': REDIRECT, 'example.net': CAPTURE }, {}, { capture: 'domain' }],
  ])('by %s is stored accordingly', async (_, diversions, given, expected) => {
    const findSenderDomain: AcceptOptions['findSenderDomain'] = async (userId, name) => {
      const domain = DOMAINS[`${userId} ${name}`]
      return domain && { ...domain, diversion: diversions[name] }
    }
    const { id, recipients } = accepted(await service({ findSenderDomain }).accept(submission(given)))
    const message = await stored(id)
    const { to = 'b@example.com', ...marks } = expected
    expect({ capture: message?.capture, redirected_from: message?.redirected_from }).toEqual({
      ...{ capture: undefined, redirected_from: undefined },
      ...marks,
    })
    expect(recipients.map(({ email }) => email)).toEqual([to])
    const [delivery] = await mongo.db.collection('deliveries').find({ m: id }).toArray()
    expect([delivery?.rcpt, delivery?.site]).toEqual([to, marks.capture ? 'capture' : to.slice(to.indexOf('@') + 1)])
  })

  test.each<[string, Record<string, SenderDomain['diversion']>, Partial<Submission>, string | undefined]>([
    ['a redirect', { 'example.org': REDIRECT }, {}, undefined],
    ['a capture', { 'example.org': CAPTURE }, {}, 'domain'],
    ['a redirect and a capture', { 'example.org': REDIRECT, 'example.net': CAPTURE }, {}, 'domain'],
    ['a token', { 'example.org': REDIRECT }, { submitter: { ...login, capture: true } }, 'token'],
  ])('by %s keeps its recipients where the installation captures', async (_, diversions, given, capture) => {
    const findSenderDomain: AcceptOptions['findSenderDomain'] = async (userId, name) => {
      const domain = DOMAINS[`${userId} ${name}`]
      return domain && { ...domain, diversion: diversions[name] }
    }
    const config = { ...OPTIONS, DELIVERY_MODE: 'capture' } as const
    const { id, recipients } = accepted(await service({ findSenderDomain, config }).accept(submission(given)))
    expect(recipients.map(({ email }) => email)).toEqual(['b@example.com'])
    const message = await stored(id)
    expect([message?.capture, message?.redirected_from]).toEqual([capture, undefined])
  })
})
