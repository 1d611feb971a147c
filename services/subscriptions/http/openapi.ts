/** The document of this API, generated from the contracts, at `/openapi.json`. */
import type Router from '@koa/router'
import { z } from 'zod'
import type { Config } from '../../platform/config.ts'
import type { AnyEndpoint } from '../../platform/endpoint.ts'
import type { Access } from './access.ts'
import * as apps from './apps-contract.ts'
import * as contract from './contract.ts'
import * as server from './server-contract.ts'

/** Every operation in an envelope. */
export const operations: readonly AnyEndpoint<Access>[] = [contract, apps, server].flatMap(module =>
  Object.values(module).filter((value): value is AnyEndpoint<Access> => 'access' in value),
)

type JsonSchema = Record<string, unknown>

/** Puts the document on the router. */
export function mountOpenApi(router: Router, config: Pick<Config, 'ADMIN_BASE_URL'>): void {
  const document = JSON.stringify(openApiDocument(config.ADMIN_BASE_URL))
  router.get('/openapi.json', async context => {
    context.type = 'application/json'
    context.body = document
  })
}

/** The document, OpenAPI 3.1. */
export function openApiDocument(baseUrl?: string | undefined) {
  const paths: Record<string, JsonSchema> = {}
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(operation) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Subscription Administration API',
      version: '1',
      description:
        'Messages are in Chinese (`zh`) or English (`en`): the header `lang` decides, without it `Accept-Language`, without both it is Chinese. `Content-Language` says which it is.',
    },
    ...(baseUrl ? { servers: [{ url: baseUrl }] } : {}),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'token' },
        appSecret: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function describe({ summary, access, params, query, body, response }: AnyEndpoint<Access>): JsonSchema {
  return {
    summary,
    ...(access.kind === 'open' ? {} : { security: [{ [access.kind === 'admin' ? 'token' : 'appSecret']: [] }] }),
    parameters: [...fields(params, 'path'), ...fields(query, 'query')],
    ...(body ? { requestBody: { content: { 'application/json': { schema: inputSchema(body) } } } } : {}),
    responses: { 200: { description: 'Success', content: content(response) }, default: refusal },
  }
}

function fields(schema: z.ZodType | undefined, place: 'path' | 'query'): JsonSchema[] {
  if (!schema) return []
  const { properties = {}, required = [] } = inputSchema(schema) as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schemaOf]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: schemaOf,
  }))
}

function content(response: z.ZodType | undefined): JsonSchema {
  if (!response) return { 'text/csv': { schema: { type: 'string' } } }
  return { 'application/json': { schema: envelopeOf(z.toJSONSchema(response, { io: 'output' })) } }
}

function inputSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
}

function envelopeOf(data: JsonSchema): JsonSchema {
  const { $schema: _, ...rest } = data
  return {
    type: 'object',
    properties: { code: { type: 'integer' }, message: { type: 'string' }, data: rest },
    required: ['code', 'message', 'data'],
  }
}

const refusal = {
  description: 'A refusal: code is the HTTP status times 100 plus a number.',
  content: {
    'application/json': {
      schema: envelopeOf({
        type: 'object',
        properties: {
          errors: {
            type: 'array',
            items: {
              type: 'object',
              properties: { field: { type: 'string' }, rule: { type: 'string' }, message: { type: 'string' } },
              required: ['field', 'rule', 'message'],
            },
          },
        },
      }),
    },
  },
}
