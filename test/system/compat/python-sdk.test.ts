/** The official SDK for Python and Django anymail, unmodified, against a started service. */
import { join } from 'node:path'
import { Resend } from 'resend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMailWebhooks } from '../../../services/mail/webhooks/send-mail-webhooks.ts'
import { type CompatApi, startCompatApi } from '../../support/http/compat-api.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { findPythonTools } from '../../support/programs/python-tools.ts'
import { until } from '../../support/time/until.ts'

const SDKS = join(import.meta.dirname, 'sdks')

let api: CompatApi
// The first run installs the packages.
beforeAll(async () => {
  await findPythonTools('sdks')
  api = await startCompatApi({ DNS_SERVERS: '127.0.0.1:9' })
}, 600_000)
afterAll(() => api?.stop())

async function python(program: string, args: readonly string[]): Promise<Record<string, unknown>> {
  const tools = await findPythonTools('sdks')
  return JSON.parse(await tools.run([join(SDKS, program), ...args])) as Record<string, unknown>
}

test('the SDK for Python works, and its errors are the ones that it knows', async () => {
  const found = await python('resend_sdk.py', [api.url, api.key])
  expect(found).toEqual({
    id: expect.stringMatching(/^em_/),
    shown: ['Ann <ann@sender.example>', ['bob@example.net'], 'Hello', 'queued', [{ name: 'kind', value: 'order' }]],
    ...{ same: true, updated: true, canceled: true, status: 'canceled', listed: true, batch: [1, [1]] },
    ...{ domain: ['not_started', ['DKIM', 'SPF']], domains: ['sender.example', 'python.example'], removed: true },
    ...{ keys: true, suppression: 'manual', template: 'published', webhook: ['email.sent', 'email.scheduled'] },
    errors: {
      field: ['MissingRequiredFieldsError', 422, 'missing_required_field'],
      sender: ['ResendError', 403, 'validation_error'],
      unknown: ['ResendError', 404, 'not_found'],
      unserved: ['ResendError', 501, 'not_implemented'],
      key: ['InvalidApiKeyError', 403, 'invalid_api_key'],
    },
  })
  const raw = await api.rawOf(String(found.id))
  expect(raw.replaceAll('\r\n', '')).toContain(
    Buffer.from(Uint8Array.from({ length: 256 }, (_, n) => n)).toString('base64'),
  )
})

test('a webhook in the format of Resend is verified by its SDKs, and anymail reads it and sends over both backends', async () => {
  const receiver = await startWebhookReceiver()
  const webhooks = startMailWebhooks(api.foundation)
  try {
    const resend = new Resend(api.key, { baseUrl: api.url })
    const { data } = await resend.webhooks.create({ endpoint: receiver.url, events: ['email.sent'] })
    const secret = data?.signing_secret ?? ''
    const email = { from: 'Ann <ann@sender.example>', to: 'bob@example.net', subject: 'Hello', text: 'Hello' }
    const { data: sent } = await resend.emails.send({ ...email, tags: [{ name: 'kind', value: 'order' }] })
    const [received] = await receiver.heard(1)
    const { body = '' } = received ?? {}
    const headers = received?.headers as Record<string, string>

    const signed = (prefix: string) => ({
      ...{ id: headers[`${prefix}-id`] ?? '', timestamp: headers[`${prefix}-timestamp`] ?? '' },
      signature: headers[`${prefix}-signature`] ?? '',
    })
    for (const prefix of ['svix', 'webhook'])
      expect(resend.webhooks.verify({ payload: body, headers: signed(prefix), webhookSecret: secret })).toEqual({
        type: 'email.sent',
        created_at: expect.any(String),
        data: {
          ...{ email_id: sent?.id, message_id: expect.stringMatching(/^<.+@sender\.example>$/) },
          ...{ created_at: expect.any(String), from: 'ann@sender.example', to: ['bob@example.net'], subject: 'Hello' },
          tags: { kind: 'order' },
        },
      })

    const webhookId = data?.id ?? ''
    const events = (await resend.webhooks.events.list({ webhookId })).data?.data
    expect(events).toMatchObject([{ id: headers['svix-id'], type: 'email.sent' }])
    const event = { webhookId, eventId: headers['svix-id'] ?? '' }
    await until(async () => (await resend.webhooks.events.get(event)).data?.status === 'success')
    expect((await resend.webhooks.events.get(event)).data).toMatchObject({ payload: JSON.parse(body) })
    expect((await resend.webhooks.events.replay(event)).data).toEqual({ object: 'webhook_event', id: event.eventId })
    const attempts = (await resend.webhooks.events.attempts.list(event)).data?.data
    expect(attempts?.map(({ http_status_code: status }) => status)).toEqual([204, 204])

    const found = await python('anymail_backends.py', [api.url, api.key, JSON.stringify({ headers, body, secret })])
    const queued = ['queued', expect.stringMatching(/^em_/)]
    expect(found).toEqual({
      resend: { 'bob@example.net': queued, 'carl@example.net': queued },
      batch: { 'bob@example.net': queued, 'eve@example.net': queued },
      postal: { 'bob@example.net': queued, 'carl@example.net': queued },
      'resend refused': expect.stringContaining('validation_error'),
      'postal refused': expect.stringContaining('UnauthenticatedFromAddress'),
      webhook: [200, [['Resend', 'sent', sent?.id, 'bob@example.net', headers['svix-id']]]],
      verified: 'email.sent',
    })
    const { 'bob@example.net': [, id] = [] } = found.postal as Record<string, string[]>
    const raw = await api.rawOf(id ?? '')
    for (const line of ['X-Order: 7', 'Reply-To: help@sender.example', 'filename=a.txt']) expect(raw).toContain(line)
  } finally {
    await webhooks.stop()
  }
})
