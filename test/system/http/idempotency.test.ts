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

test('20 equal requests at once make one message and get one answer', async () => {
  const before = await collectionOf(api.mongo.db, DELIVERIES).countDocuments()
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('parallel')))
  // A request that meets the first one still running may also be told so; none may make a second message.
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

test('a repeat gets the first answer to the byte, marked as a replay, at both addresses of the operation', async () => {
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

test('a key with another body is refused', async () => {
  await send('other')
  const answer = await send('other', { ...minimal, text: 'Other' })
  expect([answer.status, answer.body]).toMatchObject([422, { code: 'idempotency_key_reused' }])
  expect(await countOf('other')).toBe(1)
})

test('only success takes the key: after a refusal the corrected request passes', async () => {
  expect((await send('fix', { ...minimal, from: 'ann@foreign.example' })).status).toBe(403)
  expect((await send('fix', { ...minimal, to: 'nobody' })).status).toBe(422)
  expect((await send('fix')).status).toBe(202)
})

test('accounts and operations have keys of their own', async () => {
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

test('a key counts for 24 hours', async () => {
  await send('old')
  const messages = collectionOf(api.mongo.db, MESSAGES)
  await messages.updateOne({ 'idem.key': 'send:old' }, { $set: { 'idem.until': new Date(Date.now() - 1) } })
  const answer = await send('old', { ...minimal, text: 'a day later' })
  expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null])
})

test.each(['k'.repeat(256), 'with space', '{"$gt":""}', '__proto__'])('the key %j is as good as any', async key => {
  expect([(await send(key)).status, (await send(key)).headers.get('idempotency-replayed')]).toEqual([202, 'true'])
})

test.each(['', 'k'.repeat(257), 'caf\u00e9', 'tab\there'])('the key %j is refused', async key => {
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

  test('lists fifty errors at most, and one at least for each message', async () => {
    const wrong = { ...minimal, cc: Array(40).fill('nobody') }
    const errorsOf = ({ body }: { body: unknown }) =>
      (body as { data: { error: { errors: unknown[] } }[] }).data.map(({ error }) => error.errors.length)
    expect(errorsOf(await batch([wrong, wrong, wrong, wrong], '?mode=partial'))).toEqual([40, 10, 1, 1])
    expect((await batch([wrong, wrong])).body).toMatchObject({ errors: { length: 50 } })
  })

  test('with half of a surrogate pair or Latin-1 in one of its messages is refused as a whole', async () => {
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
    { ...minimal, track: {} },
  ]

  test('strict sends none when one is not valid, and names all faults under their index', async () => {
    const before = await countAll()
    const answer = await batch(mixed)
    expect(answer.status).toBe(422)
    const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/1/to custom',
      '/2 sender_not_allowed',
      '/3/track unsupported_field',
    ])
    expect(await countAll()).toBe(before)
  })

  test('partial sends those that are valid', async () => {
    const answer = await batch(mixed, '?mode=partial')
    expect(answer.status).toBe(202)
    expect(codes(answer.body)).toEqual([
      '0 202 sent',
      '1 422 validation_failed',
      '2 403 sender_not_allowed',
      '3 422 unsupported_field',
    ])
  })

  test('with a key is repeated message by message', async () => {
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
  ])('with the key of another one (%s) sends nothing at all', async (_, body, query) => {
    const key = newId('k')
    await send(key, mixed, '/api/v1/emails/batch?mode=partial')
    const before = await countAll()
    const answer = await send(key, body, `/api/v1/emails/batch${query}`)
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'idempotency_key_reused' }])
    expect(await countAll()).toBe(before)
  })

  test('with a key that the messages of another batch, a day ago, had is a new one', async () => {
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
    ['no list', minimal, ''],
    ['an unknown mode', [minimal], '?mode=loose'],
    ['items that are no messages', [1, null, 'x'], ''],
  ])('of %s is refused', async (_, body, query) => {
    const answer = await batch(body, query)
    expect([answer.status, answer.body]).toMatchObject([422, { code: 'validation_failed' }])
  })
})
