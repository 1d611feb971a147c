import { describe, expect, test } from 'vitest'
import type { ReferenceDocument } from './reference-document.ts'
import { REFERENCE_WORDS } from './reference-words.ts'
import { createReference } from './render-reference.ts'

const text = { type: 'string' }
const operation = (operationId: string, tag: string, summary: string) => ({
  ...{ operationId, tags: [tag], summary, security: [], responses: { 204: { description: 'Success' } } },
})
const document: ReferenceDocument = {
  info: { title: 'Things & more', description: 'About `things`.' },
  servers: [{ url: '/' }],
  tags: [
    { name: 'Small things', description: 'Those that are small.' },
    { name: 'Large', description: 'Those that are large.' },
    { name: 'None', description: 'No operation.' },
  ],
  paths: {
    '/small': { get: operation('listSmall', 'Small things', 'Lists small things.') },
    '/large/{id}': {
      put: {
        ...operation('setLarge', 'Large', 'Sets a <large> thing.'),
        security: [{ session: [], csrf: [] }, { token: ['large:write'] }],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: text, example: 'l_1' },
          { name: 'dry', in: 'query', required: false, description: 'Changes nothing.', schema: text },
        ],
        requestBody: { required: false, content: { 'application/json': { schema: text, example: 'x' } } },
        responses: {
          200: { description: 'Success', content: { 'application/json': { schema: text } } },
          202: { description: 'It is queued.' },
          '4XX': { $ref: '#/components/responses/Problem' },
        },
      },
    },
  },
  components: {
    securitySchemes: {
      session: { type: 'apiKey', in: 'cookie', name: 'sid', description: 'A cookie.' },
      csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF', description: 'Any value.' },
      token: { type: 'http', description: 'A token.' },
    },
    schemas: { Problem: { type: 'object', properties: { code: text } } },
  },
}
const page = createReference(document, 'en')

test('each operation has an anchor, its caller, parameters, body, answers and example', () => {
  const html = page('')
  for (const part of [
    '<h3 id="setLarge" tabindex="-1"><a href="#setLarge"><span class="method">PUT</span> <code>/large/{id}</code></a></h3>',
    'Sets a &lt;large&gt; thing.',
    '<a href="#credential-session">session</a> and <a href="#credential-csrf">csrf</a> or <a href="#credential-token">token</a> <code>large:write</code>',
    '<code>id</code> <span class="fact">path, required</span>',
    '<span lang="en">Changes nothing.</span>',
    'Request body <span class="fact">optional</span>',
    '<code>202</code> <span lang="en">It is queued.</span>',
    '<code>4XX</code> <a href="#schema-Problem">Problem</a>',
    'curl -X PUT &quot;$POSTWRIGHT_URL/large/l_1&quot;',
    '<h3 id="schema-Problem" tabindex="-1">',
    '<code>$POSTWRIGHT_TOKEN</code>',
  ])
    expect(html).toContain(part)
  expect(html).toContain('Things &amp; more')
  expect(html).not.toMatch(/<script|style=|<img|https?:/)
})

test('every link to a place on the page leads somewhere, and ids are unique', () => {
  const html = page('')
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
})

test('operations are grouped in the order of the tags; a tag without operations is left out', () => {
  const html = page('')
  expect(html.indexOf('id="tag-small-things"')).toBeLessThan(html.indexOf('id="tag-large"'))
  expect(html).not.toContain('tag-none')
})

describe('a search', () => {
  test.each([
    ['setlarge', ['setLarge']],
    ['LARGE put', ['setLarge']],
    ['changes nothing', ['setLarge']],
    ['things', ['listSmall']],
    ['/', ['listSmall', 'setLarge']],
    ['small large', []],
  ])('for "%s" finds %j', (search, found) => {
    const html = page(search)
    expect([...html.matchAll(/data-operation="(\w+)"/g)].map(([, id]) => id)).toEqual(found)
    expect(html).toContain(found.length === 0 ? 'No operation has these words.' : `Operations found: ${found.length}`)
  })

  test('stays in the field and in the links to other languages, as text', () => {
    const html = page(`"><script>'&`)
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;&#39;&amp;"')
    expect(html).toContain('lang=zh-CN&amp;q=%22%3E%3Cscript%3E%27%26"')
    expect(html).not.toContain('<script')
  })
})

test('the words of the page are in its language, the texts of the document are marked as English', () => {
  const html = createReference(document, 'zh-CN')('')
  expect(html).toContain('<html lang="zh-CN">')
  for (const word of ['搜索', '请求正文', '必填', '任何人']) expect(html).toContain(word)
  expect(html).toContain('<p lang="en">Lists small things.</p>')
  expect(Object.keys(REFERENCE_WORDS['zh-CN'])).toEqual(Object.keys(REFERENCE_WORDS.en))
})
