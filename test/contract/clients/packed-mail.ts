/** Uses the packed client with the mail API and prints its results. Arguments: address, token, address with a rate, token there. */
import {
  createClient,
  type EmailRequest,
  eachItem,
  explainEmail,
  getEmail,
  listDomains,
  listEmails,
  PostwrightError,
  sendEmail,
} from '@postwright/client'

const [url = '', token = '', slowUrl = '', slowToken = ''] = process.argv.slice(2)
const client = createClient({ url, token })

const message: EmailRequest = {
  from: 'Ann <ann@sender.example>',
  to: ['bob@example.net'],
  subject: 'Hello',
  text: 'Hello',
}
let replayed: string | null = null
const sent = await sendEmail(client, { body: message, idempotencyKey: 'first' })
const again = await sendEmail(client, {
  body: message,
  idempotencyKey: 'first',
  onResponse: ({ headers }) => {
    replayed = headers.get('idempotency-replayed')
  },
})
await sendEmail(client, { body: { ...message, subject: 'Second' } })
const preview = await sendEmail(client, { body: message, query: { dry_run: 'true' } })
const subjects: string[] = []
for await (const { subject } of eachItem(listEmails, client, { query: { limit: 1 } })) subjects.push(subject)
const explained = await explainEmail(client, { path: { id: sent.id } })
const domains = await listDomains(client)

// @ts-expect-error A message needs recipients.
const withoutRecipients = () => sendEmail(client, { body: { from: 'ann@sender.example', subject: 'a', text: 'a' } })
// @ts-expect-error There is no such filter.
const unknownFilter = () => listEmails(client, { query: { colour: 'red' } })

/** Status, code and fields of a refusal. */
async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof PostwrightError)) throw error
    const { status, code, problems, requestId = '' } = error
    return [status, code, ...problems.map(({ field }) => field), /^[\w-]{36}$/.test(requestId)]
  }
}

const slow = createClient({ url: slowUrl, token: slowToken, maxRetryWaitMs: 100 })
await listEmails(slow)
console.log(
  JSON.stringify({
    same: sent.id === again.id,
    replayed,
    preview: preview.text,
    subjects,
    explained: explained.recipients.map(({ recipient, responsible }) => [recipient.email, responsible]),
    domains: domains.data.map(({ name }) => name),
    unauthenticated: await refusalOf(listEmails(createClient({ url, token: 'pw_live_wrong' }))),
    unknown: await refusalOf(getEmail(client, { path: { id: 'em_00000000000000000000000000' } })),
    invalid: await refusalOf(sendEmail(client, { body: { ...message, subject: 'a\nb' } })),
    limited: await refusalOf(listEmails(slow)),
    checked: [typeof withoutRecipients, typeof unknownFilter],
  }),
)
