/** Which reports final results cause, stored by a real queue: recipients, contents, and how often. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../../test/support/database/test-database.ts'
import { testClock } from '../../../test/support/time/test-clock.ts'
import { collectionOf, ensureIndexes, type Mongo } from '../../platform/database/mongo.ts'
import { newId } from '../../platform/ids.ts'
import { silentLog } from '../../platform/observability/log.ts'
import { createMetrics } from '../../platform/observability/metrics.ts'
import { BODIES, readBody } from '../store/bodies.ts'
import { cellsOf } from '../store/cells.ts'
import { DELIVERIES } from '../store/deliveries.ts'
import type { EventDoc, MessageDoc, RecipientState } from '../store/documents.ts'
import { eventId } from '../store/events.ts'
import { MESSAGES } from '../store/messages.ts'
import type { OutgoingMessage } from '../store/outgoing.ts'
import { createEnqueue } from '../submission/store/store-accepted.ts'
import type { Result } from './batch/attempt-result.ts'
import { createReport } from './failure-report.ts'
import type { FindCapture } from './find-capture.ts'

const clock = testClock()
const HEADER = 'From: ann@example.com\r\nSubject: the original\r\n'

let mongo: Mongo
beforeAll(async () => {
  mongo = await freshDatabase()
  await ensureIndexes(mongo.db, [MESSAGES, BODIES, DELIVERIES])
})
beforeEach(async () => void (await collectionOf(mongo.db, MESSAGES).deleteMany({})))
afterAll(() => mongo.stop())

/** The function of one worker; `raw`: the stored message, undefined when it is gone. */
function reporter(
  {
    raw,
    limit,
    findCapture = async () => undefined,
  }: {
    raw?: Buffer | undefined
    limit?: number
    findCapture?: FindCapture
  } = { raw: Buffer.from(`${HEADER}\r\nHi`) },
) {
  const enqueue = createEnqueue({
    ...{ mongo, log: silentLog, metrics: createMetrics('test'), wake: () => undefined },
    ...{ slots: 8, relay: false, bodyDays: 7, logDays: 30 },
    ...(limit !== undefined && { maxWaitingBytes: limit }),
  })
  const readRaw = async () => raw
  return createReport({
    ...{ enqueue, readRaw, findCapture, clock, from: 'postmaster@mail.test', hostname: 'mail.test' },
    cells: cellsOf(mongo.db),
  })
}

type Rcpt = Partial<RecipientState> & Pick<RecipientState, 'email'>

function messageTo(rcpts: readonly Rcpt[], change: Partial<MessageDoc> = {}): OutgoingMessage {
  const message = { _id: newId('em'), mail_from: 'ann@example.com', parts: 1, created_at: clock.now(), ...change }
  return { ...message, rcpts } as never
}

const failed = { kind: 'end', status: 'bounced', event: 'bounced' } as const

/** The final result of one recipient of a message. */
function result(
  message: OutgoingMessage,
  n: number,
  {
    next = failed,
    event = {},
    reportsItself = false,
  }: { next?: Result['next']; event?: Partial<EventDoc>; reportsItself?: boolean } = {},
): Result {
  const _id = `${message._id}.${n}`
  return {
    delivery: { id: _id, recipient: message.rcpts[n]?.email ?? '' } as never,
    message,
    event: { _id: eventId(_id, 1), type: 'bounced', text: 'no', at: clock.now(), ...event } as EventDoc,
    ...{ next, reportsItself, classification: { outcome: next.kind === 'delivered' ? 'delivered' : 'bounced' } },
  }
}

interface Report {
  message: MessageDoc
  text: string
  /** What people read, decoded. */
  words: string
}

async function reports(): Promise<Report[]> {
  const messages = await collectionOf(mongo.db, MESSAGES).find({ user_id: 'system' }).sort({ _id: 1 }).toArray()
  return Promise.all(
    messages.map(async message => {
      const text = (await readBody(mongo, message._id, message.parts))?.toString() ?? ''
      const encoded = /Content-Transfer-Encoding: base64\r\n\r\n([\s\S]*?)\r\n--/.exec(text)?.[1] ?? ''
      return { message, text, words: Buffer.from(encoded, 'base64').toString('utf8') }
    }),
  )
}

const all = (text: string, field: string) =>
  [...text.matchAll(new RegExp(`^${field}: (.*?)\\r$`, 'gm'))].map(([, value]) => value)

describe('the recipients of reports', () => {
  const delivered = { kind: 'delivered' } as const
  const retry = { kind: 'retry', due: clock.now() } as const
  const canceled = { kind: 'end', status: 'canceled', event: 'canceled' } as const
  test.each<[string[] | undefined, Result['next'], boolean, string[]]>([
    [undefined, failed, false, ['failed']],
    [undefined, delivered, false, []],
    [[], failed, false, ['failed']],
    [['FAILURE'], failed, false, ['failed']],
    [['FAILURE'], delivered, false, []],
    [['SUCCESS'], delivered, false, ['relayed']],
    [['SUCCESS'], delivered, true, []],
    [['SUCCESS'], failed, false, []],
    [['SUCCESS', 'FAILURE'], failed, true, ['failed']],
    [['NEVER'], failed, false, []],
    [['NEVER'], delivered, false, []],
    [['SUCCESS', 'FAILURE', 'DELAY'], retry, false, []],
    [undefined, canceled, false, []],
    [['FAILURE'], canceled, false, []],
  ])('NOTIFY %j and %o, the next hop reporting: %s', async (notify, next, reportsItself, actions) => {
    const message = messageTo([{ email: 'b@example.net', ...(notify && { notify }) }])
    await reporter()([result(message, 0, { next, reportsItself })])
    expect((await reports()).flatMap(({ text }) => all(text, 'Action'))).toEqual(actions)
  })

  test('no report is sent about a report: it has no sender', async () => {
    await reporter()([result(messageTo([{ email: 'b@example.net' }], { mail_from: '' }), 0)])
    expect(await reports()).toEqual([])
  })

  test('each sender gets one report on each message, with the recipients it concerns', async () => {
    const [one, two] = [
      messageTo([{ email: 'a@x.test' }, { email: 'b@x.test', notify: ['NEVER'] }, { email: 'c@x.test' }]),
      messageTo([{ email: 'd@x.test' }], { mail_from: 'bob@example.com' }),
    ]
    await reporter()([result(one, 2), result(two, 0), result(one, 1), result(one, 0)])
    const found = await reports()
    const shown = found.map(({ message, text }) => [message.rcpts[0]?.email, all(text, 'Final-Recipient')])
    expect(shown.toSorted()).toEqual([
      ['ann@example.com', ['rfc822; c@x.test', 'rfc822; a@x.test']],
      ['bob@example.com', ['rfc822; d@x.test']],
    ])
    for (const { message } of found)
      expect(message).toMatchObject({ mail_from: '', lane: 'system', via: { channel: 'system' }, left: 1 })
  })
})

describe('a report on mail', () => {
  const live: FindCapture = async () => undefined
  const capturing: FindCapture = async () => 'domain'
  test.each<[string, FindCapture, Partial<MessageDoc>, Partial<EventDoc>, string | undefined]>([
    ['that a server rejected', live, {}, { mx: 'mx.example.net' }, undefined],
    ['that could not be sent', live, {}, {}, undefined],
    ['that was captured, though its domain is live by now', live, {}, { mx: 'capture' }, 'report'],
    ['that was marked at acceptance', live, { capture: 'token' }, {}, 'report'],
    ['of a capturing domain that could not be sent', capturing, {}, {}, 'report'],
    ['of a capturing domain that expired', capturing, {}, { type: 'expired' }, 'report'],
  ])('%s goes the same way', async (_, findCapture, change, event, capture) => {
    const message = messageTo([{ email: 'b@example.net' }], change)
    await reporter({ raw: Buffer.from(HEADER), findCapture })([result(message, 0, { event })])
    expect((await reports()).map(one => one.message.capture)).toEqual([capture])
  })

  test('waits while it is not known whether the mail is captured', async () => {
    const given = [result(messageTo([{ email: 'b@example.net' }]), 0)]
    const findCapture: FindCapture = () => Promise.reject(new Error('not primary'))
    await expect(reporter({ raw: Buffer.from(HEADER), findCapture })(given)).rejects.toThrow('not primary')
    expect(await reports()).toEqual([])
  })
})

describe('the contents', () => {
  test.each<[Partial<EventDoc>, string]>([
    [{ enhanced: '5.1.1' }, '5.1.1'],
    [{ enhanced: '4.2.2' }, '5.2.2'],
    [{ enhanced: '2.0.0' }, '5.0.0'],
    [{}, '5.0.0'],
    [{ type: 'expired', enhanced: '4.3.0' }, '5.4.7'],
    [{ type: 'expired' }, '5.4.7'],
  ])('%j is the status %s', async (event, status) => {
    await reporter()([result(messageTo([{ email: 'b@example.net' }]), 0, { event })])
    expect((await reports()).map(({ text }) => all(text, 'Status'))).toEqual([[status]])
  })

  test('where it failed and how the recipient was written at first', async () => {
    const message = messageTo([{ email: 'b@example.net', orcpt: 'rfc822;B+2Bx@example.net' }], {
      dsn: { envid: 'E+2B1' },
    })
    await reporter()([result(message, 0, { event: { mx: 'mx.example.net', text: '550 5.1.1 no such user' } })])
    const [report] = await reports()
    expect(report?.text).toContain('Remote-MTA: dns; mx.example.net\r\n')
    expect(report?.text).toContain('Original-Recipient: rfc822;B+x@example.net\r\n')
    expect(report?.text).toContain('Original-Envelope-Id: E+1\r\n')
    expect(report?.text).toContain('Diagnostic-Code: smtp; 550 5.1.1 no such user\r\n')
  })

  test('of a recipient that got the message never that it did not, though another one failed', async () => {
    const message = messageTo([{ email: 'gone@x.test' }, { email: 'got@x.test', notify: ['SUCCESS'] }])
    await reporter()([result(message, 1, { next: { kind: 'delivered' } }), result(message, 0)])
    const [report, ...more] = await reports()
    expect(more).toEqual([])
    for (const [failing, submitted] of [
      ['could not be delivered', 'was handed to'],
      ['未能送达', '已转交'],
    ] as const) {
      const words = report?.words.slice(report.words.indexOf(failing)) ?? ''
      const [first = '', second = ''] = words.split(submitted)
      expect(first).toContain('<gone@x.test>')
      expect(first).not.toContain('<got@x.test>')
      expect(second.split('这里是')[0]).toContain('<got@x.test>')
      expect(second.split('这里是')[0]).not.toContain('<gone@x.test>')
    }
  })

  test.each<[string, MessageDoc['dsn'], Buffer | undefined, string, boolean]>([
    ['its header', undefined, Buffer.from(`${HEADER}\r\nHi`), 'text/rfc822-headers', false],
    ['its header on request', { ret: 'HDRS' }, Buffer.from(`${HEADER}\r\nHi`), 'text/rfc822-headers', false],
    ['all of it on request', { ret: 'FULL' }, Buffer.from(`${HEADER}\r\nHi`), 'message/rfc822', true],
    [
      'its header when it is large',
      { ret: 'FULL' },
      Buffer.from(`${HEADER}\r\nHi${'x'.repeat(1024 * 1024)}`),
      'text/rfc822-headers',
      false,
    ],
    ['nothing when it is gone', { ret: 'FULL' }, undefined, 'message/rfc822', false],
  ])('of the message: %s', async (_, dsn, raw, type, complete) => {
    await reporter({ raw })([result(messageTo([{ email: 'b@example.net' }], dsn ? { dsn } : {}), 0)])
    const [{ text } = { text: '' }] = await reports()
    expect(text).toContain(`Content-Type: ${type}\r\n`)
    expect([text.includes('Subject: the original'), text.includes('\r\n\r\nHi')]).toEqual([raw !== undefined, complete])
    expect(text.length).toBeLessThan(20_000)
  })
})

describe('a settlement that is repeated', () => {
  const results = (message = messageTo(['a', 'b', 'c'].map(local => ({ email: `${local}@x.test` })))) =>
    message.rcpts.map((_, n) => result(message, n))

  test('causes no second report, in whatever order the results come, by whichever worker', async () => {
    const given = results()
    await reporter()(given)
    await reporter()(given.toReversed())
    await Promise.all([reporter()(given), reporter()(given.toSorted(() => -1))])
    expect(await reports()).toHaveLength(1)
  })

  test('by two workers in parallel either', async () => {
    for (let round = 0; round < 10; round++) {
      const given = results()
      await Promise.all([1, 2, 3].map(() => reporter()(given)))
    }
    expect(await reports()).toHaveLength(10)
  })

  test('is needed while a report cannot be stored: the results stay until it is', async () => {
    const given = results()
    await expect(reporter({ raw: Buffer.from(HEADER), limit: 10 })(given)).rejects.toThrow('could not be stored')
    expect(await reports()).toEqual([])
    await reporter()(given)
    expect(await reports()).toHaveLength(1)
  })

  test('another failed attempt of the same recipient is reported again', async () => {
    const message = messageTo([{ email: 'b@example.net' }])
    for (const attempt of [1, 2])
      await reporter()([result(message, 0, { event: { _id: eventId(`${message._id}.0`, attempt) } })])
    expect(await reports()).toHaveLength(2)
  })
})
