/** The OpenAPI 3.1 document of an API, made from the same operations that validate its requests. */
import type { z } from 'zod'
import { createSchemas, type JsonSchema, type Schemas } from '../json/json-schema.ts'
import { problems } from '../problems.ts'
import type { AnyEndpoint, MediaTypes } from './endpoint.ts'
import type { ReferenceOperation, SecurityScheme } from './reference/reference-document.ts'

/** How an API answers when it refuses. */
interface Refusal {
  description: string
  mediaType: string
  /** Schema of the body; becomes the component `name`. */
  name: string
  schema: JsonSchema
}

/** Content of the document besides the operations. */
export interface OpenApiOptions<A> {
  title: string
  description: string
  version: string
  /** Public address of the API, or `/`: that of the document. */
  server: string
  /** Groups of operations, in the order in which documentation shows them. */
  tags: readonly { name: string; description: string }[]
  operations: readonly AnyEndpoint<A>[]
  securitySchemes: Record<string, SecurityScheme>
  /** Security requirements of an operation, one of which is enough; an empty list: open to anybody. */
  security(operation: AnyEndpoint<A>): Record<string, string[]>[]
  /** JSON Schema of a successful body; by default that of the operation's schema. */
  success?(operation: AnyEndpoint<A>, data: JsonSchema): JsonSchema
  /**
   * Examples of path parameters, by the part of the path before the parameter and its name: `domains/{id}`. They belong
   * to no record.
   */
  pathExamples?: Readonly<Record<string, string | number>>
  /** Whether an empty optional field of the query counts as absent; otherwise it is validated like any other value. */
  emptyIsAbsent?: boolean
  /** RFC 9457 unless given. Operations that refuse in another way are listed in `refusals` by their operationId. */
  refusal?: Refusal
  refusals?: Readonly<Record<string, Refusal>>
}

/** Everything in a contract module that is an operation. */
export function operationsOf<A>(contract: Readonly<Record<string, unknown>>): AnyEndpoint<A>[] {
  return Object.values(contract).filter(
    (value): value is AnyEndpoint<A> =>
      typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value,
  )
}

/** The document as a value. Throws when two operations have one operationId, or one has an unknown tag. */
export function openApi<A>(options: OpenApiOptions<A>) {
  const { title, description, version, server, tags, operations, securitySchemes, refusal = problem } = options
  checkNames(options)
  const schemas = createSchemas()
  const paths: Record<string, Record<string, ReferenceOperation>> = {}
  for (const operation of operations) {
    const path = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(operation, options, schemas) }
    paths[operation.path] = path
  }
  const refusals = [refusal, ...Object.values(options.refusals ?? {})]
  return {
    openapi: '3.1.0',
    info: { title, description, version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: server }],
    tags,
    paths,
    components: {
      securitySchemes,
      responses: Object.fromEntries(refusals.map(one => [one.name, refusalResponse(one)])),
      schemas: { ...schemas.components(), ...Object.fromEntries(refusals.map(({ name, schema }) => [name, schema])) },
    },
  }
}

function checkNames<A>({ operations, tags }: OpenApiOptions<A>): void {
  const known = new Set<string>()
  for (const { operationId, tag } of operations) {
    if (known.has(operationId)) throw new Error(`Two operations are called ${operationId}.`)
    if (!tags.some(({ name }) => name === tag)) throw new Error(`${operationId} has the unknown tag ${tag}.`)
    known.add(operationId)
  }
}

function describe<A>(operation: AnyEndpoint<A>, options: OpenApiOptions<A>, schemas: Schemas): ReferenceOperation {
  const { refusal = problem, refusals = {} } = options
  const { name } = refusals[operation.operationId] ?? refusal
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    security: options.security(operation),
    ...parameters(schemas, operation, options),
    ...requestBody(schemas, operation),
    responses: {
      ...successes(operation, options, schemas),
      '4XX': { $ref: `#/components/responses/${name}` },
      '5XX': { $ref: `#/components/responses/${name}` },
    },
  }
}

function successes<A>(operation: AnyEndpoint<A>, options: OpenApiOptions<A>, schemas: Schemas) {
  const { response, alternative, responseContent, responseHeaders, notModified, status } = operation
  const json = (schema: z.ZodType) => {
    const data = schemas.output(schema)
    return { 'application/json': options.success?.(operation, data) ?? data }
  }
  const content = { ...(response && json(response)), ...responseContent }
  const headers = responseHeaders && { headers: responseHeaders }
  return {
    [status]: { description: 'Success', ...headers, ...contentOf(content) },
    ...(alternative && {
      [alternative.status]: {
        description: alternative.description,
        ...(alternative.response && contentOf(json(alternative.response))),
      },
    }),
    ...(notModified && { 304: { description: 'The answer is the one of the tag in If-None-Match.' } }),
  }
}

function requestBody(schemas: Schemas, operation: AnyEndpoint) {
  const { documentedBody: body = operation.body, requestContent } = operation
  if (!body && !requestContent) return {}
  return {
    requestBody: {
      // A request without a body counts as one with an empty object.
      required: body ? !body.safeParse({}).success : true,
      content: mediaTypes(
        { ...(body && { 'application/json': schemas.input(body) }), ...requestContent },
        exampleOf(operation),
      ),
    },
  }
}

/** The example of a request's body, by its media type. */
function exampleOf({ example = {} }: AnyEndpoint): Readonly<Record<string, unknown>> {
  const { body, content } = example
  return { ...(body !== undefined && { 'application/json': body }), ...(content && { [content.type]: content.text }) }
}

function mediaTypes(types: MediaTypes, examples: Readonly<Record<string, unknown>> = {}) {
  return Object.fromEntries(
    Object.entries(types).map(([type, schema]) => [
      type,
      { schema, ...(type in examples && { example: examples[type] }) },
    ]),
  )
}

function contentOf(types: MediaTypes) {
  return Object.keys(types).length === 0 ? {} : { content: mediaTypes(types) }
}

function parameters<A>(
  schemas: Schemas,
  { path, params, query, headers, example }: AnyEndpoint<A>,
  { emptyIsAbsent = false, pathExamples = {} }: OpenApiOptions<A>,
) {
  const mayBeEmpty = { allowEmptyValue: true }
  const given: Readonly<Record<string, unknown>> = { ...example?.query, ...example?.headers }
  const withExample = <P extends { name: string }>(one: P) =>
    one.name in given ? { ...one, example: given[one.name] } : one
  const all = [
    ...fields(schemas, params, 'path').map(one => {
      const sample = pathExamples[pathExampleKey(path, one.name)]
      return sample === undefined ? one : { ...one, example: sample }
    }),
    ...fields(schemas, query, 'query')
      .map(one => (emptyIsAbsent && !one.required ? { ...one, ...mayBeEmpty } : one))
      .map(withExample),
    ...fields(schemas, headers, 'header').map(withExample),
  ]
  return all.length > 0 ? { parameters: all } : {}
}

/** The name of a path parameter with the part of the path before it, as in `domains/{id}`. */
function pathExampleKey(path: string, name: string): string {
  const parts = path.split('/')
  const at = parts.indexOf(`{${name}}`)
  return `${parts[at - 1]}/{${name}}`
}

/** The fields of an object schema as parameters. */
function fields(schemas: Schemas, schema: z.ZodType | undefined, place: 'path' | 'query' | 'header') {
  if (!schema) return []
  const { properties = {}, required = [] } = schemas.input(schema) as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = inAddress(property)
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: rest,
    }
  })
}

/**
 * A field that accepts a number and its text lists the preferred form first. In a URL all values are text, so only that
 * form is documented. A field that accepts a value or a list of values is a parameter that may be repeated.
 */
function inAddress({ anyOf, ...rest }: JsonSchema): JsonSchema {
  if (!Array.isArray(anyOf)) return rest
  const [first, ...others] = anyOf as JsonSchema[]
  return others.every(({ type }) => type === first?.type || type === 'array')
    ? { ...rest, anyOf }
    : { ...rest, ...first }
}

function refusalResponse({ description, mediaType, name }: Refusal) {
  return {
    description,
    headers: { 'Retry-After': { description: 'Seconds to wait, when waiting helps.', schema: { type: 'integer' } } },
    content: { [mediaType]: { schema: { $ref: `#/components/schemas/${name}` } } },
  }
}

const text = { type: 'string' }
const params = {
  type: 'object',
  description: 'The values in the text by name; a value may be a sentence itself: code and params.',
}

/** RFC 9457 with the members that answerProblem adds. */
const problem: Refusal = {
  description: 'A refusal (RFC 9457).',
  mediaType: 'application/problem+json',
  name: 'Problem',
  schema: {
    type: 'object',
    required: [
      ...['type', 'title', 'status', 'detail', 'detail_code', 'detail_params'],
      ...['instance', 'code', 'message', 'request_id'],
    ],
    properties: {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: { type: 'string', description: 'In English.' },
      detail_code: { type: 'string', description: 'Code of the sentence in `detail`; more precise than `code`.' },
      detail_params: params,
      instance: text,
      code: { type: 'string', description: 'Stable; later releases may add more.', examples: Object.keys(problems) },
      message: text,
      request_id: text,
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['pointer', 'code', 'message'],
          properties: { pointer: text, code: text, message: { type: 'string', description: 'In English.' } },
        },
      },
      errors_codes: {
        type: 'array',
        description: 'The sentences in the messages of `errors`, in the same order; more precise than their `code`.',
        items: { type: 'object', required: ['code', 'params'], properties: { code: text, params } },
      },
    },
  },
}
