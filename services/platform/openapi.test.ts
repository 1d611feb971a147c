import { expect, test } from 'vitest'
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { openApi, operationsOf } from './openapi.ts'
import { problems } from './problems.ts'

const contract = {
  SCOPES: ['a'],
  schema: z.string(),
  list: endpoint({
    method: 'GET',
    path: '/things',
    summary: 'Lists things.',
    access: 'open',
    query: z.strictObject({ limit: z.coerce.number().int().max(100).default(20), after: z.string().optional() }),
    response: z.strictObject({ data: z.array(z.string()) }),
  }),
  change: endpoint({
    method: 'PATCH',
    path: '/things/{id}',
    summary: 'Changes a thing.',
    access: 'closed',
    params: z.strictObject({ id: z.string() }),
    body: z.strictObject({ name: z.string().min(1), at: z.iso.datetime().transform(value => new Date(value)) }),
    response: z.strictObject({ id: z.string() }),
  }),
  remove: endpoint({ method: 'DELETE', path: '/things/{id}', summary: 'Removes.', access: 'closed', status: 204 }),
}

const document = openApi<string>({
  title: 'Things',
  version: '1',
  server: 'https://api.example.net',
  operations: operationsOf<string>(contract),
  securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  security: access => (access === 'open' ? [] : [{ key: [] }]),
})

test('only operations are taken from a contract', () =>
  expect(operationsOf(contract)).toEqual([contract.list, contract.change, contract.remove]))

test('operations of one path stand together, each with its security', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://api.example.net' }] })
  expect(Object.keys(document.paths['/things/{id}'] ?? {})).toEqual(['patch', 'delete'])
  expect(document.paths['/things']?.get).toMatchObject({ security: [] })
  expect(document.paths['/things/{id}']?.patch).toMatchObject({ security: [{ key: [] }] })
})

test('parameters say where they stand and whether they are needed', () => {
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
      default: { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
    },
  })
  expect(document.paths['/things/{id}']?.delete).toMatchObject({ responses: { 204: { description: 'Success' } } })
  expect(document.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(problems))
})
