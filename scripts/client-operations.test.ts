import { describe, expect, test } from 'vitest'
import { mailDocument } from '../services/mail/http/openapi.ts'
import { openApiDocument } from '../services/subscriptions/http/openapi.ts'
import { type ClientDocument, operationsModule, withoutPages } from './client-operations.ts'

const document = (operation: object, path = '/api/v1/x'): ClientDocument => ({
  paths: {
    [path]: {
      post: { ...{ operationId: 'doIt', summary: 'Does it.', tags: [], responses: {} }, ...operation } as never,
    },
  },
})
const ok = (type = 'application/json') => ({ '200': { content: { [type]: {} } } })

/** The declaration of an operation, without its comment. */
function declared(operation: object): string {
  const lines = operationsModule(document(operation), './types.ts').split('\n')
  return lines.find(line => line.startsWith('export')) ?? ''
}

describe('an operation is declared with', () => {
  test.each<[string, object, string, string]>([
    [
      'JSON and a Bearer token',
      { security: [{ session: [] }, { token: [] }], responses: ok() },
      'types.DoItResponses[200]',
      '',
    ],
    [
      'an envelope for the header token',
      { security: [{ token: [] }], responses: ok() },
      `[200]['data']`,
      `auth: 'token', envelope: true`,
    ],
    [
      'an envelope for the secret of an app',
      { security: [{ appSecret: [] }], responses: ok() },
      `[200]['data']`,
      'envelope: true',
    ],
    [
      'no envelope for OFREP',
      { security: [{ appKey: [] }, { appBearer: [] }], responses: ok() },
      'types.DoItResponses[200]',
      '',
    ],
    [
      'its answer where that is a file',
      { security: [{ session: [] }], responses: ok('text/csv') },
      ', Response>',
      'raw: true',
    ],
    ['no result for 204', { security: [{ session: [] }], responses: { '204': {} } }, ', undefined>', ''],
    ['no result for 304', { security: [{ appKey: [] }], responses: { ...ok(), '304': {} } }, ' | undefined>', ''],
    [
      'its key',
      { security: [{ session: [] }], parameters: [{ name: 'Idempotency-Key', in: 'header' }], responses: ok() },
      'CallOptions & KeyOption',
      'key: true',
    ],
    [
      'the type of a file that it takes',
      { security: [{ session: [] }], requestBody: { content: { 'text/csv': {} } }, responses: ok() },
      'types.DoItData',
      `type: 'text/csv'`,
    ],
    [
      'two results where dry_run has another answer',
      {
        security: [{ session: [] }],
        parameters: [{ name: 'dry_run', in: 'query' }],
        responses: { ...ok(), '202': {} },
      },
      'types.DoItResponses[202], types.DoItResponses[200]>',
      '',
    ],
  ])('%s', (_, operation, type, traits) => {
    const text = declared(operation)
    expect(text).toContain(type)
    expect(text).toMatch(
      traits === '' ? /operation\('POST \/api\/v1\/x'\)$/ : /operation\('POST \/api\/v1\/x', \{ .* \}\)$/,
    )
    expect(text).toContain(traits)
  })
})

describe('the client has', () => {
  test.each<[string, Record<string, string[]>[], string, boolean]>([
    ['an operation of tokens', [{ session: [] }, { token: [] }], '/api/v1/x', true],
    ['an operation of secrets of apps', [{ appSecret: [] }], '/server/x', true],
    ['OFREP', [{ appKey: [] }, { appBearer: [] }], '/ofrep/x', true],
    ['the login that gives a token', [], '/token', true],
    ['no operation of sessions only', [{ session: ['admin'] }], '/api/v1/admin/x', false],
    ['no page', [], '/docs', false],
  ])('%s', (_, security, path, expected) => {
    expect(path in withoutPages(document({ security }, path)).paths).toBe(expected)
  })

  test('the operations of both documents once each', () => {
    for (const [whole, some] of [
      [mailDocument('/'), ['sendEmail', 'explainEmail', 'applyDomainDns']],
      [openApiDocument(), ['logIn', 'subscribe', 'evaluateFlag']],
    ] as const) {
      const source = operationsModule(withoutPages(whole as unknown as ClientDocument), './types.ts')
      const names = [...source.matchAll(/^export const (\w+)/gm)].map(([, name]) => name)
      expect(names).toEqual(expect.arrayContaining([...some]))
      expect(new Set(names).size).toBe(names.length)
      expect(names).not.toContain('getReadiness')
    }
  })
})
