import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { credentialVariable, curlExample } from './curl-example.ts'
import type { PlacedOperation, ReferenceDocument, ReferenceOperation } from './reference-document.ts'

const securitySchemes = {
  session: { type: 'apiKey', in: 'cookie', name: 'sid', description: '' },
  csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF', description: '' },
  token: { type: 'http', scheme: 'bearer', description: '' },
  appKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: '' },
}
const document = (url = 'https://api.example.net'): ReferenceDocument => ({
  info: { title: 'Things', description: '' },
  servers: [{ url }],
  tags: [],
  paths: {},
  components: { securitySchemes, schemas: {} },
})
const placed = (more: Partial<ReferenceOperation> = {}, method = 'GET', path = '/things'): PlacedOperation => ({
  ...{ method, path },
  operation: { operationId: 'x', tags: ['T'], summary: '', security: [], responses: {}, ...more },
})
const field = (name: string, place: string, example?: unknown) => ({
  ...{ name, in: place, required: false, schema: {} },
  ...(example !== undefined && { example }),
})
const json = (example: unknown) => ({ required: true, content: { 'application/json': { schema: {}, example } } })

describe('a command has', () => {
  test.each<[string, PlacedOperation, string]>([
    ['the address alone for a simple read', placed(), 'curl "https://api.example.net/things"'],
    ['the method of a write', placed({}, 'DELETE'), 'curl -X DELETE "https://api.example.net/things"'],
    [
      'examples in path and query, encoded',
      placed(
        { parameters: [field('id', 'path', 'a/b'), field('q', 'query', 'x y'), field('page', 'query')] },
        'GET',
        '/t/{id}',
      ),
      'curl "https://api.example.net/t/a%2Fb?q=x+y"',
    ],
    [
      'braces where there is no example',
      placed({ parameters: [field('id', 'path')] }, 'GET', '/t/{id}'),
      'curl "https://api.example.net/t/%7Bid%7D"',
    ],
    [
      'headers with examples',
      placed({ parameters: [field('lang', 'header', 'zh'), field('If-None-Match', 'header')] }),
      `curl "https://api.example.net/things" \\\n  -H 'lang: zh'`,
    ],
    [
      'the token rather than the cookie',
      placed({ security: [{ session: [], csrf: [] }, { token: ['a:read'] }] }),
      'curl "https://api.example.net/things" \\\n  -H "Authorization: Bearer $POSTWRIGHT_TOKEN"',
    ],
    [
      'cookie and header of a session where nothing else is accepted',
      placed({ security: [{ session: ['admin'], csrf: [] }] }),
      'curl "https://api.example.net/things" \\\n  -b "sid=$POSTWRIGHT_SESSION" \\\n  -H "X-CSRF: 1"',
    ],
    [
      'a key in its header',
      placed({ security: [{ appKey: [] }] }),
      'curl "https://api.example.net/things" \\\n  -H "X-API-Key: $POSTWRIGHT_APP_KEY"',
    ],
    [
      'no credentials of an unknown scheme',
      placed({ security: [{ other: [] }] }),
      'curl "https://api.example.net/things"',
    ],
    [
      'JSON on several lines',
      placed({ requestBody: json({ a: 1 }) }, 'POST'),
      `curl -X POST "https://api.example.net/things" \\\n  -H 'Content-Type: application/json' \\\n  -d '{\n  "a": 1\n}'`,
    ],
    [
      'other content byte by byte',
      placed(
        { requestBody: { required: true, content: { 'text/csv': { schema: {}, example: 'a,b\n1,2\n' } } } },
        'POST',
      ),
      `curl -X POST "https://api.example.net/things" \\\n  -H 'Content-Type: text/csv' \\\n  --data-binary 'a,b\n1,2\n'`,
    ],
    [
      'no body without an example',
      placed({ requestBody: { required: false, content: { 'application/json': { schema: {} } } } }, 'POST'),
      'curl -X POST "https://api.example.net/things"',
    ],
    [
      'no buffer for a stream',
      placed({ responses: { 200: { content: { 'text/event-stream': { schema: {} } } } } }),
      'curl -N "https://api.example.net/things"',
    ],
  ])('%s', (_, operation, command) => {
    expect(curlExample(document(), operation)).toBe(command)
  })

  test.each([
    ['/', 'curl "$POSTWRIGHT_URL/things"'],
    ['https://api.example.net/', 'curl "https://api.example.net/things"'],
  ])('the address of a document at %s', (url, command) => {
    expect(curlExample(document(url), placed())).toBe(command)
  })
})

test('a shell reads quotes, dollars, backticks and line breaks as they were', () => {
  const value = { text: `it's $HOME, \`id\` "quoted" \\ and\ntwo lines; $(id)` }
  const command = curlExample(document(), placed({ requestBody: json(value) }, 'POST'))
  const shown = execFileSync('sh', ['-c', command.replace('curl', 'printf "%s\\0"')])
    .toString()
    .split('\0')
  expect(JSON.parse(shown[shown.indexOf('-d') + 1] ?? '')).toEqual(value)
})

test.each([
  ['token', 'POSTWRIGHT_TOKEN'],
  ['appSecret', 'POSTWRIGHT_APP_SECRET'],
])('the variable of %s is %s', (scheme, variable) => expect(credentialVariable(scheme)).toBe(variable))
