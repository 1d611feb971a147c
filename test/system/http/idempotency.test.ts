import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BODIES } from '../../../services/mail/store/bodies.ts'
import { DELIVERIES } from '../../../services/mail/store/deliveries.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf } from '../../../services/platform/database/mongo.ts'
import { newId } from '../../../services/platform/ids.ts'
import { giveDomain, giveToken, giveUser } from '../../support/accounts/accounts-and-domains.ts'
import { type SendApi, startSendApi } from '../../support/http/send-api.ts'

let api: SendApi
beforeAll(async () => {
  api = await startSendApi()
})
afterAll(() => api.stop())

const minimal = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }
const send = (key: string, body: unknown = minimal, path = '/api/v1/emails', token = api.token) =>
  api.call('POST', path, { body, token, headers: { 'idempotency-key': key } })
const countOf = (key: string, operation = 'send') =>
  collectionOf(api.mongo.db, MESSAGES).countDocuments({ 'idem.key': `${operation}:${key}` })

test('stores one message for 20 concurrent equal requests, which all get the same response', async () => {
  const before = await collectionOf(api.mongo.db, DELIVERIES).countDocuments()
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('parallel')))
  // A request during the first one may get 409; none may store a second message.
  const sent = answers.filter(({ status }) => status === 202)
  expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true)
  expect(sent.length).toBeGreaterThan(0)
  expect(new Set(sent.map(({ text }) => text)).size).toBe(1)
  expect(sent.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
  expect(await countOf('parallel')).toBe(1)
  expect((await collectionOf(api.mongo.db, DELIVERIES).countDocuments()) - before).toBe(1)
  const orphans = await collectionOf(api.mongo.db, BODIES)
    .aggregate([
      { $lookup: { from: 'messages', localField: 'm', foreignField: '_id', as: 'of' } },
      { $match: { of: [] } },
    ])
    .toArray()
  expect(orphans).toEqual([])
})

test('repeats the first response byte for byte, marked as a replay, at both addresses of the operation', async () => {
  const body = '{"from":"ann@example.com","to":["bob@example.net"],"subject":"x","text":"y"}'
  const first = await send('again', body)
  for (const path of ['/api/v1/emails', '/api/send']) {
    const second = await send('again', body, path)
    expect([second.status, second.text]).toEqual([202, first.text])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
  }
  expect(first.headers.get('idempotency-replayed')).toBeNull()
})

test('rejects a key with another body', async () => {
  await send('other')
  const answer = await send('other', { ...minimal, text: 'Other' })
  expect([answer.status, answer.body]).toMatchObject([422, { code: 'idempotency_key_reused' }])
  expect(await countOf('other')).toBe(1)
})

test('a rejected request does not use the key: the corrected request succeeds', async () => {
  expect((await send('fix', { ...minimal, from: 'ann@foreign.example' })).status).toBe(403)
  expect((await send('fix', { ...minimal, to: 'nobody' })).status).toBe(422)
  expect((await send('fix')).status).toBe(202)
})

test('keys are separate for each account and operation', async () => {
  const other = await giveUser(api.mongo.db)
  await giveDomain(api.mongo.db, other._id, 'other.example', { status: 'verified', verified_by: 'dns' })
  const { value } = await giveToken(api.mongo.db, other._id)
  const raw = Buffer.from('From: ann@example.com\r\n\r\nx').toString('base64')
  const answers = [
    await send('mine'),
    await send('mine', { ...minimal, from: 'x@other.example' }, '/api/v1/emails', value),
    await send('mine', { from: 'ann@example.com', to: 'bob@example.net', raw }, '/api/v1/emails/raw'),
    await send('mine', [minimal], '/api/v1/emails/batch'),
  ]
  expect(answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual(
    answers.map(() => [202, null]),
  )
})

test('a key expires after 24 hours', async () => {
  await send('old')
  const messages = collectionOf(api.mongo.db, MESSAGES)
  await messages.updateOne({ 'idem.key': 'send:old' }, { $set: { 'idem.until': new Date(Date.now() - 1) } })
  const answer = await send('old', { ...minimal, text: 'a day later' })
  expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null])
})

test.each(['k'.repeat(256), 'with space', '{"$gt":""}', '__proto__'])('accepts the key %j', async key => {
  expect([(await send(key)).status, (await send(key)).headers.get('idempotency-replayed')]).toEqual([202, 'true'])
})

test.each(['', 'k'.repeat(257), 'caf\u00e9', 'tab\there'])('rejects the key %j', async key => {
  const answer = await send(key)
  expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
})

describe('a batch', () => {
  const batch = (body: unknown, query = '') => api.call('POST', `/api/v1/emails/batch${query}`, { body })
  const codes = (body: unknown) =>
    (body as { data: { index: number; status: number; error?: { code: string } }[] }).data.map(
      ({ index, status, error }) => `${index} ${status} ${error?.code ?? 'sent'}`,
    )
  const countAll = () => collectionOf(api.mongo.db, MESSAGES).countDocuments({ user_id: api.user._id })

  test('sends every message', async () => {
    const answer = await batch(Array.from({ length: 100 }, (_, n) => ({ ...minimal, subject: `n ${n}` })))
    expect(answer.status).toBe(202)
    expect(new Set(codes(answer.body).map(line => line.slice(-8)))).toEqual(new Set(['202 sent']))
    const { data } = answer.body as { data: { id: string; email: { id: string } }[] }
    expect(data.map(({ id }) => id)).toEqual(data.map(({ email }) => email.id))
  })

  test('lists up to fifty errors, and at least one for each message', async () => {
    const wrong = { ...minimal, cc: Array(40).fill('nobody') }
    const errorsOf = ({ body }: { body: unknown }) =>
      (body as { data: { error: { errors: unknown[] } }[] }).data.map(({ error }) => error.errors.length)
    expect(errorsOf(await batch([wrong, wrong, wrong, wrong], '?mode=partial'))).toEqual([40, 10, 1, 1])
    expect((await batch([wrong, wrong])).body).toMatchObject({ errors: { length: 50 } })
  })

  test('that contains a lone surrogate or Latin-1 is rejected completely', async () => {
    const before = await countAll()
    const text = JSON.stringify([minimal, { ...minimal, subject: '@@' }])
    const half = text.replace('@@', String.raw`\ud83d`)
    expect(await batch(half)).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
    const latin = await fetch(`${api.url}/api/v1/emails/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: new Uint8Array(Buffer.from(text.replace('@@', 'Gr\u00fc\u00dfe'), 'latin1')),
    })
    expect([latin.status, await latin.json()]).toMatchObject([400, { code: 'invalid_json' }])
    expect(await countAll()).toBe(before)
  })

  const mixed = [
    minimal,
    { ...minimal, to: 'nobody' },
    { ...minimal, from: 'a@foreign.example' },
    { ...minimal, track: { opens: true } },
  ]

  test('in strict mode sends none if one is invalid, and returns all errors with their index', async () => {
    const before = await countAll()
    const answer = await batch(mixed)
    expect(answer.status).toBe(422)
    const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/1/to address',
      '/2 sender_not_allowed',
      '/3 tracking_off',
    ])
    expect(await countAll()).toBe(before)
  })

  test('in partial mode sends the valid ones', async () => {
    const answer = await batch(mixed, '?mode=partial')
    expect(answer.status).toBe(202)
    expect(codes(answer.body)).toEqual([
      '0 202 sent',
      '1 422 validation_failed',
      '2 403 sender_not_allowed',
      '3 422 tracking_off',
    ])
  })

  test('with a key repeats the responses of all messages', async () => {
    const key = newId('k')
    const first = await send(key, mixed, '/api/v1/emails/batch?mode=partial')
    const before = await countAll()
    const second = await send(key, mixed, '/api/v1/emails/batch?mode=partial')
    expect(second.text).toBe(first.text)
    expect(await countAll()).toBe(before)
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  })

  test.each<[string, unknown[], string]>([
    ['fewer messages', [minimal], '?mode=partial'],
    ['one message more', [...mixed, minimal], '?mode=partial'],
    ['a first message that is not valid', [{ ...minimal, to: 'nobody' }, minimal], '?mode=partial'],
    ['another mode', mixed, '?mode=strict'],
  ])('with the key of another batch (%s) sends nothing', async (_, body, query) => {
    const key = newId('k')
    await send(key, mixed, '/api/v1/emails/batch?mode=partial')
    const before = await countAll()
    const answer = await send(key, body, `/api/v1/emails/batch${query}`)
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'idempotency_key_reused' }])
    expect(await countAll()).toBe(before)
  })

  test('may reuse the expired key of another batch', async () => {
    const key = newId('k')
    await send(key, [minimal, minimal], '/api/v1/emails/batch')
    const past = { $set: { 'idem.until': new Date(Date.now() - 1) } }
    await collectionOf(api.mongo.db, MESSAGES).updateMany({ 'idem.key': new RegExp(`^batch:${key}#`) }, past)
    const answer = await send(key, [minimal], '/api/v1/emails/batch')
    expect([codes(answer.body), answer.headers.get('idempotency-replayed')]).toEqual([['0 202 sent'], null])
  })

  test.each<[string, unknown, string]>([
    ['nothing', [], ''],
    ['101 messages', Array.from({ length: 101 }, () => minimal), ''],
    ['an object instead of a list', minimal, ''],
    ['an unknown mode', [minimal], '?mode=loose'],
    ['items that are not messages', [1, null, 'x'], ''],
  ])('of %s is rejected', async (_, body, query) => {
    const answer = await batch(body, query)
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'validation_failed' }])
  })
})
