/** Input and output types of operations, derived from the schemas of the contracts. */
import type { z } from 'zod'

type Schema = z.ZodType
type Sent<S> = S extends Schema ? z.input<S> : undefined
type Received<S> = S extends Schema ? z.output<S> : undefined

type Part<E, P extends 'params' | 'query' | 'body'> = E extends Record<P, infer S> ? Sent<S> : undefined

type Field<N extends string, V> = [V] extends [undefined]
  ? unknown
  : Partial<V> extends V
    ? { [K in N]?: V }
    : { [K in N]: V }

export type InputOf<E> = Field<'params', Part<E, 'params'>> &
  Field<'query', Part<E, 'query'>> &
  Field<'body', Part<E, 'body'>>

export type OutputOf<E> = E extends { response: infer R } ? Received<R> : undefined

/** Untyped input, for the code that sends it. */
export interface AnyInput {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}
