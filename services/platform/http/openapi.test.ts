import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { problems } from '../problems.ts'
import { endpoint } from './endpoint.ts'
import { openApi, operationsOf } from './openapi.ts'

const contract = {
  SCOPES: ['a'],
  schema: z.string(),
  list: endpoint({
    operationId: 'listThings',
    tag: 'Things',
    method: 'GET',
    path: '/things',
    summary: 'Lists things.',
    access: 'open',
    query: z.strictObject({ limit: z.coerce.number().int().max(100).default(20), after: z.string().optional() }),
    response: z.strictObject({ data: z.array(z.string()) }),
  }),
  change: endpoint({
    operationId: 'changeThing',
    tag: 'Things',
    method: 'PATCH',
    path: '/things/{id}',
    summary: 'Changes a thing.',
    access: 'closed',
    params: z.strictObject({ id: z.string() }),
    body: z.strictObject({ name: z.string().min(1), at: z.iso.datetime().transform(value => new Date(value)) }),
    response: z.strictObject({ id: z.string() }),
  }),
  remove: endpoint({
    operationId: 'removeThing',
    tag: 'Things',
    method: 'DELETE',
    path: '/things/{id}',
    summary: 'Removes.',
    access: 'closed',
    status: 204,
  }),
}

const document = openApi<string>({
  title: 'Things',
  description: 'Things of all kinds.',
  version: '1',
  tags: [{ name: 'Things', description: 'All things.' }],
  server: 'https://api.example.net',
  operations: operationsOf<string>(contract),
  securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A token.' } },
  security: ({ access }) => (access === 'open' ? [] : [{ key: [] }]),
})

describe('examples', () => {
  const given = openApi<string>({
    title: 'Things',
    description: 'Things of all kinds.',
    version: '1',
    tags: [{ name: 'Things', description: 'All things.' }],
    server: '/',
    operations: [
      endpoint({
        operationId: 'setPart',
        tag: 'Things',
        method: 'PUT',
        path: '/things/{id}/parts/{part}/{other}',
        summary: 'Sets a part.',
        access: 'closed',
        example: { query: { dry: 'true' }, headers: { 'X-Key': 'k' }, body: { name: 'wheel' } },
        params: z.strictObject({ id: z.string(), part: z.coerce.number(), other: z.string() }),
        query: z.strictObject({ dry: z.string().optional(), page: z.string().optional() }),
        headers: z.object({ 'X-Key': z.string().optional() }),
        body: z.strictObject({ name: z.string() }),
      }),
      endpoint({
        operationId: 'importThings',
        tag: 'Things',
        method: 'POST',
        path: '/things',
        summary: 'Imports things.',
        access: 'closed',
        example: { content: { type: 'text/csv', text: 'name\nwheel\n' } },
        requestContent: { 'text/csv': { type: 'string' }, 'text/plain': { type: 'string' } },
      }),
    ],
    securitySchemes: {},
    security: () => [],
    pathExamples: { 'things/{id}': 'thing_1', 'parts/{part}': 7 },
  })

  test('of parameters come from the path before them, and from the operation', () => {
    const { parameters = [] } = given.paths['/things/{id}/parts/{part}/{other}']?.put ?? {}
    expect(Object.fromEntries(parameters.map(({ name, example }) => [name, example]))).toEqual({
      ...{ id: 'thing_1', part: 7, other: undefined, dry: 'true', page: undefined, 'X-Key': 'k' },
    })
    expect(parameters.filter(one => 'example' in one)).toHaveLength(4)
  })

  test('of bodies belong to one media type', () => {
    expect(given.paths['/things/{id}/parts/{part}/{other}']?.put?.requestBody?.content).toMatchObject({
      'application/json': { example: { name: 'wheel' } },
    })
    expect(given.paths['/things']?.post?.requestBody?.content).toEqual({
      'text/csv': { schema: { type: 'string' }, example: 'name\nwheel\n' },
      'text/plain': { schema: { type: 'string' } },
    })
  })
})

test('only operations are taken from a contract', () =>
  expect(operationsOf(contract)).toEqual([contract.list, contract.change, contract.remove]))

test('operations of one path are grouped, each with its security', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://api.example.net' }] })
  expect(Object.keys(document.paths['/things/{id}'] ?? {})).toEqual(['patch', 'delete'])
  expect(document.paths['/things']?.get).toMatchObject({ security: [] })
  expect(document.paths['/things/{id}']?.patch).toMatchObject({ security: [{ key: [] }] })
})

test('parameters have their location and whether they are required', () => {
  expect(document.paths['/things']?.get).toMatchObject({
    parameters: [
      { name: 'limit', in: 'query', required: false, schema: { maximum: 100, default: 20 } },
      { name: 'after', in: 'query', required: false },
    ],
  })
  expect(document.paths['/things/{id}']?.patch).toMatchObject({
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
  })
})

test('bodies are described as clients send them, unknown fields refused', () => {
  expect(document.paths['/things/{id}']?.patch).toMatchObject({
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            additionalProperties: false,
            required: ['name', 'at'],
            properties: { name: { type: 'string', minLength: 1 }, at: { type: 'string', format: 'date-time' } },
          },
        },
      },
    },
  })
})

test('answers have their status and schema, refusals are problem documents with every code', () => {
  expect(document.paths['/things']?.get).toMatchObject({
    responses: {
      200: { content: { 'application/json': { schema: { required: ['data'] } } } },
      '4XX': { $ref: '#/components/responses/Problem' },
      '5XX': { $ref: '#/components/responses/Problem' },
    },
  })
  expect(document.paths['/things/{id}']?.delete).toMatchObject({ responses: { 204: { description: 'Success' } } })
  expect(document.components).toMatchObject({
    responses: {
      Problem: { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
    schemas: { Problem: { properties: { code: { type: 'string', examples: Object.keys(problems) } } } },
  })
})

const NOTHING = { title: 'T', description: 'D', version: '1', server: '/', tags: [], securitySchemes: {} }
const minimal = { method: 'GET', path: '/x', summary: 'Does it.', access: 'open', status: 204 } as const

test('a duplicate operation name and an unknown group are errors', () => {
  const tags = [{ name: 'Known', description: 'Known.' }]
  const build = (...names: [operationId: string, tag: string][]) =>
    openApi<string>({
      ...NOTHING,
      tags,
      operations: names.map(([operationId, tag]) => endpoint({ ...minimal, operationId, tag })),
      security: () => [],
    })
  expect(build(['one', 'Known'], ['two', 'Known']).tags).toEqual(tags)
  expect(() => build(['one', 'Known'], ['one', 'Known'])).toThrow(/called one/)
  expect(() => build(['one', 'Unknown'])).toThrow(/one has the unknown tag Unknown/)
})

test('a parameter of the query that accepts a list shows both forms', () => {
  const status = z.enum(['queued', 'bounced'])
  const operation = endpoint({
    operationId: 'list',
    tag: 'Things',
    method: 'GET',
    path: '/x',
    summary: 'Lists them.',
    access: 'open',
    query: z.object({ status: z.union([status, z.array(status).min(1).max(2)]).optional() }),
    response: z.object({}),
  })
  const document = openApi({
    ...{ title: 'T', description: 'D', version: '1', server: '/', tags: [{ name: 'Things', description: '' }] },
    ...{ operations: [operation], securitySchemes: {}, security: () => [] },
  })
  const one = { type: 'string', enum: ['queued', 'bounced'] }
  expect(document.paths['/x']?.get?.parameters).toEqual([
    {
      ...{ name: 'status', in: 'query', required: false },
      schema: { anyOf: [one, { type: 'array', items: one, minItems: 1, maxItems: 2 }] },
    },
  ])
})

test('files, headers, a second success and custom checks are documented', () => {
  const number = z
    .union([z.number(), z.string()])
    .meta({ anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }] })
  const operation = endpoint({
    operationId: 'put',
    tag: 'Things',
    method: 'PUT',
    path: '/x',
    summary: 'Puts it.',
    access: 'open',
    query: z.object({ page: number.optional() }),
    headers: z.object({ 'Idempotency-Key': z.string().optional().describe('A key.') }),
    body: z.unknown(),
    documentedBody: z.object({ name: z.string() }),
    requestContent: { 'text/csv': { type: 'string' } },
    response: z.object({ id: z.string() }),
    responseContent: { 'text/plain': { type: 'string' } },
    responseHeaders: { ETag: { description: 'Its tag.', schema: { type: 'string' } } },
    notModified: true,
    alternative: { status: 202, description: 'Later.', response: z.object({ later: z.boolean() }) },
  })
  const { paths } = openApi<string>({
    ...NOTHING,
    tags: [{ name: 'Things', description: 'All things.' }],
    operations: [operation],
    security: () => [],
    success: (_, data) => ({ type: 'object', properties: { data } }),
  })
  const id = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
  expect(paths['/x']?.put).toMatchObject({
    parameters: [
      { name: 'page', in: 'query', required: false, schema: { type: 'integer', minimum: 1 } },
      { name: 'Idempotency-Key', in: 'header', required: false, description: 'A key.', schema: { type: 'string' } },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { required: ['name'] } }, 'text/csv': { schema: { type: 'string' } } },
    },
    responses: {
      200: {
        headers: { ETag: { schema: { type: 'string' } } },
        content: {
          'application/json': { schema: { type: 'object', properties: { data: id } } },
          'text/plain': { schema: { type: 'string' } },
        },
      },
      202: { description: 'Later.' },
      304: {},
    },
  })
})

test('a body that may be left out is not required', () => {
  const body = z.object({ name: z.string().optional() })
  const operation = endpoint({ ...minimal, method: 'POST', operationId: 'a', tag: 'A', body })
  const tags = [{ name: 'A', description: 'A.' }]
  const { paths } = openApi<string>({ ...NOTHING, tags, operations: [operation], security: () => [] })
  expect(paths['/x']?.post).toMatchObject({ requestBody: { required: false } })
})
