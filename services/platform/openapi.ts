/** The OpenAPI 3.1 document of an API, made from the same operations that validate its requests. */
import { z } from 'zod'
import type { AnyEndpoint } from './endpoint.ts'
import { problems } from './problems.ts'

/** What the document says beside the operations. */
export interface OpenApiOptions<A> {
  title: string
  version: string
  /** Public address of the API. */
  server: string
  operations: readonly AnyEndpoint<A>[]
  securitySchemes: Record<string, unknown>
  /** Security requirement of an operation; an empty list = open to anybody. */
  security(access: A): Record<string, string[]>[]
}

/** Everything in a contract module that is an operation. */
export function operationsOf<A>(contract: Readonly<Record<string, unknown>>): AnyEndpoint<A>[] {
  return Object.values(contract).filter(
    (value): value is AnyEndpoint<A> =>
      typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value,
  )
}

/** The document as a value. */
export function openApi<A>(options: OpenApiOptions<A>) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of options.operations) {
    paths[operation.path] ??= {}
    const path = paths[operation.path]
    if (path) path[operation.method.toLowerCase()] = describe(operation, options.security(operation.access))
  }
  return {
    openapi: '3.1.0',
    info: { title: options.title, version: options.version },
    servers: [{ url: options.server }],
    paths,
    components: { securitySchemes: options.securitySchemes, schemas: { Problem: problemSchema } },
  }
}

function describe(operation: AnyEndpoint, security: Record<string, string[]>[]) {
  const parameters = [...parametersOf(operation.params, 'path'), ...parametersOf(operation.query, 'query')]
  return {
    summary: operation.summary,
    security,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.body ? { requestBody: { required: true, content: jsonContent(schemaOf(operation.body)) } } : {}),
    responses: {
      [operation.status]: {
        description: 'Success',
        ...(operation.response ? { content: jsonContent(schemaOf(operation.response)) } : {}),
      },
      default: {
        description: 'A refusal (RFC 9457)',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

const jsonContent = (schema: unknown) => ({ 'application/json': { schema } })

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query') {
  const { properties = {}, required = [] } = schema ? schemaOf(schema) : {}
  return Object.entries(properties).map(([name, value]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: value,
  }))
}

/** JSON Schema of what a client sends or gets; what zod cannot express (refinements) is left open. */
function schemaOf(schema: z.ZodType): { properties?: Record<string, unknown>; required?: string[] } {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json as { properties?: Record<string, unknown>; required?: string[] }
}

const text = { type: 'string' }

/** RFC 9457 with the members that answerProblem adds. */
const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'message', 'request_id'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: text,
    instance: text,
    code: { type: 'string', enum: Object.keys(problems) },
    message: text,
    request_id: text,
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'message'],
        properties: { pointer: text, code: text, message: text },
      },
    },
  },
}
