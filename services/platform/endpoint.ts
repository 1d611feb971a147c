/**
 * What one HTTP operation takes and gives, as a value: the service validates with it, the panel takes its types from
 * it, and `/openapi.json` is made from it. Contracts are lists of these.
 */
import type { z } from 'zod'

type Schema = z.ZodType
type In<S> = S extends Schema ? z.output<S> : undefined

/** The method of an operation. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One operation. `A` says who may call it; its meaning belongs to the API that uses it. */
export interface Endpoint<
  A,
  P extends Schema | undefined,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  R extends Schema | undefined,
> {
  method: Method
  /** With parameters in braces, as in `/api/v1/domains/{id}`. */
  path: string
  /** One sentence for the documentation. */
  summary: string
  access: A
  params: P
  query: Q
  body: B
  /** Status of success. */
  status: number
  /** JSON answer; undefined for an empty or non-JSON one. */
  response: R
}

/** Any endpoint with access type `A`. */
export type AnyEndpoint<A = unknown> = Endpoint<
  A,
  Schema | undefined,
  Schema | undefined,
  Schema | undefined,
  Schema | undefined
>

/** What a handler gets, parsed. */
export interface EndpointInput<E> {
  params: E extends { params: infer P } ? In<P> : never
  query: E extends { query: infer Q } ? In<Q> : never
  body: E extends { body: infer B } ? In<B> : never
}

/** What a handler gives back: what the response schema accepts; nothing where there is none. */
export type EndpointResult<E> = E extends { response: infer R }
  ? R extends Schema
    ? Promise<z.input<R>>
    : Promise<void>
  : never

/** Declares an operation; only its types are of interest. */
export function endpoint<
  A,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  R extends Schema | undefined = undefined,
>(
  definition: Pick<Endpoint<A, P, Q, B, R>, 'method' | 'path' | 'summary' | 'access'> & {
    params?: P
    query?: Q
    body?: B
    status?: number
    response?: R
  },
): Endpoint<A, P, Q, B, R> {
  return {
    method: definition.method,
    path: definition.path,
    summary: definition.summary,
    access: definition.access,
    params: definition.params as P,
    query: definition.query as Q,
    body: definition.body as B,
    status: definition.status ?? 200,
    response: definition.response as R,
  }
}
