/** What an operation of a contract takes and gives, read off its schemas. */
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

/** What an operation takes. */
export type InputOf<E> = Field<'params', Part<E, 'params'>> &
  Field<'query', Part<E, 'query'>> &
  Field<'body', Part<E, 'body'>>

/** What an operation answers. */
export type OutputOf<E> = E extends { response: infer R } ? Received<R> : undefined

/** Any input, for the one place that sends it. */
export interface AnyInput {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}
