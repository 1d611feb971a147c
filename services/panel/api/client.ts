/** Calls of the mail API, typed from the service's own contract: wrong names, bodies and answers do not compile. */
import type { z } from 'zod'
import type * as accounts from '../../accounts/http/contract.ts'
import type * as mail from '../../mail/http/contract.ts'
import { fillPath, request } from './fetch.ts'
import { operations } from './operations.ts'

type Contract = typeof accounts & typeof mail
type Schema = z.ZodType
type Sent<S> = S extends Schema ? z.input<S> : undefined
type Got<S> = S extends Schema ? z.output<S> : undefined

/** The name of an operation that the panel uses. */
export type Operation = keyof typeof operations

type Part<K extends Operation, P extends 'params' | 'query' | 'body'> =
  Contract[K] extends Record<P, infer S> ? Sent<S> : undefined

type Field<N extends string, V> = [V] extends [undefined]
  ? unknown
  : Partial<V> extends V
    ? { [K in N]?: V }
    : { [K in N]: V }

/** What an operation takes. */
export type Input<K extends Operation> = Field<'params', Part<K, 'params'>> &
  Field<'query', Part<K, 'query'>> &
  Field<'body', Part<K, 'body'>>

/** What an operation answers. */
export type Output<K extends Operation> = Contract[K] extends { response: infer R } ? Got<R> : undefined

interface AnyInput {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

/** Calls an operation of the mail API. */
export async function call<K extends Operation>(name: K, input: Input<K>, signal?: AbortSignal): Promise<Output<K>> {
  const [method = 'GET', template = ''] = operations[name].split(' ')
  const { params, query, body } = input as AnyInput
  const response = await request(fillPath(template, params), { method, query, body, signal })
  // The service answers only what the contract's schema accepts (its own tests prove it), so the cast is the contract.
  if (response.status === 204) return undefined as Output<K>
  return (await response.json()) as Output<K>
}
