/** Calls each operation of the mail API with generated hostile input: it returns an error or does its work, and never fails. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { sendEmail } from '../../../services/mail/submission/http/send-contract.ts'
import type { AnyEndpoint } from '../../../services/platform/http/endpoint.ts'
import { createSchemas } from '../../../services/platform/json/json-schema.ts'
import { giveCredential, giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import type { ApiClient } from '../../support/http/api-client.ts'
import { MAIL_OPERATIONS, type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'
import { giveMessage } from '../../support/mail/stored-messages.ts'

const UNREACHABLE = 'http://127.0.0.1:1'
let api: PanelApi
let client: ApiClient
/** Ids of the caller's resources, by path prefix. */
let ids: Record<string, string>
beforeAll(async () => {
  api = await startPanelApi({
    CLOUDFLARE_API_URL: UNREACHABLE,
    ALIYUN_DNS_ENDPOINT: UNREACHABLE,
    DNSPOD_ENDPOINT: UNREACHABLE,
    DNS_SERVERS: '127.0.0.1:1',
    BLOCKLISTS: 'none',
  })
  const { user } = await api.newUser({ role: 'admin' })
  const { db } = api
  const boss = await api.newUser({ role: 'admin' })
  client = boss.client
  const owned = boss.user._id
  await giveDomain(db, owned, 'sender.example', { status: 'verified', verified_by: 'dns' })
  ids = {
    '/api/v1/admin/users': user._id,
    '/api/v1/domains': (await giveDomain(db, owned, 'example.com', { status: 'verified' }))._id,
    '/api/v1/admin/domains': (await giveDomain(db, owned, 'second.example'))._id,
    '/api/v1/smtp-credentials': (await giveCredential(db, owned, 'app@example.com'))._id,
    '/api/v1/tokens': (await giveToken(db, owned))._id,
    '/api/v1/emails': (await giveMessage(db, owned, { raw: 'Subject: Hello\r\n\r\nHello\r\n' }))._id,
  }
})
afterAll(() => api.stop())

const TEXTS = [
  ...['', ' ', '__proto__', 'constructor', 'hasOwnProperty', 'toString', 'null', 'undefined', 'true', '[]', '{}'],
  ...[
    '\0',
    'a\0b',
    'a\r\nX-Injected: 1',
    '\u2028',
    '\u202eabc',
    '\ud800',
    '\udfff\ud800',
    '👩‍👩‍👧',
    'İ',
    'ß',
    '９',
    '名前',
  ],
  ...['0', '-1', '-0', '1.5', '1e3', '1e999', 'NaN', 'Infinity', '0x10', '9'.repeat(400), '9007199254740993'],
  ...[
    '{"$gt":""}',
    '$where',
    'a.b',
    '$a.$b',
    '../../etc/passwd',
    '%',
    '%00',
    '%2e%2e%2f',
    '#',
    '?a=b',
    'x'.repeat(5_000),
  ],
  ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-02-30T00:00:00Z', '275760-09-13T00:00:00.001Z'],
  ...[
    'xn--a',
    'xn--',
    'a..b',
    '.',
    '@',
    'a@',
    '@b',
    'ann@example.com',
    '"a b"@example.com',
    'ann@[127.0.0.1]',
    'example.com',
  ],
  ...[
    'ann@ex\u0000ample.com',
    'Ann <ann@example.com>',
    'bob@例え.テスト',
    'c'.repeat(64),
    'AAAA',
    '::1',
    '0.0.0.0/0',
    '10/8',
  ],
]
const VALUES: unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 63), 2 ** 31, 5e-324],
  ...[
    [],
    {},
    [[]],
    [null],
    { $gt: '' },
    { length: 3 },
    { toString: 1 },
    ['__proto__'],
    { constructor: { prototype: 1 } },
  ],
  JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`),
]
const hostile = fc.oneof(fc.constantFrom(...TEXTS), fc.constantFrom(...VALUES), fc.string({ unit: 'binary' }))

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  format?: string
}

const SOON = new Date(Date.now() + 7_200_000).toISOString()
/** Optional fields without which nothing is sent, as no template replaces them. */
const ALWAYS = ['subject', 'text']
/** Valid values of fields by name, where the schema alone does not suffice. */
const WANTED: Readonly<Record<string, string>> = {
  from: 'ann@sender.example',
  to: 'bob@example.net',
  email: 'ann@sender.example',
  name: 'example.com',
  raw: Buffer.from('From: ann@example.com\r\n\r\nHello\r\n').toString('base64'),
  server: '127.0.0.1:1',
  key_secret: 'c2VjcmV0',
  zone_id: '0'.repeat(32),
}

/** Generates values that match the schema; with `wild`, hostile ones in some places. */
function madeFor({ $ref, ...given }: Schema, wild: boolean, key = ''): fc.Arbitrary<unknown> {
  const schema = $ref ? (components()[$ref.split('/').at(-1) ?? ''] as Schema) : given
  const fit = fitting(schema, wild, key)
  return wild ? fc.oneof({ weight: 4, arbitrary: fit }, { weight: 1, arbitrary: hostile }) : fit
}

function fitting(schema: Schema, wild: boolean, key: string): fc.Arbitrary<unknown> {
  const some = schema.anyOf ?? schema.oneOf
  if (some) return fc.oneof(...some.map(one => madeFor(one, wild, key)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.properties) return objectOf(schema.properties, schema.required ?? [], wild)
  if (schema.type === 'array') return fc.array(madeFor(schema.items ?? {}, wild, key), { minLength: 1, maxLength: 3 })
  if (schema.type === 'object') return fc.dictionary(fc.constantFrom(...TEXTS), hostile, { maxKeys: 3 })
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer' || schema.type === 'number') return fc.integer({ min: 1, max: 100 })
  if (schema.format === 'date-time') return fc.constantFrom(SOON, SOON, '2020-02-29T00:00:00+14:00')
  return fc.constant(WANTED[key] ?? 'a-plain-text')
}

/** The required fields with valid values, and up to two others or invalid ones. */
function objectOf(properties: Record<string, Schema>, required: readonly string[], wild: boolean) {
  const some = fc.uniqueArray(fc.constantFrom(...Object.keys(properties)), { maxLength: 2 })
  return some.chain(keys => {
    const fields = [...required, ...keys, ...ALWAYS.filter(key => key in properties)].map(key => [
      key,
      madeFor(properties[key] ?? {}, wild && keys.includes(key), key),
    ])
    return fc.record(Object.fromEntries(fields))
  })
}

const { input, components } = createSchemas()
const schemaOf = (schema: z.ZodType | undefined): Schema => (schema ? input(schema) : {})

/** Encodes a name for a path; lone surrogates are replaced as in browsers. */
const inPath = (text: string) => encodeURIComponent(text.toWellFormed())

/** Without the stream, which never ends, and the logout, which would end the session. */
const ROWS = MAIL_OPERATIONS.filter(
  ({ path, status }) => !path.endsWith('/stream') && !(path === '/api/v1/session' && status === 204),
).map(operation => [`${operation.method} ${operation.path}`, operation] as const)

/** A dry run returns 200 where the contract of sending has 202; it has tests of its own. */
const isDryRun = (asked: unknown) => typeof asked === 'object' && asked !== null && 'dry_run' in asked

/** Calls an operation with generated requests; returns the internal errors and all statuses. */
async function bombard({ method, path, params, query, body }: AnyEndpoint) {
  const names = Object.keys(schemaOf(params).properties ?? {})
  const errors: string[] = []
  const statuses = new Set<number>()
  const own = Object.entries(ids).find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'x'
  const id = fc.oneof(fc.constant(own), fc.constantFrom(...TEXTS.filter(text => !/^\.?$/.test(text))))
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...names.map(() => id)),
      query ? fitting(schemaOf(query), true, '').filter(asked => !isDryRun(asked)) : fc.constant({}),
      body ? madeFor(schemaOf(path === '/api/send' ? sendEmail.body : body), true) : fc.constant(undefined),
      async (values, asked, sent) => {
        const filled = names.reduce((text, name, n) => text.replace(`{${name}}`, () => inPath(values[n] ?? '')), path)
        const search = new URLSearchParams(
          Object.entries(asked ?? {}).map(([key, value]): [string, string] => [
            key,
            typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
          ]),
        )
        const json = sent === undefined ? undefined : JSON.stringify(sent)
        const answer = await client.call(method, `${filled}?${search}`, json)
        statuses.add(answer.status)
        if (answer.status === 500) errors.push(`${method} ${filled}?${search} ${json}: ${JSON.stringify(answer.body)}`)
        expect(answer.headers.get('x-injected')).toBeNull()
      },
    ),
    { numRuns: 60 },
  )
  return { errors, statuses }
}

/** Their tokens of 43 characters, and addresses that may be called, are never made by chance: other tests pass valid ones. */
const NEEDS_EXACT_VALUES: ReadonlySet<string> = new Set([
  'POST /api/v1/session/member-invitation',
  'POST /api/v1/session/member-invitation/accept',
  'POST /api/v1/session/invitation',
  'POST /api/v1/session/invitation/accept',
  'POST /api/v1/session/password-reset/complete',
  'POST /api/v1/session/email-confirmation',
  'POST /api/v1/me/accounts',
  'POST /api/v1/webhooks',
])

test.each(ROWS)('%s never returns an internal error', async (_, operation) => {
  const { errors, statuses } = await bombard(operation)
  expect(errors).toEqual([])
  // At least one request passes authorization and validation.
  const takesInput = operation.body !== undefined || operation.query !== undefined
  if (takesInput && !NEEDS_EXACT_VALUES.has(`${operation.method} ${operation.path}`))
    expect([...statuses].some(status => status !== 422 && status !== 400)).toBe(true)
})

test('the table contains all operations', () => expect(ROWS.length).toBeGreaterThan(65))
