/** The official SDK for Node, unmodified: all that changes is the base address. */
import { Resend } from 'resend'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CompatApi, startCompatApi } from '../../support/http/compat-api.ts'

let api: CompatApi
let resend: Resend
beforeAll(async () => {
  api = await startCompatApi()
  // A slash at its end makes double slashes.
  resend = new Resend(api.key, { baseUrl: `${api.url}/` })
})
afterAll(() => api.stop())

/** The data of a call that must succeed. */
async function ok<T>(call: PromiseLike<{ data: T; error: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await call
  expect(error).toBeNull()
  return data as NonNullable<T>
}

const MESSAGE = { from: 'Ann <ann@sender.example>', to: 'bob@example.net', subject: 'Hello', text: 'Hello Bob' }

describe('emails', () => {
  test('are sent with everything that a message can have, and shown', async () => {
    const sent = await ok(
      resend.emails.send({
        ...{ from: 'Änne <ann@sender.example>', to: ['bob@example.net', 'Eve <eve@example.net>'] },
        ...{
          cc: 'carl@example.net',
          bcc: ['dan@example.net'],
          replyTo: ['Help <help@sender.example>', 'x@sender.example'],
        },
        ...{ subject: 'Grüße', html: '<p>Hello <img src="cid:logo"></p>', text: 'Hello' },
        headers: { 'X-Entity-Ref-ID': '4711' },
        tags: [{ name: 'kind', value: 'order' }],
        attachments: [
          { filename: 'a.txt', content: Buffer.from('bytes of a') },
          { filename: 'b.txt', content: Buffer.from('text of b').toString('base64'), contentType: 'text/plain' },
          { filename: 'logo.png', content: Buffer.from('png'), contentId: 'logo' },
        ],
      }),
    )
    expect(Object.keys(sent)).toEqual(['id'])
    const shown = await ok(resend.emails.get(sent.id))
    expect(shown).toMatchObject({
      ...{ object: 'email', id: sent.id, from: 'Änne <ann@sender.example>', subject: 'Grüße', last_event: 'queued' },
      ...{ to: ['bob@example.net', 'eve@example.net'], cc: ['carl@example.net'], bcc: ['dan@example.net'] },
      ...{ reply_to: ['Help <help@sender.example>', 'x@sender.example'], scheduled_at: null },
      ...{ html: expect.stringContaining('<p>Hello'), text: expect.stringContaining('Hello') },
      tags: [{ name: 'kind', value: 'order' }],
    })
    expect(Date.parse(shown.created_at)).toBeGreaterThan(Date.now() - 60_000)
    const raw = await api.rawOf(sent.id)
    for (const part of ['bytes of a', 'text of b', 'png']) expect(raw).toContain(Buffer.from(part).toString('base64'))
    expect(raw).toContain('X-Entity-Ref-ID: 4711')
    expect(raw).toMatch(/Content-Id: <logo>/i)
  })

  test('are scheduled, moved and canceled', async () => {
    const { id } = await ok(resend.emails.send({ ...MESSAGE, scheduledAt: 'in 1 hour' }))
    expect(await ok(resend.emails.get(id))).toMatchObject({ last_event: 'scheduled' })
    const at = new Date(Date.now() + 86_400_000).toISOString()
    expect(await ok(resend.emails.update({ id, scheduledAt: at }))).toEqual({ object: 'email', id })
    expect(await ok(resend.emails.get(id))).toMatchObject({ scheduled_at: at })
    expect(await ok(resend.emails.cancel(id))).toEqual({ object: 'email', id })
    expect(await ok(resend.emails.get(id))).toMatchObject({ last_event: 'canceled' })
  })

  test('are listed, newest first, in pages', async () => {
    const first = await ok(resend.emails.send(MESSAGE))
    const second = await ok(resend.emails.send(MESSAGE))
    const list = await ok(resend.emails.list({ limit: 1 }))
    expect(list).toMatchObject({ object: 'list', has_more: true, data: [{ id: second.id, subject: 'Hello' }] })
    const next = await ok(resend.emails.list({ limit: 1, after: second.id }))
    expect(next.data.map(({ id }) => id)).toEqual([first.id])
    const third = await ok(resend.emails.send(MESSAGE))
    const back = await ok(resend.emails.list({ limit: 1, before: first.id }))
    expect([back.data.map(({ id }) => id), back.has_more]).toEqual([[second.id], true])
    const all = await ok(resend.emails.list({ before: first.id }))
    expect([all.data.map(({ id }) => id), all.has_more]).toEqual([[third.id, second.id], false])
  })

  test('with a key are sent once; the key with another message is a conflict', async () => {
    const first = await ok(resend.emails.send(MESSAGE, { idempotencyKey: 'order/1' }))
    const again = await ok(resend.emails.send(MESSAGE, { idempotencyKey: 'order/1' }))
    expect(again.id).toBe(first.id)
    const other = await resend.emails.send({ ...MESSAGE, subject: 'Other' }, { idempotencyKey: 'order/1' })
    expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' })
  })
})

describe('a batch', () => {
  const bad = { ...MESSAGE, to: 'no address' }
  test('that is strict sends all or none', async () => {
    const { data } = await ok(resend.batch.send([MESSAGE, { ...MESSAGE, to: 'eve@example.net' }]))
    expect(data.map(({ id }) => id)).toEqual([expect.stringMatching(/^em_/), expect.stringMatching(/^em_/)])
    const before = (await ok(resend.emails.list())).data.length
    const refused = await resend.batch.send([MESSAGE, bad])
    expect(refused.error).toMatchObject({ statusCode: 422, name: 'validation_error' })
    expect((await ok(resend.emails.list())).data).toHaveLength(before)
  })

  test('that is permissive sends what is valid', async () => {
    const result = await ok(resend.batch.send([bad, MESSAGE], { batchValidation: 'permissive' }))
    expect(result).toEqual({
      data: [{ id: expect.stringMatching(/^em_/) }],
      errors: [{ index: 0, message: expect.stringContaining('/to') }],
    })
  })

  test('with a key is sent once', async () => {
    const first = await ok(resend.batch.send([MESSAGE], { idempotencyKey: 'batch-1' }))
    const again = await ok(resend.batch.send([MESSAGE], { idempotencyKey: 'batch-1' }))
    expect(again.data).toEqual(first.data)
  })
})
