/** Uses the client generated from the document of the mail API and prints its results. Arguments: address, token. */
import { client } from './sdk/client.gen.js'
import * as api from './sdk/index.js'

const [baseUrl = '', token = ''] = process.argv.slice(2)
client.setConfig({ baseUrl, auth: token })

const message: api.EmailRequest = {
  from: { email: 'ann@sender.example', name: 'Ann' },
  to: ['bob@example.net', { email: 'eve@example.net' }],
  cc: 'Carl <carl@example.net>',
  subject: 'Hello',
  text: 'Hello',
  attachments: [{ filename: 'a.txt', content: 'SGVsbG8=' }],
}
const sent = await api.sendEmail({ body: message, headers: { 'Idempotency-Key': 'first' }, throwOnError: true })
const again = await api.sendEmail({ body: message, headers: { 'Idempotency-Key': 'first' }, throwOnError: true })
const preview = await api.sendEmail({ body: message, query: { dry_run: 'true' }, throwOnError: true })
const old = await api.send({
  body: { from: 'ann@sender.example', to: 'bob@example.net', subject: 'Old', text: 'Old' },
  throwOnError: true,
})
const batch = await api.sendEmailBatch({ body: [message, { ...message, subject: 'Second' }], throwOnError: true })
const refused = await api.sendEmail({ body: { ...message, from: 'ann@foreign.example' } })
const invalid = await api.sendEmail({ body: { ...message, subject: 'a\nb' } })

const id = sent.data.object === 'email' ? sent.data.id : ''
const one = await api.getEmail({ path: { id }, throwOnError: true })
const raw = await api.getRawEmail({ path: { id }, parseAs: 'text', throwOnError: true })
const list = await api.listEmails({ query: { limit: 2 }, throwOnError: true })
const domains = await api.listDomains({ throwOnError: true })

console.log(
  JSON.stringify({
    id,
    again: again.data.object === 'email' ? again.data.id : '',
    replayed: again.response.headers.get('idempotency-replayed'),
    preview: preview.data.object === 'email_preview' ? preview.data.text : '',
    old: old.response.status,
    batch: batch.data.data.map(({ status }) => status),
    refused: refused.error?.code,
    invalid: invalid.error?.errors?.map(({ pointer }) => pointer),
    recipients: one.data.recipients.map(({ email, type }) => `${type} ${email}`),
    raw: raw.data.includes('Subject: Hello'),
    listed: list.data.data.length,
    domains: domains.data.data.map(({ name, records }) => [name, Array.isArray(records)]),
  }),
)
