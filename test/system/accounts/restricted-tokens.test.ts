/** Tokens with fewer rights than their account: for certain domains only, or for tests only. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TokenDoc } from '../../../services/mail/credentials/store/tokens.ts'
import { CAPTURED, saveCaptured } from '../../../services/mail/store/captured.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { giveDomain, giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, startSendApi } from '../../support/http/send-api.ts'
import { giveEvent, giveMessage } from '../../support/mail/stored-messages.ts'

let api: SendApi
beforeAll(async () => {
  api = await startSendApi()
})
afterAll(() => api.stop())

const RAW = 'From: x@y.example\r\nSubject: Hello\r\n\r\nHello\r\n'
const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const mail = (from: string, change: object = {}) => ({
  from,
  to: 'bob@example.net',
  subject: 'Hi',
  text: 'Hi',
  ...change,
})

/** An account with two domains, and a token restricted by `change`. */
async function account(change: Partial<TokenDoc> = {}) {
  const user = await giveUser(api.mongo.db)
  const [mine, other] = [`a-${user._id.slice(-8)}.example`, `b-${user._id.slice(-8)}.example`]
  for (const name of [mine, other])
    await giveDomain(api.mongo.db, user._id, name, { status: 'verified', verified_by: 'dns' })
  const unrestricted = await giveToken(api.mongo.db, user._id)
  const { value } = await giveToken(api.mongo.db, user._id, { domains: [mine], ...change })
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    api.call(method, path, { token: value, ...(body !== undefined && { body }), ...(headers && { headers }) })
  const stored = (domain: string, more: object = {}) =>
    giveMessage(api.mongo.db, user._id, { from: `ann@${domain}`, mail_from: `ann@${domain}`, raw: RAW, ...more })
  const scheduled = async (domain: string, more: object = {}) => {
    const body = mail(`ann@${domain}`, { scheduled_at: later(5), ...more })
    const answer = await api.call('POST', '/api/v1/emails', { token: unrestricted.value, body })
    return (answer.body as { id: string }).id
  }
  return { user, mine, other, unrestricted: unrestricted.value, value, call, stored, scheduled }
}

const READS = ['', '/events', '/attempts', '/explain', '/raw', '/preview'] as const
const ACTIONS = [
  ['PATCH', '', () => ({ scheduled_at: later(9) })],
  ['POST', '/cancel', () => ({})],
  ['POST', '/retry', () => ({})],
  ['POST', '/resend', () => ({ to: 'all' })],
] as const

describe('a token for certain domains', () => {
  test.each(READS)('reads /emails/{id}%s of mail from its domains only', async what => {
    const { mine, other, call, stored } = await account()
    expect((await call('GET', `/api/v1/emails/${(await stored(mine))._id}${what}`)).status).toBe(200)
    expect((await call('GET', `/api/v1/emails/${(await stored(other))._id}${what}`)).status).toBe(404)
  })

  test.each(ACTIONS)('cannot change mail from other domains: %s %s', async (method, what, body) => {
    const { other, call, scheduled } = await account()
    const id = await scheduled(other)
    const before = await collectionOf(api.mongo.db, MESSAGES).findOne({ _id: id })
    expect((await call(method, `/api/v1/emails/${id}${what}`, body())).status).toBe(404)
    expect(await collectionOf(api.mongo.db, MESSAGES).findOne({ _id: id })).toEqual(before)
  })

  test.each(ACTIONS)('can change mail from its domains: %s %s', async (method, what, body) => {
    const { mine, call, scheduled } = await account()
    const id = await scheduled(mine, { to: ['bob@example.net', 'carl@example.net'] })
    // One recipient waits for its scheduled time, the other for another attempt.
    await collectionOf(api.mongo.db, DELIVERIES).updateOne({ _id: `${id}.0` }, { $set: { att: 1 } })
    expect((await call(method, `/api/v1/emails/${id}${what}`, body())).status).toBeOneOf([200, 202])
  })

  test('lists and pages through mail from its domains only, with any filter', async () => {
    const { mine, other, call, stored } = await account()
    const own = []
    for (let n = 0; n < 3; n++) {
      own.unshift((await stored(mine))._id)
      await stored(other)
    }
    const ids = async (query: string) => {
      const { body } = await call('GET', `/api/v1/emails?${query}`)
      return (body as { data: { id: string }[] }).data.map(({ id }) => id)
    }
    expect(await ids('')).toEqual(own)
    expect(await ids('limit=2')).toEqual(own.slice(0, 2))
    expect(await ids(`limit=2&after=${own[1]}`)).toEqual(own.slice(2))
    expect(await ids('q=Hello')).toEqual(own)
    expect(await ids(`from=ann@${other}`)).toEqual([])
    expect(await ids(`domain=${other}`)).toEqual([])
    expect(await ids(`domain=${mine}`)).toEqual(own)
  })

  test('receives events of mail from its domains only', async () => {
    const { mine, other, value, stored } = await account()
    const abort = new AbortController()
    const headers = { authorization: `Bearer ${value}` }
    const response = await fetch(`${api.url}/api/v1/events/stream`, { headers, signal: abort.signal })
    await giveEvent(api.mongo.db, await stored(other), { at: new Date(Date.now() + 500) })
    const event = await giveEvent(api.mongo.db, await stored(mine), { at: new Date(Date.now() + 600) })
    let text = ''
    const ids = () =>
      [...text.matchAll(/^id: \d+\/(.*)\n/gm)].map(([, id]) => id).filter(id => !id?.endsWith('#accepted'))
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      // The acceptance of the message may come before, in a chunk of its own.
      if (ids().length > 0) break
    }
    abort.abort()
    expect(ids()).toEqual([event._id])
  })

  test('cannot read the statistics and captured mail of the account without its restriction', async () => {
    const { user, call } = await account()
    const messageId = (await giveMessage(api.mongo.db, user._id))._id
    const exp = new Date(later(1))
    const envelope = { mail_from: 'a@example.com', rcpts: ['b@example.net'] }
    await saveCaptured(api.mongo, [
      {
        _id: `${messageId}.0`,
        m: messageId,
        user_id: user._id,
        ...envelope,
        raw: Buffer.from(RAW),
        at: new Date(),
        exp,
      },
    ])
    expect(await collectionOf(api.mongo.db, CAPTURED).countDocuments({ user_id: user._id })).toBe(1)
    for (const path of ['/stats', '/inbox', `/inbox/${messageId}.0/raw`, `/inbox/${messageId}.0/preview`]) {
      const answer = await call('GET', `/api/v1${path}`)
      expect([path, answer.status, answer.body]).toMatchObject([path, 403, { code: 'insufficient_scope' }])
    }
  })
})

describe('a test token', () => {
  const tester = () => account({ mode: 'test', domains: [] })

  test.each(ACTIONS)('cannot change live mail: %s %s', async (method, what, body) => {
    const { mine, call, scheduled } = await tester()
    const id = await scheduled(mine)
    const before = await collectionOf(api.mongo.db, MESSAGES).findOne({ _id: id })
    const answer = await call(method, `/api/v1/emails/${id}${what}`, body())
    expect([answer.status, answer.body]).toMatchObject([403, { code: 'forbidden' }])
    expect(await collectionOf(api.mongo.db, MESSAGES).findOne({ _id: id })).toEqual(before)
  })

  test('may call the operations for test messages, none of which ever waits', async () => {
    const { mine, call, scheduled } = await tester()
    const id = await scheduled(mine, { test: true })
    const answers = []
    for (const [method, what, body] of ACTIONS)
      answers.push((await call(method, `/api/v1/emails/${id}${what}`, body())).status)
    expect(answers).toEqual([409, 409, 409, 202])
  })

  test.each([
    ['/api/send', (body: object) => body],
    ['/api/v1/emails', (body: object) => body],
    ['/api/v1/emails/batch', (body: object) => [body]],
    [
      '/api/v1/emails/raw',
      ({ from, to }: { from: string; to: string }) => ({ from, to, raw: 'RnJvbTogYUBiLmV4YW1wbGUNCg==' }),
    ],
  ] as const)('does not use the idempotency keys of live tokens: POST %s', async (path, shape) => {
    const { mine, call, unrestricted } = await tester()
    const body = shape(mail(`ann@${mine}`))
    if ('raw' in body) body.raw = Buffer.from(`From: ann@${mine}\r\nSubject: Hi\r\n\r\nHi\r\n`).toString('base64')
    const headers = { 'idempotency-key': 'order-1' }
    expect((await call('POST', path, body, headers)).status).toBe(202)
    const live = await api.call('POST', path, { token: unrestricted, body, headers })
    expect([live.status, live.headers.get('idempotency-replayed')]).toEqual([202, null])
    const [first] = 'data' in (live.body as object) ? (live.body as { data: { email: { id: string } }[] }).data : []
    const id = first?.email.id ?? (live.body as { id: string }).id
    expect((await collectionOf(api.mongo.db, MESSAGES).findOne({ _id: id }))?.test).toBeUndefined()
  })
})
