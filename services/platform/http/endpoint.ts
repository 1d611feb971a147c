/**
 * Request and response of one HTTP operation as a value: the service validates with it, the panel derives its types,
 * and `/openapi.json` is generated from it. Contracts are lists of these.
 */
import type { z } from 'zod'
import type { JsonSchema } from '../json/json-schema.ts'

type Schema = z.ZodType
type In<S> = S extends Schema ? z.output<S> : undefined
type Sent<S> = S extends Schema ? z.input<S> : never

/** The method of an operation. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Schemas of contents that are not JSON, by media type. */
export type MediaTypes = Readonly<Record<string, JsonSchema>>

/**
 * A request that shows how an operation is called. Tests send it, so it is valid as it is, except for ids and times: those
 * in it are replaced by ids of records that exist and by times to come.
 */
export interface RequestExample<Q = unknown, B = unknown> {
  query?: Partial<Q>
  headers?: Readonly<Record<string, string>>
  /** JSON. */
  body?: B
  /** A body of another type, one of `requestContent`. */
  content?: { type: string; text: string }
}

/** Parts of an operation for documentation only; handlers read or write them themselves. */
interface Documentation {
  /** Request headers besides those of the credentials: an object schema with one property a header. */
  headers?: z.ZodObject
  /** Body that the handler validates itself, where `body` accepts any value. */
  documentedBody?: Schema
  /** Request body of other media types than JSON. */
  requestContent?: MediaTypes
  /** Successful answer of other media types than JSON. */
  responseContent?: MediaTypes
  /** Headers of a successful answer. */
  responseHeaders?: Readonly<Record<string, { description: string; schema: JsonSchema; required?: boolean }>>
  /** Tags that a client may send with If-None-Match: the same answer again is 304. */
  notModified?: boolean
}

/** A second successful answer, as that of a dry run. */
interface Alternative<O> {
  status: number
  description: string
  response: O
}

/** One operation. `A` describes the permitted callers; its meaning is defined by each API. */
export interface Endpoint<
  A,
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  R extends Schema | undefined,
  O extends Schema | undefined = undefined,
> extends Documentation {
  /** Absent where the path says everything. */
  example?: RequestExample | undefined
  /** Name of the operation in generated clients, unique in its API. Never changes: callers' code has it. */
  operationId: string
  /** Group of operations in documentation and generated clients. */
  tag: string
  method: Method
  /** With parameters in braces, as in `/api/v1/domains/{id}`. */
  path: string
  /** One sentence for the documentation. */
  summary: string
  access: A
  params: P
  query: Q
  body: B
  /** Largest body, in bytes; without it the limit of the API. */
  bodyBytes?: number | undefined
  /** Status of success. */
  status: number
  /** JSON answer; undefined for an empty or non-JSON one. */
  response: R
  alternative: Alternative<O> | undefined
}

/** Any endpoint with access type `A`. */
export type AnyEndpoint<A = unknown> = Endpoint<
  A,
  Schema | undefined,
  Schema | undefined,
  Schema | undefined,
  Schema | undefined,
  Schema | undefined
>

/** Parsed input of a handler. */
export interface EndpointInput<E> {
  params: E extends { params: infer P } ? In<P> : never
  query: E extends { query: infer Q } ? In<Q> : never
  body: E extends { body: infer B } ? In<B> : never
}

/** Result of a handler: a value of one of the response schemas, or `Nothing`; undefined without a response schema. */
export type EndpointResult<E, Nothing = never> =
  E extends Endpoint<infer _A, infer _P, infer _Q, infer _B, infer R, infer O>
    ? R extends Schema
      ? Promise<z.input<R> | (O extends Schema ? z.input<O> : never) | Nothing>
      : Promise<void>
    : never

/** Declares an operation; only its types are of interest. */
export function endpoint<
  A,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
>({
  params,
  query,
  body,
  status = 200,
  response,
  alternative,
  ...rest
}: Pick<Endpoint<A, P, Q, B, R>, 'operationId' | 'tag' | 'method' | 'path' | 'summary' | 'access'> &
  Documentation & {
    params?: P
    query?: Q
    body?: B
    bodyBytes?: number
    status?: number
    response?: R
    alternative?: Alternative<O>
    example?: RequestExample<Sent<NoInfer<Q>>, Sent<NoInfer<B>>>
  }): Endpoint<A, P, Q, B, R, O> {
  return {
    ...rest,
    params: params as P,
    query: query as Q,
    body: body as B,
    status,
    response: response as R,
    alternative,
  }
}
