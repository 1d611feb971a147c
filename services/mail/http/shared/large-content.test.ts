import { expect, test } from 'vitest'
import { validate } from '../../../platform/json/bounded-validation.ts'
import { LargeText } from '../../../platform/json/json-text.ts'
import { JsonReader } from '../../../platform/json/streaming-reader.ts'
import { EMAIL_LIMITS } from '../../submission/rules/email-parts.ts'
import { emailRequest } from '../../submission/rules/email-request.ts'
import { decodeLargeContent, LARGE_TEXT_BYTES } from './large-content.ts'

const MESSAGE = { from: 'a@example.com', to: ['b@example.com'], subject: 's', text: 't' }

/** A document as the operations that send read it. */
async function read(document: unknown): Promise<unknown> {
  const reader = new JsonReader({ values: 1_000, members: 256, depth: 10, text: LARGE_TEXT_BYTES })
  reader.push(Buffer.from(JSON.stringify(document)))
  const body = reader.end()
  await decodeLargeContent(body)
  return body
}

const errorsOf = async (fields: object) => {
  const result = validate(emailRequest, await read({ ...MESSAGE, ...fields }))
  return result.ok ? [] : result.issues.map(({ path, reason }) => `${path.join('.')} ${reason.code}`)
}

const LONG = 'x'.repeat(2 * 1024 * 1024)
const address = `"${LONG}"@x`

test.each<[string, object, string[]]>([
  ['a text up to its limit', { text: 'ä'.repeat(EMAIL_LIMITS.text / 2), html: LONG }, []],
  ['a text beyond it', { text: `${LONG}x` }, ['text field.text_too_large']],
  ['a long subject', { subject: LONG }, ['subject field.text_too_large']],
  [
    'twelve long addresses',
    { to: Array(12).fill(address) },
    Array.from({ length: 12 }, (_, n) => `to.${n} field.text_too_large`),
  ],
  ['a long sender', { from: address }, ['from field.text_too_large']],
  ['a sender of 70 KB', { from: `"${'x'.repeat(70_000)}"@x.example` }, ['from field.text_too_large']],
  [
    'long members of an address',
    { cc: { email: address }, bcc: { email: 'a@x.example', name: LONG } },
    ['cc field.address_types', 'bcc field.address_types'],
  ],
  ['a long header', { headers: { 'X-A': LONG } }, ['headers.X-A field.text_too_large']],
  ['a long note', { metadata: { a: LONG } }, ['metadata.a field.text_too_large']],
  ['a long tag', { tags: [{ name: LONG, value: 'b' }] }, ['tags.0.name field.text_too_large']],
  ['a long time', { scheduled_at: LONG }, ['scheduled_at field.text_too_large']],
  [
    'long members of an attachment',
    { attachments: [{ filename: LONG, content: LONG, content_type: LONG, content_id: LONG }] },
    [
      'attachments.0.filename field.text_too_large',
      'attachments.0.content_type field.text_too_large',
      'attachments.0.content_id field.text_too_large',
    ],
  ],
])('%s', async (_, fields, expected) => {
  expect((await errorsOf(fields)).toSorted()).toEqual(expected.toSorted())
})

test('the texts of each message of a batch become strings, others stay as they are', async () => {
  const [first, second] = (await read([MESSAGE, { ...MESSAGE, html: LONG, subject: LONG }])) as Record<
    string,
    unknown
  >[]
  expect([first, second?.html, second?.subject]).toEqual([MESSAGE, LONG, expect.any(LargeText)])
})

test('a text that is not UTF-8 is refused', async () => {
  const text = new LargeText([Buffer.alloc(70_000, 0xff)], 70_000)
  await expect(decodeLargeContent({ ...MESSAGE, text })).rejects.toMatchObject({ code: 'invalid_json' })
})
