import { describe, expect, test } from 'vitest'
import { EMAIL_LIMITS } from './email-parts.ts'
import { emailRequest, findRequestErrors, lenient, rawRequest, recipientsOf } from './email-request.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const minimal = { from: 'ann@example.com', to: 'bob@example.net', subject: 'Hello', text: 'Hi' }
const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))
const record = (count: number) => Object.fromEntries(many(count, index => [`X-H${index}`, 'v']))

/** The pointers of all errors, of the schema and between fields. */
function pointers(body: unknown): string[] {
  const parsed = emailRequest.safeParse(body)
  if (!parsed.success)
    return parsed.error.issues.map(issue => `/${[...issue.path, ...('keys' in issue ? issue.keys : [])].join('/')}`)
  return findRequestErrors(parsed.data, NOW).map(error => error.pointer)
}

describe('a message is accepted', () => {
  test.each([
    ['the four old fields', minimal],
    ['html alone', { ...minimal, text: undefined, html: '<p>Hi</p>' }],
    ['an empty subject and text', { ...minimal, subject: '', text: '' }],
    ['lists and objects as addresses', { ...minimal, to: ['a@x.example', { email: 'b@x.example', name: 'B' }] }],
    ['50 recipients', { ...minimal, to: many(EMAIL_LIMITS.recipients, index => `u${index}@example.net`) }],
    ['998 characters of subject', { ...minimal, subject: 's'.repeat(998) }],
    ['2 MiB of text', { ...minimal, text: 'a'.repeat(EMAIL_LIMITS.text) }],
    ['20 attachments', { ...minimal, attachments: many(20, () => ({ filename: 'a.txt', content: 'YQ==' })) }],
    ['50 headers', { ...minimal, headers: record(50) }],
    ['10 tags', { ...minimal, tags: many(10, () => ({ name: 'n', value: 'v' })) }],
    ['20 metadata keys', { ...minimal, metadata: record(20) }],
    ['a time 30 days ahead', { ...minimal, scheduled_at: '2026-12-21T12:00:00Z' }],
    ['a time with another zone', { ...minimal, scheduled_at: '2026-11-22T09:00:00+08:00' }],
    ['a time in the past (sent immediately)', { ...minimal, scheduled_at: '2026-11-20T12:00:00Z' }],
    ['bulk', { ...minimal, stream: 'bulk', test: true }],
    ['the longest header word', { ...minimal, headers: { 'X-A': `${'x'.repeat(899)}${' '.repeat(39)}y` } }],
    ['a header that is called like a prototype', { ...minimal, headers: { constructor: 'x' } }],
  ])('%s', (_, body) => {
    expect(pointers(body)).toEqual([])
  })
})

describe('a message is refused at the field', () => {
  test.each([
    ['no object', [], '/'],
    ['text', 'hello', '/'],
    ['nothing', null, '/'],
    ['no from', { ...minimal, from: undefined }, '/from'],
    ['two from', { ...minimal, from: ['a@x.example', 'b@x.example'] }, '/from'],
    ['no recipient', { ...minimal, to: [] }, '/to'],
    ['51 recipients', { ...minimal, to: many(51, index => `u${index}@example.net`) }, '/to'],
    [
      '51 recipients in sum',
      { ...minimal, to: many(30, i => `u${i}@x.example`), bcc: many(21, i => `b${i}@x.example`) },
      '/to',
    ],
    ['a wrong address in a list', { ...minimal, cc: ['a@x.example', 'nobody'] }, '/cc/1'],
    ['an operator object as address', { ...minimal, to: { $gt: '' } }, '/to'],
    ['an operator object in a list', { ...minimal, to: ['a@x.example', { $gt: '' }] }, '/to/1'],
    ['a list in a list', { ...minimal, cc: [['a@x.example']] }, '/cc/0'],
    ['a line break in an address', { ...minimal, to: 'a@x.example\r\nBcc: e@x.example' }, '/to'],
    ['a line break in a name', { ...minimal, reply_to: { email: 'a@x.example', name: 'A\nB' } }, '/reply_to'],
    ['a line break in the subject', { ...minimal, subject: 'a\r\nBcc: e@x.example' }, '/subject'],
    ['NUL in the subject', { ...minimal, subject: 'a\u0000' }, '/subject'],
    ['999 characters of subject', { ...minimal, subject: 's'.repeat(999) }, '/subject'],
    ['a number as subject', { ...minimal, subject: 7 }, '/subject'],
    ['an operator object as subject', { ...minimal, subject: { $ne: null } }, '/subject'],
    ['no body', { ...minimal, text: undefined }, '/text'],
    ['too much text', { ...minimal, text: 'é'.repeat(EMAIL_LIMITS.text / 2 + 1) }, '/text'],
    ['too much html', { ...minimal, html: 'a'.repeat(EMAIL_LIMITS.text + 1) }, '/html'],
    ['21 attachments', { ...minimal, attachments: many(21, () => ({ filename: 'a', content: '' })) }, '/attachments'],
    [
      'an attachment by path',
      { ...minimal, attachments: [{ filename: 'a', content: '', path: '/etc/passwd' }] },
      '/attachments/0/path',
    ],
    ['a line break in a header', { ...minimal, headers: { 'X-A': 'a\nBcc: e@x.example' } }, '/headers/X-A'],
    ['a header name with a colon', { ...minimal, headers: { 'X: y': 'a' } }, '/headers/X: y'],
    ['an empty header name', { ...minimal, headers: { '': 'a' } }, '/headers/'],
    ['51 headers', { ...minimal, headers: record(51) }, '/headers'],
    ['a header word that fits on no line', { ...minimal, headers: { 'X-A': 'x'.repeat(900) } }, '/headers/X-A'],
    ['40 spaces in a header', { ...minimal, headers: { 'X-A': `a${' '.repeat(40)}b` } }, '/headers/X-A'],
    ['16 KB of headers', { ...minimal, headers: { a: 'x'.repeat(899), ...bulky() } }, '/headers'],
    ['11 tags', { ...minimal, tags: many(11, () => ({ name: 'n', value: 'v' })) }, '/tags'],
    ['a tag with a space', { ...minimal, tags: [{ name: 'a b', value: 'v' }] }, '/tags/0/name'],
    ['21 metadata keys', { ...minimal, metadata: record(21) }, '/metadata'],
    ['a metadata key that is an operator', { ...minimal, metadata: { $where: '1' } }, '/metadata/$where'],
    ['a metadata key with a dot', { ...minimal, metadata: { 'a.b': '1' } }, '/metadata/a.b'],
    ['an object as metadata value', { ...minimal, metadata: { a: { $gt: '' } } }, '/metadata/a'],
    ['a time 31 days ahead', { ...minimal, scheduled_at: '2026-12-22T12:00:00Z' }, '/scheduled_at'],
    ['a time in words', { ...minimal, scheduled_at: 'tomorrow' }, '/scheduled_at'],
    ['a time without a zone', { ...minimal, scheduled_at: '2026-12-01T12:00:00' }, '/scheduled_at'],
    ['an unknown stream', { ...minimal, stream: 'system' }, '/stream'],
    ['a word as test', { ...minimal, test: 'yes' }, '/test'],
    ['an unknown field', { ...minimal, surprise: 1 }, '/surprise'],
    [
      'a prototype key',
      JSON.parse('{"from":"a@x.example","to":"b@x.example","subject":"","text":"","__proto__":{}}'),
      '/__proto__',
    ],
  ])('%s', (_, body, pointer) => {
    expect(pointers(body)).toContain(pointer)
  })

  test.each([
    'From',
    'to',
    'CC',
    'Bcc',
    'Sender',
    'Date',
    'Subject',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'DKIM-Signature',
    'Return-Path',
    'Received',
    'Authentication-Results',
    'ARC-Seal',
    'Resent-From',
    'Reply-To',
    'X-Idempotency-Key',
  ])('the header %s', name => {
    expect(pointers({ ...minimal, headers: { [name]: 'x' } })).toEqual([`/headers/${name}`])
  })
})

describe('base64 is decoded or refused', () => {
  const content = (value: string) => rawRequest.safeParse({ from: 'a@x.example', to: 'b@x.example', raw: value })
  test.each([
    ['', ''],
    ['YQ==', 'a'],
    ['YWI=', 'ab'],
    ['YWJj', 'abc'],
    ['YWJj\r\nZGVm\n', 'abcdef'],
  ])('%j is %j', (value, text) => {
    expect(content(value).data?.raw.toString()).toBe(text)
  })
  test.each(['YQ', 'YQ=', 'Y', '=', '====', 'YW=j', 'YQ==YQ==', 'Y Q=', '!!!!', 'YW_j', 'data:,a'])(
    '%j is not',
    value => {
      expect(content(value).success).toBe(false)
    },
  )
})

test('headers become a map in the order given', () => {
  const parsed = emailRequest.parse({ ...minimal, headers: { 'X-B': '1', 'X-A': '2' } })
  expect([...(parsed.headers ?? [])]).toEqual([
    ['X-B', '1'],
    ['X-A', '2'],
  ])
})

test('a recipient named twice is once in the envelope, under the first field', () => {
  const parsed = emailRequest.parse({
    ...minimal,
    to: ['B@x.example', 'c@x.example'],
    cc: 'c@X.example',
    bcc: ['d@x.example', 'd@x.example'],
  })
  expect(recipientsOf(parsed)).toEqual([
    { email: 'B@x.example', type: 'to' },
    { email: 'c@x.example', type: 'to' },
    { email: 'd@x.example', type: 'bcc' },
  ])
})

describe('track', () => {
  test.each<[object]>([[{}], [{ opens: false }], [{ opens: true, clicks: false }]])('may be %o', track => {
    const request = emailRequest.parse({ ...minimal, track })
    expect(request.track).toEqual(track)
    expect(findRequestErrors(request, NOW)).toEqual([])
  })

  test.each<[unknown]>([[null], [true], [{ opens: 'no' }], [{ opens: null }], [{ links: false }]])(
    'may not be %o',
    track => expect(emailRequest.safeParse({ ...minimal, track }).success).toBe(false),
  )

  test.each<[unknown, boolean]>([
    [{ opens: false }, true],
    [{ opens: false, clicks: false }, true],
    [{}, true],
    [{ opens: true, clicks: false }, false],
    [true, false],
    ['everything', false],
    [null, false],
  ])('of an old caller that is %o counts: %s', (track, counts) => {
    const { body, warnings } = lenient({ ...minimal, track })
    expect(body).toEqual(counts ? { ...minimal, track } : minimal)
    expect(warnings.map(({ code, field }) => `${field} ${code}`)).toEqual(counts ? [] : ['track unsupported_field'])
  })
})

describe('unsubscribe', () => {
  const bulk = { ...minimal, stream: 'bulk' }
  test.each<[string, object]>([
    ['nothing more', {}],
    ['a list', { list: 'weekly' }],
    ['an address', { url: 'https://news.example.com:8443/leave?u=1&t=%20' }],
    ['an address without a path', { list: 'a', url: 'https://news.example.com' }],
  ])('takes %s', (_, unsubscribe) => {
    const request = emailRequest.parse({ ...bulk, unsubscribe })
    expect(request.unsubscribe).toEqual(unsubscribe)
    expect(findRequestErrors(request, NOW)).toEqual([])
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['an unknown field', { one_click: true }],
    ['a list with a blank', { list: 'a b' }],
    ['plain http', { url: 'http://news.example.com/' }],
    ['the end of the brackets', { url: 'https://news.example.com/>, <mailto:x@y.example' }],
    ['a line end', { url: 'https://news.example.com/\r\nBcc: x@y.example' }],
    ['another script', { url: 'https://例え.jp/' }],
    ['a long address', { url: `https://news.example.com/${'x'.repeat(501)}` }],
  ])('refuses %s', (_, unsubscribe) => expect(emailRequest.safeParse({ ...bulk, unsubscribe }).success).toBe(false))

  test.each([undefined, 'transactional'] as const)('is for bulk mail, not for the stream %s', stream =>
    expect(findRequestErrors(emailRequest.parse({ ...minimal, stream, unsubscribe: {} }), NOW)).toMatchObject([
      { pointer: '/unsubscribe', code: 'not_allowed' },
    ]),
  )

  test('outside of bulk mail is dropped on the old path', () => {
    expect(lenient({ ...minimal, unsubscribe: { list: 'a' } })).toMatchObject({
      body: minimal,
      warnings: [{ code: 'unsupported_field', field: 'unsubscribe' }],
    })
    expect(lenient({ ...bulk, unsubscribe: {} })).toEqual({ body: { ...bulk, unsubscribe: {} }, warnings: [] })
  })
})

describe('the old path keeps known fields and lists the dropped ones', () => {
  test('unknown and unsupported fields', () => {
    expect(lenient({ ...minimal, apiVersion: 2, template: { id: 1 } })).toEqual({
      body: minimal,
      warnings: [
        { code: 'unknown_field', field: 'apiVersion', message: expect.any(String) },
        { code: 'unsupported_field', field: 'template', message: expect.any(String) },
      ],
    })
  })
  test.each([null, 'text', 7, [minimal]])('%j goes on as it is', body => {
    expect(lenient(body)).toEqual({ body, warnings: [] })
  })
  test('keys of the prototype are unknown fields, and warnings are bounded', () => {
    const result = lenient({ ...JSON.parse('{"__proto__":1,"constructor":2}'), ...record(1000) })
    expect(result.body).toEqual({})
    expect(result.warnings.slice(0, 2).map(warning => warning.field)).toEqual(['__proto__', 'constructor'])
    expect(result.warnings).toHaveLength(50)
  })
})

function bulky(): Record<string, string> {
  return Object.fromEntries(many(17, index => [`X-${index}`, 'x'.repeat(990)]))
}
